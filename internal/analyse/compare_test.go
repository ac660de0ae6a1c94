package analyse

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// What a gain says of two stacks, Compare says of any two.
func TestCompareIsTheComparisonOfGains(t *testing.T) {
	s := newRun().measured(6)
	s.measure(1, 6, 6, append([]string{spec.Host, spec.Control}, s.guests()...))
	r := s.analyse()
	compared := 0
	for _, g := range r.Gains {
		for _, w := range g.Workloads {
			got, ok := r.Compare(r.Best.Stack, g.Over, w.Workload, 0.95)
			if !ok || w.Ratio == nil {
				t.Fatalf("%s under %s: %v, %v", g.Over, w.Workload, ok, w.Ratio)
			}
			if d := cmp.Diff(*w.Ratio, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
				t.Errorf("%s under %s (-gain +comparison):\n%s", g.Over, w.Workload, d)
			}
			compared++
		}
	}
	if compared != 2*len(loads) {
		t.Errorf("%d comparisons", compared)
	}
}

// Stacks of different guests share no round, and still have a ratio: a wider one.
func TestCompareAcrossBoots(t *testing.T) {
	s := newRun()
	s.measure(0, 0, 8, []string{spec.Host, spec.Control, "fast"})
	s.measure(1, 8, 8, []string{spec.Host, spec.Control, "virt"})
	got, ok := s.analyse().Compare("fast", "virt", "rr32", 0.95)
	if !ok || math.Abs(got.Value-1.6) > 0.05 || !got.Contains(1.6) || !got.Known() {
		t.Errorf("%+v, %v; want 1.6", got, ok)
	}
	if wider, _ := s.analyse().Compare("fast", "virt", "rr32", 0.999); wider.HalfWidth() <= got.HalfWidth() {
		t.Errorf("a higher level gives %+v, which is not wider than %+v", wider, got)
	}
}

func TestCompareNeedsTwoNumbers(t *testing.T) {
	r := newRun().measured(6).change("near", "rr32", bad(6, record.Failed, "EIO")).analyse()
	for _, pair := range [][2]string{{"fast", "near"}, {"near", "fast"}, {"fast", "missing"}} {
		if got, ok := r.Compare(pair[0], pair[1], "rr32", 0.95); ok {
			t.Errorf("%v: %+v", pair, got)
		}
	}
	if _, ok := r.Compare("fast", "near", "rw1", 0.95); !ok {
		t.Error("the other workload has numbers")
	}
}
