package analyse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// anatomy is a run whose layers have known times, in microseconds for one I/O.
type anatomy struct {
	synthetic
	took    map[string]float64 // by stack
	shaken  float64            // of a guest stack in a boot, on the log scale
	hiccups float64            // share of windows that take half as long again
}

// The true times, in microseconds, of an I/O at iodepth 1; on the host itself it takes 100, of which 30 are the load's own.
const (
	hostTime, loadTime                                        = 100.0, 30.0
	blockTime, imageTime, transportTime, guestTime, legacyBus = 20.0, 15.0, 60.0, 40.0, 90.0
)

// newAnatomy has one stack of each kind that bills are made of, under loads of one I/O and of 32 in flight.
func newAnatomy() *anatomy {
	a := &anatomy{took: map[string]float64{
		spec.Host: hostTime, spec.Control: hostTime,
		"block":   hostTime + blockTime,
		"disk":    hostTime + blockTime + transportTime + guestTime,
		"image":   hostTime + blockTime + transportTime + guestTime + imageTime,
		"sata":    hostTime + blockTime + legacyBus + guestTime,
		"null-co": loadTime + transportTime + guestTime,
		"inside":  loadTime + guestTime,
	}}
	a.scatter, a.whole = 0.02, 0.1
	a.exp = spec.Experiment{Target: 0.05, MinRounds: 5, Guest: spec.Guest{CPUs: 2}, Workloads: []spec.Workload{
		{Name: "rr1", Title: "4k rand read q1", RW: "randread", BS: 4096, IODepth: 1},
		{Name: "rr32", Title: "4k rand read q32", RW: "randread", BS: 4096, IODepth: 32},
	}}
	a.add(spec.Stack{Name: "block", Bus: "host", Daemon: "qemu-img", Cache: "none", AIO: "native"})
	a.add(spec.Stack{Name: "disk", Bus: "virtio-blk", Cache: "none", AIO: "native"})
	a.add(spec.Stack{Name: "image", Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "native"})
	a.add(spec.Stack{Name: "sata", Bus: "sata", Cache: "none", AIO: "native"})
	a.add(spec.Stack{Name: "null-co", Format: "null-co", Bus: "virtio-blk"})
	a.add(spec.Stack{Name: "inside", Bus: "null_blk"})
	return a
}

func (a *anatomy) add(s spec.Stack) {
	s = spec.Complete(spec.Experiment{Stacks: []spec.Stack{s}}).Stacks[0]
	a.exp.Stacks = append(a.exp.Stacks, s)
	a.run.Stacks = append(a.run.Stacks, record.Stack{Name: s.Name, Role: s.Role, Durability: record.Durable})
}

// drop takes stacks out.
func (a *anatomy) drop(names ...string) *anatomy {
	a.exp.Stacks = slices.DeleteFunc(a.exp.Stacks, func(s spec.Stack) bool { return slices.Contains(names, s.Name) })
	return a
}

// boot measures rounds of some stacks in a boot; none = all.
func (a *anatomy) boot(seed uint64, boot, rounds int, stacks ...string) *anatomy {
	if len(stacks) == 0 {
		stacks = a.guests()
	}
	r := rand.New(rand.NewPCG(seed, uint64(boot)))
	shift := map[string]float64{}
	for _, s := range stacks {
		shift[s] = a.shaken * r.NormFloat64()
	}
	for i := range rounds {
		whole := a.whole * r.NormFloat64()
		for _, load := range a.exp.Workloads {
			for seq, stack := range append([]string{spec.Host, spec.Control}, stacks...) {
				slow := math.Exp(whole + shift[stack] + a.scatter*r.NormFloat64())
				if r.Float64() < a.hiccups {
					slow *= 1.5
				}
				a.windows = append(a.windows, a.windowOf(boot, 100*boot+i, seq, stack, load, slow))
			}
		}
	}
	return a
}

func (a *anatomy) windowOf(boot, round, seq int, stack string, load spec.Workload, slow float64) record.Window {
	w := a.window(boot, round, seq, stack, load, hostTime/a.took[stack]/slow)
	w.Metrics[record.IOPS] = 1e6 * float64(load.InFlight()) / (a.took[stack] * slow)
	if stack == spec.Host { // one job's I/Os: the load takes its part of each
		w.Evidence.FioCPU = loadTime / 1e6 / float64(load.IODepth) * w.Metrics[record.IOPS]
	}
	return w
}

func (a *anatomy) explain(t *testing.T) *Explanation {
	t.Helper()
	r := a.analyse()
	if r.Explanation == nil {
		t.Fatal("a whole analysis explains nothing")
	}
	return r.Explanation
}

func (e *Explanation) bill(t *testing.T, stack, workload string) Bill {
	t.Helper()
	i := slices.IndexFunc(e.Bills, func(b Bill) bool { return b.Stack == stack && b.Workload == workload })
	if i < 0 {
		t.Fatalf("no bill of %s under %s", stack, workload)
	}
	return e.Bills[i]
}

// TestBillCovers: whatever the rounds, the boots and the hiccups, the interval of each layer holds its true time.
func TestBillCovers(t *testing.T) {
	const runs, least = 300, 0.93
	truth := map[string]float64{ImageLayer: imageTime, BlockLayer: blockTime, Transport: transportTime, GuestLayer: guestTime}
	for name, shape := range map[string]func(a *anatomy, seed uint64){
		"one boot": func(a *anatomy, seed uint64) { a.boot(seed, 0, 7) },
		"two boots that differ, with hiccups": func(a *anatomy, seed uint64) {
			a.shaken, a.hiccups = 0.01, 0.03
			a.boot(seed, 0, 6).boot(seed, 1, 6)
		},
		"guests that never meet": func(a *anatomy, seed uint64) {
			a.shaken = 0.01
			for boot := range 4 {
				stacks := []string{"disk", "null-co", "block"}
				if boot%2 == 1 {
					stacks = []string{"image", "inside", "block"}
				}
				a.boot(seed, boot, 6, stacks...)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			held, asked := map[string]int{}, map[string]int{}
			count := func(what string, in bool) {
				if asked[what]++; in {
					held[what]++
				}
			}
			for seed := range uint64(runs) {
				a := newAnatomy().drop("sata")
				a.exp.Workloads = a.exp.Workloads[:1]
				shape(a, seed)
				b := a.explain(t).bill(t, "image", "rr1")
				tax := imageTime + blockTime + transportTime + guestTime
				count("tax", b.Tax.Contains(1e3*tax))
				for _, l := range b.Layers {
					if len(l.Names) > 1 {
						t.Fatalf("%v stand together: %q", l.Names, b.Advice)
					}
					count(l.Names[0], l.Time.Contains(1e3*truth[l.Names[0]]))
					count("share of "+l.Names[0], l.Share != nil && l.Share.Contains(truth[l.Names[0]]/tax))
				}
			}
			for what, n := range asked {
				if rate := float64(held[what]) / float64(n); n != runs || rate < least {
					t.Errorf("%s: %.3f of %d intervals hold the truth, want %.2f", what, rate, n, least)
				}
			}
			t.Log(held)
		})
	}
}
