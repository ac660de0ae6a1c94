package analyse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
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
		if onHost(w.Stack) {
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
		if onHost(c.Stack) {
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
