package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func noisy(r *rand.Rand, boot, first, n int, loc, spread float64) Series {
	out := make(Series, n)
	for i := range out {
		out[i] = Point{Round: first + i, Boot: boot, Log: loc + spread*r.NormFloat64()}
	}
	return out
}

// TestContrastIsTheSameInterval: of one series a contrast says what Between says, of two what Compare says.
func TestContrastIsTheSameInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near := cmpopts.EquateApprox(1e-9, 0)
	b := Between{variance: 1e-4, df: 8}
	for _, n := range []int{1, 2, 5, 9} {
		a, c := noisy(r, 0, 0, n, 0.4, 0.05), noisy(r, 1, 20, n+3, 0.1, 0.02)
		for _, level := range []float64{0.9, 0.95, 0.999} {
			if d := cmp.Diff(b.Interval(a, level), b.Contrast(a).Ratio(level), near); d != "" {
				t.Errorf("%d rounds at %v: -interval +contrast:\n%s", n, level, d)
			}
		}
		want, _ := b.Compare(a, c)
		if d := cmp.Diff(want, b.Contrast(a).Add(b.Contrast(c.Weigh(-1))).Ratio(0.95), near); d != "" {
			t.Errorf("%d rounds: -compared +added:\n%s", n, d)
		}
	}
	if got := (Contrast{}).Ratio(0.95); got.Known() || got.Value != 0 {
		t.Errorf("nothing is known of nothing, got %v", got)
	}
}

func TestPlain(t *testing.T) {
	s := Series{{Round: 0, Log: 0}, {Round: 1, Log: 0.2}, {Round: 2, Log: 0.1}}
	e := (Between{}).Contrast(s).Plain(0.95)
	if math.Abs(e.Value-0.1) > 1e-9 || e.Low >= 0 || e.High <= 0.2 || math.Abs(e.High+e.Low-0.2) > 1e-9 {
		t.Errorf("three shares around 0.1 have %+v", e)
	}
	if e := (Between{}).Contrast(s[:1]).Plain(0.95); e.Known() {
		t.Errorf("a single share has an interval: %+v", e)
	}
	same := Series{{Round: 0, Log: 0.5}, {Round: 1, Log: 0.5}}
	if d := cmp.Diff(Estimate{0.5, 0.5, 0.5}, (Between{}).Contrast(same).Plain(0.95)); d != "" {
		t.Errorf("shares that do not vary: %s", d)
	}
}

// TestMoreRounds: a series as long as it says has an interval about as narrow as was asked.
func TestMoreRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	var widths []float64
	const distance = 0.02
	for range 200 {
		short := (Between{}).Contrast(noisy(r, 0, 0, 8, 0, 0.05))
		more := short.MoreRounds(distance, 0.95)
		long := (Between{}).Contrast(noisy(r, 0, 0, 8+more, 0, 0.05)).Ratio(0.95)
		widths = append(widths, math.Log(long.High/long.Low)/2)
	}
	if got := Median(widths); got > 1.2*distance || got < 0.6*distance {
		t.Errorf("the interval is then ±%.4f, want about %v", got, distance)
	}
	quiet := (Between{variance: 0.01, df: 8}).Contrast(noisy(r, 0, 0, 8, 0, 0.001))
	if got := quiet.MoreRounds(distance, 0.95); got != -1 {
		t.Errorf("what boots differ by needs boots, got %d more rounds", got)
	}
	if got := quiet.MoreRounds(100, 0.95); got != 0 {
		t.Errorf("an interval that is narrow enough needs %d more rounds", got)
	}
}

func TestSeriesArithmetic(t *testing.T) {
	a := Series{{Round: 1, Log: 1}, {Round: 2, Log: 2}, {Round: 4, Log: 3}}
	b := Series{{Round: 2, Log: 5}, {Round: 3, Log: 7}, {Round: 4, Log: 9}}
	want := Series{{Round: 2, Log: -3}, {Round: 4, Log: -6}}
	if d := cmp.Diff(want, a.Plus(b.Weigh(-1))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
