package analyse

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func (e *Explanation) ceiling(t *testing.T, stack string) Ceiling {
	t.Helper()
	i := slices.IndexFunc(e.Ceilings, func(c Ceiling) bool { return c.Stack == stack && c.Workload == "rr1" })
	if i < 0 {
		t.Fatalf("no ceiling %s: %+v", stack, e.Ceilings)
	}
	return e.Ceilings[i]
}

// TestCeilings: what is said to a buyer, and only as far as the intervals carry it.
func TestCeilings(t *testing.T) {
	for name, tt := range map[string]struct {
		took   map[string]float64 // microseconds
		add    []spec.Stack
		rounds int
		stack  string
		says   []string
		not    string
	}{
		"the disk is the limit": {
			nil, nil, 9, "null-co", []string{"the disk is the limit", "this VM path does 1.7 times (", "what disk does, 7.", "k IOPS"}, "faster disk",
		},
		"the path is, and an iothread is the way out": {
			map[string]float64{"disk": 133, "image": 140, "sata": 200, "fast": 60},
			[]spec.Stack{{Name: "fast", Format: "null-co", Bus: "virtio-blk", IOThread: true}},
			9, "null-co",
			[]string{"this VM path tops out at 8.", "disk is at 9", "a faster disk will not help (by ", "; an iothread will: 2."},
			"the disk is the limit",
		},
		"another controller is the way out": {
			map[string]float64{"disk": 133, "image": 140, "sata": 90}, nil, 9, "null-co", []string{"; the path of sata will: 1."}, "iothread",
		},
		"no way out": {
			map[string]float64{"disk": 133, "image": 140, "sata": 200}, nil, 9, "null-co", []string{"will not help", "no other path that was measured does more"}, "an iothread",
		},
		"it cannot be told":   {map[string]float64{"disk": 162, "image": 170}, nil, 5, "null-co", []string{"whether the disk or the path is the limit cannot be told"}, "will not help"},
		"a single round":      {nil, nil, 1, "null-co", []string{"nothing follows from it"}, "limit"},
		"faster than no disk": {map[string]float64{"disk": 60}, nil, 9, "null-co", []string{"the path is no limit to it"}, "will not help"},
		"nobody takes it":     {map[string]float64{"lone": 130}, []spec.Stack{{Name: "lone", Format: "null-co", Bus: "nvme"}}, 9, "lone", []string{"no stack that was measured takes it to a disk"}, "help"},
		"the block layer alone": {
			map[string]float64{"bench-null": 8},
			[]spec.Stack{{Name: "bench-null", Format: "null-co", Bus: "host", Daemon: "qemu-img"}},
			9, "bench-null",
			[]string{"QEMU's block layer by itself, with neither a disk nor a guest, tops out at 13"},
			"help",
		},
		"the guest is no limit": {nil, nil, 9, "inside", []string{"the guest itself tops out at 14.", "the guest is not the limit"}, "disk will not"},
		"the guest is the limit": {
			map[string]float64{"disk": 75, "image": 80, "sata": 80}, nil, 9, "inside", []string{"a faster disk will not help", "and no other controller will"}, "iothread",
		},
	} {
		a := newAnatomy()
		for stack, us := range tt.took {
			a.took[stack] = us
		}
		for _, s := range tt.add {
			a.add(s)
		}
		c := a.boot(1, 0, tt.rounds).explain(t).ceiling(t, tt.stack)
		for _, want := range tt.says {
			if !strings.Contains(c.Sentence, want) {
				t.Errorf("%s: %q does not say %q", name, c.Sentence, want)
			}
		}
		if strings.Contains(c.Sentence, tt.not) {
			t.Errorf("%s: %q says %q", name, c.Sentence, tt.not)
		}
	}
}

// TestCeilingUse: null-co is a ceiling of its own controller, null_blk of all that the guest does.
func TestCeilingUse(t *testing.T) {
	e := newAnatomy().boot(1, 0, 9).explain(t)
	for stack, want := range map[string][]string{"null-co": {"disk", "image"}, "inside": {"disk", "image", "sata"}} {
		c := e.ceiling(t, stack)
		var got []string
		for _, u := range c.Of {
			got = append(got, u.Stack)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", stack, d)
		}
	}
	use := e.ceiling(t, "null-co").Of[0].Share
	if want := (loadTime + transportTime + guestTime) / (hostTime + blockTime + transportTime + guestTime); !use.Contains(want) {
		t.Errorf("the disk is at %v of its ceiling, want %v", use, want)
	}
}

