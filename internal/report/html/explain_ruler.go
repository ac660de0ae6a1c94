package html

import (
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/stat"
)

// ruler places values on an axis: linear from 0, or below it where values are, or log. Where it ends before it starts, as
// upwards in an SVG, values rise all the same.
type ruler struct {
	low, high float64
	from, to  float64 // where low and high lie
	isLog     bool
}

// linear spans values and 0, log the positive ones of values.
func linear(from, to float64, values ...float64) ruler {
	r := ruler{from: from, to: to}
	for _, v := range values {
		if finite(v) {
			r.low, r.high = min(r.low, v), max(r.high, v)
		}
	}
	if r.high == r.low || !finite(r.high-r.low) {
		r.low, r.high = 0, 1
	}
	return r
}

func logarithmic(from, to float64, values ...float64) ruler {
	a := newAxis(values, from, to)
	return ruler{low: a.low, high: a.high, from: from, to: to, isLog: true}
}

// at is where v lies, to a tenth, no further than the ends; NaN where it cannot lie.
func (r ruler) at(v float64) float64 {
	if !finite(v) || r.isLog && v <= 0 {
		return math.NaN()
	}
	t := (v - r.low) / (r.high - r.low)
	if r.isLog {
		t = math.Log(v/r.low) / math.Log(r.high/r.low)
	}
	return tenth(r.from + min(max(t, 0), 1)*(r.to-r.from))
}

// ticks are round values at least gap apart, written in units of div.
func (r ruler) ticks(div, gap float64) []tick {
	if !r.isLog {
		return r.multiples(r.step(gap), div, gap)
	}
	var values []float64
	for v := math.Pow(10, math.Floor(math.Log10(r.low))); v <= r.high; v *= 10 {
		values = append(values, v, 2*v, 5*v)
	}
	return r.marked(values, div, gap)
}

// multiples are ticks at those of a step.
func (r ruler) multiples(step, div, gap float64) []tick {
	var values []float64
	for i := math.Ceil(r.low / step); i*step <= r.high && len(values) < 20; i++ {
		values = append(values, i*step)
	}
	return r.marked(values, div, gap)
}

// marked are ticks at those of values that lie on the axis and at least gap from the one before.
func (r ruler) marked(values []float64, div, gap float64) []tick {
	var out []tick
	for _, v := range values {
		at := r.at(v)
		if v < r.low || v > r.high || !finite(at) || len(out) > 0 && math.Abs(at-out[len(out)-1].X) < gap {
			continue
		}
		out = append(out, tick{at, trimmed(v / div)})
	}
	return out
}

// step is the least of 1, 2 and 5 times a power of ten whose multiples lie gap apart.
func (r ruler) step(gap float64) float64 {
	least := (r.high - r.low) * gap / math.Abs(r.to-r.from)
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, k := range []float64{1, 2, 5} {
		if k*step >= least*(1-1e-9) {
			return k * step
		}
	}
	return 10 * step
}

// tickLines draws ticks through a bar of 30 pixels.
func tickLines(ticks []tick) string {
	var b strings.Builder
	for _, t := range ticks {
		b.WriteString("M" + number(t.X) + " 0V30")
	}
	return b.String()
}

// trimmed prints a round value at a tick.
func trimmed(v float64) string {
	if v < 0 {
		return minus + trimmed(-v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// tenth rounds a length to a tenth.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// reach is what an interval spans on a drawing. A wide one leaves the drawing rather than press all else flat.
func reach(e stat.Estimate, of float64) (low, high float64) {
	if !e.Known() || !finite(e.Low) || !finite(e.High) {
		return e.Value, e.Value
	}
	return max(e.Low, e.Value-of/2), min(e.High, e.Value+of/2)
}
