package analyse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// rebooted has two boots of six rounds in which each guest cell has a speed of its own, drawn with the deviation sd.
func rebooted(seed uint64, sd float64) *synthetic {
	s := large(12, 7, 0)
	everyone := append([]string{spec.Host, spec.Control}, s.guests()...)
	s.measure(0, 0, 6, everyone)
	s.measure(1, 6, 6, everyone)
	r, speed := rand.New(rand.NewPCG(seed, 7)), map[[3]string]float64{}
	return s.change("", "", func(_ int, w *record.Window) {
		w.Histogram = nil
		if isHost(w.Stack) {
			return
		}
		k := [3]string{w.Stack, w.Workload, string(rune('0' + w.Boot))}
		if speed[k] == 0 {
			speed[k] = math.Exp(sd * r.NormFloat64())
		}
		for _, m := range []string{record.IOPS, record.Bandwidth} {
			w.Metrics[m] *= speed[k]
		}
	})
}

// covered is the share of guest cells whose interval holds the truth, and their mean half-width.
func (s *synthetic) covered(r Result) (share, width float64) {
	n := 0.0
	for _, c := range r.Cells {
		if isHost(c.Stack) {
			continue
		}
		e := c.Ratio[record.IOPS]
		n, width = n+1, width+e.HalfWidth()
		if e.Contains(s.truth[c.Stack]) {
			share++
		}
	}
	return share / n, width / n
}

// TestBootsAreInTheIntervals checks that the intervals cover the truth when boots differ, and stay narrow when they agree.
func TestBootsAreInTheIntervals(t *testing.T) {
	quiet := rebooted(1, 0)
	share, narrow := quiet.covered(quiet.analyse())
	if share < 0.9 || narrow > 0.015 {
		t.Errorf("boots that agree: %.2f covered, half-width %.3f", share, narrow)
	}
	sum := 0.0
	for seed := range uint64(5) {
		s := rebooted(seed, 0.05)
		share, _ := s.covered(s.analyse())
		sum += share / 5
	}
	if sum < 0.92 {
		t.Errorf("boots of 5 %%: %.3f covered", sum)
	}
}

// TestBesideTheHost: a load on the host has no guest whose boots could differ. Its intervals are those of the host's twin,
// however much the guests move.
func TestBesideTheHost(t *testing.T) {
	s := rebooted(1, 0.1)
	beside := s.exp.Stacks[5].Name
	s.exp.Stacks[5].Bus = "host"
	s.windows = slices.DeleteFunc(s.windows, func(w record.Window) bool { return w.Stack == beside })
	for _, w := range slices.Clone(s.windows) { // it does what the twin does
		if w.Stack == spec.Control {
			w.Stack = beside
			s.windows = append(s.windows, w)
		}
	}
	s.change("", "", func(_ int, w *record.Window) {
		w.Evidence.HostCPU = new(w.Metrics[record.IOPS] / 10_000)
		w.Evidence.Price = &record.Price{IOs: w.Metrics[record.IOPS], Span: 1e9, Threads: []record.ThreadUse{{Role: record.Load, CPU: 1e8}}}
	})
	r := s.analyse()
	for _, load := range s.exp.Workloads {
		is, want := r.cell(t, beside, load.Name), r.cell(t, spec.Control, load.Name)
		for _, m := range []string{record.IOPS, record.ClatMean} {
			if is.Ratio[m] != want.Ratio[m] || is.Metrics[m] != want.Metrics[m] {
				t.Errorf("%s: %s is %v and %v of the host, its twin's %v and %v", load.Name, m, is.Metrics[m], is.Ratio[m], want.Metrics[m], want.Ratio[m])
			}
		}
		if m := record.HostCPU; is.Derived[m] != want.Derived[m] {
			t.Errorf("%s: %s is %v, that of the host's twin %v", load.Name, m, is.Derived[m], want.Derived[m])
		}
	}
	prices := map[key]stat.Estimate{}
	for _, p := range r.Explanation.Prices {
		prices[key{p.Stack, p.Workload}] = p.CPU
	}
	for _, load := range s.exp.Workloads {
		if is, want := prices[key{beside, load.Name}], prices[key{spec.Control, load.Name}]; is != want || is.Value == 0 {
			t.Errorf("%s: an I/O costs %v, of the host's twin %v", load.Name, is, want)
		}
	}
	x := newTable(s.run, s.exp, s.windows)
	x.judgeAll(true)
	x.estimate()
	of := func(stack string) []part {
		return []part{{x.cells[key{stack, "rr32"}], 1}, {x.cells[key{spec.Host, "rr32"}], -1}}
	}
	if is, want := x.product(record.IOPS, of(beside)).estimate(0.95), r.cell(t, spec.Control, "rr32").Ratio[record.IOPS]; math.Abs(is.HalfWidth()-want.HalfWidth()) > 1e-9 {
		t.Errorf("as an effect its share is %v, that of the host's twin %v", is, want)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "of 77 cells") }) { // 11 guests, 7 workloads
		t.Errorf("boots of a load on the host are compared: %q", r.Warnings)
	}
}

