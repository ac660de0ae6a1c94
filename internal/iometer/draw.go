package iometer

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// draw is how fio draws an I/O: first the direction, then the order by the direction, then the size either by the
// direction or (bs_is_seq_rand) by the order. All its shares are whole per cent.
type draw struct {
	byOrder bool
	reads   int        // per cent
	random  [2]int     // per cent, of writes [0] and of reads [1]
	splits  [2][]split // of writes [0] and of reads [1]; byOrder: of sequential [0] and of random [1] I/Os
}

// split is one size of a bssplit.
type split struct {
	size  int64
	share int // per cent
}

// nearest returns the draw that fio can do and that comes nearest to m.
func nearest(m mix) draw {
	direction, order := fit(m, false), fit(m, true)
	if m.distance(order.mix())+1e-9 < m.distance(direction.mix()) {
		return order
	}
	return direction
}

func fit(m mix, byOrder bool) draw {
	d := draw{byOrder: byOrder, reads: percent(m, func(kind) bool { return true }, func(k kind) bool { return k.read })}
	for i := range 2 {
		d.random[i] = percent(m, func(k kind) bool { return bit(k.read) == i }, func(k kind) bool { return k.random })
		d.splits[i] = sizes(m, func(k kind) bool { return d.class(k) == i })
	}
	return d
}

// class says which of the splits a kind's size is drawn from.
func (d draw) class(k kind) int {
	if d.byOrder {
		return bit(k.random)
	}
	return bit(k.read)
}

// mix returns the distribution that fio draws from.
func (d draw) mix() mix {
	m := mix{}
	for _, k := range []kind{{read: true, random: true}, {read: true}, {random: true}, {}} {
		share := of(d.reads, k.read) * of(d.random[bit(k.read)], k.random)
		for _, s := range d.splits[d.class(k)] {
			k.size = s.size
			m.put(k, share*float64(s.share)/100)
		}
	}
	return m
}

// of returns the share of what is so, or of what is not.
func of(percent int, so bool) float64 {
	if so {
		return float64(percent) / 100
	}
	return 1 - float64(percent)/100
}

// percent returns how many per cent of the I/Os in a class are such, rounded; 0 where there are none.
func percent(m mix, class, such func(kind) bool) int {
	all := m.share(class)
	if all == 0 {
		return 0
	}
	return int(math.Round(100 * m.share(func(k kind) bool { return class(k) && such(k) }) / all))
}

// maxSplits is how many sizes fio takes in one bssplit.
const maxSplits = 64

// sizes returns the sizes in a class with their shares in whole per cent that add up to 100 (largest remainders
// first), ascending. What rounds to nothing is left out: a 0 would tell fio to fill in what is missing.
func sizes(m mix, class func(kind) bool) []split {
	all := m.share(class)
	bySize := map[int64]float64{}
	for _, k := range m.kinds() {
		if class(k) {
			bySize[k.size] += 100 * m[k] / all
		}
	}
	list := slices.Sorted(maps.Keys(bySize))
	slices.SortStableFunc(list, func(a, b int64) int { return cmp.Compare(bySize[b], bySize[a]) })
	list = list[:min(len(list), maxSplits)]

	shares, left := map[int64]int{}, 100
	for _, size := range list {
		shares[size] = int(math.Floor(bySize[size] + 1e-9))
		left -= shares[size]
	}
	slices.SortStableFunc(list, func(a, b int64) int {
		return cmp.Compare(bySize[b]-float64(shares[b]), bySize[a]-float64(shares[a]))
	})
	for i := range left * bit(len(list) > 0) {
		shares[list[i%len(list)]]++
	}
	slices.Sort(list)
	var splits []split
	for _, size := range list {
		if shares[size] > 0 {
			splits = append(splits, split{size, shares[size]})
		}
	}
	return splits
}
