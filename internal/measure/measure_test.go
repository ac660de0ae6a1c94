package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// bench is a host of the imagination: its clock moves when windows run, its cells have true speeds and noise.
type bench struct {
	now     time.Time
	noise   float64
	draw    *rand.Rand
	windows []record.Window
	runs    []record.Run
	boots   []string // reasons
	booting time.Duration
	open    int // sessions not closed
	fail    func(n int, w plan.Window) error
	saveErr error
	speed   map[string]float64
	absent  map[string]string // stacks that no boot can offer
}

func newBench(noise float64) *bench {
	return &bench{
		now: time.Unix(1e9, 0), noise: noise, booting: 3 * time.Second, draw: rand.New(rand.NewPCG(1, 2)),
		speed: map[string]float64{spec.Host: 100, spec.Control: 100, "fast": 60, "slow": 20},
	}
}

func (b *bench) Boot(_ context.Context, p plan.Boot, reason string) (Session, error) {
	b.boots = append(b.boots, reason)
	b.now = b.now.Add(b.booting)
	b.open++
	return &session{b, p}, nil
}

func (b *bench) SaveWindow(w record.Window) error {
	if b.saveErr != nil {
		return b.saveErr
	}
	b.windows = append(b.windows, w)
	return nil
}

func (b *bench) UpdateRun(r record.Run) error { b.runs = append(b.runs, r); return nil }

var errStuckWindow = errors.New("stuck")

type session struct {
	*bench
	boot plan.Boot
}

func (s *session) Window(ctx context.Context, w plan.Window, _ spec.Workload) (record.Window, error) {
	if s.fail != nil {
		switch err := s.fail(len(s.windows), w); {
		case errors.Is(err, errStuckWindow):
			return record.Window{Status: record.Stalled, Reason: "32 I/Os in flight"}, ErrGuestLost
		case err != nil:
			return record.Window{}, err
		}
	}
	took := w.Runtime + 300*time.Millisecond
	out := record.Window{
		Status: record.OK, Started: s.now, Elapsed: int64(took), Timed: int64(w.Runtime),
		Metrics: map[string]float64{record.IOPS: s.speed[w.Stack] * (1 + s.noise*s.draw.NormFloat64())},
	}
	s.now = s.now.Add(took)
	return out, ctx.Err()
}

func (s *session) Facts() (record.Boot, []record.Stack) {
	return record.Boot{Index: s.boot.Index}, []record.Stack{
		{Name: "fast", Durability: record.Durable, Unavailable: s.absent["fast"]}, {Name: "slow", Unavailable: s.absent["slow"]},
	}
}

func (s *session) Close() error { s.open--; return nil }

