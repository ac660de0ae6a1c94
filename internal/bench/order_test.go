package bench

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrder(t *testing.T) {
	var got [][]int
	for round := range 6 {
		got = append(got, order(round, 3))
	}
	want := [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A drift that is linear in the logs, and one bad round among many, leave the ratio alone.
func TestRatio(t *testing.T) {
	var this, base []float64
	turn := 0.0
	next := func() float64 { turn++; return 1000 * math.Exp(-0.01*turn) }
	for round := range 20 {
		for _, side := range order(round, 2) {
			if side == 0 {
				this = append(this, 0.5*next())
			} else {
				base = append(base, next())
			}
		}
	}
	this[7] *= 10
	if r := ratio(this, base); math.Abs(r.Value-0.5) > 1e-9 {
		t.Errorf("ratio %+v, want 0.5", r)
	}
	if r := ratio(this[:1], base[:1]); r.Known() {
		t.Errorf("one round has the interval %+v", r)
	}
}

// By hand: with a scatter of 0.1, 33 repeats give 1.9977 x 0.1 x sqrt(2/33) = 0.0492 and 34 give 0.0484, where log 1.05 is 0.0488.
func TestRepeatsFor(t *testing.T) {
	for sd, want := range map[float64]int{0: 2, 0.1: 34} {
		if n := repeatsFor(sd); n != want {
			t.Errorf("%g: %d repeats, want %d", sd, n, want)
		}
	}
	// Two cells whose logs have the variances 0.01 of three values and 0.02 of two: (2 x 0.01 + 0.02) / 3.
	got := results{"w": {"host": {1, math.Exp(0.1), math.Exp(0.2)}, "s": {1, math.Exp(0.2)}}}
	if sd := scatter(got); math.Abs(sd-math.Sqrt(0.04/3)) > 1e-9 {
		t.Errorf("scatter %g", sd)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median of %v is %v, want %v", tt.values, got, tt.want)
		}
	}
}
