package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/spec"
)

// shape is an experiment whose runs are calibrated.
type shape struct {
	name   string
	exp    spec.Experiment
	bootSD float64 // by how much a cell moves from one boot of its guest to the next
}

// sources are the shapes: what most people run, and the ends between which runs lie.
var sources = []struct {
	name, yaml string
	bootSD     float64
}{
	{"quick", "extends: quick", 0},        // 28 comparisons, as many rounds as fit
	{"default", "extends: default", 0.01}, // 84 comparisons in several guests and boots
	{"long", "{extends: quick, stacks: [virtio-blk, sata, null-co], workloads: [randread-4k-q32, randwrite-4k-q32], budget: 15m, max_rounds: 100}", 0}, // many looks
	{"single", "{extends: quick, stacks: [virtio-blk], workloads: [randread-4k-q32]}", 0},                                                              // no correction to speak of
}

// powered are the shapes whose power is counted, in turn: those of one boot, since what boots differ by no number of rounds makes
// smaller; those with few cells more often, since each of their runs takes a hundredth of the time to simulate.
var powered = []int{2, 3, 2, 3, 0}

func shapes() ([]shape, error) {
	var all []shape
	for _, s := range sources {
		e, err := spec.Parse(s.name+".yaml", []byte(s.yaml))
		if err != nil {
			return nil, err
		}
		e.Workloads = analyse.Ranked(e) // one that is held to a rate tells no speed
		all = append(all, shape{s.name, e, s.bootSD})
	}
	return all, nil
}

// outcome is what a run claimed, held against the truth.
type outcome struct {
	equal    int           // cells that are as fast as the host
	mistaken int           // of these, those that were called different
	known    int           // intervals
	covered  int           // of these, those that hold the truth
	found    bool          // the cell that differs was called different, and to the right side
	alarm    bool          // the host was said to have changed under the run
	took     time.Duration //
}

// judge compares a result with the truth.
func judge(r analyse.Result, truth map[plan.Key]float64, took time.Duration) outcome {
	o := outcome{alarm: r.Noise.Alarm, took: took}
	head := map[string]string{}
	for _, w := range r.Experiment.Workloads {
		head[w.Name] = analyse.Headline(w)
	}
	for _, c := range r.Cells {
		if c.Baseline {
			continue
		}
		want, differs := truth[plan.Key{Stack: c.Stack, Workload: c.Workload}]
		if !differs {
			want = 1
			o.equal++
			if c.Differs {
				o.mistaken++
			}
		}
		ratio, has := c.Ratio[head[c.Workload]]
		if !has {
			continue
		}
		if differs && c.Differs && (ratio.Value > 1) == (want > 1) {
			o.found = true
		}
		if ratio.Known() {
			o.known++
			if ratio.Contains(want) {
				o.covered++
			}
		}
	}
	return o
}

// simulate runs an experiment on a device.
func simulate(e spec.Experiment, d *device, draw *rand.Rand, bootSD float64, truth map[plan.Key]float64) (outcome, analyse.Result, error) {
	p, err := plan.Make(e, draw.Uint64()>>11)
	if err != nil {
		return outcome{}, analyse.Result{}, err
	}
	s := &simulated{plan: p, device: d, truth: truth, bootSD: bootSD, draw: draw}
	r, took, err := s.run()
	return judge(r, truth, took), r, err
}

// alike is a run in which nothing differs.
func alike(t Trace, s shape, draw *rand.Rand, disturb int) (outcome, error) {
	var d disturbance
	if disturb >= 0 {
		d = disturbances[disturb].make(draw, s.exp.Budget)
	}
	o, _, err := simulate(s.exp, newDevice(t, draw, d), draw, s.bootSD, nil)
	return o, err
}

// Difference is the difference that runs are asked to find.
const Difference = 0.05

// patience is how long a promise may take for anybody to wait for it.
const patience = 3 * time.Hour

// lone is a run in which one cell of many differs by Difference. How long it may take is what the planner promises
// after an earlier run on the same device, of which it knows the noise and nothing else. Where that is more than anybody waits
// for, there is no run.
func lone(t Trace, s shape, draw *rand.Rand) (outcome, plan.Promise, error) {
	_, earlier, err := simulate(s.exp, newDevice(t, draw, nil), draw, s.bootSD, nil)
	if err != nil {
		return outcome{}, plan.Promise{}, err
	}
	e := s.exp
	e.Detect = Difference
	p, err := plan.Make(e, 1)
	if err != nil {
		return outcome{}, plan.Promise{}, err
	}
	promise := p.Promise(plan.Noise{Scatter: earlier.Scatter(), From: "an earlier run"})
	if promise.Noise.Scatter == 0 {
		return outcome{}, promise, fmt.Errorf("trace %s: an earlier run of %s tells no noise", t.Name, s.name)
	}
	if promise.Time > patience || promise.Rounds == e.Stopping().Most {
		return outcome{}, promise, nil
	}
	e.Budget = promise.Time
	cells := speeds(e)
	truth := map[plan.Key]float64{cells[draw.IntN(len(cells))]: math.Pow(1+Difference, sign(draw))}
	o, _, err := simulate(e, newDevice(t, draw, nil), draw, s.bootSD, truth)
	return o, promise, err
}

// speeds lists the cells of an experiment that tell the speed of a stack.
func speeds(e spec.Experiment) []plan.Key {
	var all []plan.Key
	for _, s := range e.Stacks {
		for _, w := range analyse.Ranked(e) {
			if s.Skips(w) == "" {
				all = append(all, plan.Key{Stack: s.Name, Workload: w.Name})
			}
		}
	}
	return all
}
