package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// booted makes a series whose every boot has its own location, drawn with the standard deviation boot.
func booted(r *rand.Rand, boots, rounds int, window, boot float64) Series {
	var out Series
	for b := range boots {
		away := boot * r.NormFloat64()
		for range rounds {
			out = append(out, Point{Round: len(out), Boot: b, Log: away + window*r.NormFloat64()})
		}
	}
	return out
}

// TestBoots simulates runs of 80 cells and counts the intervals that hold the truth; it also holds that boots that agree
// cost next to nothing. The plain interval, which takes all rounds for one boot, is logged beside it.
func TestBoots(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const cells, runs = 80, 25
	var all, n float64
	for _, shape := range []struct{ boots, rounds int }{{2, 3}, {2, 4}, {2, 6}, {3, 3}, {3, 4}, {3, 6}} {
		for _, window := range []float64{0.02, 0.1} {
			for _, boot := range []float64{0, 0.01, 0.02, 0.05} {
				r := rand.New(rand.NewPCG(uint64(shape.boots), uint64(shape.rounds)))
				var covered, plain, width, before float64
				for range runs {
					family := make([]Series, cells)
					for i := range family {
						family[i] = booted(r, shape.boots, shape.rounds, window, boot)
					}
					between := Pool(family)
					for _, s := range family {
						e, p := between.Ratio(s), Ratio(s.Logs())
						covered, plain = covered+hit(e), plain+hit(p)
						width, before = width+math.Log(e.High/e.Low), before+math.Log(p.High/p.Low)
					}
				}
				covered, plain, width = covered/cells/runs, plain/cells/runs, width/before
				t.Logf("%d x %d rounds of %3.0f %%, boots of %.0f %%: %.3f (plain %.3f), width x %.2f",
					shape.boots, shape.rounds, 100*window, 100*boot, covered, plain, width)
				if covered < 0.9 {
					t.Errorf("%d x %d rounds of %g, boots of %g: coverage %.3f", shape.boots, shape.rounds, window, boot, covered)
				}
				if boot == 0 && width > 1.15 {
					t.Errorf("%d x %d rounds of %g: boots that agree widen the interval by %.2f", shape.boots, shape.rounds, window, width)
				}
				all, n = all+covered, n+1
			}
		}
	}
	t.Logf("overall %.3f", all/n)
	if all/n < 0.93 {
		t.Errorf("overall coverage %.3f, want at least 0.93", all/n)
	}
}

func hit(e Estimate) float64 {
	if e.Contains(1) {
		return 1
	}
	return 0
}

// TestFamilies goes beyond equal cells: few of them, a restless half, and boots that do not have equally many rounds.
func TestFamilies(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const runs = 2000
	for _, c := range []struct {
		name  string
		cells int
		make  func(r *rand.Rand, i int) Series
		floor float64
	}{
		{"one cell", 1, func(r *rand.Rand, _ int) Series { return booted(r, 2, 6, 0.02, 0.02) }, 0.85},
		{"three cells", 3, func(r *rand.Rand, _ int) Series { return booted(r, 2, 6, 0.02, 0.02) }, 0.9},
		{"eight cells", 8, func(r *rand.Rand, _ int) Series { return booted(r, 2, 6, 0.02, 0.02) }, 0.93},
		{"half of 40 are restless", 40, func(r *rand.Rand, i int) Series { return booted(r, 2, 6, 0.02, 0.05*float64(i%2)) }, 0.93},
		{"two rounds and eight", 40, func(r *rand.Rand, _ int) Series {
			s := booted(r, 2, 8, 0.02, 0.03)
			return s[:10]
		}, 0.93},
		{"one of 40 is mad", 40, func(r *rand.Rand, i int) Series { return booted(r, 2, 6, 0.02, 0.5*float64((i+39)/40-(i+38)/40)) }, 0.93},
		{"half in one boot alone", 40, func(r *rand.Rand, i int) Series { return booted(r, 1+i%2, 6, 0.02, 0.03) }, 0.93},
	} {
		r := rand.New(rand.NewPCG(11, uint64(c.cells)))
		covered, n := 0.0, 0.0
		for n < runs {
			family := make([]Series, c.cells)
			for i := range family {
				family[i] = c.make(r, i)
			}
			between := Pool(family)
			for _, s := range family {
				covered, n = covered+hit(between.Ratio(s)), n+1
			}
		}
		t.Logf("%s: %.3f", c.name, covered/n)
		if covered/n < c.floor {
			t.Errorf("%s: coverage %.3f, want %.2f", c.name, covered/n, c.floor)
		}
	}
}

// TestOneBoot holds that a family in one boot changes nothing.
func TestOneBoot(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	family := []Series{booted(r, 1, 6, 0.02, 0), booted(r, 1, 9, 0.02, 0), booted(r, 1, 1, 0.02, 0), nil}
	between := Pool(family)
	if between.SD() != 0 {
		t.Errorf("one boot moves by %g", between.SD())
	}
	for _, s := range family {
		want, wantP := Compare(s.Logs(), family[0].Logs())
		got, gotP := between.Compare(s, family[0])
		if got != want || gotP != wantP || between.Ratio(s) != Ratio(s.Logs()) ||
			between.PValue(s) != PValue(s.Logs()) || between.Detectable(s) != Detectable(s.Logs()) || BootsDiffer(s) != 1 {
			t.Errorf("%d rounds: %v", len(s), between.Ratio(s))
		}
	}
}

func TestPool(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, want := range []float64{0.02, 0.1} {
		var family []Series
		for range 400 {
			family = append(family, booted(r, 2, 6, 0.02, want))
		}
		family = append(family, Series{{0, 0, 9}, {1, 1, -9}}, Series{{0, 0, math.NaN()}, {1, 1, math.Inf(1)}}) // say nothing
		if got := Pool(family).SD(); math.Abs(got/want-1) > 0.15 {
			t.Errorf("boots of %g are found to be of %g", want, got)
		}
	}
}

// TestBootsDiffer bounds its false alarms and lets it find what is plain.
func TestBootsDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const runs = 2000
	for _, c := range []struct{ boot, least, most float64 }{{0, 0, 0.06}, {0.1, 0.7, 1}} {
		alarms := 0.0
		for range runs {
			if BootsDiffer(booted(r, 2, 6, 0.02, c.boot)) < 0.05 {
				alarms++
			}
		}
		if share := alarms / runs; share < c.least || share > c.most {
			t.Errorf("boots of %g: %.3f alarms, want %g to %g", c.boot, share, c.least, c.most)
		}
	}
}

func TestSeriesBoots(t *testing.T) {
	for want, s := range map[int]Series{0: nil, 1: {{0, 4, 1}, {1, 4, 2}}, 2: {{0, 4, 1}, {1, 2, 1}, {2, 4, 1}, {3, 7, math.NaN()}}} {
		if got := s.Boots(); got != want {
			t.Errorf("%v: %d boots, want %d", s, got, want)
		}
	}
}
