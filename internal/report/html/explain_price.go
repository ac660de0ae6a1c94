package html

import (
	"cmp"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// maxPrices is how many cells' prices a page holds.
const maxPrices = 150

// pricesView is what I/O costs in CPU, a group for each workload.
type pricesView struct {
	Fair    bool // some loads were held to one rate
	Groups  []priceGroup
	LeftOut string
}

// priceGroup is the cells of one workload: a drawing of the roles, and every figure in a table.
type priceGroup struct {
	Title   string
	Held    bool
	Open    bool
	Unit    string
	Roles   []roleKey // those that some stack has, in their order of print
	Ticks   []tick    // in per cent of the width
	Lines   string    // of the ticks, as path data
	Rows    []priceRow
	Figures grid
}

// roleKey is a role of threads and its pattern.
type roleKey struct {
	Number int
	Name   string
}

// priceRow is one stack: parts by role, end to end, and the interval of their sum.
type priceRow struct {
	Name  string
	Total figureValue
	Parts []rolePart
	Sum   *billBar
}

// rolePart is a piece of a bar in per cent of the width.
type rolePart struct {
	Number      int
	Left, Width float64
	Text        string
}

func pricesOf(x index, e *analyse.Explanation) *pricesView {
	if len(e.Prices) == 0 {
		return nil
	}
	all := byWorkload(x, "", e.Prices, func(p analyse.Price) string { return p.Workload })
	slices.SortStableFunc(all, func(a, b analyse.Price) int { return cmp.Compare(second(a.Held), second(b.Held)) })
	v := &pricesView{Fair: all[0].Held, LeftOut: leftOut(x, len(all), maxPrices, "cell")}
	all = all[:min(len(all), maxPrices)]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Workload == all[0].Workload && all[n].Held == all[0].Held {
			n++
		}
		g := priceGroupOf(x, all[:n])
		g.Open = len(v.Groups) == 0
		v.Groups = append(v.Groups, g)
		all = all[n:]
	}
	return v
}

// second sorts what holds before what does not.
func second(first bool) int {
	if first {
		return 0
	}
	return 1
}

func priceGroupOf(x index, prices []analyse.Price) priceGroup {
	g := priceGroup{Title: x.workload(prices[0].Workload), Held: prices[0].Held, Figures: priceGrid(prices)}
	for i, role := range record.Roles {
		if slices.ContainsFunc(prices, func(p analyse.Price) bool { return hasRole(p, role) }) {
			g.Roles = append(g.Roles, roleKey{i, roleTitle(role)})
		}
	}
	cpu := make([]stat.Estimate, len(prices))
	top := 0.0
	for i, p := range prices {
		cpu[i] = p.CPU
		if finite(p.CPU.Value) {
			top = max(top, p.CPU.Value)
		}
	}
	s := timeScale(cpu...)
	g.Unit = unitName(s)
	ends := make([]float64, len(cpu))
	for i, e := range cpu {
		_, ends[i] = reach(e, top)
	}
	r := linear(1, 98, ends...)
	g.Ticks = r.ticks(s.Div, 20)
	g.Lines = tickLines(g.Ticks)
	for _, p := range prices {
		g.Rows = append(g.Rows, priceRowOf(p, r, s))
	}
	return g
}

func hasRole(p analyse.Price, role string) bool { return p.ByRole[role].Value > 0 }

func priceRowOf(p analyse.Price, r ruler, s unit.Scale) priceRow {
	row := priceRow{Name: p.Stack, Total: figureValue{scaled(s, p.CPU.Value), scaledRange(s, p.CPU)}, Sum: r.bar(0, notNegative(p.CPU))}
	stood := 0.0
	for i, role := range record.Roles {
		v := p.ByRole[role].Value
		if !finite(v) || v <= 0 {
			continue
		}
		from, to := r.at(stood), r.at(stood+v)
		stood += v
		if finite(from) && finite(to) && to > from {
			row.Parts = append(row.Parts, rolePart{i, from, tenth(to - from), roleTitle(role) + " " + scaled(s, v) + thin + unitName(s)})
		}
	}
	return row
}

