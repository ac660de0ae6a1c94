package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

const (
	tableTop  = 3  // rows above the first stack: an empty one and two of the head
	minColumn = 12 // "11.2 % ± 0.7", "312.4 MB/s": so that columns keep their places when figures arrive
	maxHead   = 14
	gap       = 2
)

// text is one entry of the table.
type text struct {
	string
	kind kind
}

// column is one workload: two lines of its title, and an entry for each row.
type column struct {
	top, bottom string
	cells       []text
	width       int
}

// table shows the estimates: stacks as rows, workloads as columns, shares of the host. It takes at most rows
// lines, and says what does not fit.
func (f frame) table(rows int) []string {
	room := rows - tableTop
	if room < 2 || len(f.exp.Workloads) == 0 {
		return nil
	}
	stacks := f.stackOrder()
	columns := f.makeColumns(stacks)
	labels := f.labelWidth(stacks)
	shown := f.fit(labels, columns)
	if shown < len(columns) || len(stacks) > room {
		room-- // what is left out is said in a line of its own
	}
	height := min(len(stacks), room)
	out := append([]string{""}, f.heads(labels, columns[:shown])...)
	for i, stack := range stacks[:height] {
		line := left(f.names.label(stack, labels), labels)
		for _, c := range columns[:shown] {
			line += strings.Repeat(" ", gap+c.width-width(c.cells[i].string)) + f.paint(c.cells[i].kind, c.cells[i].string)
		}
		out = append(out, line)
	}
	return append(out, f.more(len(columns)-shown, len(stacks)-height)...)
}

// stackOrder puts the host first, and the control, the loads on the host and the ceilings last.
func (f frame) stackOrder() []string {
	out := []string{spec.Host}
	var beside, ceilings []string
	for _, s := range f.exp.Stacks {
		switch {
		case s.OnHost():
			beside = append(beside, s.Name)
		case s.Ceiling() || s.Role == "ceiling":
			ceilings = append(ceilings, s.Name)
		default:
			out = append(out, s.Name)
		}
	}
	return slices.Concat(out, []string{spec.Control}, beside, ceilings)
}

func (f frame) makeColumns(stacks []string) []column {
	cells := map[[2]string]analyse.Cell{}
	if f.result != nil {
		for _, c := range f.result.Cells {
			cells[[2]string{c.Stack, c.Workload}] = c
		}
	}
	var out []column
	for _, w := range f.exp.Workloads {
		c := column{width: minColumn}
		c.top, c.bottom = split(f.names.workload(w.Name))
		c.width = max(c.width, width(c.top), width(c.bottom))
		for _, stack := range stacks {
			t := entry(cells[[2]string{stack, w.Name}], w)
			c.width = max(c.width, width(t.string))
			c.cells = append(c.cells, t)
		}
		out = append(out, c)
	}
	return out
}

// entry words one cell: "·" where nothing is known, "~" where it cannot be told from the host yet.
func entry(c analyse.Cell, w spec.Workload) text {
	metric := analyse.Headline(w)
	ratio := c.Ratio[metric]
	switch {
	case c.Status == "", c.Status == record.Withheld && c.Rounds == 0:
		return text{"·", faint}
	case c.Status == record.Unavailable:
		return text{"n/a", faint}
	case c.Status == record.Failed:
		return text{c.Status, bad}
	case c.Status != record.OK:
		return text{c.Status, loud}
	case c.Baseline && metric == record.Bandwidth:
		return text{unit.Bandwidth(c.Metrics[metric].Value), plain}
	case c.Baseline && w.Held():
		return text{unit.Latency(c.Metrics[metric].Value), plain}
	case c.Baseline:
		return text{unit.IOPS(c.Metrics[metric].Value) + " IOPS", plain}
	case !c.Differs || !ratio.Known():
		return text{"~", faint}
	case w.Held():
		return text{unit.Times(ratio.Value, ratio.Low, ratio.High), plain}
	}
	return text{unit.Share(ratio.Value, ratio.Low, ratio.High), plain}
}

// split breaks a title at the blank that leaves the narrowest two lines.
func split(title string) (top, bottom string) {
	bottom = title
	for i, r := range title {
		if r != ' ' {
			continue
		}
		a, b := title[:i], title[i+1:]
		if top == "" && b != "" || max(width(a), width(b)) < max(width(top), width(bottom)) {
			top, bottom = a, b
		}
	}
	return cut(top, maxHead), cut(bottom, maxHead)
}

// labelWidth is that of the longest title, where that leaves most of the line to the figures.
func (f frame) labelWidth(stacks []string) int {
	room := max(16, 3*f.columns/10)
	longest := width(corner)
	for _, s := range stacks {
		longest = max(longest, width(f.names.label(s, room)))
	}
	return min(longest, room)
}

// fit is how many columns have room beside the labels.
func (f frame) fit(labels int, columns []column) int {
	used := labels
	for i, c := range columns {
		used += gap + c.width
		if used > f.columns {
			return i
		}
	}
	return len(columns)
}

const corner = "share of the host"

func (f frame) heads(labels int, columns []column) []string {
	top, bottom := left("", labels), left(f.paint(head, cut(corner, labels)), labels)
	for _, c := range columns {
		top += strings.Repeat(" ", gap) + f.paint(head, right(c.top, c.width))
		bottom += strings.Repeat(" ", gap) + f.paint(head, right(c.bottom, c.width))
	}
	return []string{top, bottom}
}

// more says what a larger window would show.
func (f frame) more(workloads, stacks int) []string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{workloads, "workload"}, {stacks, "stack"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "+1 more "+p.what)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("+%d more %ss", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{f.paint(faint, strings.Join(parts, ", "))}
}
