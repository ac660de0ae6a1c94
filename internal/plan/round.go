package plan

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// Bounds of the priming round.
const (
	primingShare = 3 // its windows are a third as long as the counted ones
	minPriming   = 300 * time.Millisecond
)

// Round returns the windows of round k of a boot, in the order in which they are to run. k counts within
// the boot: 0 is the priming round, whose windows are short and discarded, 1 is the first counted one. n
// is the number of the round in the whole run, which the windows carry; the caller counts it. Workloads
// for which skip holds (nil: for none) are left out; the others keep their order and seeds.
//
// A round is one block for each workload, in random order; inside a block, the host, its control and
// every stack of the group follow each other, in random order again, so that a cell and its baseline are
// close in time. Rounds 1 and 2 are a pair, and 3 and 4, and so on: the first of a pair draws a new order,
// the second runs it backwards from the last window to the first (ABBA), so that linear drift cancels.
// A load that is to be held to a rate is not held here (Window.Rate): the rate is known when the run has begun.
//
// The order depends on the plan's seed, the boot and k alone, and that of the workloads on the pass over the groups in
// the boot's place; a window's own seed on the plan's seed, n and the cell.
func (p Plan) Round(boot, k, n int, skip func(workload string) bool) []Window {
	runtime, priming := p.Experiment.Runtime, k == 0
	if priming {
		runtime = min(runtime, max(minPriming, runtime/primingShare))
	}
	keys := p.order(boot, (k+1)/2)
	if k > 0 && k%2 == 0 {
		slices.Reverse(keys)
	}
	var out []Window
	for _, c := range keys {
		if skip != nil && skip(c.Workload) {
			continue
		}
		out = append(out, Window{
			Boot: boot, Round: n, Seq: len(out), Stack: c.Stack, Workload: c.Workload,
			Seed: p.windowSeed(n, c), Runtime: runtime, Discard: priming,
		})
	}
	return out
}

// order draws the order of all cells for a pair of rounds; pair 0 is the priming round by itself. Guests of different
// stacks take the workloads in the same order, so that where time is short they end with the same ones.
func (p Plan) order(boot, pair int) []Key {
	draw := func(salt int) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, uint64(salt)<<32|uint64(uint32(pair)))) }
	loads, within := draw(-1-boot/len(p.Groups)), draw(boot)
	var keys []Key
	for _, i := range loads.Perm(len(p.Experiment.Workloads)) {
		w := p.Experiment.Workloads[i]
		stacks := p.Visits(p.Boots[boot].Group, w)
		for _, s := range within.Perm(len(stacks)) {
			keys = append(keys, Key{Stack: stacks[s], Workload: w.Name})
		}
	}
	return keys
}

// windowSeed mixes the run's seed, a round and a cell into a number that a JSON reader, a signed column of
// a database and fio all hold exactly: 1 to 2^53 - 1.
func (p Plan) windowSeed(round int, c Key) uint64 {
	h := fnv.New64a()
	io.WriteString(h, c.Stack)
	h.Write([]byte{0})
	io.WriteString(h, c.Workload)
	draw := rand.NewPCG(p.Seed, h.Sum64()+uint64(round)*0x9e3779b97f4a7c15) // the golden ratio spreads neighbours
	return max(draw.Uint64()>>11, 1)
}
