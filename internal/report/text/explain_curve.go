package text

import (
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/unit"
)

const noCurves = "No load was measured at several iodepths, from which a limit on the latency could choose. `iotax run` measures some at two; an " +
	"experiment of your own (-f) can have as many as you like."

// curves prints IOPS against latency over iodepth, a table for each load, and under a limit the most that keeps it.
func (x *explanation) curves() {
	var loads []string
	for _, c := range x.Curves {
		if x.shown(c.Stack) && !slices.Contains(loads, c.Load) && x.curveAbout(c) {
			loads = append(loads, c.Load)
		}
	}
	if len(loads) == 0 {
		x.title("The load curve")
		x.hang("", noCurves, plain)
		return
	}
	x.title("The load curve: IOPS and p99 latency by iodepth")
	x.hang("", "shape is the latency over iodepth, low to high on a scale that all rows of a load share", faint)
	for _, load := range loads {
		x.curveTable(load)
	}
}

// curveAbout reports whether a curve passes a workload that is asked for.
func (x *explanation) curveAbout(c analyse.Curve) bool {
	return slices.ContainsFunc(c.Points, func(p analyse.CurvePoint) bool { return x.about(p.Workload) })
}

func (x *explanation) curveTable(load string) {
	top := row{label: clean(load), kind: head, cells: []cell{{text: "shape", kind: head, words: true}}}
	rows := []row{top}
	var under []analyse.Curve
	low, high := x.span(load)
	for _, c := range x.Curves {
		if c.Load != load || !x.shown(c.Stack) {
			continue
		}
		values := make([]analyse.PanelValue, len(c.Points))
		for i, p := range c.Points {
			values[i].Estimate = p.P99
		}
		line := row{label: x.names.stack(c.Stack), cells: []cell{{text: spark(values, low, high), words: true}}}
		for _, p := range c.Points {
			if len(rows) == 1 {
				top.cells = append(top.cells, cell{text: fmt.Sprintf("q%d", p.IODepth), kind: head})
			}
			line.cells = append(line.cells, x.pointCell(p))
		}
		rows[0] = top
		rows = append(rows, line)
		if c.Under != nil {
			under = append(under, c)
		}
	}
	x.blank()
	x.grid(rows)
	x.limit("", x.Limit, under, x.names)
}

// span is the least and the greatest latency of a load.
func (x *explanation) span(load string) (low, high float64) {
	for _, c := range x.Curves {
		for _, p := range c.Points {
			if c.Load == load && x.shown(c.Stack) && p.P99 != nil {
				if v := p.P99.Value; low == 0 || v < low {
					low = v
				}
				high = max(high, p.P99.Value)
			}
		}
	}
	return low, high
}

func (x *explanation) pointCell(p analyse.CurvePoint) cell {
	switch {
	case p.IOPS == nil:
		return cell{text: "-", notes: x.notes.mark(p.Reason), kind: faint}
	case p.P99 == nil:
		return cell{text: unit.IOPS(p.IOPS.Value)}
	}
	return cell{text: unit.IOPS(p.IOPS.Value) + " " + unit.Latency(p.P99.Value)}
}

// limited says of each load how much the stacks give under the limit on its latency that was asked for.
func (p *printer) limited(e *analyse.Explanation, names labels) {
	if e == nil || e.Limit == nil {
		return
	}
	p.blank()
	if len(e.Curves) == 0 {
		p.hang("", noCurves, plain)
	}
	for rest := e.Curves; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Load == rest[0].Load {
			n++
		}
		p.limit(clean(rest[0].Load)+", ", e.Limit, rest[:n], names)
		rest = rest[n:]
	}
}

// limit says how much each stack gives under a limit on its latency.
func (p *printer) limit(load string, l *analyse.Limit, curves []analyse.Curve, names labels) {
	if l == nil || len(curves) == 0 {
		return
	}
	p.hang("", fmt.Sprintf("%sthe most with %s up to %s, the whole interval under it:", load, metrics.Title(l.Metric), unit.Latency(l.NS)), head)
	labels := 0
	for _, c := range curves {
		labels = max(labels, width(names.stack(c.Stack)))
	}
	for _, c := range curves {
		p.hang("  "+left(clip(names.stack(c.Stack), p.width/3), min(labels, p.width/3))+"  ", underWords(*c.Under), plain)
	}
}

func underWords(u analyse.CurveUnder) string {
	if u.IOPS == nil {
		return "none: " + u.Reason
	}
	words := fmt.Sprintf("%s IOPS at iodepth %d", metrics.Scale(record.IOPS, *u.IOPS).Format(u.IOPS.Value), u.IODepth)
	if u.Bound {
		words += ", the deepest that was measured: there may be more"
	}
	return words
}
