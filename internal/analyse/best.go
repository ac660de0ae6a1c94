package analyse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// best picks the safe stack that loses least, and says what the choice left out.
//
// The choice is among durable guest stacks, over all workloads of the experiment that are as fast as they go. A stack that lacks a number
// for one of them takes no part, rather than take the workload away from the others. Only when no safe
// stack has them all are the stacks with the most compared, over those that they have.
func (t *table) best() (*Best, []string) {
	safe := t.safe()
	if len(safe) == 0 {
		return nil, t.whyNoneIsSafe()
	}
	judged := t.judgedOn(safe)
	if len(judged) == 0 {
		return nil, nil
	}
	var names, left []string
	for _, s := range safe {
		if missing := t.missing(s, judged); len(missing) > 0 {
			left = append(left, s+" (no number for "+strings.Join(missing, ", ")+")")
			continue
		}
		names = append(names, s)
	}
	best := t.choose(names, judged)
	var warnings []string
	if all := len(Ranked(t.exp)); len(judged) < all {
		warnings = append(warnings, fmt.Sprintf("the best stack was judged on %d of %d workloads: no safe stack has a number for all",
			len(judged), all))
	}
	if len(left) > 0 {
		warnings = append(warnings, "not in the choice of the best stack: "+strings.Join(left, "; "))
	}
	return best, warnings
}

// safe lists the stacks that may be named the best.
func (t *table) safe() []string {
	var out []string
	for _, s := range t.stacks {
		if t.guest(s) && !t.ceiling(s) && t.found[s].Durability == record.Durable && t.found[s].Unavailable == "" {
			out = append(out, s)
		}
	}
	return out
}

// guest reports whether a stack is a guest's disk, and neither the host nor a load on it that only tells layers apart.
func (t *table) guest(stack string) bool { return !isHost(stack) && !t.intent[stack].OnHost() }

func (t *table) whyNoneIsSafe() []string {
	unknown, why, measured := true, "", false
	for _, c := range t.order {
		if !t.guest(c.Stack) || c.ceiling || len(c.series) == 0 {
			continue
		}
		measured = true
		unknown = unknown && c.Durability == record.Unknown
		if why == "" {
			why = t.found[c.Stack].DurabilityWhy
		}
	}
	switch {
	case !measured:
		return nil
	case !unknown:
		return []string{"no best stack is named: none is known to keep data that a guest has flushed"}
	case why != "":
		why = ": " + why
	}
	return []string{"no best stack is named: whether data that a guest has flushed is safe could be found out for none" + why}
}

// judgedOn returns the largest set of workloads for which some safe stack has all numbers; of several such sets
// the one that the most stacks have.
func (t *table) judgedOn(safe []string) []string {
	var chosen []string
	followers := 0
	for _, s := range safe {
		has := t.has(s)
		n := 0
		for _, other := range safe {
			if len(t.missing(other, has)) == 0 {
				n++
			}
		}
		if len(has) > len(chosen) || len(has) == len(chosen) && n > followers {
			chosen, followers = has, n
		}
	}
	return chosen
}

// has lists the workloads by which stacks are ranked and for which this one has a number, in the order of the experiment.
func (t *table) has(stack string) []string {
	var out []string
	for _, w := range Ranked(t.exp) {
		if len(t.cells[key{stack, w.Name}].series) > 0 {
			out = append(out, w.Name)
		}
	}
	return out
}

func (t *table) missing(stack string, workloads []string) []string {
	has := t.has(stack)
	return slices.DeleteFunc(slices.Clone(workloads), func(w string) bool { return slices.Contains(has, w) })
}

// choose names the stack with the highest ratio over the workloads, and those that cannot be told from it.
func (t *table) choose(names, workloads []string) *Best {
	m := t.means(workloads)
	all := make([]stat.Estimate, len(names))
	top := 0
	for i, s := range names {
		all[i] = m.ratio(s)
		if all[i].Value > all[top].Value {
			top = i
		}
	}
	best := &Best{Stack: names[top], Ratio: all[top], Workloads: workloads}
	apart := m.apart(best.Stack)
	var others []string
	var p []float64
	for i, s := range names {
		if i != top {
			_, q := contrast(m.rounds[best.Stack], m.rounds[s], m.between, apart)
			others, p = append(others, s), append(p, q)
		}
	}
	for i, q := range stat.Holm(p) {
		if q > alpha {
			best.Tied = append(best.Tied, others[i])
		}
	}
	return best
}

// means is the geometric means of the ratios to the host over several workloads, of every guest stack that has a
// number for them all.
type means struct {
	stacks  []string
	rounds  map[string]stat.Series   // those that hold all the workloads
	parts   map[string][]stat.Series // by workload
	between stat.Between
}

func (t *table) means(workloads []string) means {
	m := means{rounds: map[string]stat.Series{}, parts: map[string][]stat.Series{}}
	var all []stat.Series
	for _, s := range t.stacks {
		if !t.guest(s) || len(t.missing(s, workloads)) > 0 {
			continue
		}
		for _, w := range workloads {
			m.parts[s] = append(m.parts[s], t.cells[key{s, w}].series)
		}
		m.rounds[s] = stat.GeoMean(m.parts[s]...)
		m.stacks = append(m.stacks, s)
		all = append(all, m.rounds[s])
	}
	m.between = stat.Pool(all)
	return m
}

// ratio is a stack's own mean. When fewer than two rounds hold all the workloads there is a value and no interval.
func (m means) ratio(stack string) stat.Estimate {
	if rounds := m.rounds[stack]; len(rounds) > 1 {
		return m.between.Ratio(rounds)
	}
	sum := 0.0
	for _, s := range m.parts[stack] {
		sum += math.Log(stat.Ratio(s.Logs()).Value)
	}
	return stat.Unknown(math.Exp(sum / float64(len(m.parts[stack]))))
}

// apart is by how much the difference of a stack to the others of its boots moves from boot to boot.
func (m means) apart(stack string) stat.Between {
	var all []stat.Series
	for _, s := range m.stacks {
		if s != stack {
			all = append(all, m.rounds[stack].Minus(m.rounds[s]))
		}
	}
	return stat.Pool(all)
}

// contrast is the ratio of one stack to another with the p-value of its being 1. Stacks of one guest share
// rounds and are compared round by round, where what moves from boot to boot is their difference (apart); stacks of
// different boots never do, and meet through the host that was beside each of them (each).
func contrast(a, b stat.Series, each, apart stat.Between) (stat.Estimate, float64) {
	if d := a.Minus(b); len(d) > 1 {
		return apart.Ratio(d), apart.PValue(d)
	}
	return each.Compare(a, b)
}
