package stat

import "slices"

// Point is the log of one round's ratio, and the boot in which the round was.
type Point struct {
	Round int
	Boot  int
	Log   float64
}

// Series is the log ratios of one comparison, by ascending round.
type Series []Point

// Logs returns the logs in run order.
func (s Series) Logs() []float64 {
	out := make([]float64, len(s))
	for i, p := range s {
		out[i] = p.Log
	}
	return out
}

// Minus returns the difference of two series, round by round, over the rounds that both have: the log
// of the ratio of the one to the other.
func (s Series) Minus(t Series) Series {
	return common(s, t, func(a, b float64) float64 { return a - b })
}

// GeoMean returns the log of the geometric mean of several ratios, round by round, over the rounds that
// all have. What disturbed a whole round stays together in it, so the interval of the mean knows of it.
func GeoMean(series ...Series) Series {
	if len(series) == 0 {
		return nil
	}
	sum := slices.Clone(series[0])
	for _, s := range series[1:] {
		sum = common(sum, s, func(a, b float64) float64 { return a + b })
	}
	for i := range sum {
		sum[i].Log /= float64(len(series))
	}
	return sum
}

// common joins two series over the rounds that both have.
func common(s, t Series, join func(a, b float64) float64) Series {
	var out Series
	for i, j := 0, 0; i < len(s) && j < len(t); {
		switch {
		case s[i].Round < t[j].Round:
			i++
		case s[i].Round > t[j].Round:
			j++
		default:
			out = append(out, Point{Round: s[i].Round, Boot: s[i].Boot, Log: join(s[i].Log, t[j].Log)})
			i, j = i+1, j+1
		}
	}
	return out
}
