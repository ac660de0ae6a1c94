package analyse

import (
	"fmt"
	"math"
	"slices"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// ladder makes the itemised bill. The steps together are taken between neighbours that have numbers, all under the same
// workloads, and their values from one location for each stack: so the factors multiply up to the total exactly, and the
// shares of its log add up to 1. Intervals are at 95 %, each for itself.
func (t *table) ladder(f spec.Figure, workloads []spec.Workload) *LadderBill {
	b := bill{table: t, metric: f.Metric, LadderBill: &LadderBill{Base: f.Base, Top: f.Base, Metric: f.Metric}}
	steps := completed(f)
	b.choose(f, steps, workloads)
	if len(b.Workloads) == 0 {
		b.Reason = "no workload has a number of the base and of a step: " + sentence(b.LeftOut)
	}
	below, across := f.Base, []string(nil)
	for _, s := range steps {
		step := LadderStep{Title: s.Title, Alone: b.worth(s.Alone, f.Base), Together: b.worth(s.Together, below)}
		switch {
		case s.Together == "":
		case step.Together.Factor == nil:
			across = append(across, s.Title)
		default:
			step.Together.Across, across = across, nil
			*step.Together.Factor = step.Together.Factor.Recentred(b.over(s.Together) / b.over(below))
			b.Top, below = s.Together, s.Together
		}
		b.Steps = append(b.Steps, step)
	}
	b.without(steps)
	b.total()
	return b.LadderBill
}

// bill is a ladder in the making.
type bill struct {
	*LadderBill
	*table
	metric string
	asked  []string // names of workloads
}

// completed gives the first step alone and the last one's absence the stacks that they are by definition.
func completed(f spec.Figure) []spec.Step {
	steps := slices.Clone(f.Steps)
	below, first := f.Base, true
	last, before := -1, ""
	for i := range steps {
		s := &steps[i]
		if s.Together == "" {
			continue
		}
		if first && s.Alone == "" {
			s.Alone = s.Together
		}
		before, below, last, first = below, s.Together, i, false
	}
	if last >= 0 && steps[last].Without == "" {
		steps[last].Without = before
	}
	return steps
}

// choose picks the workloads under which the base and every step together have a number. A stack that has none at all is
// a gap in the ladder and asks for nothing.
func (b *bill) choose(f spec.Figure, steps []spec.Step, workloads []spec.Workload) {
	stacks := []string{f.Base}
	for _, s := range steps {
		if s.Together != "" && slices.ContainsFunc(workloads, func(w spec.Workload) bool { return b.why(s.Together, w.Name) == "" }) {
			stacks = append(stacks, s.Together)
		}
	}
	for _, w := range workloads {
		b.asked = append(b.asked, w.Name)
		why := ""
		for _, s := range stacks {
			if why = b.why(s, w.Name); why != "" {
				break
			}
		}
		if why == "" {
			b.Workloads = append(b.Workloads, w.Name)
		} else {
			b.LeftOut = append(b.LeftOut, why)
		}
	}
}

func (b *bill) why(stack, workload string) string {
	return b.whyNot(b.cells[key{stack, workload}], b.metric)
}

// whyNone says why a stack has no number under the ladder's workloads, "" when it has them all.
func (b *bill) whyNone(stack string) string {
	var reasons []string
	workloads := b.Workloads
	if len(workloads) == 0 {
		workloads = b.asked
	}
	for _, w := range workloads {
		if why := b.why(stack, w); why != "" {
			reasons = append(reasons, why)
		}
	}
	if len(b.Workloads) == 0 && len(reasons) == 0 {
		return "no workload has a number of every stack of the ladder"
	}
	return sentence(reasons)
}

// parts is the geometric mean over the ladder's workloads of a stack.
func (b *bill) parts(stack string) []part {
	var cells []*cell
	for _, w := range b.Workloads {
		cells = append(cells, b.cells[key{stack, w}])
	}
	return mean(cells)
}

// worth is the factor of one stack over another.
func (b *bill) worth(stack, below string) Worth {
	w := Worth{Stack: stack}
	if stack == "" {
		return w
	}
	found := b.found[stack]
	if found.Unavailable != "" {
		w.Reason, w.Mend = found.Unavailable, found.Mend
		return w
	}
	if w.Reason = b.whyNone(stack); w.Reason != "" {
		return w
	}
	if w.Reason = b.whyNone(below); w.Reason != "" {
		return w
	}
	e := b.product(b.metric, times(b.parts(stack), inverse(b.parts(below)))).estimate(1 - alpha)
	if e.Value > 0 {
		w.Factor = &e
	}
	return w
}

// over is the value of a stack over the base.
func (b *bill) over(stack string) float64 {
	if stack == b.Base {
		return 1
	}
	return b.product(b.metric, times(b.parts(stack), inverse(b.parts(b.Base)))).estimate(1 - alpha).Value
}

// without says what each step is worth at the top of the ladder.
func (b *bill) without(steps []spec.Step) {
	planned := b.Base
	for _, s := range steps {
		if s.Together != "" {
			planned = s.Together
		}
	}
	for i, s := range steps {
		w := &b.Steps[i].Without
		if s.Without == "" {
			continue
		}
		*w = b.worth(s.Without, s.Without) // for the reason why it has none
		if w.Stack = s.Without; w.Reason != "" {
			continue
		}
		if w.Factor = nil; b.Top != planned {
			w.Reason = "the top of the ladder has no number: nothing to take the step from"
			continue
		}
		*w = b.worth(b.Top, s.Without)
		w.Stack = s.Without
	}
}

// total sums the bill up.
func (b *bill) total() {
	if b.Top == b.Base {
		if b.Reason == "" {
			b.Reason = "no step of the ladder has a number"
		}
		return
	}
	b.Total = b.worth(b.Top, b.Base).Factor
	if b.Total == nil {
		b.Reason = "the top cannot be compared with the base"
		return
	}
	alone := b.parts(b.Top)
	alone = times(alone, inverse(b.parts(b.Base)))
	missing := ""
	for i := range b.Steps {
		s := &b.Steps[i]
		if s.Together.Factor == nil {
			continue
		}
		if !b.Total.Contains(1) {
			share := math.Log(s.Together.Factor.Value) / math.Log(b.Total.Value)
			s.Share = &share
		}
		if s.Alone.Factor == nil || len(s.Together.Across) > 0 {
			missing = s.Title
			continue
		}
		alone = times(alone, inverse(b.parts(s.Alone.Stack)), b.parts(b.Base))
	}
	switch {
	case missing != "":
		b.Reason = fmt.Sprintf("no interaction can be told: %q has no number of its own alone", missing)
	case len(alone) == 0: // a single step
		one := stat.Estimate{Value: 1, Low: 1, High: 1}
		b.Interaction = &one
	default:
		e := b.product(b.metric, alone).estimate(1 - alpha)
		b.Interaction = &e
	}
}
