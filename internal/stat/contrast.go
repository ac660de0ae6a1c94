package stat

import "math"

// Contrast is what a series says of an effect, or several series that share no rounds say of the sum of theirs: the
// location and its error, for intervals at any level. The zero value knows nothing.
type Contrast struct {
	sum    summary
	rounds float64 // the part of the squared error that more rounds make smaller
}

// Contrast is the effect that a series shows, with the error between boots.
func (b Between) Contrast(s Series) Contrast {
	within := summarise(s.Logs())
	c := Contrast{sum: b.summarise(s)}
	if within.n > 1 {
		c.rounds = within.se * within.se
	}
	return c
}

// Add is the sum of two effects that were measured in different rounds (Welch's degrees of freedom).
func (c Contrast) Add(d Contrast) Contrast {
	vc, vd := c.sum.se*c.sum.se, d.sum.se*d.sum.se
	s := summary{n: min(c.sum.n, d.sum.n), loc: c.sum.loc + d.sum.loc, se: math.Sqrt(vc + vd), df: c.sum.df + d.sum.df}
	if s.n > 1 && vc+vd > 0 {
		s.df = (vc + vd) * (vc + vd) / (vc*vc/c.sum.df + vd*vd/d.sum.df)
	}
	return Contrast{sum: s, rounds: c.rounds + d.rounds}
}

// Around is the effect moved to a location that is known from more than these rounds; its error stays.
func (c Contrast) Around(location float64) Contrast {
	c.sum.loc = location
	return c
}

// PValue is the two-sided p-value of the effect's being 0, 1 for fewer than two rounds.
func (c Contrast) PValue() float64 { return c.sum.pvalue() }

// Rounds is how many rounds the effect rests on: those of the shortest of its series.
func (c Contrast) Rounds() int { return c.sum.n }

// Ratio is the effect of series of logs as a ratio, with its interval at a level (0.95 = 95 %).
func (c Contrast) Ratio(level float64) Estimate {
	if c.sum.n == 0 {
		return Unknown(0)
	}
	return c.sum.interval(level)
}

// Plain is the effect of series that hold values themselves and not their logs, such as shares that may be 0.
// An end of the interval that is not known is 0 and +Inf, as always.
func (c Contrast) Plain(level float64) Estimate {
	if c.sum.n < 2 {
		return Unknown(c.sum.loc)
	}
	half := 0.0
	if c.sum.se > 0 {
		half = c.sum.se * c.sum.quantile(level)
	}
	return Estimate{Value: c.sum.loc, Low: c.sum.loc - half, High: c.sum.loc + half}
}

// MoreRounds is about how many more rounds would make the half of the interval at a level as narrow as distance, on the
// scale of the series, if rounds go on as they did. It is -1 where none would: the error between boots alone is wider,
// and more boots are needed.
func (c Contrast) MoreRounds(distance, level float64) int {
	if c.sum.n < 2 || c.sum.se == 0 {
		return 0
	}
	allowed := distance / c.sum.quantile(level)
	allowed *= allowed
	between := max(0, c.sum.se*c.sum.se-c.rounds)
	if allowed <= between {
		return -1
	}
	n := float64(c.sum.n)
	more := n*c.rounds/(allowed-between) - n
	return int(min(math.Ceil(max(more, 0)), 1e6))
}

// Weigh returns the series with every log multiplied by a weight.
func (s Series) Weigh(weight float64) Series {
	out := make(Series, len(s))
	for i, p := range s {
		p.Log *= weight
		out[i] = p
	}
	return out
}

// Plus is the sum of two series, round by round, over the rounds that both have.
func (s Series) Plus(t Series) Series {
	return common(s, t, func(a, b float64) float64 { return a + b })
}