func TestFronts(t *testing.T) {
	a := newAnatomy().boot(1, 0, 9)
	cores := map[string]float64{"disk": 1.5, "image": 1.5, "sata": 2, "block": 0.1, "null-co": 0.1, "inside": 0.1}
	for stack, n := range cores {
		a.change(stack, "", func(_ int, w *record.Window) {
			w.Evidence.Price = &record.Price{Span: 1e9, IOs: w.Metrics[record.IOPS], Threads: []record.ThreadUse{{Role: record.VCPU, CPU: int64(n * 1e9)}}}
		})
	}
	want := []Front{{Workload: "rr1", Stacks: []string{"disk", "image"}, Beaten: []string{"sata"}}, {Workload: "rr32", Stacks: []string{"disk", "image"}, Beaten: []string{"sata"}}}
	if d := cmp.Diff(want, a.explain(t).Fronts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	a.stack("disk").Durability, a.stack("image").Durability = record.Unsafe, record.Volatile
	if f := a.explain(t).Fronts[0]; len(f.Beaten) > 0 || len(f.Stacks) != 3 {
		t.Errorf("stacks that lose data beat one that does not: %+v", f)
	}
}

func TestCurves(t *testing.T) {
	a := newAnatomy().boot(1, 0, 9)
	a.stack("sata").Unavailable = "no controller"
	r := a.analyse()
	curves := r.Explanation.Curves
	if len(curves) != 7 || curves[0].Stack != spec.Host || curves[0].Load != "4k rand read" {
		t.Fatalf("%d curves, the first is %+v", len(curves), curves[0])
	}
	disk := curves[slices.IndexFunc(curves, func(c Curve) bool { return c.Stack == "disk" })]
	if len(disk.Points) != 2 || disk.Points[1].IODepth != 32 || disk.Points[1].IOPS == nil || disk.Points[1].P99 == nil || disk.Under != nil {
		t.Errorf("the curve of disk is %+v", disk)
	}
	if p := curves[4].Points[0]; p.IOPS != nil || !strings.Contains(p.Reason, "no controller") {
		t.Errorf("the curve of %s is %+v", curves[4].Stack, p)
	}
	r.Limit(Limit{Metric: record.ClatP50, NS: 1e9})
	for _, c := range r.Explanation.Curves {
		if c.Under == nil || (c.Under.IOPS == nil) != (c.Stack == "sata") {
			t.Errorf("under a limit that all keep, %s: %+v", c.Stack, c.Under)
		}
	}
	if r.Explanation.Limit == nil || r.Explanation.Curves[0].Points[0].Limited == nil {
		t.Errorf("the limit is not in the result: %+v", r.Explanation)
	}
	var none Result
	none.Limit(Limit{}) // nothing to do
}

func TestUnder(t *testing.T) {
	point := func(depth int, iops, low, high float64) CurvePoint {
		return CurvePoint{IODepth: depth, IOPS: &stat.Estimate{Value: iops}, Limited: &stat.Estimate{Value: (low + high) / 2, Low: low, High: high}}
	}
	for name, tt := range map[string]struct {
		points []CurvePoint
		depth  int
		bound  bool
		reason string
	}{
		"the whole interval must keep it": {[]CurvePoint{point(1, 10, 40, 60), point(4, 30, 80, 99), point(8, 50, 90, 101)}, 4, false, ""},
		"the deepest keeps it":            {[]CurvePoint{point(1, 10, 40, 60), point(4, 30, 80, 99)}, 4, true, ""},
		"more in flight, fewer IOPS":      {[]CurvePoint{point(1, 40, 40, 60), point(4, 30, 80, 99)}, 1, true, ""},
		"none":                            {[]CurvePoint{point(1, 10, 99, 2000)}, 0, false, "at iodepth 1 it is 1.0 us, and up to 2.0 us"},
		"a single round":                  {[]CurvePoint{{IODepth: 1, IOPS: &stat.Estimate{Value: 1}, Limited: &stat.Estimate{Value: 1, High: inf()}}}, 0, false, "single round"},
		"withheld":                        {[]CurvePoint{{IODepth: 1, Reason: "withheld: RAM"}}, 0, false, "withheld: RAM"},
		"the deepest is withheld":         {[]CurvePoint{point(1, 10, 40, 60), {IODepth: 8, Reason: "withheld: RAM"}}, 1, false, ""},
		"no such latency":                 {[]CurvePoint{{IODepth: 2, IOPS: &stat.Estimate{Value: 1}}}, 0, false, "at iodepth 2 this latency is not known"},
	} {
		u := under(tt.points, Limit{NS: 100})
		if u.IODepth != tt.depth || u.Bound != tt.bound || (u.IOPS != nil) != (tt.depth > 0) || !strings.Contains(u.Reason, tt.reason) || (tt.reason == "") != (u.Reason == "") {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// TestRepresentative: the best, the defaults, the worst, and none twice.
func TestRepresentative(t *testing.T) {
	s := newRun().measured(7)
	r := s.analyse()
	if d := cmp.Diff([]string{r.Best.Stack, "virt", "prox"}, r.Representative()); d != "" {
		t.Error(d)
	}
	s.truth["near"] = 0.1
	s.windows = nil
	if d := cmp.Diff([]string{"fast", "virt", "prox", "near"}, s.measured(7).analyse().Representative()); d != "" {
		t.Error(d)
	}
	if got := (Result{}).Representative(); len(got) > 0 {
		t.Errorf("of nothing: %v", got)
	}
}
