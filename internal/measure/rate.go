package measure

import (
	"fmt"
	"math"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// rate is the IOPS that a held workload is offered in a boot, its share of what the slowest stack reached in its
// priming windows, which are as fast as they go. It is one rate for the whole run, the host and its control included, or
// stacks of different boots could not be compared; so it is 0, which is not known, until every group has been primed, and
// what the first window was held to stands from then on, after an interruption too.
//
// It is a whole number for each job, as fio takes it.
func (r *runner) rate(b plan.Boot, load spec.Workload) float64 {
	if offered := r.rates[load.Name]; offered > 0 {
		return offered
	}
	slowest := r.slowest(load.Name)
	if b.Index < r.Plan.AllPrimed() || slowest == 0 {
		return 0
	}
	jobs := float64(load.Jobs())
	return jobs * max(math.Floor(load.RateShare*slowest/jobs), 1)
}

// slowest is the least IOPS that a stack reached as fast as it goes, each at its best, since a guest that was just
// started is slow at first; 0 when none reached any.
func (r *runner) slowest(workload string) float64 {
	least := 0.0
	for _, stack := range r.Plan.Experiment.Stacks {
		best := 0.0
		for w := range r.of(plan.Key{Stack: stack.Name, Workload: workload}) {
			if w.Discard && w.Status == record.OK {
				best = max(best, w.Metrics[record.IOPS])
			}
		}
		if best > 0 && (least == 0 || best < least) {
			least = best
		}
	}
	return least
}

// hold gives the windows of held loads their rate.
func (r *runner) hold(b plan.Boot, windows []plan.Window) {
	for i := range windows {
		if load := r.workloads[windows[i].Workload]; load.Held() {
			windows[i].Rate = r.rate(b, load)
		}
	}
}

// warnUnheld says once that a held load has no rate where it should have one.
func (r *runner) warnUnheld(b plan.Boot) {
	for _, load := range r.Plan.Experiment.Workloads {
		if load.Held() && b.Index == r.Plan.AllPrimed() && r.rate(b, load) == 0 {
			r.Config.Run.Warnings = append(r.Config.Run.Warnings,
				fmt.Sprintf("what %s is to be held to is not known: no stack had a figure when the guests were primed", load.Name))
		}
	}
}

// heldEnough reports whether a held workload has its rounds: min_rounds in all, a pair in each boot. It has no stopping
// rule that looks at figures: its speed is given, and what is read off it, latency and CPU, moves less from round to round.
func (r *runner) heldEnough(boot plan.Boot, load spec.Workload) bool {
	for _, stack := range r.Plan.Visits(boot.Group, load) {
		rounds := 0
		for w := range r.of(plan.Key{Stack: stack, Workload: load.Name}) {
			if !w.Discard {
				rounds++
			}
		}
		if rounds < r.Plan.Experiment.MinRounds {
			return false
		}
	}
	return true
}
