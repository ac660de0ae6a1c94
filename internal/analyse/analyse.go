package analyse

import (
	"slices"

	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Analyse turns the windows of a run, complete or still running, into all that a report shows. The
// windows may come in any order and are not changed; those that are marked to be discarded count
// for the efficiency only.
func Analyse(run record.Run, exp spec.Experiment, windows []record.Window) Result {
	return analyse(run, exp, windows, true)
}

// Estimates is Analyse without latencies, verdicts, figures and explanation: cells have IOPS and bandwidth only. Merging histograms
// is most of the work, and a live view that is drawn again after each block shows none of them.
func Estimates(run record.Run, exp spec.Experiment, windows []record.Window) Result {
	return analyse(run, exp, windows, false)
}

func analyse(run record.Run, exp spec.Experiment, windows []record.Window, whole bool) Result {
	t := newTable(run, exp, windows)
	t.findTrends()
	t.judgeAll(whole)
	t.estimate()
	res := Result{Run: run, Experiment: exp, StackOrder: t.stacks, Warnings: slices.Clone(run.Warnings)}
	res.Noise = t.noise()
	res.Warnings = append(res.Warnings, t.noiseWarnings(res.Noise)...)
	res.Warnings = append(res.Warnings, t.emptyWarnings()...)
	res.Warnings = append(res.Warnings, t.widthWarnings()...)
	res.Warnings = append(res.Warnings, t.bootWarnings()...)
	res.Warnings = append(res.Warnings, t.driftWarnings()...)
	res.Warnings = append(res.Warnings, t.sizeWarnings()...)
	t.decideDiffers(res.Noise)
	var warnings []string
	res.Best, warnings = t.best()
	res.Warnings = append(res.Warnings, warnings...)
	if res.Best != nil {
		res.Gains = t.gains(res.Best.Stack)
	}
	if whole {
		t.derive()
		res.Verdicts, res.Figures = t.verdicts(res.Noise), t.figures()
		res.Explanation = t.explain()
	}
	for _, c := range t.order {
		res.Cells = append(res.Cells, c.Cell)
	}
	res.Efficiency, res.TimedShare = efficiency(run.Host.BootSeconds, windows)
	return res
}

// table is the work in hand: every cell of the experiment with its windows.
type table struct {
	run    record.Run
	exp    spec.Experiment
	stacks []string
	intent map[string]spec.Stack
	found  map[string]record.Stack
	cells  map[key]*cell
	order  []*cell
	least  int // rounds that were asked for

	between map[family]stat.Between          // filled by estimate
	plain   map[string]map[bool]stat.Between // of derived metrics, of guests or without them; filled by derive
	aparts  map[key]stat.Between             // filled by apartUnder, by stack and metric
}

type key struct{ stack, workload string }

// cell is a Cell with the windows behind it.
type cell struct {
	Cell
	workload     spec.Workload
	guest        bool // a guest runs its load; it has boots that differ, as the host and loads beside it do not
	ceiling      bool
	mismatch     bool                   // the stack is not what it should be
	compressible float64                // share of the experiment's data that compresses to nothing
	changing     bool                   // what is written changes the volume's state, as was asked for
	compress     float64                // ratio of the volume's storage, 0 where that is not known
	trend        float64                // change of pace inside its windows, as a share; 0 where none is claimed
	agreed       bool                   // on that change: enough windows for more than a footnote
	counted      []*record.Window       // all but the discarded ones, by round
	good         []*record.Window       // those with a number, one per round, by round
	pairs        []pair                 // with the host's of the same round; none for the host itself
	series       stat.Series            // log of the headline ratio, only when the cell is OK
	wanted       []wanted               // its estimates until they are made
	logged       map[logsOf]stat.Series // filled by byRound
	merged       []hist.Bin             // histograms of all its good windows; of a host that is OK, filled by latencies
}

// pair is two windows of one round and workload.
type pair struct{ this, host *record.Window }

func newTable(run record.Run, exp spec.Experiment, windows []record.Window) *table {
	t := &table{run: run, exp: exp, least: exp.Stopping().Least, intent: map[string]spec.Stack{}, found: map[string]record.Stack{}, cells: map[key]*cell{}}
	t.plain, t.aparts = map[string]map[bool]stat.Between{}, map[key]stat.Between{}
	t.stacks = []string{spec.Host, spec.Control}
	for _, s := range exp.Stacks {
		t.intent[s.Name] = s
		t.stacks = append(t.stacks, s.Name)
	}
	for _, s := range run.Stacks {
		t.found[s.Name] = s
	}
	for _, s := range t.stacks {
		for _, w := range exp.Workloads {
			t.add(s, w)
		}
	}
	for i := range windows {
		w := &windows[i]
		if c := t.cells[key{w.Stack, w.Workload}]; c != nil && !w.Discard {
			c.counted = append(c.counted, w)
		}
	}
	for _, c := range t.order {
		c.sort()
	}
	for _, c := range t.order {
		if !c.Baseline {
			c.pairs = match(c.good, t.host(c).good)
		}
	}
	return t
}

func (t *table) add(stack string, w spec.Workload) {
	c := &cell{workload: w, guest: t.guest(stack), ceiling: t.ceiling(stack)}
	c.Stack, c.Workload, c.Baseline = stack, w.Name, stack == spec.Host
	c.Durability = t.found[stack].Durability
	c.mismatch = len(t.found[stack].Mismatch) > 0
	c.changing, c.compressible = changes(t.intent[stack]), t.exp.Compressible
	c.compress, _ = t.compressRatio(stack)
	if c.Durability == "" {
		c.Durability = record.Unknown
	}
	t.cells[key{stack, w.Name}] = c
	t.order = append(t.order, c)
}

func (t *table) host(c *cell) *cell { return t.cells[key{spec.Host, c.Workload}] }

func (t *table) ceiling(stack string) bool {
	return t.intent[stack].Ceiling() || t.role(stack) == "ceiling"
}

func (t *table) role(stack string) string {
	if r := t.intent[stack].Role; r != "" {
		return r
	}
	return t.found[stack].Role
}

// sort puts the counted windows in the order of their rounds and picks those that have a number. Where a
// round has two of the cell, as after a resumed run, the later one stands.
func (c *cell) sort() {
	slices.SortStableFunc(c.counted, func(a, b *record.Window) int { return a.Round - b.Round })
	for _, w := range c.counted {
		if !hasNumber(w, c.workload) {
			continue
		}
		if n := len(c.good); n > 0 && c.good[n-1].Round == w.Round {
			c.good[n-1] = w
			continue
		}
		c.good = append(c.good, w)
	}
}

// hasNumber reports whether a window has a headline figure; one that ended well without a single I/O has none.
func hasNumber(w *record.Window, load spec.Workload) bool {
	return w.Status == record.OK && w.Metrics[Headline(load)] > 0
}

// match pairs windows by round; both lists ascend.
func match(these, hosts []*record.Window) []pair {
	var out []pair
	for i, j := 0, 0; i < len(these) && j < len(hosts); {
		switch a, b := these[i], hosts[j]; {
		case a.Round < b.Round:
			i++
		case a.Round > b.Round:
			j++
		default:
			out = append(out, pair{a, b})
			i, j = i+1, j+1
		}
	}
	return out
}

// decideDiffers marks the cells whose headline ratio differs from 1: after Benjamini and Hochberg's correction
// over all cells of the report, and by more than the host differs from itself under the same workload.
func (t *table) decideDiffers(noise Noise) {
	var cells []*cell
	var p []float64
	for _, c := range t.order {
		if len(c.series) > 1 {
			cells = append(cells, c)
			p = append(p, t.ratios(c).PValue(c.series))
		}
	}
	for i, q := range stat.BenjaminiHochberg(p) {
		c := cells[i]
		ratio := c.Ratio[Headline(c.workload)].Value
		band, known := noise.ByWorkload[c.Workload]
		c.Differs = q <= alpha && known && (ratio < band.Low || ratio > band.High)
	}
}

// alpha is the share of false differences that a report may hold.
const alpha = 0.05
