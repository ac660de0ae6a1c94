package html

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// explained is where the tax goes and what it costs. A part that the run tells nothing of is empty, and has no section.
type explained struct {
	Bills    *billsView
	Ceilings *ceilingsView
	Prices   *pricesView
	Fronts   frontsView
	Device   *deviceView
	Curves   *curvesView
}

// Why and Cost report whether there is anything to put into their sections.
func (e explained) Why() bool  { return e.Bills != nil || e.Ceilings != nil }
func (e explained) Cost() bool { return e.Prices != nil || len(e.Fronts.Drawn) > 0 }

func explainOf(x index, e *analyse.Explanation) explained {
	out := explained{Device: deviceOf(x)}
	if e == nil {
		return out
	}
	chosen := chosenWorkload(x, e)
	out.Bills = billsOf(x, e, chosen)
	out.Ceilings = ceilingsOf(x, e, chosen)
	out.Prices = pricesOf(x, e)
	out.Fronts = frontsOf(x, e)
	out.Curves = curvesOf(x, e)
	return out
}

// chosenWorkload is the one under which bills are drawn first: the first of those under which most stacks have one.
func chosenWorkload(x index, e *analyse.Explanation) string {
	count := map[string]int{}
	for _, b := range e.Bills {
		if b.Reason == "" {
			count[b.Workload]++
		}
	}
	chosen := ""
	for _, w := range x.workloads {
		if chosen == "" || count[w.Name] > count[chosen] {
			chosen = w.Name
		}
	}
	return chosen
}

// order is where a workload stands in the experiment; one that is not in it stands last.
func (x index) order(workload string) int {
	if i := slices.IndexFunc(x.workloads, func(w spec.Workload) bool { return w.Name == workload }); i >= 0 {
		return i
	}
	return len(x.workloads)
}

// byWorkload sorts things by workload, first those of one, and keeps their order under each.
func byWorkload[T any](x index, first string, things []T, workload func(T) string) []T {
	out := slices.Clone(things)
	rank := func(t T) int {
		if workload(t) == first {
			return -1
		}
		return x.order(workload(t))
	}
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// between prints an interval; one that reaches below 0 has "to", for a dash beside a minus cannot be read.
func between(e stat.Estimate, low, high string) string {
	switch {
	case !e.Known():
		return unknown
	case e.Low < 0:
		return low + " to " + high
	}
	return low + dash + high
}

var microseconds = regexp.MustCompile(`(\d) us\b`)

// microIn writes microseconds in a sentence as they are written where there is more than ASCII.
func microIn(sentence string) string {
	return microseconds.ReplaceAllString(sentence, "$1"+thin+"\u00b5s")
}

// partOf prints a share and its interval where both may be below 0; of one that is hardly known what unit.Part says.
func partOf(e stat.Estimate) figureValue {
	if vague := unit.VaguePart(e.Low, e.High); vague != "" {
		return figureValue{Text: strings.NewReplacer("-", minus, " %", thin+"%").Replace(vague)}
	}
	d := deserved(e)
	return figureValue{fixed(100*e.Value, d) + thin + "%", between(e, fixed(100*e.Low, d), fixed(100*e.High, d))}
}
