package stat

import (
	"math"
	"slices"
)

// Median returns the middle value, or the mean of the two in the middle; 0 of none. The slice is left as it is.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Halves returns the log of the second half of x over the first, each taken by its median: a value that stands out
// moves neither. The middle one of an odd number is in both. A median below floor, which is above 0, counts
// as floor, so that a half in which nothing happened has a log too. It is 0 for fewer than two values.
func Halves(x []float64, floor float64) float64 {
	n := len(x)
	if n < 2 {
		return 0
	}
	first, second := Median(x[:(n+1)/2]), Median(x[n/2:])
	return math.Log(max(second, floor) / max(first, floor))
}

// Moved tells how much values at equal distances moved: their range (the largest less the smallest), and
// the way that their least-squares line goes from the first to the last. Both are shares of the mean and not negative;
// they are 0 for fewer than two values and for a mean of 0.
func Moved(x []float64) (excursion, slope float64) {
	if len(x) < 2 {
		return 0, 0
	}
	m := math.Abs(mean(x))
	if m == 0 {
		return 0, 0
	}
	at := make([]float64, len(x))
	for i := range at {
		at[i] = float64(i)
	}
	perStep, _ := line(at, x)
	return (slices.Max(x) - slices.Min(x)) / m, math.Abs(perStep) * float64(len(x)-1) / m
}

// Trend returns the ratio of the end to the start of the straight line through a series, from its first round to its
// last, with its 95 % interval, and the p-value of its being 1. Here the logs are of values, not of ratios. The interval
// is not known, and the p-value is 1, for fewer than three rounds.
//
// The line is that of least squares, with Student's t. A single outlier widens the interval more than it
// tilts the line, so it raises no alarm; it only hides a trend. The error is widened for what correlation is left
// around the line as that of Interval is: neighbouring rounds alike look like a trend (TestTrendCoverage).
func (s Series) Trend() (Estimate, float64) {
	n := len(s)
	if n == 0 {
		return Unknown(0), 1
	}
	rounds, logs := make([]float64, n), s.Logs()
	for i, p := range s {
		rounds[i] = float64(p.Round)
	}
	span := rounds[n-1] - rounds[0]
	slope, width := line(rounds, logs)
	fit := summary{n: n - 1, loc: slope * span, df: float64(n - 2)} // a line takes one round more than a mean
	if fit.n > 1 && width > 0 {
		left := make([]float64, n)
		for i := range left {
			left[i] = logs[i] - slope*rounds[i]
		}
		variance, lag1 := spread(left)
		variance *= float64(n-1) / fit.df
		fit.se = span * math.Sqrt(variance/width) * inflation(lag1, n)
	}
	return fit.interval(0.95), fit.pvalue()
}

// line returns the slope of the least-squares line through y at x, and the sum of squares of x around its mean. The
// slope is 0 where all x are one.
func line(x, y []float64) (slope, width float64) {
	mx, my := mean(x), mean(y)
	var products float64
	for i := range x {
		width += (x[i] - mx) * (x[i] - mx)
		products += (x[i] - mx) * (y[i] - my)
	}
	if width == 0 {
		return 0, 0
	}
	return products / width, width
}
