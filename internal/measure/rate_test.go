package measure

import (
	"context"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// heldExperiment has a load as fast as it goes and one that is held, and a stack that needs a guest of its own, the
// slowest.
func heldExperiment() spec.Experiment {
	e := experiment()
	e.Workloads[1].RateShare, e.Workloads[1].NumJobs = 0.8, 3
	e.Stacks = append(e.Stacks, spec.Stack{Name: "slowest", Format: "raw", Bus: "ide", Cache: "none", AIO: "threads"})
	e.Stacks[0].Machine = "q35"
	return e
}

func newHeldBench() *bench {
	b := newBench(0.001)
	b.speed["slowest"] = 11
	return b
}

// held is the windows of the held load that count, and what they were all held to.
func held(t *testing.T, windows []record.Window) (out []record.Window, rate float64) {
	t.Helper()
	for _, w := range windows {
		switch {
		case w.Workload != "b" || w.Discard:
			if w.Evidence.Rate != 0 {
				t.Errorf("%s under %s was held to %v in boot %d, discard %v", w.Workload, w.Stack, w.Evidence.Rate, w.Boot, w.Discard)
			}
			continue
		case rate == 0:
			rate = w.Evidence.Rate
		}
		if w.Evidence.Rate != rate {
			t.Errorf("%s was held to %v in boot %d, others to %v", w.Stack, w.Evidence.Rate, w.Boot, rate)
		}
		out = append(out, w)
	}
	return out, rate
}

// The rate is a share of the slowest stack of all groups, whole for each job, and the same for host, control and stacks in
// every boot; nothing is held before each group was primed, and then the rounds are min_rounds and a pair in each boot.
func TestHeldToOneRate(t *testing.T) {
	b := newHeldBench()
	e := heldExperiment()
	run, err := b.run(t, context.Background(), e, nil)
	if err != nil || run.Status != record.Complete || len(run.Warnings) > 0 {
		t.Fatalf("%+v %v", run, err)
	}
	windows, rate := held(t, b.windows)
	if rate != 6 { // 0.8 x 11 is 8.8: 2 for each of 3 jobs
		t.Errorf("held to %v, want 6", rate)
	}
	rounds := map[plan.Key]map[int]bool{}
	byBoot := map[int]map[int]bool{}
	for _, w := range windows {
		k := plan.Key{Stack: w.Stack, Workload: w.Workload}
		if rounds[k] == nil {
			rounds[k] = map[int]bool{}
		}
		if byBoot[w.Boot] == nil {
			byBoot[w.Boot] = map[int]bool{}
		}
		rounds[k][w.Round], byBoot[w.Boot][w.Round] = true, true
	}
	if byBoot[0] != nil || len(byBoot) != 3 {
		t.Errorf("rounds by boot: %v, want none in the first of four", byBoot)
	}
	for boot, n := range byBoot {
		if len(n) < 2 {
			t.Errorf("boot %d has %d rounds, want a pair at least", boot, len(n))
		}
	}
	for _, stack := range []string{"fast", "slow", "slowest"} {
		if n := len(rounds[plan.Key{Stack: stack, Workload: "b"}]); n < e.MinRounds || n > e.MinRounds+2 {
			t.Errorf("%s has %d rounds, want %d and no more than a pair on top", stack, n, e.MinRounds)
		}
	}
}

// A resumed run goes on with the rate that was stored, whatever its guests do when they are primed again.
func TestResumedRunKeepsItsRate(t *testing.T) {
	for _, cut := range []int{10, 90} { // before the rate is known, and after
		b := newHeldBench()
		ctx, cancel := context.WithCancel(context.Background())
		b.fail = func(n int, _ plan.Window) error {
			if n == cut {
				cancel()
			}
			return ctx.Err()
		}
		b.run(t, ctx, heldExperiment(), nil)
		before := append([]record.Window(nil), b.windows...)
		_, stored := held(t, before)
		if (stored > 0) != (cut == 90) {
			t.Fatalf("cut at %d: held to %v already", cut, stored)
		}
		b.fail, b.speed["slowest"] = nil, 5
		if run, err := b.run(t, context.Background(), heldExperiment(), before); err != nil || run.Status != record.Complete {
			t.Fatalf("%+v %v", run, err)
		}
		if _, rate := held(t, b.windows); stored > 0 && rate != stored || rate == 0 {
			t.Errorf("cut at %d: held to %v, before to %v", cut, rate, stored)
		}
	}
}

// A stack that fails when it is primed does not decide the rate; where all do there is none, which is said.
func TestHeldWithoutPriming(t *testing.T) {
	b := newHeldBench()
	b.speed["slow"] = 0
	if _, err := b.run(t, context.Background(), heldExperiment(), nil); err != nil {
		t.Fatal(err)
	}
	if _, rate := held(t, b.windows); rate != 6 {
		t.Errorf("held to %v, want 6", rate)
	}
	b = newHeldBench()
	for name := range b.speed {
		if name != spec.Host && name != spec.Control {
			b.speed[name] = 0
		}
	}
	e := heldExperiment()
	e.MaxRounds = e.MinRounds
	run, err := b.run(t, context.Background(), e, nil)
	if err != nil || len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "no stack had a figure") {
		t.Errorf("warnings %q, %v", run.Warnings, err)
	}
	if windows, _ := held(t, b.windows); len(windows) > 0 {
		t.Errorf("%d windows of a load that nothing is held to", len(windows))
	}
}