func experiment() spec.Experiment {
	e := spec.Experiment{
		Name: "test", Size: 1 << 30, Runtime: time.Second, Budget: 10 * time.Minute, Target: 0.05,
		MinRounds: 5, MaxRounds: 20, Boots: 1, Guest: spec.Guest{CPUs: 2, Memory: 1 << 29},
		Stacks: []spec.Stack{
			{Name: "fast", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"},
			{Name: "slow", Format: "raw", Bus: "sata", Cache: "none", AIO: "threads"},
		},
	}
	for _, name := range []string{"a", "b"} {
		e.Workloads = append(e.Workloads, spec.Workload{Name: name, RW: "randread", BS: 4096, IODepth: 1})
	}
	return e
}

func (b *bench) run(t *testing.T, ctx context.Context, e spec.Experiment, done []record.Window) (record.Run, error) {
	t.Helper()
	p, err := plan.Make(e, 7)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Run(ctx, Config{Plan: p, Executor: b, Sink: b, Done: done, Now: func() time.Time { return b.now }})
	if b.open != 0 {
		t.Errorf("%d sessions were left open", b.open)
	}
	return run, err
}

func rounds(windows []record.Window, workload string) int {
	seen := map[int]bool{}
	for _, w := range windows {
		if w.Workload == workload && !w.Discard {
			seen[w.Round] = true
		}
	}
	return len(seen)
}

// A stack that a boot cannot offer is not waited for; a boot without any ends at once.
func TestAbsentStacks(t *testing.T) {
	b := newBench(0.001)
	b.absent = map[string]string{"slow": "QEMU refuses it"}
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err != nil || run.Status != record.Complete || run.Stacks[1].Unavailable != "QEMU refuses it" {
		t.Fatalf("%+v %v", run, err)
	}
	if n := rounds(b.windows, "a"); n != 5 {
		t.Errorf("%d rounds, want the minimum of 5", n)
	}
	for _, w := range b.windows {
		if (w.Stack == "slow") != (w.Status == record.Failed) || w.Stack == "slow" && w.Reason != "QEMU refuses it" {
			t.Fatalf("window %+v", w)
		}
	}
	b = newBench(0.001)
	b.absent = map[string]string{"slow": "no pages", "fast": "no pages"}
	if run, err := b.run(t, context.Background(), experiment(), nil); err != nil || run.Status != record.Complete || len(b.windows) > 0 {
		t.Errorf("%+v, %v: %d windows without a guest", run, err, len(b.windows))
	}
}

func TestStopsWhenEverythingIsDecided(t *testing.T) {
	b := newBench(0.001)
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err != nil || run.Status != record.Complete {
		t.Fatalf("%+v %v", run, err)
	}
	if a, b := rounds(b.windows, "a"), rounds(b.windows, "b"); a != 5 || b != 5 {
		t.Errorf("quiet cells took %d and %d rounds, want the minimum of 5", a, b)
	}
	if len(run.Stacks) != 2 || run.Stacks[0].Durability != record.Durable {
		t.Errorf("stacks: %+v", run.Stacks)
	}
	if !b.windows[0].Discard || b.windows[0].Timed >= int64(time.Second) {
		t.Error("the first round was not a short one that does not count")
	}
}

// A guest that is slow to start costs time, and no rounds.
func TestSlowBoot(t *testing.T) {
	counted := map[time.Duration]int{}
	for _, booting := range []time.Duration{plan.BootTime, plan.BootTime + time.Minute} {
		b := newBench(0.4)
		b.booting = booting
		e := experiment()
		e.Budget, e.MaxRounds = 2*time.Minute, 1000
		if run, err := b.run(t, context.Background(), e, nil); err != nil || run.Status != record.Complete {
			t.Fatalf("%+v %v", run, err)
		}
		counted[booting] = len(b.windows)
	}
	if n, slow := counted[plan.BootTime], counted[plan.BootTime+time.Minute]; n != slow || n == 0 {
		t.Errorf("%d windows, and %d after a slow start", n, slow)
	}
}

func TestNoisyCellsGoOnUntilTheBudgetEnds(t *testing.T) {
	b := newBench(0.4)
	e := experiment()
	e.Budget, e.MaxRounds = 2*time.Minute, 1000
	start := b.now
	if run, err := b.run(t, context.Background(), e, nil); err != nil || run.Status != record.Complete {
		t.Fatalf("%+v %v", run, err)
	}
	took := b.now.Sub(start)
	if took > e.Budget || took < e.Budget-15*time.Second {
		t.Errorf("took %v of a budget of %v", took, e.Budget)
	}
	last := b.windows[len(b.windows)-1]
	n := 0
	for _, w := range b.windows {
		if w.Round == last.Round && w.Workload == last.Workload {
			n++
		}
	}
	if n != 4 {
		t.Errorf("the last block has %d windows, want whole blocks only", n)
	}
}

func TestLostGuestIsReplacedAndTheWindowRepeated(t *testing.T) {
	b := newBench(0.001)
	lost := false
	b.fail = func(n int, w plan.Window) error {
		if n == 20 && !lost {
			lost = true
			return fmt.Errorf("%w: kernel panic", ErrGuestLost)
		}
		return nil
	}
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err != nil || run.Status != record.Complete {
		t.Fatalf("%+v %v", run, err)
	}
	if len(b.boots) != 2 || !strings.Contains(b.boots[1], "kernel panic") || len(run.Warnings) != 1 {
		t.Errorf("boots %q, warnings %q", b.boots, run.Warnings)
	}
	for _, w := range b.windows {
		if w.Status != record.OK {
			t.Errorf("a window was lost: %+v", w)
		}
	}
}

// TestStuckWindow has a disk that hangs so that not even its load generator can be killed.
func TestStuckWindow(t *testing.T) {
	b := newBench(0.001)
	stuck := false
	b.fail = func(n int, w plan.Window) error {
		if n >= 20 && !stuck && w.Stack == "slow" {
			stuck = true
			return errStuckWindow
		}
		return nil
	}
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err != nil || run.Status != record.Complete || !stuck {
		t.Fatalf("%+v %v, stuck %v", run, err, stuck)
	}
	stalled, primed := 0, 0
	for i, w := range b.windows {
		if w.Status == record.Stalled {
			stalled++
			if !b.windows[i+1].Discard {
				t.Error("the new guest was not primed")
			}
		}
		if w.Discard {
			primed++
		}
	}
	if stalled != 1 || len(b.boots) != 2 || primed != 16 {
		t.Errorf("%d stalled windows, %d boots, %d priming windows", stalled, len(b.boots), primed)
	}
}

func TestStackThatKillsGuestsIsGivenUp(t *testing.T) {
	b := newBench(0.001)
	b.fail = func(_ int, w plan.Window) error {
		if w.Stack == "slow" {
			return fmt.Errorf("%w: went silent", ErrGuestLost)
		}
		return nil
	}
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err != nil || run.Status != record.Complete {
		t.Fatalf("%+v %v", run, err)
	}
	if len(b.boots) != 1+lossesPerStack {
		t.Errorf("%d boots", len(b.boots))
	}
	slow, fast := 0, 0
	for _, w := range b.windows {
		if w.Stack == "slow" && w.Status == record.Failed && strings.Contains(w.Reason, "lost 2 times") {
			slow++
		}
		if w.Stack == "fast" && w.Status == record.OK {
			fast++
		}
	}
	if slow == 0 || fast < 10 {
		t.Errorf("%d failed windows of the bad stack, %d good ones of the other", slow, fast)
	}
}

func TestHostThatLosesEveryGuest(t *testing.T) {
	b := newBench(0.001)
	e := experiment()
	e.Stacks = nil
	for i := range 8 {
		e.Stacks = append(e.Stacks, spec.Stack{Name: fmt.Sprint("s", i), Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"})
	}
	b.fail = func(_ int, w plan.Window) error {
		if w.Stack != spec.Host && w.Stack != spec.Control {
			return ErrGuestLost
		}
		return nil
	}
	run, err := b.run(t, context.Background(), e, nil)
	if err == nil || run.Status != record.Partial || !strings.Contains(run.Reason, "guests were lost") {
		t.Errorf("%+v %v", run, err)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	b := newBench(0.001)
	ctx, cancel := context.WithCancel(context.Background())
	b.fail = func(n int, _ plan.Window) error {
		if n == 13 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	run, err := b.run(t, ctx, experiment(), nil)
	if !errors.Is(err, context.Canceled) || run.Status != record.Partial || run.Reason != "interrupted" || len(b.windows) != 13 {
		t.Errorf("%+v %v, %d windows", run, err, len(b.windows))
	}
}

func TestFullStoreEndsTheRun(t *testing.T) {
	b := newBench(0.001)
	b.saveErr = errors.New("no space left on device")
	run, err := b.run(t, context.Background(), experiment(), nil)
	if err == nil || run.Status != record.Partial || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%+v %v", run, err)
	}
}

// TestResume cuts a run in the middle of a block and goes on: nothing that was stored is measured again.
func TestResume(t *testing.T) {
	for _, cut := range []int{3, 8, 13, 18, 30} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			b := newBench(0.001)
			ctx, cancel := context.WithCancel(context.Background())
			b.fail = func(n int, _ plan.Window) error {
				if n == cut {
					cancel()
				}
				return ctx.Err()
			}
			b.run(t, ctx, experiment(), nil)
			before := append([]record.Window(nil), b.windows...)
			b.fail = nil
			run, err := b.run(t, context.Background(), experiment(), before)
			if err != nil || run.Status != record.Complete {
				t.Fatalf("%+v %v", run, err)
			}
			type at struct{ boot, round, seq int }
			seen, cells := map[at]bool{}, map[string]bool{}
			for _, w := range b.windows {
				if k := (at{w.Boot, w.Round, w.Seq}); seen[k] {
					t.Errorf("two windows at %+v", k)
				} else {
					seen[k] = true
				}
				cell := fmt.Sprint(w.Round, w.Stack, w.Workload)
				if cells[cell] {
					t.Errorf("round %d has %s under %s twice", w.Round, w.Workload, w.Stack)
				}
				cells[cell] = true
			}
			if n := rounds(b.windows, "a"); n < 5 {
				t.Errorf("%d rounds of a", n)
			}
			if b.boots[1] != "resumed" {
				t.Errorf("boots: %q", b.boots)
			}
		})
	}
}

// What the latest boot found of a stack counts, unless it could not offer one that has numbers from a boot before.
func TestMergeStacks(t *testing.T) {
	seen := func(name, cache string) record.Stack {
		return record.Stack{Name: name, Effective: map[string]string{"cache": cache}}
	}
	gone := record.Stack{Name: "slow", Unavailable: "no pages", AtBoot: true}
	for name, tt := range map[string]struct{ old, found, want []record.Stack }{
		"the first boot":           {[]record.Stack{{Name: "slow"}}, []record.Stack{seen("slow", "none")}, []record.Stack{seen("slow", "none")}},
		"a later one":              {[]record.Stack{seen("slow", "none")}, []record.Stack{seen("slow", "writeback")}, []record.Stack{seen("slow", "writeback")}},
		"absent from the start":    {[]record.Stack{{Name: "slow"}}, []record.Stack{gone}, []record.Stack{gone}},
		"there after all":          {[]record.Stack{gone}, []record.Stack{seen("slow", "none")}, []record.Stack{seen("slow", "none")}},
		"gone after it was there":  {[]record.Stack{seen("slow", "none")}, []record.Stack{gone}, []record.Stack{seen("slow", "none")}},
		"of another group's guest": {[]record.Stack{seen("slow", "none")}, []record.Stack{seen("fast", "none")}, []record.Stack{seen("slow", "none"), seen("fast", "none")}},
	} {
		if diff := cmp.Diff(tt.want, mergeStacks(tt.old, tt.found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
