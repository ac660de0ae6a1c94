package analyse

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

const offered = 4000

// heldRun is a synthetic run with one load more, which every stack was held to: it reaches what it is offered, and its
// latency is as its truth says. The host again has a latency of its own each time, by 30 %.
func heldRun(rounds int) *synthetic {
	s := newRun()
	s.exp.Workloads = append(s.exp.Workloads, spec.Workload{Name: "held", RW: "randread", BS: 4096, IODepth: 32, RateShare: 0.8})
	s.measured(rounds)
	return s.change("", "held", func(i int, w *record.Window) {
		w.Metrics[record.IOPS], w.Metrics[record.Bandwidth] = offered*0.999, offered*0.999*4096
		w.Evidence.Rate, w.Evidence.Depth = offered, 1.2
		if w.Stack == spec.Control {
			w.Metrics[record.ClatMean] *= 1 + 0.3*float64(i%3-1)
		}
	})
}

func TestHeldLoad(t *testing.T) {
	plain := newRun().measured(8).analyse()
	r := heldRun(8).analyse()
	for _, stack := range []string{"fast", "virt"} {
		c := r.cell(t, stack, "held")
		truth := 1 / newRun().truth[stack]
		if e := c.Ratio[record.ClatMean]; c.Status != record.OK || math.Abs(e.Value/truth-1) > 0.03 || !e.Contains(truth) && e.HalfWidth() < 0.01 {
			t.Errorf("%s: %s %s, latency %+v times the host's, want %.2f", stack, c.Status, c.Reason, e, truth)
		}
		if e := c.Ratio[record.IOPS]; math.Abs(e.Value-1) > 1e-9 || c.Offered != offered || c.BestOfN != nil {
			t.Errorf("%s: %+v of the host's IOPS, offered %v, best %+v", stack, e, c.Offered, c.BestOfN)
		}
		if p := c.Points[0]; p.Ratio < 1.1 || p.Value < 1e6 {
			t.Errorf("%s: point %+v is not of the latency", stack, p)
		}
	}
	floor := r.Noise.ByWorkload["held"]
	if fast, virt := r.cell(t, "fast", "held"), r.cell(t, "virt", "held"); floor.High < 1.26 || floor.High > 1.9 || fast.Differs || !virt.Differs {
		t.Errorf("inside the floor %+v of its latency 1.25 differs: %v, 2 does: %v", floor, fast.Differs, virt.Differs)
	}
	if r.Noise.High > 1.05 || r.Noise.Alarm {
		t.Errorf("the floor of the run is %+v: latency of a held load is no part of it", r.Noise)
	}
	if diff := cmp.Diff(plain.Best.Workloads, r.Best.Workloads); diff != "" || math.Abs(r.Best.Ratio.Value-0.8) > 0.02 {
		t.Errorf("the best stack, %+v, was judged on (-without +with the held load):\n%s", r.Best.Ratio, diff)
	}
	for _, g := range r.Gains {
		if len(g.Workloads) != 3 {
			t.Errorf("%s: a gain over %d workloads, want the three that tell speed", g.Over, len(g.Workloads))
		}
	}
	for _, w := range r.said() {
		t.Errorf("warning %q", w)
	}
}

