package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// covered reports whether figures show the headline metric of every cell but the control's, so that the table of shares
// would only tell it again.
func covered(r analyse.Result) bool {
	shown := map[[2]string]bool{}
	for _, f := range r.Figures {
		for _, p := range f.Panels {
			for _, row := range p.Rows {
				for _, c := range p.Columns {
					shown[[2]string{row.Stack, c.Workload + " " + c.Metric}] = true
				}
			}
		}
	}
	if len(shown) == 0 {
		return false
	}
	for _, s := range r.StackOrder {
		for _, w := range r.Experiment.Workloads {
			if s != spec.Control && !shown[[2]string{s, w.Name + " " + analyse.Headline(w)}] {
				return false
			}
		}
	}
	return true
}

// figures prints the experiment's own charts and tables.
func (p *printer) figures(t *table) {
	for _, f := range t.r.Figures {
		p.blank()
		p.hang("", f.Title, head)
		if f.Ladder != nil {
			p.ladder(*f.Ladder, t)
		}
		for _, panel := range f.Panels {
			switch f.Kind {
			case spec.Lines:
				p.lines(panel, t)
			case spec.Bars:
				p.bars(panel, t)
			case spec.Settings:
				p.panel("", t.settings(panel))
			default:
				p.panel(panel.Title, t.columns(panel))
			}
		}
	}
}

// panel prints rows under a title of their own.
func (p *printer) panel(title string, rows []row) {
	if title != "" {
		p.hang("", title, faint)
	}
	labels, columns := measure(rows)
	p.blocks(rows, min(labels, max(16, p.width/3)), columns)
}

// height is how many lines rows take.
func (p *printer) height(rows []row) int {
	labels, columns := measure(rows)
	labels = min(labels, max(16, p.width/3))
	blocks := 0
	for from := 0; from < len(columns); blocks++ {
		from = p.fit(labels, columns, from)
	}
	return blocks * (len(rows) + 1)
}

// turned makes columns of rows. The first column, of shapes, becomes a row that says so.
func turned(rows []row) []row {
	out := make([]row, len(rows[0].cells))
	for i := range out {
		out[i] = row{label: rows[0].cells[i].text}
		for _, r := range rows[1:] {
			c := r.cells[i]
			c.words = false
			out[i].cells = append(out[i].cells, c)
		}
	}
	out[0].label = "shape"
	top := row{label: "iodepth", kind: head}
	for _, r := range rows[1:] {
		top.cells = append(top.cells, cell{text: r.label, kind: head})
	}
	return append([]row{top}, out...)
}

// lines is one load over iodepth: the shape of each line, then its points; a line to a row, or to a column where that is shorter.
func (p *printer) lines(panel analyse.Panel, t *table) {
	if len(panel.Columns) == 0 {
		return
	}
	metric := panel.Columns[0].Metric
	scale := metrics.Scale(metric, estimates(panel)...)
	title := strings.TrimPrefix(panel.Title+": ", ": ") + unitWords(metric, scale) + ", by iodepth" + better(metric)
	top := row{label: "", kind: head, cells: []cell{{text: "", words: true, kind: head}}}
	for _, c := range panel.Columns {
		top.cells = append(top.cells, cell{text: strconv.Itoa(c.IODepth), kind: head})
	}
	rows := []row{top}
	low, high := t.span(panel)
	for _, r := range panel.Rows {
		line := row{label: t.names.stack(r.Stack), cells: []cell{{text: spark(r.Values, low, high), words: true}}}
		for i, v := range r.Values {
			line.cells = append(line.cells, t.number(r.Stack, panel.Columns[i], v, scale, "±"))
		}
		rows = append(rows, line)
	}
	if down := turned(rows); len(panel.Rows) > 0 && p.height(down) < p.height(rows) {
		rows = down
	}
	p.panel(title, rows)
}

