package plan

import (
	"slices"
	"time"

	"github.com/iotax/iotax/internal/spec"
)

// Make plans an experiment. The same experiment and seed give the same plan, on every machine. The error
// is that of spec.Validate.
//
// Stacks are grouped into the fewest guests. One group gets the experiment's boots; several get at least
// two each, in the order A B B A, so that what drifts in the course of a run, and what differs from boot
// to boot, is not taken for a difference of the groups. The budget is split over the boots in proportion
// to their cells.
func Make(e spec.Experiment, seed uint64) (Plan, error) {
	if err := spec.Validate(e); err != nil {
		return Plan{}, err
	}
	e = spec.Complete(e)
	p := Plan{Experiment: e, Seed: seed, Groups: group(e)}
	p.Boots = boots(p)
	return p, nil
}

func boots(p Plan) []Boot {
	passes := p.Experiment.Boots
	if len(p.Groups) > 1 {
		passes = max(passes, 2)
	}
	var all []Boot
	total := 0
	for pass := range passes {
		order := make([]int, len(p.Groups))
		for i := range order {
			order[i] = i
		}
		if pass%2 == 1 {
			slices.Reverse(order)
		}
		for _, g := range order {
			all = append(all, Boot{Index: len(all), Group: g})
			total += p.cells(g)
		}
	}
	left := p.Experiment.Budget
	for i := range all { // each takes its share of what is left, so that the shares add up to the budget
		n := p.cells(all[i].Group)
		all[i].Budget = time.Duration(float64(left) * float64(n) / float64(total))
		if n == total {
			all[i].Budget = left
		}
		left, total = left-all[i].Budget, total-n
	}
	return all
}

// Visits names what a round of a group visits under a workload: the host, its control, and the stacks that are measured
// under it.
func (p Plan) Visits(group int, w spec.Workload) []string {
	names := []string{spec.Host, spec.Control}
	for _, s := range p.Groups[group].Stacks {
		if s.Skips(w) == "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// cells is how many cells a round of a group visits.
func (p Plan) cells(group int) int {
	n := 0
	for _, w := range p.Experiment.Workloads {
		n += len(p.Visits(group, w))
	}
	return n
}