// A quiet control lets the latency of a stack be told from the host's, and the live estimates have it too.
func TestHeldLatencyDiffers(t *testing.T) {
	s := heldRun(8).change(spec.Control, "held", func(_ int, w *record.Window) { w.Metrics[record.ClatMean] = 1e6 })
	s.change(spec.Host, "held", func(_ int, w *record.Window) { w.Metrics[record.ClatMean] = 1e6 * (1 + 1e-3*float64(w.Round%2)) })
	for name, r := range map[string]Result{"report": s.analyse(), "live": Estimates(s.run, s.exp, s.windows)} {
		if c := r.cell(t, "virt", "held"); !c.Differs || c.Ratio[record.ClatMean].Value < 1.5 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestStackThatDoesNotKeepUp(t *testing.T) {
	for share, want := range map[float64]string{0.949: "reached only 3.8k of the 4.0k IOPS offered", 0.951: ""} {
		s := heldRun(6).change("near", "held", func(_ int, w *record.Window) { w.Metrics[record.IOPS] = share * offered })
		c := s.analyse().cell(t, "near", "held")
		if (c.Status == record.Withheld) != (want != "") || c.Reason != want {
			t.Errorf("%v of the rate: %s %q, want %q", share, c.Status, c.Reason, want)
		}
	}
	s := heldRun(6).change(spec.Host, "held", func(_ int, w *record.Window) { w.Metrics[record.IOPS] = 0.5 * offered })
	if c := s.analyse().cell(t, "fast", "held"); c.Status != record.Withheld || !strings.Contains(c.Reason, "baseline is withheld: reached only 2.0k") {
		t.Errorf("beside a host that did not keep up: %s %q", c.Status, c.Reason)
	}
}

// The host's latency under a held load may drift and be unsteady: that is no claim about its speed.
func TestHeldHostIsNotJudgedForSteadiness(t *testing.T) {
	s := heldRun(8).change(spec.Host, "held", func(i int, w *record.Window) { w.Metrics[record.ClatMean] *= math.Exp(0.2 * float64(i)) })
	r := s.analyse()
	for _, w := range append(r.said(), r.cell(t, spec.Host, "held").Warnings...) {
		if strings.Contains(w, "slowed down") || strings.Contains(w, "sped up") || strings.Contains(w, "steady") {
			t.Errorf("warning %q", w)
		}
	}
}

// A pattern means the loads that tell speed; a held one is meant by its name, and is judged by its latency.
func TestPatternsLeaveHeldLoadsOut(t *testing.T) {
	s := heldRun(8)
	s.exp.Statements = []spec.Statement{
		{Text: "all", Of: []spec.Term{{Stack: "fast", Workload: "*"}}, Over: []spec.Term{{Stack: "virt", Workload: "*"}}, Above: 1.3},
		{Text: "held", Of: []spec.Term{{Stack: "virt", Workload: "held"}}, Over: []spec.Term{{Stack: "fast", Workload: "held"}}, Above: 1.3},
		{Text: "held by a pattern", Of: []spec.Term{{Stack: "virt", Workload: "h*"}}, Over: []spec.Term{{Stack: "fast", Workload: "h*"}}, Above: 1.3},
	}
	s.exp.Figures = []spec.Figure{{Title: "bars", Kind: spec.Bars}}
	r := s.analyse()
	for _, v := range r.Verdicts {
		if v.Verdict != Holds || math.Abs(v.Effect.Value/1.6-1) > 0.05 {
			t.Errorf("%q: %s, %+v, %s; want 1.6", v.Statement, v.Verdict, v.Effect, v.Reason)
		}
	}
	if n := len(r.Figures[0].Panels[0].Columns); n != 3 {
		t.Errorf("a figure of all loads has %d columns, want 3", n)
	}
	if diff := cmp.Diff([]string{"rr32", "rw1", "sr"}, workloadNames(Ranked(s.exp))); diff != "" {
		t.Errorf("ranked:\n%s", diff)
	}
}

func workloadNames(loads []spec.Workload) (out []string) {
	for _, w := range loads {
		out = append(out, w.Name)
	}
	return out
}

// What a held generator spends on waiting is no price of its I/O, in whichever threads it ran; any other's is.
func TestWaitingIsNoPrice(t *testing.T) {
	busy := 0.9
	for _, role := range []string{record.VCPU, record.Load} {
		e := record.Evidence{FioUser: 0.4, GuestCPU: &busy, Price: &record.Price{Span: 1e9, IOs: 500_000, Threads: []record.ThreadUse{
			{Role: role, CPU: 9e8}, {Role: record.MainLoop, CPU: 1e8},
		}}}
		for _, rate := range []float64{0, offered} {
			e.Rate = rate
			off := 0.0
			if rate > 0 {
				off = 800 // 0.4 CPUs over 500,000 I/Os a second
			}
			all, _ := cpuOf(e)
			mine, _ := cpuOfRole(role)(e)
			other, _ := cpuOfRole(record.MainLoop)(e)
			guest, _ := guestCPUOf(e)
			if all != 2000-off || mine != 1800-off || other != 200 || guest != 1800-off {
				t.Errorf("%s held to %v: %v in all, %v its own, %v of the main loop, %v of the guest", role, rate, all, mine, other, guest)
			}
		}
		e.FioUser = 2
		if all, _ := cpuOf(e); all != 0 {
			t.Errorf("a price of %v", all)
		}
	}
}
