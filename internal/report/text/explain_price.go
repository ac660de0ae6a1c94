package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// prices prints what an I/O costs in CPU, a table for each workload.
func (x *explanation) prices() {
	x.title("What an I/O costs the host in CPU")
	if !slices.ContainsFunc(x.Prices, func(p analyse.Price) bool { return x.shown(p.Stack) && p.Stack != spec.Host && x.about(p.Workload) }) {
		if len(x.Prices) > 0 {
			x.hang("", "The threads were not counted for "+x.list(x.subject.Stacks)+".", plain)
			return
		}
		x.hang("", "No number stands whose threads were counted. `iotax run` counts them, on a host whose /proc shows them.", plain)
		return
	}
	x.hang("", "microseconds of the host's CPU for each I/O, by what the thread does; switches are context switches for each I/O, forced ones because "+
		"others took its processor; less is better", faint)
	for _, w := range x.workloads() {
		var these []analyse.Price
		for _, p := range x.Prices {
			if p.Workload == w.Name && x.shown(p.Stack) {
				these = append(these, p)
			}
		}
		if len(these) > 0 {
			x.priceTable(w, these)
		}
	}
}

// priceColumn is one figure of a price, nil where it was not counted.
type priceColumn struct {
	title string
	of    func(p analyse.Price) *stat.Estimate
	scale unit.Scale
}

func priceColumns(prices []analyse.Price) []priceColumn {
	us := unit.Scale{Div: 1e3, Unit: " us"}
	each := unit.Scale{Div: 1}
	out := []priceColumn{{"CPU us", func(p analyse.Price) *stat.Estimate { return &p.CPU }, us}}
	for _, role := range record.Roles {
		out = append(out, priceColumn{role, func(p analyse.Price) *stat.Estimate {
			if e, ok := p.ByRole[role]; ok {
				return &e
			}
			return nil
		}, us})
	}
	out = append(
		out,
		priceColumn{"switches", func(p analyse.Price) *stat.Estimate { return &p.Voluntary }, each},
		priceColumn{"forced", func(p analyse.Price) *stat.Estimate { return &p.Involuntary }, each},
		priceColumn{"guest busy us", func(p analyse.Price) *stat.Estimate { return p.GuestCPU }, us},
		priceColumn{"exits", func(p analyse.Price) *stat.Estimate { return p.Exits }, each},
		priceColumn{"cycles, thousands", func(p analyse.Price) *stat.Estimate { return p.Cycles }, unit.Scale{Div: 1e3}},
		priceColumn{"cores", func(p analyse.Price) *stat.Estimate { return &p.Cores }, each},
	)
	return slices.DeleteFunc(out, func(c priceColumn) bool {
		return !slices.ContainsFunc(prices, func(p analyse.Price) bool { return c.of(p) != nil && c.of(p).High > 0 })
	})
}

func (x *explanation) priceTable(w spec.Workload, prices []analyse.Price) {
	title := x.names.workload(w.Name)
	if prices[0].Held || w.Held() {
		title += ", all held to the same rate: the fair comparison"
	}
	x.blank()
	x.hang("", title, head)
	columns := priceColumns(prices)
	top := row{kind: head}
	for _, c := range columns {
		top.cells = append(top.cells, cell{text: c.title, kind: head})
	}
	rows := []row{top}
	for _, p := range prices {
		line := row{label: x.names.stack(p.Stack)}
		for _, c := range columns {
			text := ""
			if e := c.of(p); e != nil {
				text = spread(*e, c.scale, true)
			}
			line.cells = append(line.cells, cell{text: text})
		}
		rows = append(rows, line)
	}
	x.grid(rows)
}

// grid prints rows. Their last column, which is empty, takes the place of the remarks that other tables end with.
func (x *explanation) grid(rows []row) {
	for i := range rows {
		rows[i].cells = append(rows[i].cells, cell{words: true})
	}
	x.panel("", rows)
}

// amplifications are what reaches the device for what the load asks.
var amplifications = []string{record.DeviceReadRatio, record.DeviceWriteRatio, record.DeviceRequestRatio, record.FlushRatio}

// device prints what reaches the device for each byte, request and flush of the load.
func (x *explanation) device() {
	var rows []row
	for _, w := range x.workloads() {
		rows = append(rows, x.deviceRows(w)...)
	}
	if len(rows) == 0 {
		return
	}
	top := row{kind: head}
	for _, m := range amplifications {
		top.cells = append(top.cells, cell{text: metrics.Title(m), kind: head})
	}
	x.title("What reaches the device for what the load asks")
	x.grid(counted(append([]row{top}, rows...)))
}

// counted leaves out the columns that are empty below their head.
func counted(rows []row) []row {
	for i := len(rows[0].cells) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(rows[1:], func(r row) bool { return r.cells[i].text != "" }) {
			for j := range rows {
				rows[j].cells = slices.Delete(rows[j].cells, i, i+1)
			}
		}
	}
	return rows
}

func (x *explanation) deviceRows(w spec.Workload) []row {
	var rows []row
	for _, c := range x.r.Cells {
		if c.Workload != w.Name || !x.shown(c.Stack) {
			continue
		}
		line, any := row{label: "  " + x.names.stack(c.Stack)}, false
		for _, m := range amplifications {
			text := ""
			if e, has := c.Derived[m]; has {
				text, any = spread(e, unit.Scale{Div: 1}, true), true
			}
			line.cells = append(line.cells, cell{text: text})
		}
		if any {
			rows = append(rows, line)
		}
	}
	if len(rows) > 0 {
		rows = append([]row{{label: x.names.workload(w.Name), cells: make([]cell, len(amplifications))}}, rows...)
	}
	return rows
}

// fronts says which stacks give the most IOPS for the cores that they keep busy.
func (x *explanation) fronts() {
	first := true
	for _, f := range x.Fronts {
		if !x.about(f.Workload) {
			continue
		}
		if first {
			x.title("IOPS against cores")
			first = false
		}
		words := "none is beaten in both by another that keeps data as safe: "
		if len(f.Beaten) > 0 {
			words = "not beaten in both: "
		}
		words += x.withCores(f.Workload, f.Stacks)
		if len(f.Beaten) > 0 {
			words += "; beaten: " + x.withCores(f.Workload, f.Beaten)
		}
		x.hang("", x.names.workload(f.Workload)+": "+words, plain)
	}
}

// withCores names stacks with their IOPS and the cores that they take.
func (x *explanation) withCores(workload string, stacks []string) string {
	words := make([]string, len(stacks))
	for i, s := range stacks {
		words[i] = glued(x.names.stack(s))
		for _, p := range x.Prices {
			if p.Stack == s && p.Workload == workload {
				words[i] += " " + glued(fmt.Sprintf("(%s IOPS, %s cores)", unit.IOPS(p.IOPS.Value), digits(p.Cores.Value)))
			}
		}
	}
	return strings.Join(words, ", ")
}
