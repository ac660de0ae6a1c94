package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noises are the ways in which rounds scatter; each returns n logs around 0 of a spread of about 1.
var noises = []struct {
	name    string
	floor   float64 // coverage that the 95 % interval must reach on average over the numbers of rounds
	stopped float64 // and the one that it must reach at the worst spread when Decided stops the series
	make    func(r *rand.Rand, n int) []float64
}{
	{"Gaussian", 0.94, 0.94, func(r *rand.Rand, n int) []float64 { return series(n, r.NormFloat64) }},
	{"one in ten outliers of 5 sigma", 0.94, 0.94, func(r *rand.Rand, n int) []float64 { return series(n, outlier(r, -5, 5)) }},
	{"the same, all to one side", 0.94, 0.93, func(r *rand.Rand, n int) []float64 { return series(n, outlier(r, 5, 5)) }},
	{"AR(1) of 0.3", 0.92, 0.87, func(r *rand.Rand, n int) []float64 { return correlated(r, n, 0.3) }},
	{"AR(1) of -0.3", 0.94, 0.94, func(r *rand.Rand, n int) []float64 { return correlated(r, n, -0.3) }},
	{"drift common to both sides", 0.94, 0.94, drifting},
}

func series(n int, next func() float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = next()
	}
	return out
}

// outlier adds one of two jumps to one draw in ten.
func outlier(r *rand.Rand, jumps ...float64) func() float64 {
	return func() float64 {
		z := r.NormFloat64()
		if r.Float64() < 0.1 {
			z += jumps[r.IntN(len(jumps))]
		}
		return z
	}
}

func correlated(r *rand.Rand, n int, rho float64) []float64 {
	prev := r.NormFloat64()
	return series(n, func() float64 {
		prev = rho*prev + math.Sqrt(1-rho*rho)*r.NormFloat64()
		return prev
	})
}

// drifting pairs two sides that both lose half of their speed over the run.
func drifting(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		drift := -math.Ln2 * float64(i) / float64(n)
		a, b := drift+r.NormFloat64()/math.Sqrt2, drift+r.NormFloat64()/math.Sqrt2
		out[i] = a - b
	}
	return out
}

func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const repeats = 3000
	rounds := []int{2, 3, 5, 6, 7, 8, 10, 12, 15, 16, 20, 25, 30}
	t.Logf("%-32s %v rounds, then the mean", "coverage of the 95 % interval", rounds)
	var all float64
	for _, noise := range noises {
		var sum float64
		line := make([]int, len(rounds)) // per mille
		for i, n := range rounds {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			covered := 0
			for range repeats {
				if Ratio(noise.make(r, n)).Contains(1) {
					covered++
				}
			}
			share := float64(covered) / repeats
			line[i], sum = int(1000*share+0.5), sum+share
			if share < noise.floor-0.01 {
				t.Errorf("%s, %d rounds: coverage %.3f", noise.name, n, share)
			}
		}
		average := sum / float64(len(rounds))
		t.Logf("%-32s %v  %.3f", noise.name, line, average)
		if average < noise.floor {
			t.Errorf("%s: coverage %.3f, want at least %.2f", noise.name, average, noise.floor)
		}
		all += average / float64(len(noises))
	}
	if all < 0.94 {
		t.Errorf("overall coverage %.3f, want at least 0.94", all)
	}
}

func TestStopping(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const (
		repeats     = 2000
		least, most = 5, 30
		target      = 0.05
	)
	// The spread of a round against the target decides how long a series runs: from 5 rounds to 30.
	spreads := []float64{0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3}
	t.Logf("%-32s %v spread over target, then the mean", "coverage after stopping", spreads)
	var all float64
	for _, noise := range noises {
		var sum, rounds float64
		line := make([]int, len(spreads))
		for i, spread := range spreads {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			covered := 0
			for range repeats {
				logs := noise.make(r, most)
				for j := range logs {
					logs[j] *= spread * math.Log1p(target)
				}
				n := least
				for n < most && !Decided(logs[:n], target) {
					n++
				}
				rounds += float64(n)
				if Ratio(logs[:n]).Contains(1) {
					covered++
				}
			}
			share := float64(covered) / repeats
			line[i], sum = int(1000*share+0.5), sum+share
			if share < noise.stopped {
				t.Errorf("%s, spread %g: coverage %.3f", noise.name, spread, share)
			}
		}
		average := sum / float64(len(spreads))
		t.Logf("%-32s %v  %.3f after %.1f rounds", noise.name, line, average, rounds/repeats/float64(len(spreads)))
		all += average / float64(len(noises))
	}
	if all < 0.94 {
		t.Errorf("overall coverage after stopping %.3f, want at least 0.94", all)
	}
}

// TestPower checks Detectable against its own definition.
func TestPower(t *testing.T) {
	const repeats = 4000
	for _, n := range []int{6, 10, 20} {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		var effect float64
		for range 500 {
			effect += math.Log1p(Detectable(series(n, func() float64 { return 0.03 * r.NormFloat64() }))) / 500
		}
		found := 0
		for range repeats {
			if PValue(series(n, func() float64 { return effect + 0.03*r.NormFloat64() })) < 0.05 {
				found++
			}
		}
		power := float64(found) / repeats
		t.Logf("%d rounds of 3 %%: an effect of %.1f %% is found with a power of %.2f", n, 100*math.Expm1(effect), power)
		if power < 0.75 || power > 0.9 {
			t.Errorf("%d rounds: power %.2f, want about 0.8", n, power)
		}
	}
}