// columns are the rows of a table: a metric to a column, each in its own unit.
func (t *table) columns(panel analyse.Panel) []row {
	top := row{kind: head}
	scales := make([]unit.Scale, len(panel.Columns))
	for i, c := range panel.Columns {
		var all []stat.Estimate
		for _, r := range panel.Rows {
			if e := r.Values[i].Estimate; e != nil {
				all = append(all, *e)
			}
		}
		scales[i] = metrics.Scale(c.Metric, all...)
		top.cells = append(top.cells, cell{text: clean(unitWords(c.Metric, scales[i])), kind: head})
	}
	rows := []row{top}
	for _, r := range panel.Rows {
		line := row{label: t.names.stack(r.Stack)}
		for i, v := range r.Values {
			line.cells = append(line.cells, t.number(r.Stack, panel.Columns[i], v, scales[i], " ± "))
		}
		rows = append(rows, line)
	}
	return rows
}

// settings are the rows of effective settings.
func (t *table) settings(panel analyse.Panel) []row {
	top := row{kind: head}
	for _, c := range panel.Columns {
		top.cells = append(top.cells, cell{text: clean(c.Name), words: true, kind: head})
	}
	rows := []row{top}
	for _, r := range panel.Rows {
		line := row{label: t.names.stack(r.Stack)}
		for _, v := range r.Values {
			c := cell{text: clean(v.Text), words: true}
			switch {
			case v.Status != record.OK:
				c = cell{text: "n/a", words: true, notes: t.notes.mark(v.Reason), kind: faint}
			case c.text == "":
				c.text, c.kind = "-", faint
			}
			line.cells = append(line.cells, c)
		}
		rows = append(rows, line)
	}
	return rows
}

// number words a value in the scale of its column, with as many decimals as its interval deserves. The doubts of its
// cell are marked at its headline metric, and so is the reason of a value that is not there.
func (t *table) number(stack string, column analyse.Column, v analyse.PanelValue, scale unit.Scale, sign string) cell {
	c := t.cells[[2]string{stack, column.Workload}]
	if v.Estimate == nil {
		if v.Status != record.OK && c.Status == v.Status {
			return t.noNumber(c)
		}
		if v.Status == record.OK {
			return cell{text: "-", kind: faint}
		}
		return cell{text: clean(v.Status), notes: t.notes.mark(v.Reason), kind: faint}
	}
	out := cell{text: plusMinus(*v.Estimate, scale, sign)}
	if w := t.workloads[column.Workload]; column.Metric == analyse.Headline(w) && c.Status == record.OK {
		out.notes = t.notes.mark(c.Warnings...)
	}
	return out
}

// plusMinus is a value and the longer half of its interval; "~" and the value alone where that is as wide as the value, and
// the value alone where no interval is known, or none is wanted.
func plusMinus(e stat.Estimate, scale unit.Scale, sign string) string {
	half := max(e.Value-e.Low, e.High-e.Value)
	switch {
	case !e.Known(), half <= 0:
		return digits(e.Value / scale.Div)
	case wide(e):
		return "~" + digits(e.Value/scale.Div)
	}
	scale.Decimals = min(max(0, int(math.Ceil(-math.Log10(half/scale.Div/0.95)))), 3)
	return scale.Number(e.Value) + sign + scale.Number(half)
}

// wide reports whether an interval reaches further than the value itself; that of a share near 0 may.
func wide(e stat.Estimate) bool {
	half := max(e.Value-e.Low, e.High-e.Value)
	return e.Known() && half >= math.Abs(e.Value) && half >= 0.02
}

// digits prints a value in three digits, or as many as a whole number has.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a == 0:
		return "0"
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// unitWords is a metric with its unit: "bandwidth, MB/s".
func unitWords(metric string, s unit.Scale) string {
	if name := metrics.UnitName(metric, s); name != "" && !strings.HasPrefix(name, "per second") {
		return metrics.Title(metric) + ", " + name
	}
	return metrics.Title(metric)
}

func better(metric string) string {
	if b := metrics.Better(metric); b != metrics.Neither {
		return "; " + b + " is better"
	}
	return ""
}

func estimates(panel analyse.Panel) []stat.Estimate {
	var out []stat.Estimate
	for _, r := range panel.Rows {
		for _, v := range r.Values {
			if v.Estimate != nil {
				out = append(out, *v.Estimate)
			}
		}
	}
	return out
}

