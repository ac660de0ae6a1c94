package analyse

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

func inf() float64 { return math.Inf(1) }

// adds checks that a bill adds up: the layers to the tax, the host and the tax to the whole, the shares to 1.
func (b Bill) adds(t *testing.T) {
	t.Helper()
	if b.Reason != "" {
		return
	}
	sum, shares, shared := 0.0, 0.0, 0
	for _, l := range b.Layers {
		sum += l.Time.Value
		if l.Share != nil {
			shares, shared = shares+l.Share.Value, shared+1
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
	if !near(b.Host.Value+sum, b.Total.Value) || math.Abs(sum-b.Tax.Value) > 1e-9*b.Total.Value {
		t.Errorf("%s, %s: host %v and layers of %v are not %v; the tax is %v", b.Stack, b.Workload, b.Host.Value, sum, b.Total.Value, b.Tax.Value)
	}
	if shared > 0 && (shared < len(b.Layers) || !near(shares, 1)) {
		t.Errorf("%s, %s: %d of %d shares add up to %v", b.Stack, b.Workload, shared, len(b.Layers), shares)
	}
}

// TestBillAddsUp: whatever chain was found, in one boot and over boots, with every stack or without some.
func TestBillAddsUp(t *testing.T) {
	for name, a := range map[string]*anatomy{
		"all":              newAnatomy().boot(1, 0, 7),
		"one round":        newAnatomy().boot(1, 0, 1),
		"without a bench":  newAnatomy().drop("block").boot(1, 0, 7),
		"without null_blk": newAnatomy().drop("inside").boot(1, 0, 5),
		"over boots":       newAnatomy().boot(1, 0, 5, "disk", "block").boot(1, 1, 5, "image", "null-co").boot(1, 2, 5, "inside", "sata"),
	} {
		bills := a.explain(t).Bills
		if len(bills) != 6 {
			t.Errorf("%s: %d bills, want one of each stack with a disk under each load", name, len(bills))
		}
		for _, b := range bills {
			if b.Reason != "" {
				t.Errorf("%s: no bill of %s: %s", name, b.Stack, b.Reason)
			}
			b.adds(t)
		}
	}
}

// TestBill looks at one bill as a whole.
func TestBill(t *testing.T) {
	b := newAnatomy().boot(1, 0, 9).explain(t).bill(t, "image", "rr32")
	type line struct{ Name, From, To, Detail string }
	var got []line
	for _, l := range b.Layers {
		got = append(got, line{strings.Join(l.Names, "+"), l.From, l.To, l.Detail})
		if !l.Differs || l.Share == nil {
			t.Errorf("%v: %+v", l.Names, l)
		}
	}
	want := []line{
		{ImageLayer, "disk", "image", "qcow2"},
		{BlockLayer, spec.Host, "block", "cache=none aio=native"},
		{Transport, "", "", "virtio-blk"},
		{GuestLayer, "", "", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if b.Check == nil || b.Check.Stack != "null-co" || !b.Check.Agree || len(b.Advice) > 0 {
		t.Errorf("check %+v, advice %q", b.Check, b.Advice)
	}
	if whole := 1e3 * (transportTime + guestTime); !b.Check.Time.Contains(whole) { // at iodepth 32 as at 1: the time of those in flight
		t.Errorf("the check says %v, want %v", b.Check.Time, whole)
	}
}

// TestLayersThatStandTogether are named with what would tell them apart.
func TestLayersThatStandTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		drop         []string
		stack        string
		names, wants []string
	}{
		"nothing but the stack": {
			[]string{"block", "disk", "sata", "null-co", "inside"},
			"image",
			[]string{"image format+QEMU's block layer+transport and controller+guest"},
			[]string{"image with format raw", "image with bus host and daemon qemu-img", "image with format null-co and one with bus null_blk"},
		},
		"no bench": {
			[]string{"block"}, "disk", []string{"QEMU's block layer+transport and controller+guest"}, []string{"disk with bus host and daemon qemu-img"},
		},
		"no null-co of its kind": {
			nil, "sata", []string{BlockLayer, "transport and controller+guest"}, []string{"sata with format null-co"},
		},
		"no null_blk": {
			[]string{"inside"}, "disk", []string{BlockLayer, "transport and controller+guest"}, []string{"add one with bus null_blk"},
		},
		"all there is": {nil, "disk", []string{BlockLayer, Transport, GuestLayer}, nil},
	} {
		b := newAnatomy().drop(tt.drop...).boot(1, 0, 7).explain(t).bill(t, tt.stack, "rr1")
		var names []string
		for _, l := range b.Layers {
			names = append(names, strings.Join(l.Names, "+"))
		}
		if d := cmp.Diff(tt.names, names); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
		if len(b.Advice) != len(tt.wants) {
			t.Errorf("%s: advice %q", name, b.Advice)
			continue
		}
		for i, want := range tt.wants {
			if !strings.Contains(b.Advice[i], want) {
				t.Errorf("%s: %q does not say %q", name, b.Advice[i], want)
			}
		}
	}
}

// TestSplitIsRefused where a part would be less than nothing; what the layers take together stands.
func TestSplitIsRefused(t *testing.T) {
	a := newAnatomy()
	a.took["inside"] = a.took["null-co"] + 50
	b := a.boot(1, 0, 7).explain(t).bill(t, "disk", "rr1")
	if len(b.Layers) != 2 || len(b.Advice) != 1 || !strings.Contains(b.Advice[0], "the transport and controller would take less than nothing") {
		t.Errorf("layers %+v, advice %q", b.Layers, b.Advice)
	}
	if b.Check == nil || !b.Check.Agree {
		t.Errorf("check %+v", b.Check)
	}
	b.adds(t)

	a = newAnatomy()
	a.took["null-co"], a.took["inside"] = loadTime*0.9, loadTime*0.8
	b = a.boot(1, 0, 7).explain(t).bill(t, "disk", "rr1")
	if len(b.Layers) != 2 || len(b.Advice) != 1 || b.Check.Agree {
		t.Errorf("layers %+v, advice %q, check %+v", b.Layers, b.Advice, b.Check)
	}
}

// TestSplitNeedsTheLoad: without what the host's own fio takes nothing can be split, and that is said.
func TestSplitNeedsTheLoad(t *testing.T) {
	a := newAnatomy().boot(1, 0, 7)
	a.change(spec.Host, "", func(_ int, w *record.Window) { w.Evidence.FioCPU = 0 })
	b := a.explain(t).bill(t, "disk", "rr1")
	if len(b.Layers) != 2 || len(b.Advice) != 1 || !strings.Contains(b.Advice[0], "was not counted") {
		t.Errorf("layers %+v, advice %q", b.Layers, b.Advice)
	}
	a.change(spec.Host, "", func(_ int, w *record.Window) {
		ios := w.Metrics[record.IOPS]
		depth := 1.0
		if w.Workload == "rr32" {
			depth = 32
		}
		w.Evidence.Price = &record.Price{Span: 1e9, IOs: ios, Threads: []record.ThreadUse{{Role: record.Load, CPU: int64(1e3 * loadTime / depth * ios)}}}
	})
	for _, workload := range []string{"rr1", "rr32"} {
		b = a.explain(t).bill(t, "disk", workload)
		if len(b.Layers) != 3 || !b.Layers[2].Time.Contains(1e3*guestTime) {
			t.Errorf("by the threads of the load, under %s: %+v", workload, b.Layers)
		}
	}
}

// TestGivesBack: a layer may take less than nothing, and the rest more than all.
func TestGivesBack(t *testing.T) {
	a := newAnatomy()
	a.took["block"] = 70
	b := a.boot(1, 0, 7).explain(t).bill(t, "disk", "rr1")
	first := b.Layers[0]
	if first.Time.High >= 0 || !first.Differs || first.Share.Value >= 0 {
		t.Errorf("a block layer that gives back is %+v", first)
	}
	b.adds(t)
}

// TestNoTaxNoShares: shares of nothing are nothing.
func TestNoTaxNoShares(t *testing.T) {
	a := newAnatomy()
	for name := range a.took {
		a.took[name] = hostTime
	}
	for _, b := range a.drop("inside", "null-co").boot(3, 0, 7).explain(t).Bills {
		for _, l := range b.Layers {
			if l.Share != nil || l.Differs {
				t.Errorf("%s: %+v", b.Stack, l)
			}
		}
		b.adds(t)
	}
}

// TestFalseLayers: of runs in which no layer takes any time, at most one in twenty claims one.
func TestFalseLayers(t *testing.T) {
	const runs = 200
	alarms := 0
	for seed := range uint64(runs) {
		a := newAnatomy().drop("inside", "null-co", "sata")
		for name := range a.took {
			a.took[name] = hostTime
		}
		if slices.ContainsFunc(a.boot(seed, 0, 7).explain(t).Bills, func(b Bill) bool {
			return slices.ContainsFunc(b.Layers, func(l BillLayer) bool { return l.Differs })
		}) {
			alarms++
		}
	}
	if alarms > runs*8/100 {
		t.Errorf("%d of %d runs claim a layer that is not there", alarms, runs)
	}
}

// TestWhyNoBill: each reason is said, and a bill without one has all that bills have.
func TestWhyNoBill(t *testing.T) {
	waits := func(a *anatomy) { a.exp.Workloads[0].ThinkTime = 1000 }
	for want, spoil := range map[string]func(a *anatomy){
		"no room; to have it: rm": func(a *anatomy) { f := a.stack("disk"); f.Unavailable, f.Mend = "no room", "rm" },
		"the host baseline":       func(a *anatomy) { fail(a, spec.Host) },
		"failed in 7 of 7":        func(a *anatomy) { fail(a, "disk") },
		"withheld: the effective": func(a *anatomy) { a.stack("disk").Mismatch = []string{"cache is writeback"} },
		"the load waits between":  waits,
		"no iops": func(a *anatomy) {
			a.exp.Workloads[0].RW = "read" // bandwidth stands for it
			a.change(spec.Host, "", func(_ int, w *record.Window) { delete(w.Metrics, record.IOPS) })
		},
		"no counted round of this cell": func(a *anatomy) { a.windows = nil },
	} {
		a := newAnatomy().boot(1, 0, 7)
		spoil(a)
		b := a.explain(t).bill(t, "disk", "rr1")
		if !strings.Contains(b.Reason, want) || b.Tax != nil || len(b.Layers) > 0 {
			t.Errorf("want %q: %+v", want, b)
		}
	}
	a := newAnatomy()
	a.exp.Workloads[1].RateShare = 0.8
	for _, b := range a.boot(1, 0, 7).explain(t).Bills {
		if b.Workload == "rr32" {
			t.Errorf("a load that is held to a rate has a bill: %+v", b)
		}
	}
}

func fail(a *anatomy, stack string) {
	a.change(stack, "", func(_ int, w *record.Window) { w.Status, w.Reason, w.Metrics = record.Failed, "broken", nil })
}

// TestDefaultIsExplained: of the default experiment every stack with a disk has bills, and those that matter most are taken
// apart to the last layer.
func TestDefaultIsExplained(t *testing.T) {
	e, err := spec.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	a := &anatomy{took: map[string]float64{spec.Host: hostTime, spec.Control: hostTime}}
	a.scatter, a.whole, a.exp = 0.02, 0.05, e
	for i, s := range e.Stacks {
		a.took[s.Name] = 200 + 10*float64(i)
		a.run.Stacks = append(a.run.Stacks, record.Stack{Name: s.Name, Role: s.Role, Durability: record.Durable})
	}
	for stack, us := range map[string]float64{"null-co": 130, "null-blk": 70, "qemu-img-raw": 120, "qemu-img-qcow2": 135} {
		a.took[stack] = us
	}
	got := a.boot(1, 0, 6).boot(1, 1, 6).explain(t)
	for stack, want := range map[string][]string{
		"virtio-blk-iothread":  {BlockLayer, Transport, GuestLayer},
		"proxmox-default":      {BlockLayer, Transport + "+" + GuestLayer},
		"virt-manager-default": {ImageLayer + "+" + BlockLayer, Transport + "+" + GuestLayer},
	} {
		var names []string
		for _, l := range got.bill(t, stack, "randread-4k-q32").Layers {
			names = append(names, strings.Join(l.Names, "+"))
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Errorf("%s: -want +got:\n%s", stack, d)
		}
	}
	billed := map[string]bool{}
	for _, b := range got.Bills {
		b.adds(t)
		if billed[b.Stack] = true; b.Reason != "" || len(b.Layers) == 0 {
			t.Errorf("%s under %s: %q", b.Stack, b.Workload, b.Reason)
		}
	}
	for _, s := range e.Stacks {
		if want := !s.Ceiling() && !s.OnHost(); billed[s.Name] != want {
			t.Errorf("%s has a bill: %v", s.Name, billed[s.Name])
		}
	}
	if len(got.Ceilings) == 0 || len(got.Curves) == 0 {
		t.Errorf("%d ceilings, %d curves", len(got.Ceilings), len(got.Curves))
	}
}
