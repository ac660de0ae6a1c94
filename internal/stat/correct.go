package stat

import "slices"

// Holm returns the p-values adjusted by Holm's step-down method, in the order given: comparing them
// with alpha bounds the chance of a single false difference by alpha, whatever depends on what.
func Holm(p []float64) []float64 {
	out, order := make([]float64, len(p)), ascending(p)
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-rank)))
		out[i] = worst
	}
	return out
}

// BenjaminiHochberg returns the p-values adjusted by Benjamini and Hochberg's step-up method, in the order
// given: among those at or below alpha, the expected share of false differences is at most alpha.
func BenjaminiHochberg(p []float64) []float64 {
	out, order := make([]float64, len(p)), ascending(p)
	best := 1.0
	for rank, i := range slices.Backward(order) {
		best = min(best, p[i]*float64(len(p))/float64(rank+1))
		out[i] = best
	}
	return out
}

// ascending returns the indices of p from its smallest value to its largest.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	return order
}