// roleTitle is what a role is called on the page.
func roleTitle(role string) string {
	switch role {
	case record.VCPU:
		return "vCPU"
	case record.Worker:
		return "worker threads"
	case record.Load:
		return "load generator"
	}
	return role
}

// timeScale and countScale are the one scale of all figures of a column.
func timeScale(es ...stat.Estimate) unit.Scale {
	return sharpen(unit.LatencyScale(valuesOf(es)...), weighty(es)...)
}

func countScale(es ...stat.Estimate) unit.Scale {
	return sharpen(unit.IOPSScale(valuesOf(es)...), weighty(es)...)
}

func valuesOf(es []stat.Estimate) []float64 {
	out := make([]float64, len(es))
	for i, e := range es {
		out[i] = e.Value
	}
	return out
}

// weighty leaves out what is next to nothing: its narrow interval would ask decimals of all others.
func weighty(es []stat.Estimate) []stat.Estimate {
	top := 0.0
	for _, e := range es {
		top = max(top, e.Value)
	}
	return slices.DeleteFunc(slices.Clone(es), func(e stat.Estimate) bool { return e.Value < top/100 })
}

// priceColumn is one figure of a price; of is nil where it was not counted.
type priceColumn struct {
	title, better string
	scale         func(...stat.Estimate) unit.Scale
	unit          func(unit.Scale) string
	of            func(analyse.Price) *stat.Estimate
}

func perIO(s unit.Scale) string {
	if s.Unit == "" {
		return "per I/O"
	}
	return unitName(s) + " per I/O"
}

func busy(unit.Scale) string { return "busy" }

func priceColumns() []priceColumn {
	const lower = "lower is better"
	out := []priceColumn{{"CPU", lower, timeScale, perIO, func(p analyse.Price) *stat.Estimate { return &p.CPU }}}
	for _, role := range record.Roles {
		out = append(out, priceColumn{roleTitle(role), "", timeScale, perIO, func(p analyse.Price) *stat.Estimate {
			if e, ok := p.ByRole[role]; ok {
				return &e
			}
			return nil
		}})
	}
	return append(out,
		priceColumn{"voluntary switches", lower, countScale, perIO, func(p analyse.Price) *stat.Estimate { return &p.Voluntary }},
		priceColumn{"involuntary switches", lower, countScale, perIO, func(p analyse.Price) *stat.Estimate { return &p.Involuntary }},
		priceColumn{"guest CPU", "", timeScale, perIO, func(p analyse.Price) *stat.Estimate { return p.GuestCPU }},
		priceColumn{"cycles", lower, countScale, perIO, func(p analyse.Price) *stat.Estimate { return p.Cycles }},
		priceColumn{"exits", lower, countScale, perIO, func(p analyse.Price) *stat.Estimate { return p.Exits }},
		priceColumn{"cores", lower, countScale, busy, func(p analyse.Price) *stat.Estimate { return &p.Cores }},
		priceColumn{"IOPS", "higher is better", countScale, unitName, func(p analyse.Price) *stat.Estimate { return &p.IOPS }})
}

// priceGrid is every figure of a group. What no cell has counted has no column.
func priceGrid(prices []analyse.Price) grid {
	g := grid{Title: "CPU for one I/O", Rows: make([]figureRow, len(prices))}
	for i, p := range prices {
		g.Rows[i].Name = p.Stack
	}
	for _, c := range priceColumns() {
		var es []stat.Estimate
		for _, p := range prices {
			if e := c.of(p); e != nil {
				es = append(es, *e)
			}
		}
		if len(es) == 0 {
			continue
		}
		s := c.scale(es...)
		g.Columns = append(g.Columns, figureColumn{c.title, c.unit(s), c.better})
		for i, p := range prices {
			v := figureValue{Text: none}
			if e := c.of(p); e != nil {
				v = figureValue{scaled(s, e.Value), scaledRange(s, *e)}
			}
			g.Rows[i].Values = append(g.Rows[i].Values, v)
		}
	}
	return g
}