func TestBootWarnings(t *testing.T) {
	with := func(warnings []string, words string) bool {
		return slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, words) })
	}
	r := rebooted(1, 0).analyse()
	if with(r.Warnings, "boot") {
		t.Errorf("boots agree: %q", r.Warnings)
	}
	r = rebooted(1, 0.05).analyse()
	if !with(r.Warnings, "boots differ beyond chance in ") || !with(r.Warnings, "from boot to boot shares move by about ") ||
		with(r.Warnings, oneBoot) {
		t.Errorf("boots differ: %q", r.Warnings)
	}
	if r = newRun().measured(6).analyse(); !with(r.Warnings, oneBoot) {
		t.Errorf("one boot: %q", r.Warnings)
	}
	if r = newRun().measured(1).analyse(); with(r.Warnings, oneBoot) {
		t.Errorf("one round, so no interval: %q", r.Warnings)
	}
}

// TestGainsAcrossBoots has boots in which each stack is another stack: no gain may be told from two of them that
// is not there.
func TestGainsAcrossBoots(t *testing.T) {
	claims, all := 0, 0
	for seed := range uint64(10) {
		s := rebooted(seed, 0)
		for name := range s.truth {
			s.truth[name] = 1
		}
		s.windows = nil
		everyone := append([]string{spec.Host, spec.Control}, s.guests()...)
		s.measure(int(2*seed), 0, 6, everyone)
		s.measure(int(2*seed+1), 6, 6, everyone)
		r, speed := rand.New(rand.NewPCG(seed, 9)), map[[2]int]float64{}
		names := s.guests()
		s.change("", "", func(_ int, w *record.Window) {
			k := [2]int{w.Boot, slices.Index(names, w.Stack)}
			if k[1] < 0 {
				return
			}
			if speed[k] == 0 {
				speed[k] = math.Exp(0.05 * r.NormFloat64())
			}
			w.Metrics[record.IOPS] *= speed[k]
			w.Metrics[record.Bandwidth] *= speed[k]
		})
		for _, g := range s.analyse().Gains {
			all++
			if g.Differs {
				claims++
			}
		}
	}
	if claims*4 > all {
		t.Errorf("%d of %d gains are claimed overall, where boots alone differ", claims, all)
	}
}

func TestOverallIsCorrected(t *testing.T) {
	for prox, want := range map[float64]bool{0.6: true, 0.9: false} {
		s := newRun()
		s.truth["fast"], s.truth["near"], s.truth["prox"] = 0.9, 0.7, prox
		for _, g := range s.measured(8).analyse().Gains {
			if g.Over == "prox" && g.Differs != want {
				t.Errorf("over a default of %g: differs is %v, %v", prox, g.Differs, g.Overall)
			}
			if g.Over == "virt" && !g.Differs {
				t.Errorf("a gain over half of the speed is not told: %v", g.Overall)
			}
		}
	}
}

// TestFioErrorsOfFailedWindows: one window that failed with an error inside fio's output withholds the cell.
func TestFioErrorsOfFailedWindows(t *testing.T) {
	s := newRun().measured(6).change("fast", "rr32", func(i int, w *record.Window) {
		if i == 2 {
			w.Status, w.Reason, w.Evidence.FioErrors = record.Failed, "io_u error", 1
		}
	})
	c := s.analyse().cell(t, "fast", "rr32")
	if c.Status != record.Withheld || c.Reason != "fio reported 1 error in 1 of 6 windows" || len(c.Ratio) != 0 {
		t.Errorf("%s: %q, %v", c.Status, c.Reason, c.Ratio)
	}
}
