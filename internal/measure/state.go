package measure

import (
	"iter"
	"math"
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
	load := r.workloads[workload]
	if load.Held() && r.rate(boot, load) == 0 {
		return true // it cannot begin before it is known what it is held to
	}
	most := r.stopping.Most
	return r.roundsIn(boot.Index, workload) >= most && r.wholeRounds(boot, load) >= most || r.decided(boot, workload)
}

// wholeRounds is how many counted rounds of a boot hold every cell of a workload.
func (r *runner) wholeRounds(boot plan.Boot, load spec.Workload) int {
	visits := r.Plan.Visits(boot.Group, load)
	cells := map[int]int{}
	for _, stack := range visits {
		for w := range r.of(plan.Key{Stack: stack, Workload: load.Name}) {
			if w.Boot == boot.Index && !w.Discard {
				cells[w.Round]++
			}
		}
	}
	whole := 0
	for _, n := range cells {
		if n == len(visits) {
			whole++
		}
	}
	return whole
}

// decided reports whether, in a boot's group, every cell of a workload is known as precisely as was asked: the
// stopping rule, declared beforehand, looks at the width of intervals and never at what they say. A boot that was
// planned gives a pair of rounds at least, so that what differs between boots is in the intervals.
func (r *runner) decided(boot plan.Boot, workload string) bool {
	metric := analyse.Headline(r.workloads[workload])
	base := r.values(plan.Key{Stack: spec.Host, Workload: workload}, metric)
	if r.roundsIn(boot.Index, workload) < 2 {
		return false
	}
	if load := r.workloads[workload]; load.Held() {
		return r.heldEnough(boot, load)
	}
	for _, stack := range r.Plan.Visits(boot.Group, r.workloads[workload]) {
		if _, out := r.out(stack); out || stack == spec.Host {
			continue
		}
		ratios := logRatios(r.values(plan.Key{Stack: stack, Workload: workload}, metric), base)
		if len(ratios) < r.stopping.Least || !stat.Decided(ratios, r.stopping.Width) {
			return false
		}
	}
	return true
}

// roundsIn is how many counted rounds of a workload a boot has given, judged by the baseline.
func (r *runner) roundsIn(boot int, workload string) int {
	n := 0
	for w := range r.of(plan.Key{Stack: spec.Host, Workload: workload}) {
		if w.Boot == boot && !w.Discard {
			n++
		}
	}
	return n
}

// figure is a metric of a cell in one round.
type figure struct {
	round int
	value float64
}

// logRatios pairs two cells round by round, in the order of the rounds (serial correlation depends on it).
func logRatios(cell, base []figure) []float64 {
	var out []float64
	for i, j := 0, 0; i < len(cell) && j < len(base); {
		switch c, b := cell[i], base[j]; {
		case c.round < b.round:
			i++
		case c.round > b.round:
			j++
		default:
			if c.value > 0 && b.value > 0 {
				out = append(out, math.Log(c.value/b.value))
			}
			i, j = i+1, j+1
		}
	}
	return out
}

// add keeps a window that has ended.
func (r *runner) add(w record.Window) {
	k := plan.Key{Stack: w.Stack, Workload: w.Workload}
	r.cells[k] = append(r.cells[k], len(r.windows))
	r.windows = append(r.windows, w)
	if r.rates[w.Workload] == 0 {
		r.rates[w.Workload] = w.Evidence.Rate
	}
}

// of goes through the windows of a cell in the order in which they ended.
func (r *runner) of(k plan.Key) iter.Seq[*record.Window] {
	return func(yield func(*record.Window) bool) {
		for _, i := range r.cells[k] {
			if !yield(&r.windows[i]) {
				return
			}
		}
	}
}

// values returns a metric of a cell by ascending round, counted rounds only. Where a round has two, the later one stands.
func (r *runner) values(k plan.Key, metric string) []figure {
	out := make([]figure, 0, len(r.cells[k]))
	for w := range r.of(k) {
		if !w.Discard && w.Status == record.OK {
			if n := len(out); n > 0 && out[n-1].round == w.Round {
				out = out[:n-1]
			}
			out = append(out, figure{w.Round, w.Metrics[metric]})
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
