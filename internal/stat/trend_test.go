package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	x := []float64{9, 1, 5, 3}
	for n, want := range map[int]float64{0: 0, 1: 9, 2: 5, 3: 5, 4: 4} {
		if got := Median(x[:n]); got != want {
			t.Errorf("of %v: %g, want %g", x[:n], got, want)
		}
	}
	if !slices.Equal(x, []float64{9, 1, 5, 3}) {
		t.Errorf("the slice was changed: %v", x)
	}
}

func TestHalves(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     []float64
		floor float64
		want  float64 // ratio
	}{
		{"none", nil, 1, 1},
		{"one", []float64{7}, 1, 1},
		{"two", []float64{10, 5}, 1, 0.5},
		{"level", []float64{8, 8, 8, 8, 8}, 1, 1},
		{"a step", []float64{100, 100, 100, 60, 60, 60}, 1, 0.6},
		{"the middle one is in both", []float64{100, 80, 60, 40, 20}, 1, 0.5},
		{"one that stands out in each half", []float64{100, 1, 100, 50, 900, 50}, 1, 0.5},
		{"a stand", []float64{100, 100, 0, 0}, 1, 0.01},
		{"a stand from the start", []float64{0, 0, 0, 0}, 1, 1},
		{"below the floor", []float64{4, 4, 8, 8}, 5, 1.6},
	} {
		if got := math.Exp(Halves(c.x, c.floor)); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name             string
		x                []float64
		excursion, slope float64
	}{
		{"none", nil, 0, 0},
		{"one", []float64{5}, 0, 0},
		{"a mean of 0", []float64{-1, 1}, 0, 0},
		{"level", []float64{5, 5, 5}, 0, 0},
		{"a line", []float64{8, 9, 10, 11, 12}, 0.4, 0.4},
		{"a falling line", []float64{12, 11, 10, 9, 8}, 0.4, 0.4},
		{"a peak in the middle", []float64{9, 9, 14, 9, 9}, 0.5, 0},
		{"a peak at the end", []float64{9, 9, 9, 9, 14}, 0.5, 0.4},
	} {
		if e, s := Moved(c.x); math.Abs(e-c.excursion) > 1e-9 || math.Abs(s-c.slope) > 1e-9 {
			t.Errorf("%s: %g and %g, want %g and %g", c.name, e, s, c.excursion, c.slope)
		}
	}
}

// rising is a series of rounds from 1 on, on a line from 0 to the log of ratio.
func rising(logs []float64, ratio float64) Series {
	s := make(Series, len(logs))
	for i, l := range logs {
		s[i] = Point{Round: i + 1, Log: l + math.Log(ratio)*float64(i)/float64(max(len(logs)-1, 1))}
	}
	return s
}

func TestTrend(t *testing.T) {
	if e, p := Series(nil).Trend(); e != Unknown(0) || p != 1 {
		t.Errorf("of nothing: %v, %g", e, p)
	}
	for n := 1; n < 3; n++ {
		want := []float64{1, 3}[n-1]
		if e, p := rising(make([]float64, n), 3).Trend(); e.Known() || math.Abs(e.Value-want) > 1e-9 || p != 1 {
			t.Errorf("%d rounds: %v, p %g", n, e, p)
		}
	}
	// By hand: five rounds on a slope of 0.2, around which they lie by 0.1 with a lag-1 correlation of -0.5.
	s := rising([]float64{0.1, -0.1, 0, -0.1, 0.1}, math.Exp(0.8))
	e, p := s.Trend()
	se := 4 * math.Sqrt(0.04/3/10) * inflation(-0.5, 5)
	if want := 0.8 + 3.182446305*se; math.Abs(math.Log(e.Value)-0.8) > 1e-9 || math.Abs(math.Log(e.High)-want) > 1e-6 {
		t.Errorf("%v, want up to %g", e, math.Exp(want))
	}
	if (p < 0.05) == e.Contains(1) {
		t.Errorf("p %g and %v disagree", p, e)
	}
	// A missing round is not a shorter way.
	whole, _ := rising(make([]float64, 9), 2).Trend()
	gap := rising(make([]float64, 9), 2)
	if e, _ := slices.Delete(gap, 3, 6).Trend(); math.Abs(e.Value-whole.Value) > 1e-9 || math.Abs(e.Value-2) > 1e-9 {
		t.Errorf("with a gap %v, without %v", e, whole)
	}
	// An outlier at the end tilts the line and is not taken for a trend.
	if e, p := rising([]float64{0, 0.01, -0.01, 0.01, 0, -1}, 1).Trend(); p < 0.05 || e.Value > 0.6 {
		t.Errorf("an outlier at the end: %v, p %g", e, p)
	}
}

// TestTrendCoverage holds the interval of a trend to what that of a mean is held to.
func TestTrendCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const repeats = 3000
	rounds := []int{3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30}
	t.Logf("%-32s %v rounds, then the mean", "coverage of a trend", rounds)
	for _, noise := range noises {
		sum, row := 0.0, make([]int, len(rounds)) // per mille
		for i, n := range rounds {
			r := rand.New(rand.NewPCG(4, uint64(n)))
			covered := 0
			for range repeats {
				if e, _ := rising(noise.make(r, n), 2).Trend(); e.Contains(2) {
					covered++
				}
			}
			row[i], sum = int(1000*float64(covered)/repeats+0.5), sum+float64(covered)/repeats
		}
		average := sum / float64(len(rounds))
		t.Logf("%-32s %v  %.3f", noise.name, row, average)
		if average < noise.floor {
			t.Errorf("%s: coverage %.3f, want at least %.2f", noise.name, average, noise.floor)
		}
	}
}
