package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// familyWorth is how many degrees of freedom the pooled variance of a family is worth beside that of a series' own
// boots: enough for two boots to give a usable interval, few enough for a series of a restless kind to widen its own.
const familyWorth = 8

// poolEfficiency is what the pooled variance is taken to know, as a share of what all squares together would: that of a
// median, which it is at worst.
const poolEfficiency = 0.37

// Between is by how much the location of a series moves from one boot to the next, on the log scale, pooled over
// a family of comparable series. Two boots of one series say next to nothing of that (a variance with one degree of freedom);
// two boots of eighty series say a lot. The zero value knows of no family.
//
// Its intervals are those of Interval with a second component of error. Of a series in b boots, the component is
// a mean of the family's variance and of the series' own, in which the family weighs at most familyWorth
// degrees of freedom and the series b-1. A series in one boot has that of the family alone.
// Both components meet with Welch's degrees of freedom. TestBoots has the coverage.
type Between struct {
	variance float64
	df       float64
}

// Pool estimates how a family of series moves from boot to boot, from those with at least two boots and one round more
// than boots. It is a mean of what their boots differ by beyond their rounds, each weighed by how well it is known; no
// series may say more than outlandish times what it should, so one of many that is restless does not widen the others.
// It is not less than the median.
func Pool(family []Series) Between {
	var known []factored
	var roots []float64
	df := 0.0
	for _, s := range family {
		if f := factor(s); f.within > 0 {
			known, roots, df = append(known, f), append(roots, f.root()), df+f.bootDF
		}
	}
	least := Median(roots)
	variance := least
	for range poolSteps {
		variance = max(least, weighed(known, variance))
	}
	return Between{variance: variance, df: poolEfficiency * df}
}

const (
	poolSteps  = 8
	outlandish = 10 // chi-squared with one degree of freedom is above that once in 600
)

// weighed is the weighted mean of what boots differ by beyond rounds, given a first notion of it.
func weighed(family []factored, variance float64) float64 {
	sum, weights := 0.0, 0.0
	for _, f := range family {
		expected := variance + f.within
		weight := f.bootDF / (expected * expected)
		sum += weight * (min(f.between, outlandish*expected) - f.within)
		weights += weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// SD returns the standard deviation from boot to boot, on the log scale (0.05 is about 5 %).
func (b Between) SD() float64 { return math.Sqrt(b.variance) }

// Interval is the function of that name with the error between boots.
func (b Between) Interval(s Series, level float64) Estimate {
	sum := b.summarise(s)
	if sum.n == 0 {
		return Unknown(0)
	}
	return sum.interval(level)
}

// Ratio is Interval at 95 %.
func (b Between) Ratio(s Series) Estimate { return b.Interval(s, 0.95) }

// PValue is the function of that name with the error between boots.
func (b Between) PValue(s Series) float64 { return b.summarise(s).pvalue() }

// Compare is the function of that name with the error between boots: no boot of the one may be one of the other.
func (b Between) Compare(s, t Series) (Estimate, float64) {
	return compare(b.summarise(s), b.summarise(t))
}

// Detectable is the function of that name with the error between boots.
func (b Between) Detectable(s Series) float64 { return b.summarise(s).detectable() }

func (b Between) summarise(s Series) summary {
	sum := summarise(s.Logs())
	if sum.n < 2 {
		return sum
	}
	f := factor(s)
	variance, df := b.variance, b.df
	if f.within > 0 {
		df = min(df, familyWorth)
		variance = (df*variance + f.bootDF*max(0, f.between-f.within)) / (df + f.bootDF)
		df += f.bootDF
	}
	if variance > 0 {
		sum.widen(variance*f.share, max(df, 1))
	}
	return sum
}

// widen adds a component of variance, known with df degrees of freedom. Those of the sum are rounded down to a step of
// the table of quantiles, since a live view asks for hundreds of them.
func (s *summary) widen(variance, df float64) {
	v := s.se * s.se
	s.df = math.Floor(dfSteps*(v+variance)*(v+variance)/(v*v/s.df+variance*variance/df)+1e-9) / dfSteps
	s.se = math.Sqrt(v + variance)
}

// factored is a series seen as its boots.
type factored struct {
	share   float64 // of the variance between boots that is in the mean of all rounds: the sum of squared weights of the boots
	between float64 // variance of the boots' means
	within  float64 // the part of it that rounds inside boots explain; 0 when it is not known
	bootDF  float64 // boots less one
	roundDF float64 // rounds less boots
}

// oneBoot is what the rounds of a boot add up to.
type oneBoot struct {
	boot            int
	n, sum, squares float64 // squares around the mean of the boot
}

func factor(s Series) factored {
	boots := split(s)
	n, inverse, squares := 0.0, 0.0, 0.0
	means := make([]float64, len(boots))
	for i, b := range boots {
		n, squares, means[i] = n+b.n, squares+b.squares, b.sum/b.n
		inverse += 1 / b.n / float64(len(boots))
	}
	f := factored{bootDF: float64(len(boots)) - 1, roundDF: n - float64(len(boots))}
	for _, b := range boots {
		f.share += b.n / n * b.n / n
	}
	if f.bootDF < 1 || f.roundDF < 1 {
		return f
	}
	f.between, _ = spread(means)
	f.within = squares / f.roundDF * inverse
	return f
}

// split adds up the finite logs of a series by boot. Boots are few and rounds of one stand together, so a list does.
func split(s Series) []oneBoot {
	boots := make([]oneBoot, 0, 4)
	each := func(do func(b *oneBoot, log float64)) {
		at := 0
		for _, p := range s {
			if math.IsNaN(p.Log) || math.IsInf(p.Log, 0) {
				continue
			}
			if at >= len(boots) || boots[at].boot != p.Boot {
				at = slices.IndexFunc(boots, func(b oneBoot) bool { return b.boot == p.Boot })
			}
			if at < 0 {
				at, boots = len(boots), append(boots, oneBoot{boot: p.Boot})
			}
			do(&boots[at], p.Log)
		}
	}
	each(func(b *oneBoot, log float64) { b.n, b.sum = b.n+1, b.sum+log })
	each(func(b *oneBoot, log float64) { b.squares += (log - b.sum/b.n) * (log - b.sum/b.n) })
	return boots
}

// root returns the variance between boots under which the boots' means would lie as far apart as they do in half
// of all cases, 0 when rounds alone explain that. The squares of few boots are skewed, so their median is well below their
// mean, and the more so the better the rounds inside boots are known: the factor 1+0.8/df is that of the median
// of F's distribution within 3 %.
func (f factored) root() float64 {
	middle := math.Pow(1-2/(9*f.bootDF), 3) // of chi-squared over its degrees of freedom, by Wilson and Hilferty
	half, product := f.between/middle/2, 0.8/f.roundDF*f.within*f.within
	if half*half < product {
		return 0
	}
	return max(0, half+math.Sqrt(half*half-product)-f.within)
}

// BootsDiffer returns the p-value of the hypothesis that the boots of a series differ by no more than its rounds
// inside boots explain: the F test of one factor, its error widened for serial correlation as that of an
// interval is. It is 1 where there are too few of either.
func BootsDiffer(s Series) float64 {
	f := factor(s)
	if f.within <= 0 {
		return 1
	}
	wider := inflation(0, len(s))
	return distuv.F{D1: f.bootDF, D2: f.roundDF}.Survival(f.between / (f.within * wider * wider))
}

// Boots returns in how many boots the rounds of a series are.
func (s Series) Boots() int { return len(split(s)) }
