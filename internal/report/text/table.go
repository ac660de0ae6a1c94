package text

import (
	"fmt"
	"math"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// row is a line of the table: the head of the table is the first one.
type row struct {
	label   string
	cells   []cell
	ceiling bool
	beside  bool // a load on the host, and no guest's disk
	kind    kind // of the label
}

// cell is one entry: its text, right-aligned unless words, and the marks of its footnotes beside it.
type cell struct {
	text  string
	notes string
	words bool
	kind  kind
}

// tableRows makes the rows: the head, the host with absolute figures, the stacks as shares of it, the control,
// then the ceilings. There are none without workloads. A short table has no shares, where figures tell them.
func tableRows(r analyse.Result, names labels, notes *notes, short bool) []row {
	if len(r.Experiment.Workloads) == 0 || len(r.Cells) == 0 {
		return nil
	}
	t := tableOf(r, names, notes)
	if t.short = short; short {
		t.shown = nil
	}
	rows := []row{t.head()}
	for _, ceiling := range []bool{false, true} {
		for _, name := range displayOrder(r.StackOrder) {
			if t.ceilings[name] == ceiling {
				rows = append(rows, t.row(name))
			}
		}
	}
	return rows
}

// displayOrder puts the host first and its control last.
func displayOrder(stacks []string) []string {
	rank := func(s string) int { return map[string]int{spec.Host: -1, spec.Control: 1}[s] }
	out := slices.Clone(stacks)
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

// table is what the rows are made from.
type table struct {
	r        analyse.Result
	names    labels
	notes    *notes
	cells    map[[2]string]analyse.Cell
	found    map[string]record.Stack
	ceilings map[string]bool
	beside   map[string]bool

	workloads map[string]spec.Workload
	shown     []spec.Workload // that have a column in the table of shares
	short     bool            // none has
}

func tableOf(r analyse.Result, names labels, notes *notes) *table {
	t := &table{
		r: r, names: names, notes: notes, cells: map[[2]string]analyse.Cell{},
		found: map[string]record.Stack{}, ceilings: map[string]bool{}, beside: map[string]bool{},
		workloads: map[string]spec.Workload{}, shown: r.Experiment.Workloads,
	}
	for _, w := range r.Experiment.Workloads {
		t.workloads[w.Name] = w
	}
	for _, c := range r.Cells {
		t.cells[[2]string{c.Stack, c.Workload}] = c
	}
	for _, s := range r.Run.Stacks {
		t.found[s.Name] = s
	}
	for _, s := range r.Experiment.Stacks {
		t.ceilings[s.Name], t.beside[s.Name] = s.Ceiling() || s.Role == "ceiling", s.OnHost()
	}
	return t
}

func (t *table) head() row {
	out := row{label: "share of the host", kind: head}
	if t.short {
		out.label = "stack"
	}
	for _, w := range t.shown {
		out.cells = append(out.cells, cell{text: t.names.workload(w.Name), kind: head})
	}
	out.cells = append(out.cells, cell{text: "durability", words: true, kind: head}, cell{words: true})
	return out
}

func (t *table) row(stack string) row {
	out := row{label: t.names.stack(stack), ceiling: t.ceilings[stack], beside: t.beside[stack]}
	durability := t.found[stack].Durability
	for _, w := range t.shown {
		c, ok := t.cells[[2]string{stack, w.Name}]
		if !ok {
			out.cells = append(out.cells, cell{text: "not run", kind: faint})
			continue
		}
		durability = c.Durability
		out.cells = append(out.cells, t.cell(c, w))
	}
	if all := t.r.Experiment.Workloads; t.short && len(all) > 0 {
		durability = t.cells[[2]string{stack, all[0].Name}].Durability
	}
	remark := t.remark(stack)
	if out.kind = remark.kind; out.kind == faint {
		out.kind = plain
	}
	out.cells = append(out.cells, t.durability(stack, durability), remark)
	return out
}

// cell words one cell. A number that cannot be told from the host's, or that has no interval, is "~".
func (t *table) cell(c analyse.Cell, w spec.Workload) cell {
	metric := analyse.Headline(w)
	ratio := c.Ratio[metric]
	switch {
	case c.Status != record.OK:
		return t.noNumber(c)
	case c.Baseline && metric == record.Bandwidth:
		return cell{text: unit.Bandwidth(c.Metrics[metric].Value), notes: t.notes.mark(c.Warnings...)}
	case c.Baseline && w.Held():
		return cell{text: unit.Latency(c.Metrics[metric].Value), notes: t.notes.mark(append([]string{heldWords(c, w)}, c.Warnings...)...)}
	case c.Baseline:
		return cell{text: unit.IOPS(c.Metrics[metric].Value) + " IOPS", notes: t.notes.mark(c.Warnings...)}
	case !c.Differs || !ratio.Known():
		return cell{text: "~", notes: t.notes.mark(c.Warnings...)}
	}
	if w.Held() {
		return cell{text: unit.Times(ratio.Value, ratio.Low, ratio.High), notes: t.notes.mark(c.Warnings...)}
	}
	return cell{text: unit.Share(ratio.Value, ratio.Low, ratio.High), notes: t.notes.mark(c.Warnings...)}
}

// heldWords say what a column is whose load is held to a rate.
func heldWords(c analyse.Cell, w spec.Workload) string {
	return fmt.Sprintf("held to %s IOPS for all, %.0f %% of what the slowest stack reached: the column is the mean latency, as a multiple of the host's; less is better",
		unit.IOPS(c.Offered), 100*w.RateShare)
}

func (t *table) noNumber(c analyse.Cell) cell {
	reason := c.Reason
	if mend := t.found[c.Stack].Mend; c.Status == record.Unavailable && mend != "" {
		reason += "; to have it: " + mend
	}
	out := cell{text: c.Status, notes: t.notes.mark(append([]string{reason}, c.Warnings...)...), kind: loud}
	switch c.Status {
	case record.Failed:
		out.kind = bad
	case record.Unavailable:
		out.text, out.kind = "n/a", faint
	}
	return out
}

func (t *table) durability(stack, class string) cell {
	out := cell{text: class, words: true}
	if class != record.Durable {
		out.notes = t.notes.mark(t.found[stack].DurabilityWhy)
	}
	if class == record.Unsafe {
		out.kind = bad
	}
	return out
}

// remark says what place a stack has among the others.
func (t *table) remark(stack string) cell {
	best := t.r.Best
	switch {
	case stack == spec.Control && t.r.Noise.Known():
		return cell{text: "noise floor " + floor(t.r.Noise), words: true, kind: faint}
	case best != nil && stack == best.Stack:
		return cell{text: "best safe stack", words: true, kind: good}
	case best != nil && slices.Contains(best.Tied, stack):
		return cell{text: "not told from the best", words: true, kind: faint}
	}
	return cell{words: true}
}

// floor is the larger side of the noise floor: "± 2 %".
func floor(n analyse.Noise) string {
	return fmt.Sprintf("± %s", percent(max(n.High-1, 1-n.Low)))
}

// hopeless is a ratio beyond which more digits tell nothing more: a few rounds on a busy host give any number.
const hopeless = 10

// percent prints a small ratio with one digit below 10 %, and never less than it is.
func percent(ratio float64) string {
	if ratio >= hopeless {
		return "more than 1000 %"
	}
	if p := 100 * ratio; p < 9.95 {
		return fmt.Sprintf("%.1f %%", math.Ceil(10*p-1e-6)/10)
	}
	return fmt.Sprintf("%.0f %%", math.Ceil(100*ratio-1e-6))
}
