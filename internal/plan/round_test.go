package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/spec"
)

// random makes an experiment of random size, with several groups where it has IDE disks enough.
func random(t *testing.T, r *rand.Rand) spec.Experiment {
	e := preset(t, "default")
	e.Stacks = disks("virtio-blk", "", 1+r.IntN(12))
	e.Stacks = append(e.Stacks, disks("ide", "", r.IntN(10))...)
	e.Workloads = e.Workloads[:1+r.IntN(len(e.Workloads))]
	e.Boots = 1 + r.IntN(3)
	e.Budget = time.Hour
	return e
}

func keys(ws []Window) []Key {
	var k []Key
	for _, w := range ws {
		k = append(k, w.Key())
	}
	return k
}

func TestRoundProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p := make1(t, random(t, r), r.Uint64())
		seeds := map[uint64]bool{}
		n := 0
		for _, b := range p.Boots {
			for k := range 5 {
				ws := p.Round(b.Index, k, n, nil)
				checkRound(t, p, b, ws, k, n)
				for _, w := range ws {
					if seeds[w.Seed] || w.Seed == 0 || w.Seed >= 1<<53 {
						t.Fatalf("seed %d of %+v is zero, too large or not new", w.Seed, w)
					}
					seeds[w.Seed] = true
				}
				n++
			}
			mirrored := keys(p.Round(b.Index, 2, 0, nil))
			slices.Reverse(mirrored)
			if diff := cmp.Diff(keys(p.Round(b.Index, 1, 0, nil)), mirrored); diff != "" {
				t.Fatalf("round 2 does not mirror round 1:\n%s", diff)
			}
		}
	}
}

// checkRound checks that a round visits every cell of its group once, block by block.
func checkRound(t *testing.T, p Plan, b Boot, ws []Window, k, n int) {
	t.Helper()
	stacks := p.Visits(b.Group, p.Experiment.Workloads[0]) // no stack here skips a workload
	if len(ws) != len(stacks)*len(p.Experiment.Workloads) {
		t.Fatalf("a round of %d windows", len(ws))
	}
	seen := map[Key]bool{}
	for i, w := range ws {
		block := ws[i/len(stacks)*len(stacks)]
		if seen[w.Key()] || !slices.Contains(stacks, w.Stack) || w.Workload != block.Workload {
			t.Fatalf("window %d, %v, is visited twice, of another group or outside its block", i, w.Key())
		}
		seen[w.Key()] = true
		if w.Boot != b.Index || w.Round != n || w.Seq != i || w.Discard != (k == 0) {
			t.Fatalf("window %d of round %d: %+v", i, n, w)
		}
	}
	for _, w := range p.Experiment.Workloads {
		if !seen[Key{spec.Host, w.Name}] || !seen[Key{spec.Control, w.Name}] {
			t.Fatalf("no baseline or no control under %s", w.Name)
		}
	}
}

func TestRoundRuntime(t *testing.T) {
	e := preset(t, "quick")
	for runtime, priming := range map[time.Duration]time.Duration{
		3 * time.Second: time.Second, 600 * time.Millisecond: 300 * time.Millisecond, 200 * time.Millisecond: 200 * time.Millisecond,
	} {
		e.Runtime = runtime
		p := make1(t, e, 1)
		if got := p.Round(0, 0, 0, nil)[0].Runtime; got != priming {
			t.Errorf("priming windows of %v, want %v", got, priming)
		}
		if got := p.Round(0, 1, 1, nil)[0].Runtime; got != runtime {
			t.Errorf("counted windows of %v, want %v", got, runtime)
		}
	}
}

func TestRoundIsDetermined(t *testing.T) {
	e := preset(t, "default")
	a, b := make1(t, e, 7), make1(t, e, 7)
	if diff := cmp.Diff(a.Round(1, 3, 9, nil), b.Round(1, 3, 9, nil)); diff != "" {
		t.Errorf("two plans of one seed differ:\n%s", diff)
	}
	for what, other := range map[string][]Window{
		"another seed": make1(t, e, 8).Round(1, 3, 9, nil),
		"another boot": a.Round(0, 3, 9, nil),
		"another pair": a.Round(1, 1, 9, nil),
		"priming":      a.Round(1, 0, 9, nil),
	} {
		if slices.Equal(keys(a.Round(1, 3, 9, nil)), keys(other)) {
			t.Errorf("%s: the order is the same", what)
		}
	}
}

// TestOrderIsFair checks that no place in a block belongs to a stack: over many seeds the host comes first
// in about one block of n, and each workload opens about as many rounds.
func TestOrderIsFair(t *testing.T) {
	e := preset(t, "quick")
	const rounds = 4000
	host, opens := 0, map[string]int{}
	for seed := range uint64(rounds) {
		p := make1(t, e, seed)
		w := p.Round(0, 1, 1, nil)[0]
		opens[w.Workload]++
		if w.Stack == spec.Host {
			host++
		}
	}
	if want := rounds / (len(e.Stacks) + 2); host < want*3/4 || host > want*5/4 {
		t.Errorf("the host is first in %d of %d blocks of %d", host, rounds, len(e.Stacks)+2)
	}
	for _, w := range e.Workloads {
		if n, want := opens[w.Name], rounds/len(e.Workloads); n < want*3/4 || n > want*5/4 {
			t.Errorf("%s opens %d of %d rounds", w.Name, n, rounds)
		}
	}
}

func TestRoundSkips(t *testing.T) {
	p := make1(t, preset(t, "default"), 3)
	skip := func(w string) bool { return w == "read-256k" || w == "randread-4k-q1" }
	for k := range 3 {
		var want []Window
		for _, w := range p.Round(0, k, k, nil) {
			if !skip(w.Workload) {
				w.Seq = len(want)
				want = append(want, w)
			}
		}
		if diff := cmp.Diff(want, p.Round(0, k, k, skip)); diff != "" {
			t.Errorf("round %d: skipping changes what is left:\n%s", k, diff)
		}
	}
	if got := p.Round(0, 1, 1, func(string) bool { return true }); len(got) != 0 {
		t.Errorf("%d windows with all skipped", len(got))
	}
}

// A stack whose volume is emptied is visited under the loads that only write.
func TestEmptyIsNotRead(t *testing.T) {
	e, err := spec.Preset("quick")
	if err != nil {
		t.Fatal(err)
	}
	e.Stacks = append(e.Stacks, spec.Stack{Name: "growing", Format: "qcow2", Bus: "virtio-blk", Discard: "unmap", Empty: true})
	p, err := Make(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{}
	for _, w := range e.Workloads {
		reads[w.Name] = w.Reads()
	}
	visited := 0
	for _, w := range p.Round(0, 1, 1, nil) {
		if w.Stack == "growing" {
			visited++
			if reads[w.Workload] {
				t.Errorf("it is read under %s", w.Workload)
			}
		}
	}
	if all := p.Describe().Cells; visited != 2 || all != (len(e.Stacks)+2)*len(e.Workloads)-2 {
		t.Errorf("%d of its cells are visited, and %d are described", visited, all)
	}
}
