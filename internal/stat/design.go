package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Power is the share of runs in which a difference that was promised to be found is found (see WidthFor). Detectable goes
// by 0.8, the custom for what a run could have found; a promise made beforehand should be kept more often.
const Power = 0.9

// aimed is the power that intervals are made narrow enough for: a promise that is kept on average is broken by every
// other host. The noise of a run is only estimated, and is seldom Gaussian.
const aimed = 0.95

// WidthFor returns the half-width (0.03 = 3 %) that the 95 % intervals of so many rounds must have for a difference of one
// cell from its baseline to be found with a power of Power and some to spare, when no other of the comparisons differs. Such a difference is found when it clears two
// hurdles: the correction for many comparisons, which asks of the only one that differs what Bonferroni's does, and the
// noise floor, which is as far as the interval of the control reaches. The control is as wide as the cell and shares its
// baseline, so that the two estimates are correlated by a half. 0 for fewer than two rounds.
func WidthFor(difference float64, comparisons, rounds int) float64 {
	if rounds < 2 {
		return 0
	}
	return math.Expm1(math.Log1p(difference) * hurdle(1, rounds) / clearance(comparisons, rounds))
}

// DifferenceFor is the inverse of WidthFor: the smallest difference that intervals of a half-width find; +Inf for fewer
// than two rounds.
func DifferenceFor(width float64, comparisons, rounds int) float64 {
	if rounds < 2 {
		return math.Inf(1)
	}
	return math.Expm1(math.Log1p(width) * clearance(comparisons, rounds) / hurdle(1, rounds))
}

// hurdle is how many standard errors an estimate of so many rounds must be from 0 to be the smallest of several p-values
// that stands.
func hurdle(comparisons, rounds int) float64 {
	return student(rounds).Quantile(1 - 0.05/2/float64(max(comparisons, 1)))
}

// student is the distribution of the statistic of Interval over so many rounds.
func student(rounds int) distuv.StudentsT {
	return summary{df: float64(rounds - 2*spared(rounds) - 1)}.student()
}

// clearance is the size of a difference, in standard errors, that clears both hurdles with the power that is aimed at.
func clearance(comparisons, rounds int) float64 {
	plain, corrected := hurdle(1, rounds), hurdle(comparisons, rounds)
	return smallest(2*corrected+20, aimed, func(difference float64) float64 { return cleared(difference, plain, corrected) })
}

// smallest is the least difference up to most that has a power, which grows with the difference.
func smallest(most, power float64, of func(difference float64) float64) float64 {
	low, high := 0.0, most
	for high-low > 1e-6*most {
		if middle := (low + high) / 2; of(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// cleared is the chance that a difference of so many standard errors clears both hurdles, by adding up over what the
// control's own estimate may be.
func cleared(difference, plain, corrected float64) float64 {
	const (
		reach = 6.0  // standard errors of the control beyond which nothing counts
		step  = 0.05 //
		rho   = 0.5
	)
	sum := 0.0
	for control := -reach; control <= reach; control += step {
		needed := max(corrected, plain+math.Abs(control)) - difference
		beyond := distuv.UnitNormal.Survival((needed - rho*control) / math.Sqrt(1-rho*rho))
		sum += distuv.UnitNormal.Prob(control) * beyond * step
	}
	return sum
}

// Scatter is the standard deviation from round to round that the interval of a series of logs goes by, without what
// serial correlation adds: outliers count for as little as they do there. 0 for fewer than two rounds.
func Scatter(logs []float64) float64 {
	s := summarise(logs)
	if s.n < 2 {
		return 0
	}
	return s.plain * math.Sqrt(float64(s.n))
}

// WidthAfter is the half-width that the 95 % interval of rounds of a scatter is expected to have, when one round knows
// nothing of the next; +Inf for fewer than two.
func WidthAfter(scatter float64, rounds int) float64 {
	if rounds < 2 {
		return math.Inf(1)
	}
	n := float64(rounds)
	return math.Expm1(scatter / math.Sqrt(n) * inflation(-1/n, rounds) * student(rounds).Quantile(0.975)) // -1/n is what rounds that are independent show
}

// DifferenceAfter returns the smallest difference of a cell from its baseline (0.05 = 5 %) that a number of rounds of a scatter
// finds with a power of Power and some to spare; +Inf for fewer than two rounds. The hurdles are those of WidthFor. There the intervals are
// as narrow as is asked, whatever that takes; here they come out as they do, and those of few rounds are of very different widths.
func DifferenceAfter(scatter float64, comparisons, rounds int) float64 {
	if rounds < 2 {
		return math.Inf(1)
	}
	const steps = 40 // in which the distribution of the estimated variance is walked through
	n := float64(rounds)
	variance, df := distuv.ChiSquared{K: student(rounds).Nu}, student(rounds).Nu
	plain, corrected := hurdle(1, rounds), hurdle(comparisons, rounds)
	errors := make([]float64, steps) // as they are estimated, in true ones
	for i := range errors {
		errors[i] = inflation(-1/n, rounds) * math.Sqrt(variance.Quantile((float64(i)+0.5)/steps)/df)
	}
	needed := smallest(4*corrected+20, aimed, func(difference float64) float64 {
		sum := 0.0
		for _, e := range errors {
			sum += cleared(difference, e*plain, e*corrected)
		}
		return sum / steps
	})
	return math.Expm1(needed * scatter / math.Sqrt(n))
}

// RoundsFor is the number of rounds of a scatter after which the half-width is expected to be at most width; at most limit.
func RoundsFor(scatter, width float64, limit int) int {
	low, high := 1, max(limit, 2)
	for high-low > 1 {
		if middle := (low + high) / 2; WidthAfter(scatter, middle) > width {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
