package analyse

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// node is a cell, or what its rounds tell besides, in the sums of a bill.
type node struct {
	*cell
	what   string      // it is, beside the time of the cell
	series stat.Series // log of its time by round: relative to the host's of the same round, the host's own in ns
	at     float64     // the location of that: the one number by which the node goes into every sum
}

func newNode(c *cell, series stat.Series) *node {
	return &node{cell: c, series: series, at: math.Log(stat.Ratio(series.Logs()).Value)}
}

// timed is the node of a cell's time for one I/O of those in flight; nil without a number.
func timed(c *cell) *node {
	if c == nil || c.Status != record.OK {
		return nil
	}
	s := c.byRound(record.IOPS, !c.Baseline).Weigh(-1)
	if c.Baseline {
		for i := range s {
			s[i].Log += math.Log(1e9 * float64(c.workload.InFlight()))
		}
	}
	if len(s) == 0 {
		return nil
	}
	return newNode(c, s)
}

// quantity is a number that is computed from nodes, with its slope by the location of each: sums of quantities carry
// their errors along, round by round (the delta method).
type quantity struct {
	value  float64
	slopes map[*node]float64
}

// mix is a*q + b*r.
func mix(a float64, q quantity, b float64, r quantity) quantity {
	out := quantity{value: a*q.value + b*r.value, slopes: map[*node]float64{}}
	for n, s := range q.slopes {
		out.slopes[n] += a * s
	}
	for n, s := range r.slopes {
		out.slopes[n] += b * s
	}
	return out
}

func (q quantity) minus(r quantity) quantity { return mix(1, q, -1, r) }

func (q quantity) times(r quantity) quantity {
	out := mix(r.value, q, q.value, r)
	out.value = q.value * r.value
	return out
}

func (q quantity) over(r quantity) quantity {
	out := mix(1/r.value, q, -q.value/(r.value*r.value), r)
	out.value = q.value / r.value
	return out
}

// log is of a quantity above 0.
func (q quantity) log() quantity {
	out := mix(1/q.value, q, 0, q)
	out.value = math.Log(q.value)
	return out
}

// exponential is e to the power of the sum of some nodes.
func exponential(nodes ...*node) quantity {
	q := quantity{slopes: map[*node]float64{}}
	for _, n := range nodes {
		q.value += n.at
	}
	q.value = math.Exp(q.value)
	for _, n := range nodes {
		q.slopes[n] += q.value
	}
	return q
}

// ask is a quantity whose interval is wanted, and what becomes of it.
type ask struct {
	quantity
	scale  float64 // its steepest slope, by which it is divided: what is pooled must be of one kind
	pieces []piece
	stat.Estimate
	p float64 // of the quantity's being 0
}

// piece is what one group of boots has in a quantity, round by round around 0.
type piece struct {
	kind   string
	series stat.Series
}

// asks are those of a run. What they move by from boot to boot is pooled over quantities of a kind, so they are
// answered together.
type asks struct {
	byName map[string]*ask
	asked  []*ask
}

// want asks for a quantity of a kind. The name tells it from all others: who asks again gets the same.
func (a *asks) want(kind, name string, q quantity) *ask {
	name = kind + " " + name
	if known := a.byName[name]; known != nil {
		return known
	}
	out := &ask{quantity: q, p: 1}
	for _, s := range q.slopes {
		out.scale = max(out.scale, math.Abs(s))
	}
	out.pieces = out.cut(kind)
	if a.byName == nil {
		a.byName = map[string]*ask{}
	}
	a.byName[name], a.asked = out, append(a.asked, out)
	return out
}

// cut joins the nodes that share rounds. Those of different boots never do: each group of them then stands relative to the
// host of its own rounds, as in product, and what the host has in the quantity comes from all its rounds.
func (a *ask) cut(kind string) []piece {
	var host, guests []*node
	var parts []part
	for _, n := range a.nodes() {
		switch {
		case math.Abs(a.slopes[n]) <= 1e-12*a.scale:
		case isHost(n.Stack):
			host = append(host, n)
		default:
			guests, parts = append(guests, n), append(parts, part{cell: n.cell})
		}
	}
	if joint := a.join(append(slices.Clone(guests), host...)); len(joint) > 1 || len(guests) == 0 {
		return []piece{{a.family(kind, guests), joint}}
	}
	var out []piece
	for _, group := range groups(parts) {
		these := slices.DeleteFunc(slices.Clone(guests), func(n *node) bool {
			return !slices.ContainsFunc(group, func(p part) bool { return p.cell == n.cell })
		})
		out = append(out, piece{a.family(kind, these), a.join(these)})
	}
	if len(host) > 0 {
		out = append(out, piece{a.family(kind, nil), a.join(host)})
	}
	return out
}

// nodes lists the nodes of a quantity, always in the same order: sums of floating point depend on it.
func (q quantity) nodes() []*node {
	return slices.SortedFunc(maps.Keys(q.slopes), func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.what, b.what))
	})
}

// family are the pieces that move alike from boot to boot: by how many guests are in them.
func (a *ask) family(kind string, nodes []*node) string {
	guests := 0
	for _, n := range nodes {
		if n.guest {
			guests++
		}
	}
	return fmt.Sprint(kind, " ", min(guests, 2))
}

// join adds up nodes round by round, over the rounds that all have.
func (a *ask) join(nodes []*node) stat.Series {
	var sum stat.Series
	for i, n := range nodes {
		s := slices.Clone(n.series)
		for j := range s {
			s[j].Log = (s[j].Log - n.at) * a.slopes[n] / a.scale
		}
		if sum = sum.Plus(s); i == 0 {
			sum = s
		}
	}
	return sum
}

// answer gives every quantity its interval.
func (a *asks) answer() {
	families := map[string][]stat.Series{}
	for _, q := range a.asked {
		for _, p := range q.pieces {
			families[p.kind] = append(families[p.kind], p.series)
		}
	}
	between := map[string]stat.Between{}
	for _, kind := range slices.Sorted(maps.Keys(families)) {
		between[kind] = stat.Pool(families[kind])
	}
	for _, q := range a.asked {
		var sum stat.Contrast
		for i, p := range q.pieces {
			if c := between[p.kind].Contrast(p.series); i == 0 {
				sum = c
			} else {
				sum = sum.Add(c)
			}
		}
		switch q.Estimate = stat.Unknown(q.value); {
		case q.scale <= 1e-9*math.Abs(q.value): // such as the share of the only layer
			q.Estimate = exactly(q.value)
			continue
		case sum.Rounds() < 2 || q.scale == 0:
			continue
		}
		sum = sum.Around(q.value / q.scale)
		e := sum.Plain(1 - alpha)
		q.Estimate = stat.Estimate{Value: q.value, Low: q.scale * e.Low, High: q.scale * e.High}
		q.p = sum.PValue()
	}
}

// exp is the estimate of a quantity whose log was asked for.
func (a *ask) exp() stat.Estimate {
	if !a.Known() {
		return stat.Unknown(math.Exp(a.value))
	}
	return stat.Estimate{Value: math.Exp(a.value), Low: math.Exp(a.Low), High: math.Exp(a.High)}
}
