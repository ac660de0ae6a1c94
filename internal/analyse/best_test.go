package analyse

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

func failed(_ int, w *record.Window) { w.Status, w.Reason = record.Failed, "EIO" }

var all = []string{"rr32", "rw1", "sr"}

// bestCases are over eight rounds, unless the case has measured before it changed something.
var bestCases = []struct {
	name    string
	change  func(*synthetic)
	best    string // one of two may be best: "fast|near"
	tied    []string
	on      []string
	warning string
}{
	{name: "two alike", best: "fast|near", tied: []string{"fast", "near"}, on: all},
	{name: "one ahead", change: func(s *synthetic) { s.truth["near"] = 0.9 }, best: "near", on: all},
	{name: "a safe default ahead", change: func(s *synthetic) { s.truth["prox"] = 0.95 }, best: "prox", on: all},
	{name: "a volatile stack ahead", change: func(s *synthetic) {
		s.truth["virt"] = 2
		s.stack("virt").Durability = record.Volatile
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all},
	{
		name: "a durable ceiling ahead", change: func(s *synthetic) { s.stack("null").Durability = record.Durable },
		best: "fast|near", tied: []string{"fast", "near"}, on: all,
	},
	{name: "a load on the host ahead", change: func(s *synthetic) {
		s.truth["virt"] = 0.99
		s.exp.Stacks[2].Bus, s.exp.Stacks[2].Daemon, s.exp.Stacks[2].Role = "host", "qemu-img", ""
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all},
	{name: "a disk inside the guest ahead", change: func(s *synthetic) {
		s.truth["null"] = 5
		s.stack("null").Durability = record.Durable
		s.exp.Stacks[4].Bus, s.exp.Stacks[4].Format, s.exp.Stacks[4].Role = "null_blk", "", ""
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all},
	{name: "an incomplete stack ahead", change: func(s *synthetic) {
		s.truth["virt"] = 0.95
		s.measured(8)
		s.change("virt", "rw1", failed)
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all, warning: "not in the choice of the best stack: virt (no number for rw1)"},
	{name: "a workload that nobody has", change: func(s *synthetic) {
		s.measured(8)
		s.change("", "sr", func(_ int, w *record.Window) {
			if w.Stack != spec.Host {
				w.Status = record.Stalled
			}
		})
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all[:2], warning: "the best stack was judged on 2 of 3 workloads: no safe stack has a number for all"},
	{name: "different gaps: the set that more stacks have", change: func(s *synthetic) {
		s.truth["prox"] = 0.95
		s.measured(8)
		s.change("fast", "sr", failed).change("near", "sr", failed).change("virt", "sr", failed).change("prox", "rr32", failed)
	}, best: "fast|near", tied: []string{"fast", "near"}, on: all[:2], warning: "not in the choice of the best stack: prox (no number for rr32)"},
	{name: "nothing could be probed", change: func(s *synthetic) {
		for i := range s.run.Stacks {
			s.run.Stacks[i].Durability = ""
			s.run.Stacks[i].DurabilityWhy = "no counters"
		}
	}, warning: "no best stack is named: whether data that a guest has flushed is safe could be found out for none: no counters"},
	{name: "none is safe", change: func(s *synthetic) {
		for i := range s.run.Stacks {
			s.run.Stacks[i].Durability = record.Volatile
		}
	}, warning: "no best stack is named: none is known to keep data that a guest has flushed"},
	{name: "no safe stack has a number", change: func(s *synthetic) {
		s.measured(6)
		for _, st := range s.guests() {
			s.change(st, "", failed)
		}
	}},
}

func TestBest(t *testing.T) {
	for _, c := range bestCases {
		t.Run(c.name, func(t *testing.T) {
			s := newRun()
			if c.change != nil {
				c.change(s)
			}
			if len(s.windows) == 0 {
				s.measured(8)
			}
			r := s.analyse()
			if c.warning != "" && !slices.Contains(r.said(), c.warning) || c.warning == "" && len(r.said()) > 0 {
				t.Errorf("warnings %q, want %q", r.Warnings, c.warning)
			}
			if r.Best == nil {
				if c.best != "" {
					t.Fatalf("no best, want %s", c.best)
				}
				return
			}
			if !slices.Contains(strings.Split(c.best, "|"), r.Best.Stack) {
				t.Fatalf("best is %s, want %s", r.Best.Stack, c.best)
			}
			tied := slices.DeleteFunc(slices.Clone(c.tied), func(s string) bool { return s == r.Best.Stack })
			if diff := cmp.Diff([][]string{tied, c.on}, [][]string{r.Best.Tied, r.Best.Workloads}, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if !r.Best.Ratio.Contains(s.truth[r.Best.Stack]) || r.Best.Ratio.HalfWidth() > 0.05 {
				t.Errorf("ratio %v, truth %g", r.Best.Ratio, s.truth[r.Best.Stack])
			}
		})
	}
}

func TestGains(t *testing.T) {
	s := newRun()
	s.truth["near"] = 0.7
	s.measured(8)
	s.change("virt", "rr32", func(_ int, w *record.Window) { *w.Evidence.DeviceRead = w.Evidence.PathRead / 50 })
	r := s.analyse()
	if len(r.Gains) != 2 || r.Best.Stack != "fast" {
		t.Fatalf("best %+v, gains %+v", r.Best, r.Gains)
	}
	virt, prox := r.Gains[0], r.Gains[1]
	if virt.Over != "virt" || virt.Role != "virt-manager" || prox.Over != "prox" || prox.Role != "proxmox" {
		t.Errorf("%+v", r.Gains)
	}
	first := virt.Workloads[0]
	if first.Ratio != nil || first.Differs || first.Reason != "withheld: 98 % of these reads came from the host's RAM: this is not the disk" {
		t.Errorf("%+v", first)
	}
	for _, line := range append(virt.Workloads[1:], prox.Workloads...) {
		if line.Ratio == nil || !line.Differs || line.Reason != "" {
			t.Errorf("%+v", line)
		}
	}
	for gain, truth := range map[*Gain]float64{&virt: 0.8 / 0.5, &prox: 0.8 / 0.6} {
		if e := gain.Overall; e == nil || !e.Contains(truth) || e.HalfWidth() > 0.05 {
			t.Errorf("over %s: %v, truth %g", gain.Over, e, truth)
		}
	}
}

func TestGainsOfNoDifference(t *testing.T) {
	s := newRun()
	s.truth["prox"], s.truth["near"] = 0.8, 0.7
	s.measured(8)
	r := s.analyse()
	for _, g := range r.Gains {
		for _, line := range g.Workloads {
			if line.Differs != (g.Over == "virt") {
				t.Errorf("over %s: %+v", g.Over, line)
			}
		}
	}
	if (r.Best.Stack == "prox") != (len(r.Gains) == 1) {
		t.Errorf("the best is %s, and there are %d gains", r.Best.Stack, len(r.Gains))
	}
}

// TestAcrossBoots has the defaults in another guest than the fast stacks: they share no round, only the host.
func TestAcrossBoots(t *testing.T) {
	s := newRun()
	s.truth["near"] = 0.7
	hosts := []string{spec.Host, spec.Control}
	for i := range 3 {
		s.measure(2*i, 8*i, 4, append(slices.Clone(hosts), "fast", "near", "null"))
		s.measure(2*i+1, 8*i+4, 4, append(slices.Clone(hosts), "virt", "prox"))
	}
	r := s.analyse()
	if r.Best == nil || r.Best.Stack != "fast" || len(r.Best.Tied) != 0 {
		t.Fatalf("best %+v", r.Best)
	}
	if c := r.cell(t, spec.Host, "sr"); c.Rounds != 24 {
		t.Errorf("the host has %d rounds", c.Rounds)
	}
	if c := r.cell(t, "virt", "sr"); c.Rounds != 12 {
		t.Errorf("virt has %d rounds", c.Rounds)
	}
	for _, g := range r.Gains {
		truth := s.truth["fast"] / s.truth[g.Over]
		for _, line := range g.Workloads {
			if line.Ratio == nil || math.Abs(line.Ratio.Value/truth-1) > 0.03 || !line.Differs {
				t.Errorf("over %s: %+v, truth %g", g.Over, line, truth)
			}
		}
		if g.Overall == nil || !g.Overall.Known() || math.Abs(g.Overall.Value/truth-1) > 0.03 {
			t.Errorf("over %s: %v, truth %g", g.Over, g.Overall, truth)
		}
	}
}
