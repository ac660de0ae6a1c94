package calibrate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// Sizes is how many runs of each kind are simulated.
type Sizes struct {
	Alike  int // runs in which nothing differs, of each trace and shape
	Lone   int // runs in which one cell differs, of each trace
	Stress int // runs in which nothing differs, of each disturbance and shape
	Usual  int // comparisons in the usual way, of each trace
}

// Full is what `make calibrate` does, and Small what an ordinary test has time for.
var (
	Full  = Sizes{Alike: 30, Lone: 120, Stress: 25, Usual: 200}
	Small = Sizes{Alike: 2, Lone: 4, Stress: 1, Usual: 40}
)

// Run calibrates over traces: the same seed gives the same report, on every machine.
func Run(traces []Trace, n Sizes, seed uint64) (Report, error) {
	all, err := shapes()
	if err != nil {
		return Report{}, err
	}
	r := Report{Seed: seed, Traces: make([]Row, len(traces)), Stress: make([]Row, len(disturbances))}
	var tasks []task
	for i, t := range traces {
		r.Traces[i].Name = t.Name
		for _, s := range all {
			tasks = append(tasks, repeat(n.Alike, func(draw *rand.Rand) (tally, error) { return tallyAlike(t, s, draw, -1) }, &r.Traces[i])...)
		}
		for k := range n.Lone { // in turn, one shape of a single boot: no number of rounds narrows what boots differ by
			s := all[powered[k%len(powered)]]
			tasks = append(tasks, repeat(1, func(draw *rand.Rand) (tally, error) { return tallyLone(t, s, draw) }, &r.Traces[i])...)
		}
		tasks = append(tasks, repeat(n.Usual, func(draw *rand.Rand) (tally, error) { return tallyUsual(t, draw), nil }, &r.Traces[i])...)
	}
	for i, d := range disturbances {
		r.Stress[i].Name = d.name
		for _, s := range all {
			for k := range n.Stress {
				t := traces[k%len(traces)]
				tasks = append(tasks, repeat(1, func(draw *rand.Rand) (tally, error) { return tallyAlike(t, s, draw, i) }, &r.Stress[i])...)
			}
		}
	}
	return r, carryOut(tasks, seed)
}

// task is one simulated comparison and the row that counts it.
type task struct {
	do   func(draw *rand.Rand) (tally, error)
	into *Row
}

func repeat(n int, do func(draw *rand.Rand) (tally, error), into *Row) []task {
	tasks := make([]task, n)
	for i := range tasks {
		tasks[i] = task{do, into}
	}
	return tasks
}

// carryOut does the tasks on all processors. Each draws from numbers of its own, and is counted in its turn.
func carryOut(tasks []task, seed uint64) error {
	tallies := make([]tally, len(tasks))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range tasks {
		group.Go(func() (err error) {
			tallies[i], err = t.do(rand.New(rand.NewPCG(seed, uint64(i))))
			if err != nil {
				return fmt.Errorf("comparison %d: %w", i, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, t := range tasks {
		t.into.add(tallies[i])
	}
	return nil
}

// tally is what one task adds to its row.
type tally struct {
	alike, wrong, alarms int
	known, covered       int
	lone, found          int
	hopeless             int
	promised, took       time.Duration
	usual, welch, eye    int
}

func tallyAlike(t Trace, s shape, draw *rand.Rand, disturb int) (tally, error) {
	o, err := alike(t, s, draw, disturb)
	return o.tally(), err
}

// tally counts a run in which nothing differs.
func (o outcome) tally() tally {
	return tally{alike: 1, wrong: one(o.mistaken > 0), alarms: one(o.alarm), known: o.known, covered: o.covered}
}

func tallyLone(t Trace, s shape, draw *rand.Rand) (tally, error) {
	o, promise, err := lone(t, s, draw)
	if o.took == 0 {
		return tally{hopeless: 1}, err
	}
	return tally{
		lone: 1, found: one(o.found && o.took <= promise.Time), known: o.known, covered: o.covered,
		promised: promise.Time, took: o.took,
	}, err
}

func tallyUsual(t Trace, draw *rand.Rand) tally {
	welch, eye := usual(t, draw)
	return tally{usual: 1, welch: one(welch), eye: one(eye)}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
