package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWidthForByHand draws differences of the size that is promised, and looks how often both hurdles are cleared.
func TestWidthForByHand(t *testing.T) {
	const (
		repeats    = 40_000
		difference = 0.05
	)
	for _, comparisons := range []int{1, 2, 8, 32, 84, 300} {
		r := rand.New(rand.NewPCG(4, uint64(comparisons)))
		const rounds = 1000 // as good as infinitely many
		width := WidthFor(difference, comparisons, rounds)
		plain, corrected := hurdle(1, rounds), hurdle(comparisons, rounds)
		se := math.Log1p(width) / plain
		found := 0
		for range repeats {
			host, control, cell := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			effect := math.Log1p(difference)/se + (cell-host)/math.Sqrt2
			floor := math.Abs(control-host)/math.Sqrt2 + plain
			if effect > floor && effect > corrected {
				found++
			}
		}
		power := float64(found) / repeats
		t.Logf("%3d comparisons: intervals of ±%.2f %% find %.0f %% with a power of %.3f", comparisons, 100*width, 100*difference, power)
		if math.Abs(power-aimed) > 0.006 {
			t.Errorf("%d comparisons: power %.3f, want %.2f", comparisons, power, aimed)
		}
		if back := DifferenceFor(width, comparisons, rounds); math.Abs(back-difference) > 1e-9 {
			t.Errorf("%d comparisons: the way back gives %g", comparisons, back)
		}
	}
	wide := WidthFor(0.05, 8, 100)
	if WidthFor(0.05, 80, 100) >= wide || WidthFor(0.02, 8, 100) >= wide || WidthFor(0.05, 300, 10) >= WidthFor(0.05, 300, 100) {
		t.Error("more comparisons, smaller differences and, for many comparisons, fewer rounds must ask for narrower intervals")
	}
	if WidthFor(0.05, 8, 1) != 0 || !math.IsInf(DifferenceFor(0.05, 8, 1), 1) {
		t.Error("a single round finds nothing")
	}
}

// TestWidthAfter compares what is expected of a number of rounds with what they give.
func TestWidthAfter(t *testing.T) {
	const repeats = 400
	for _, n := range []int{5, 8, 16, 40, 150} {
		r := rand.New(rand.NewPCG(5, uint64(n)))
		var widths, scatters float64
		for range repeats {
			logs := series(n, func() float64 { return 0.1 * r.NormFloat64() })
			widths += math.Log1p(Ratio(logs).HalfWidth()) / repeats
			scatters += Scatter(logs) / repeats
		}
		expected := math.Log1p(WidthAfter(0.1, n))
		t.Logf("%3d rounds: ±%.1f %% expected, ±%.1f %% on average; a scatter of 10 %% is taken for %.1f %%", n, 100*expected, 100*widths, 100*scatters)
		if math.Abs(widths/expected-1) > 0.12 || math.Abs(scatters/0.1-1) > 0.12 {
			t.Errorf("%d rounds: ±%g expected, ±%g on average, scatter %g", n, expected, widths, scatters)
		}
		if got := RoundsFor(0.1, math.Expm1(expected)+1e-9, 1000); got > n || got < n-2 {
			t.Errorf("%d rounds give such a width, RoundsFor says %d", n, got)
		}
	}
}

// TestDifferenceAfter draws short series that differ by as much as is said to be found, and looks how often the real intervals and
// p-values find them.
func TestDifferenceAfter(t *testing.T) {
	const (
		repeats = 3000
		scatter = 0.12
	)
	for _, comparisons := range []int{2, 28, 112} {
		for _, n := range []int{3, 5, 6, 8, 12, 20} {
			r := rand.New(rand.NewPCG(6, uint64(n)))
			difference := DifferenceAfter(scatter, comparisons, n)
			found := 0
			for range repeats {
				cell, control := make([]float64, n), make([]float64, n)
				for i := range n {
					host := r.NormFloat64()
					cell[i] = scatter*(r.NormFloat64()-host)/math.Sqrt2 - math.Log1p(difference)
					control[i] = scatter * (r.NormFloat64() - host) / math.Sqrt2
				}
				low, _ := Ratio(control).Band()
				if PValue(cell)*float64(comparisons) < 0.05 && Ratio(cell).Value < low {
					found++
				}
			}
			power := float64(found) / repeats
			t.Logf("%3d comparisons, %2d rounds: a loss of %.0f %% is found with a power of %.3f", comparisons, n, 100*(1-1/(1+difference)), power)
			if power < Power-0.02 || power > 0.97 {
				t.Errorf("%d comparisons, %d rounds: power %.3f, want %.2f and little more", comparisons, n, power, Power)
			}
		}
	}
	if !math.IsInf(DifferenceAfter(scatter, 2, 1), 1) {
		t.Error("a single round finds nothing")
	}
}

func TestRoundsForLimits(t *testing.T) {
	if n := RoundsFor(10, 0.001, 500); n != 500 {
		t.Errorf("what never gets narrow takes %d rounds, want the limit", n)
	}
	if n := RoundsFor(0, 0.05, 500); n != 2 {
		t.Errorf("what does not scatter takes %d rounds, want 2", n)
	}
	if !math.IsInf(WidthAfter(0.1, 1), 1) || Scatter([]float64{1}) != 0 || Scatter(nil) != 0 {
		t.Error("a single round has no width and no scatter")
	}
}

func TestProportion(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{ // from tables of the exact interval
		{0, 20, 0, 0.1684}, {1, 20, 0.0013, 0.2487}, {10, 20, 0.2720, 0.7280}, {20, 20, 0.8316, 1}, {5, 100, 0.0164, 0.1128},
	} {
		p := Proportion(c.k, c.n)
		if p.Value != c.k/c.n || math.Abs(p.Low-c.low) > 5e-5 || math.Abs(p.High-c.high) > 5e-5 {
			t.Errorf("%g of %g: %+v, want %g to %g", c.k, c.n, p, c.low, c.high)
		}
	}
	if p := Proportion(0, 0); p.Low != 0 || p.High != 1 {
		t.Errorf("of nothing, nothing is known: %+v", p)
	}
	whole, half := Proportion(10, 20), Proportion(5, 10)
	if half.Low >= whole.Low || half.High <= whole.High {
		t.Error("fewer trials must give a wider interval")
	}
}

// TestManyDegreesOfFreedom compares the expansion with the quantile itself.
func TestManyDegreesOfFreedom(t *testing.T) {
	for _, df := range []float64{64, 64.25, 80, 200, 1e3, 1e4, 1e6} {
		exact := summary{df: df}.student().Quantile(0.975)
		if got := (summary{df: df}).quantile(0.95); math.Abs(got-exact) > 1e-7 {
			t.Errorf("%g degrees of freedom: %.9f, want %.9f", df, got, exact)
		}
	}
}
