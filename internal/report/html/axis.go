package html

import (
	"math"

	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// axis is a log axis from left to right of a drawing.
type axis struct{ low, high, left, right float64 }

// tick is a labelled place on an axis.
type tick struct {
	X    float64
	Text string
}

// whisker is an interval on an axis, in pixels; Zero is where a ratio of 1 is.
type whisker struct{ Zero, Low, Value, High float64 }

// newAxis spans the positive and finite ones of values, with a little air.
func newAxis(values []float64, left, right float64) axis {
	a := axis{low: math.Inf(1), high: 0, left: left, right: right}
	for _, v := range values {
		if finite(v) && v > 0 {
			a.low, a.high = min(a.low, v), max(a.high, v)
		}
	}
	if a.high == 0 {
		a.low, a.high = 1, 1
	}
	if a.low, a.high = a.low/1.02, a.high*1.02; a.low == 0 || math.IsInf(a.high/a.low, 1) {
		a.low, a.high = 1/1.02, 1.02 // at the ends of floating point
	}
	return a
}

// at is where v lies, to a tenth of a pixel; NaN where it cannot lie.
func (a axis) at(v float64) float64 {
	if !finite(v) || v <= 0 {
		return math.NaN()
	}
	t := math.Log(v/a.low) / math.Log(a.high/a.low)
	return math.Round(10*(a.left+t*(a.right-a.left))) / 10
}

// whisker places an interval; nil where it cannot be drawn.
func (a axis) whisker(e stat.Estimate) *whisker {
	w := whisker{a.at(1), a.at(e.Low), a.at(e.Value), a.at(e.High)}
	if !finite(w.Low) || !finite(w.Value) || !finite(w.High) {
		return nil
	}
	return &w
}

// changes are ticks at round differences from 1, that one first, at least gap pixels apart.
func (a axis) changes(gap float64) []tick {
	out := []tick{{a.at(1), "0" + thin + "%"}}
	rungs := []float64{.01, .02, .05, .1, .2, .5, 1, 2, 4, 9, 19, 49, 99}
	for _, sign := range []float64{1, -1} {
		last := a.at(1)
		for _, r := range rungs {
			v := 1 + sign*r
			if v < a.low || v > a.high || math.Abs(a.at(v)-last) < gap {
				continue
			}
			last = a.at(v)
			out = append(out, tick{last, signed(fixed(100*(v-1), 0)) + thin + "%"})
		}
	}
	return out
}

// latencies are ticks at 1, 2 and 5 times the powers of ten, in the unit that suits each.
func (a axis) latencies(gap float64) []tick {
	var out []tick
	for v := math.Pow(10, math.Floor(math.Log10(a.low))); v <= a.high; v *= 10 {
		for _, k := range []float64{1, 2, 5} {
			x := a.at(k * v)
			if k*v < a.low || k*v > a.high || len(out) > 0 && x-out[len(out)-1].X < gap {
				continue
			}
			s := unit.LatencyScale(k * v)
			out = append(out, tick{x, fixed(k*v/s.Div, 0) + thin + unitName(s)})
		}
	}
	return out
}
