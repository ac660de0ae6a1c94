package iometer

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// kind is what an I/O can be.
type kind struct {
	size         int64
	read, random bool
}

// mix is a distribution of I/Os over their kinds: shares that add up to 1.
type mix map[kind]float64

// mix returns the distribution that Iometer draws from.
func (s AccessSpec) mix() mix {
	m := mix{}
	for _, l := range s.Lines {
		reads, random := float64(l.Reads)/100, float64(l.Random)/100
		m.put(kind{l.Size, true, true}, l.weight()*reads*random)
		m.put(kind{l.Size, true, false}, l.weight()*reads*(1-random))
		m.put(kind{l.Size, false, true}, l.weight()*(1-reads)*random)
		m.put(kind{l.Size, false, false}, l.weight()*(1-reads)*(1-random))
	}
	all := m.share(func(kind) bool { return true })
	for k := range m {
		m[k] /= all
	}
	return m
}

func (m mix) put(k kind, share float64) {
	if share > 0 {
		m[k] += share
	}
}

// kinds returns the kinds in a fixed order, so that sums come out the same in every run.
func (m mix) kinds() []kind {
	return slices.SortedFunc(maps.Keys(m), func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(bit(a.read), bit(b.read)), cmp.Compare(bit(a.random), bit(b.random)))
	})
}

// share returns the share of the I/Os that are such.
func (m mix) share(such func(kind) bool) float64 {
	sum := 0.0
	for _, k := range m.kinds() {
		if such(k) {
			sum += m[k]
		}
	}
	return sum
}

// meanSize returns the mean size of an I/O in bytes.
func (m mix) meanSize() float64 {
	sum := 0.0
	for _, k := range m.kinds() {
		sum += m[k] * float64(k.size)
	}
	return sum
}

// distance returns the share of the I/Os that are of another kind in o: 0 for the same mix, 1 for nothing in common
// (the total variation distance).
func (m mix) distance(o mix) float64 {
	both := maps.Clone(m)
	for k, share := range o {
		both[k] -= share
	}
	sum := 0.0
	for _, k := range both.kinds() {
		sum += math.Abs(both[k])
	}
	return sum / 2
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
