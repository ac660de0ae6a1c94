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

// By hand: two series of three whose logs have the variance 0.01 each, so that the error of the difference is 0.0816 with four
// degrees of freedom, of which Student's 97.5 % point is 2.776.
func TestTextbook(t *testing.T) {
	this, base := []float64{1, math.Exp(0.1), math.Exp(0.2)}, []float64{2, 2 * math.Exp(0.1), 2 * math.Exp(0.2)}
	e := textbook(this, base)
	if want := math.Exp(2.776 * math.Sqrt(0.02/3)); math.Abs(e.Value-0.5) > 1e-9 || math.Abs(e.High/e.Value-want) > 1e-3 || math.Abs(e.Value/e.Low-want) > 1e-3 {
		t.Errorf("%+v, want 0.5 and a factor of %.4f to either side", e, want)
	}
	if e := textbook(this[:1], base); e.Known() {
		t.Errorf("one value has the interval %+v", e)
	}
	if e := textbook([]float64{3, 3}, []float64{4, 4}); e.Low != e.High || math.Abs(e.Value-0.75) > 1e-9 {
		t.Errorf("values without scatter: %+v", e)
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
