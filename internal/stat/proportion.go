package stat

import "gonum.org/v1/gonum/stat/distuv"

// Proportion is the share that k of n make, with its 95 % interval: that of Clopper and Pearson, which covers at least
// as often as it says, whatever the true share. Neither need be whole: trials that depend on each other count for less
// than one each. Of no trials at all nothing is known: 0 to 1.
func Proportion(k, n float64) Estimate {
	e := Estimate{High: 1}
	if n <= 0 {
		return e
	}
	e.Value = k / n
	if k > 0 {
		e.Low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	}
	if k < n {
		e.High = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	}
	return e
}
