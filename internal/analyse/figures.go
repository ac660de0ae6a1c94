package analyse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// figures makes the experiment's figures.
func (t *table) figures() []Figure {
	out := make([]Figure, 0, len(t.exp.Figures))
	for _, f := range t.exp.Figures {
		fig := Figure{Title: f.Title, Kind: f.Kind}
		workloads := t.workloadsOf(f)
		switch f.Kind {
		case spec.Lines:
			for _, load := range byLoad(workloads) {
				fig.Panels = append(fig.Panels, t.panel(f, loadTitle(load[0]), columnsOf(f.Metric, load)))
			}
		case spec.Bars:
			fig.Panels = []Panel{t.panel(f, "", columnsOf(f.Metric, workloads))}
		case spec.Table:
			for _, w := range workloads {
				var columns []Column
				for _, m := range f.Columns {
					columns = append(columns, Column{Name: m, Workload: w.Name, Metric: m, IODepth: w.IODepth})
				}
				fig.Panels = append(fig.Panels, t.panel(f, w.Title, columns))
			}
		case spec.Settings:
			fig.Panels = []Panel{t.settings(f)}
		case spec.Ladder:
			fig.Ladder = t.ladder(f, workloads)
		}
		if len(fig.Panels) == 1 {
			fig.Panels[0].Title = ""
		}
		out = append(out, fig)
	}
	return out
}

func (t *table) workloadsOf(f spec.Figure) []spec.Workload {
	names := t.named(f.Workloads...)
	return slices.DeleteFunc(slices.Clone(t.exp.Workloads), func(w spec.Workload) bool { return !slices.Contains(names, w.Name) })
}

// stacksOf lists the stacks of a figure, the host first; its control only where it is asked for.
func (t *table) stacksOf(f spec.Figure) []string {
	if len(f.Stacks) == 0 {
		return slices.DeleteFunc(slices.Clone(t.stacks), func(s string) bool { return s == spec.Control })
	}
	return spec.Match(f.Stacks, t.stacks)
}

// byLoad gathers the workloads that differ in their iodepth alone.
func byLoad(workloads []spec.Workload) [][]spec.Workload {
	var loads []spec.Workload
	var out [][]spec.Workload
	for _, w := range workloads {
		load := w
		load.Name, load.Title, load.IODepth = "", "", 0
		i := slices.Index(loads, load)
		if i < 0 {
			i, loads, out = len(loads), append(loads, load), append(out, nil)
		}
		out[i] = append(out[i], w)
	}
	for _, load := range out {
		slices.SortStableFunc(load, func(a, b spec.Workload) int { return a.IODepth - b.IODepth })
	}
	return out
}

// loadTitle is the title of a workload without its iodepth.
func loadTitle(w spec.Workload) string {
	title := w.Title
	for _, depth := range []string{", iodepth %d", " iodepth %d", ", q%d", " q%d"} {
		title = strings.TrimSuffix(title, fmt.Sprintf(depth, w.IODepth))
	}
	return title
}

func columnsOf(metric string, workloads []spec.Workload) []Column {
	out := make([]Column, len(workloads))
	for i, w := range workloads {
		out[i] = Column{Name: w.Name, Workload: w.Name, Metric: metric, IODepth: w.IODepth}
		if metric == "" {
			out[i].Metric = Headline(w)
		}
	}
	return out
}

func (t *table) panel(f spec.Figure, title string, columns []Column) Panel {
	p := Panel{Title: title, Columns: columns}
	for _, s := range t.stacksOf(f) {
		row := PanelRow{Stack: s}
		for _, c := range columns {
			v := t.value(t.cells[key{s, c.Workload}], c.Metric)
			if f.Best && v.Estimate != nil {
				v.BestOfN = t.cells[key{s, c.Workload}].bestAs(c.Metric)
			}
			row.Values = append(row.Values, v)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// value is a metric of a cell, or the reason why it has none.
func (t *table) value(c *cell, metric string) PanelValue {
	if e, ok := c.Derived[metric]; ok && c.Status != record.Unavailable {
		return PanelValue{Estimate: &e, Status: record.OK}
	}
	if c.Status != record.OK {
		return PanelValue{Status: c.Status, Reason: c.Reason + mending(t.found[c.Stack].Mend)}
	}
	e, ok := c.Metrics[metric]
	if !ok {
		return PanelValue{Status: record.OK, Reason: "not counted here"}
	}
	return PanelValue{Estimate: &e, Status: record.OK}
}

// bestAs is the best of a cell's rounds in the unit of a metric: IOPS and bandwidth turn into each other where all
// blocks are of one size. nil when it cannot be told.
func (c *cell) bestAs(metric string) *BestOfN {
	head := Headline(c.workload)
	if c.BestOfN == nil || metric == head {
		return c.BestOfN
	}
	best := *c.BestOfN
	switch {
	case c.workload.BSSplit != "":
		return nil
	case head == record.IOPS && metric == record.Bandwidth:
		best.Headline *= float64(c.workload.BS)
	case head == record.Bandwidth && metric == record.IOPS:
		best.Headline /= float64(c.workload.BS)
	default:
		return nil
	}
	return &best
}

// settings is a panel of what was really in force: by QEMU and the kernels, else by the storage.
func (t *table) settings(f spec.Figure) Panel {
	p := Panel{}
	for _, name := range f.Columns {
		p.Columns = append(p.Columns, Column{Name: name})
	}
	for _, s := range t.stacksOf(f) {
		row, found := PanelRow{Stack: s}, t.found[s]
		for _, name := range f.Columns {
			row.Values = append(row.Values, setting(found, name))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func setting(found record.Stack, name string) PanelValue {
	if found.Unavailable != "" {
		return PanelValue{Status: record.Unavailable, Reason: found.Unavailable + mending(found.Mend)}
	}
	text := found.Effective[name]
	if text == "" && found.Volume != nil {
		text = found.Volume.Properties[name]
	}
	return PanelValue{Text: text, Status: record.OK}
}
