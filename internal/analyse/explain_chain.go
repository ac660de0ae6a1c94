package analyse

import (
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// layers is a set of layers, a bit for each of LayerNames.
type layers uint8

// all is the layers that a stack has.
func (s states) all() layers {
	var out layers
	for i, name := range LayerNames {
		if s[name] != "" {
			out |= 1 << i
		}
	}
	return out
}

// within tells which layers of another stack s has, and whether it has nothing that the other has not: each of its layers
// is the other's, or absent as on the host.
func (s states) within(other states) (layers, bool) {
	for _, name := range LayerNames {
		if s[name] != "" && s[name] != other[name] {
			return 0, false
		}
	}
	return s.all(), true
}

// names lists the layers of a set, from the disk up.
func (l layers) names() []string {
	var out []string
	for i, name := range LayerNames {
		if l&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

func (l layers) has(name string) bool { return l&(1<<slices.Index(LayerNames, name)) != 0 }

// link is a node where it stands in a chain, with the layers that it has.
type link struct {
	*node
	has layers
}

// chain is the longest way from the host to a stack, over nodes that each have all layers of the one before and at least one
// more. Of ways of the same length it is the one whose nodes are known best.
func chain(host, stack link, between []link) []link {
	type way struct {
		links []link
		doubt float64 // sum of the squared half-widths
	}
	better := func(a, b way) bool {
		return len(a.links) > len(b.links) || len(a.links) == len(b.links) && a.doubt < b.doubt
	}
	slices.SortStableFunc(between, func(a, b link) int { return size(a.has) - size(b.has) })
	ways := []way{{links: []link{host}}}
	var best way
	for _, next := range append(slices.Clone(between), stack) {
		last := next.node == stack.node
		if !last && (next.has == 0 || next.has == stack.has) {
			continue
		}
		var top way
		for _, w := range ways {
			end := w.links[len(w.links)-1].has
			if end&^next.has != 0 || end == next.has && !last {
				continue
			}
			if longer := (way{append(slices.Clone(w.links), next), w.doubt + doubt(next)}); top.links == nil || better(longer, top) {
				top = longer
			}
		}
		if top.links == nil {
			continue
		}
		ways, best = append(ways, top), top
	}
	return best.links
}

func size(l layers) int { return len(l.names()) }

// doubt is how badly a node is known: the squared half-width of its share of the host's IOPS.
func doubt(l link) float64 {
	w := l.Ratio[record.IOPS].HalfWidth()
	return math.Min(w*w, 1e6) // sums of infinities cannot be compared
}

// links lists the cells that may stand in the chain of a stack under a workload.
func (x *explainer) links(of states, workload, stack string) []link {
	var out []link
	for _, s := range x.exp.Stacks {
		n := x.node(s.Name, workload)
		if n == nil || s.Name == stack || s.Ceiling() {
			continue
		}
		if has, ok := x.have(s.Name, workload).within(of); ok {
			out = append(out, link{n, has})
		}
	}
	return out
}

// bestKnown picks the cell under a workload that is known best, among stacks that match; nil for none.
func (x *explainer) bestKnown(workload string, match func(s spec.Stack) bool) *node {
	var out *node
	for _, s := range x.exp.Stacks {
		n := x.node(s.Name, workload)
		if n != nil && match(s) && (out == nil || doubt(link{node: n}) < doubt(link{node: out})) {
			out = n
		}
	}
	return out
}
