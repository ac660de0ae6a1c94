// Package hist holds latency histograms: bins as fio's json+ gives them, merged exactly by adding counts.
package hist

import (
	"cmp"
	"math"
	"slices"
)

// Bin is one bar: Count completions of about NS nanoseconds.
type Bin struct {
	NS    uint64 `json:"ns"`
	Count uint64 `json:"n"`
}

// Merge adds histograms bin by bin and returns one that is sorted by NS, with every NS once and no empty bin.
// It is exact because fio's bins have the same bounds in every job, run and 3.x version.
// The inputs may be unsorted and are left as they are; without any completion the result is nil.
func Merge(sets ...[]Bin) []Bin {
	var n int
	for _, s := range sets {
		n += len(s)
	}
	all := make([]Bin, 0, n)
	for _, s := range sets {
		for _, b := range s {
			if b.Count > 0 {
				all = append(all, b)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Bin) int { return cmp.Compare(a.NS, b.NS) })
	out := all[:1]
	for _, b := range all[1:] {
		if last := &out[len(out)-1]; last.NS == b.NS {
			last.Count += b.Count
		} else {
			out = append(out, b)
		}
	}
	return out
}

// Count returns the number of completions.
func Count(bins []Bin) uint64 {
	var n uint64
	for _, b := range bins {
		n += b.Count
	}
	return n
}

// Mean returns the mean latency in nanoseconds, 0 for an empty histogram. It is as exact as the bins are
// narrow (fio's are within 1/128 of their value); fio's own mean is exact.
func Mean(bins []Bin) float64 {
	n := Count(bins)
	if n == 0 {
		return 0
	}
	var sum float64
	for _, b := range bins {
		sum += float64(b.NS) * (float64(b.Count) / float64(n))
	}
	return sum
}

// Percentile returns the latency in nanoseconds that a share p (0..1) of the completions do not exceed,
// by the nearest rank as fio computes it, so that it equals fio's own figure for the same bins.
// Bins must be sorted by NS, as Merge leaves them. It is false for an empty histogram or a p outside 0..1.
func Percentile(bins []Bin, p float64) (uint64, bool) {
	n := Count(bins)
	if n == 0 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	rank := nearestRank(p, n)
	var sum uint64
	for _, b := range bins {
		if sum += b.Count; sum >= rank {
			return b.NS, true
		}
	}
	return 0, false
}

// nearestRank returns the smallest whole number of completions that is at least p*n, and at least 1.
// A product that misses a whole number only by rounding (0.07*100 = 7.000000000000001) counts as that number.
func nearestRank(p float64, n uint64) uint64 {
	r := p * float64(n)
	if whole := math.Round(r); math.Abs(r-whole) <= 4e-16*r {
		r = whole
	}
	return min(max(uint64(math.Ceil(r)), 1), n)
}