// span is the least and the greatest positive value of a panel, ceilings apart: one far above would press all others flat.
func (t *table) span(panel analyse.Panel) (low, high float64) {
	low = math.Inf(1)
	for _, r := range panel.Rows {
		for _, v := range r.Values {
			if e := v.Estimate; e != nil && !t.ceilings[r.Stack] && e.Value > 0 && !math.IsInf(e.Value, 0) {
				low, high = min(low, e.Value), max(high, e.Value)
			}
		}
	}
	return low, high
}

// spark draws a line in one character a point, on a log scale that all lines of a panel share; "·" where there is no number.
func spark(values []analyse.PanelValue, low, high float64) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	if !slices.ContainsFunc(values, func(v analyse.PanelValue) bool { return v.Estimate != nil }) {
		return ""
	}
	var b strings.Builder
	for _, v := range values {
		if v.Estimate == nil || !(v.Estimate.Value > 0) || !(high > 0) {
			b.WriteRune('·')
			continue
		}
		at := 1.0
		if high > low {
			at = math.Log(v.Estimate.Value/low) / math.Log(high/low)
		}
		b.WriteRune(steps[min(max(int(at*8), 0), 7)])
	}
	return b.String()
}

// bars are a group for each workload, one bar for each stack, on a scale of the group's own.
func (p *printer) bars(panel analyse.Panel, t *table) {
	p.hang("", "█ up to the lower end of the 95 % interval, ░ on to its upper end, ▒ up to a value known less well than that; each group has a scale of its own", faint)
	for i, column := range panel.Columns {
		p.blank()
		var all []stat.Estimate
		top := 0.0
		for _, r := range panel.Rows {
			if v := r.Values[i]; v.Estimate != nil {
				all, top = append(all, *v.Estimate), max(top, reach(*v.Estimate))
			}
		}
		scale := metrics.Scale(column.Metric, all...)
		p.hang("", t.long(column.Workload)+": "+unitWords(column.Metric, scale)+better(column.Metric), plain)
		p.group(t, panel, i, scale, top)
	}
	p.blank()
}

// long is the whole title of a workload: here it has a line of its own.
func (t *table) long(workload string) string {
	if title := t.workloads[workload].Title; title != "" {
		return title
	}
	return workload
}

// reach is how far a bar goes: to the upper end, where that is known well enough.
func reach(e stat.Estimate) float64 {
	if e.Known() && !wide(e) {
		return e.High
	}
	return e.Value
}

// group prints the bars of one workload; what has no number has its word in place of a bar.
func (p *printer) group(t *table, panel analyse.Panel, i int, scale unit.Scale, top float64) {
	labels, numbers := 0, 0
	values := make([]cell, len(panel.Rows))
	for j, r := range panel.Rows {
		values[j] = t.number(r.Stack, panel.Columns[i], r.Values[i], scale, " ± ")
		labels = max(labels, width(t.names.stack(r.Stack)))
		if r.Values[i].Estimate != nil {
			numbers = max(numbers, width(values[j].text))
		}
	}
	labels = min(labels, p.width/3)
	room := max(min(40, p.width-labels-numbers-30), 10)
	for j, r := range panel.Rows {
		v, c := r.Values[i], values[j]
		line := "  " + left(clip(t.names.stack(r.Stack), labels), labels) + "  "
		if v.Estimate == nil {
			p.line(line + p.paint(c.kind, c.text) + " " + c.notes)
			continue
		}
		line += left(drawBar(*v.Estimate, top, room), room) + "  " + right(c.text, numbers)
		if c.notes != "" {
			line += " " + c.notes
		}
		if v.BestOfN != nil {
			tail := fmt.Sprintf("best of %d: %s", v.BestOfN.N, digits(v.BestOfN.Headline/scale.Div))
			if width(line)+2+width(tail) <= p.width {
				line += "  " + p.paint(faint, tail)
			}
		}
		p.line(clip(line, p.width))
	}
}

func drawBar(e stat.Estimate, top float64, room int) string {
	low, high := e.Low, e.High
	if !e.Known() {
		low, high = e.Value, e.Value
	}
	if !(top > 0) {
		return ""
	}
	cells := func(v float64) int { return min(max(int(math.Round(v/top*float64(room))), 0), room) }
	if wide(e) {
		return strings.Repeat("▒", cells(e.Value))
	}
	full := cells(low)
	return strings.Repeat("█", full) + strings.Repeat("░", cells(high)-full)
}
