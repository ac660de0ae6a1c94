package measure

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// enough reports whether a boot need not measure a workload again: it is decided, or has had all its rounds. A round
// that was cut short does not count as one.
func (r *runner) enough(boot plan.Boot, workload string) bool {
	cells := map[int]int{}
	for _, w := range r.windows {
		if w.Boot == boot.Index && w.Workload == workload && !w.Discard {
			cells[w.Round]++
		}
	}
	whole := 0
	for _, n := range cells {
		if n == len(r.Plan.Visits(boot.Group, r.workloads[workload])) {
			whole++
		}
	}
	return whole >= r.Plan.Experiment.MaxRounds || r.decided(boot, workload)
}

// decided reports whether, in a boot's group, every cell of a workload is known as precisely as was asked: the
// stopping rule, declared beforehand, looks at the width of intervals and never at what they say. A boot that was
// planned gives a pair of rounds at least, so that what differs between boots is in the intervals.
func (r *runner) decided(boot plan.Boot, workload string) bool {
	exp := r.Plan.Experiment
	metric := analyse.Headline(r.workloads[workload])
	base := r.values(plan.Key{Stack: spec.Host, Workload: workload}, metric)
	if r.roundsIn(boot.Index, workload) < 2 {
		return false
	}
	for _, stack := range r.Plan.Visits(boot.Group, r.workloads[workload]) {
		if _, out := r.out(stack); out || stack == spec.Host {
			continue
		}
		ratios := logRatios(r.values(plan.Key{Stack: stack, Workload: workload}, metric), base)
		if len(ratios) < exp.MinRounds || !stat.Decided(ratios, exp.Target) {
			return false
		}
	}
	return true
}

// roundsIn is how many counted rounds of a workload a boot has given, judged by the baseline.
func (r *runner) roundsIn(boot int, workload string) int {
	n := 0
	for _, w := range r.windows {
		if w.Boot == boot && w.Workload == workload && w.Stack == spec.Host && !w.Discard {
			n++
		}
	}
	return n
}

// logRatios pairs two cells round by round, in the order of the rounds (serial correlation depends on it).
func logRatios(cell, base map[int]float64) []float64 {
	var out []float64
	for _, round := range slices.Sorted(maps.Keys(cell)) {
		if cell[round] > 0 && base[round] > 0 {
			out = append(out, math.Log(cell[round]/base[round]))
		}
	}
	return out
}

// values returns a metric of a cell by round, counted rounds only.
func (r *runner) values(k plan.Key, metric string) map[int]float64 {
	out := map[int]float64{}
	for _, w := range r.windows {
		if w.Stack == k.Stack && w.Workload == k.Workload && !w.Discard && w.Status == record.OK {
			out[w.Round] = w.Metrics[metric]
		}
	}
	return out
}

// spent is the time that windows of a boot took before the run was interrupted.
func (r *runner) spent(boot int) time.Duration {
	var sum time.Duration
	for _, w := range r.windows {
		if w.Boot == boot {
			sum += time.Duration(w.Elapsed)
		}
	}
	return sum
}

// counted is how many counted rounds a boot has begun.
func (r *runner) counted(boot int) int {
	rounds := map[int]bool{}
	for _, w := range r.windows {
		if w.Boot == boot && !w.Discard {
			rounds[w.Round] = true
		}
	}
	return len(rounds)
}

// begun reports whether a window of the round is stored already.
func (r *runner) begun(round int) bool {
	return len(r.windows) > 0 && r.windows[len(r.windows)-1].Round == round
}

// observe tells the observer where the run stands. What change sets of the place (boot, round, cell) stays until it
// is set again; a note and the end of a block are of the moment.
func (r *runner) observe(change func(*Progress)) {
	if r.Observe == nil {
		return
	}
	change(&r.at)
	p := r.at
	r.at.Note, r.at.BlockEnded = "", false
	expected := r.Plan.Describe()
	p.Boots, p.Rounds = len(r.Plan.Boots), int(math.Ceil(expected.Boots[p.Boot].Rounds))
	p.Rounds = max(p.Rounds, p.Round)
	p.Done, p.Planned = len(r.windows), max(expected.Windows, len(r.windows))
	p.Run, p.Windows = r.Config.Run, r.windows
	r.Observe(p)
}

// left is the time that the run may still take: what the boot under way has and what later boots will have.
func (r *runner) left(boot int, end time.Time) time.Duration {
	left := max(end.Sub(r.Now()), 0)
	for _, b := range r.Plan.Boots {
		if b.Index > boot {
			left += b.Budget
		}
	}
	return left
}
