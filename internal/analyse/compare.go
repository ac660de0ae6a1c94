package analyse

import (
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// Compare is the headline figure of a stack over that of another under a workload, as a ratio with its interval at a level
// (0.95 = 95 %), false where one of the two has no number. It is the comparison that gains are made of: stacks of one guest
// meet round by round, stacks of different boots through the host that was beside each of them.
func (r Result) Compare(stack, over, workload string, level float64) (stat.Estimate, bool) {
	this, that := r.shares(stack, workload), r.shares(over, workload)
	if len(this) == 0 || len(that) == 0 {
		return stat.Estimate{}, false
	}
	if d := this.Minus(that); len(d) > 1 {
		return r.apart(stack).Contrast(d).Ratio(level), true
	}
	var all []stat.Series
	r.eachGuest(func(c Cell) { all = append(all, c.shares()) })
	each := stat.Pool(all)
	return each.Contrast(this).Add(each.Contrast(that.Weigh(-1))).Ratio(level), true
}

// apart is by how much a stack's difference to the others of its boots moves from boot to boot.
func (r Result) apart(stack string) stat.Between {
	var all []stat.Series
	r.eachGuest(func(c Cell) {
		if c.Stack != stack {
			all = append(all, r.shares(stack, c.Workload).Minus(c.shares()))
		}
	})
	return stat.Pool(all)
}

// eachGuest calls f with the cells that have a number and tell a guest's speed.
func (r Result) eachGuest(f func(Cell)) {
	beside := map[string]bool{}
	for _, s := range r.Experiment.Stacks {
		beside[s.Name] = s.OnHost()
	}
	for _, w := range Ranked(r.Experiment) {
		for _, c := range r.Cells {
			if c.Workload == w.Name && !isHost(c.Stack) && !beside[c.Stack] && c.Status == record.OK {
				f(c)
			}
		}
	}
}

// shares is the log of a stack's share of the host, round by round; empty for a cell that is not OK.
func (r Result) shares(stack, workload string) stat.Series {
	i := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Stack == stack && c.Workload == workload && c.Status == record.OK })
	if i < 0 {
		return nil
	}
	return r.Cells[i].shares()
}

func (c Cell) shares() stat.Series {
	var out stat.Series
	for _, p := range c.Points {
		if p.Ratio > 0 {
			out = append(out, stat.Point{Round: p.Round, Boot: p.Boot, Log: math.Log(p.Ratio)})
		}
	}
	return out
}
