package analyse

import (
	"cmp"
	"slices"

	"github.com/iotax/iotax/internal/record"
)

// fronts sorts the stacks of each workload into those that no other beats in both IOPS and cores, beyond the intervals, and
// the rest. A stack is beaten only by one that keeps data as safe as it does: classes are never ranked together.
func (t *table) fronts(prices []Price) []Front {
	var out []Front
	for _, w := range t.exp.Workloads {
		if w.Held() {
			continue // all do the same
		}
		var these []Price
		for _, p := range prices {
			s, known := t.intent[p.Stack]
			if p.Workload == w.Name && known && !s.OnHost() && !s.Ceiling() && t.cells[key{p.Stack, w.Name}].Status == record.OK {
				these = append(these, p)
			}
		}
		if len(these) < 2 {
			continue
		}
		slices.SortStableFunc(these, func(a, b Price) int { return cmp.Compare(b.IOPS.Value, a.IOPS.Value) })
		f := Front{Workload: w.Name}
		for _, p := range these {
			if slices.ContainsFunc(these, func(o Price) bool { return t.beats(o, p) }) {
				f.Beaten = append(f.Beaten, p.Stack)
			} else {
				f.Stacks = append(f.Stacks, p.Stack)
			}
		}
		out = append(out, f)
	}
	return out
}

// beats reports whether a does more with fewer cores than b, beyond the intervals, and is as safe.
func (t *table) beats(a, b Price) bool {
	if a.IOPS.Value <= b.IOPS.Value || safety(t.found[a.Stack].Durability) < safety(t.found[b.Stack].Durability) {
		return false
	}
	more := t.iopsRatio(t.cells[key{a.Stack, a.Workload}], t.cells[key{b.Stack, b.Workload}])
	known := more.Known() && a.Cores.Known() && b.Cores.Known()
	return known && more.Low > 1 && a.Cores.High < b.Cores.Low
}

// safety ranks durability classes, the safest highest. One that is not known is as safe as none.
func safety(class string) int {
	return slices.Index([]string{record.Unsafe, record.Volatile, record.Durable}, class)
}
