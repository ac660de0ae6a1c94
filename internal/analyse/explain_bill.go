package analyse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// draft is a bill whose intervals are asked for.
type draft struct {
	*explainer
	stack    spec.Stack
	workload string
	reason   string

	host, total, tax *ask
	taxed            *ask // the tax as a multiple of the host's time
	steps            []*chainStep
}

// chainStep is what two neighbours of a chain differ by.
type chainStep struct {
	from, to    *node
	adds        layers
	time, share *ask
	against     *ask // the time as a multiple of the host's, which tells best whether there is any
	split       *split
}

// drafts makes a draft of a bill for each stack with a guest and a disk, under each workload.
func (x *explainer) drafts() []*draft {
	var out []*draft
	for _, c := range x.order {
		s, known := x.intent[c.Stack]
		if !known || s.OnHost() || s.Ceiling() || c.ceiling || c.workload.Held() {
			continue
		}
		d := &draft{explainer: x, stack: s, workload: c.Workload}
		if d.reason = x.whyNoBill(c); d.reason == "" {
			d.draw()
		}
		out = append(out, d)
	}
	return out
}

// whyNoBill says why a cell has no bill, "" when it has one.
func (x *explainer) whyNoBill(c *cell) string {
	host := x.cells[key{spec.Host, c.Workload}]
	switch {
	case c.Status == record.Unavailable:
		return "this host cannot offer it: " + c.Reason + mending(x.found[c.Stack].Mend)
	case c.Status != record.OK:
		return c.Status + ": " + c.Reason
	case host.Status != record.OK:
		return "the host baseline is " + host.Status + ": " + host.Reason
	case c.workload.ThinkTime > 0 || c.workload.Ioping():
		return "the load waits between its I/Os: what one takes cannot be told from how many there are"
	case x.node(c.Stack, c.Workload) == nil || x.node(spec.Host, c.Workload) == nil:
		return "its windows have no " + record.IOPS
	}
	return ""
}

// draw finds the chain and asks for all that the bill may need.
func (d *draft) draw() {
	have := d.have(d.stack.Name, d.workload)
	host, this := d.node(spec.Host, d.workload), d.node(d.stack.Name, d.workload)
	way := chain(link{host, 0}, link{this, have.all()}, d.links(have, d.workload, d.stack.Name))

	tax := d.time(this).minus(d.time(host))
	taxed := d.relative(this).minus(d.relative(host))
	d.host = d.want("host", d.workload, d.time(host).log())
	d.total = d.want("total", d.name(this), d.time(this).log())
	d.tax, d.taxed = d.want("tax", d.name(this), tax), d.want("taxed", d.name(this), taxed)
	for i := range len(way) - 1 {
		from, to := way[i], way[i+1]
		name := d.name(from.node) + " to " + d.name(to.node)
		time := d.time(to.node).minus(d.time(from.node))
		against := d.relative(to.node).minus(d.relative(from.node))
		s := &chainStep{from: from.node, to: to.node, adds: to.has &^ from.has}
		s.time, s.against = d.want("layer", name, time), d.want("against", name, against)
		s.share = d.want("share", name+" of "+d.name(this), against.over(taxed))
		if slices.Equal(s.adds.names(), aboveBlockLayer) {
			s.split = d.splits(s, taxed)
		}
		d.steps = append(d.steps, s)
	}
	slices.SortStableFunc(d.steps, func(a, b *chainStep) int { return lowest(a.adds) - lowest(b.adds) })
}

func lowest(l layers) int { return int(l & -l) }

// name tells a node from all others.
func (d *draft) name(n *node) string { return n.Stack + "/" + n.Workload }

// bill is the draft with the answers in it.
func (d *draft) bill() Bill {
	b := Bill{Stack: d.stack.Name, Workload: d.workload, Reason: d.reason}
	if d.reason != "" {
		return b
	}
	host, total, tax := d.host.exp(), d.total.exp(), d.tax.Estimate
	b.Host, b.Total, b.Tax = &host, &total, &tax
	for _, s := range d.steps {
		if s.split != nil && s.split.possible() {
			b.Layers = append(b.Layers, d.parts(s)...)
		} else {
			b.Layers = append(b.Layers, d.layer(s))
		}
		if s.split != nil {
			b.Check = s.split.check(s)
		}
	}
	b.Advice = d.advice()
	return b
}

func (d *draft) layer(s *chainStep) BillLayer {
	return BillLayer{
		Names: s.adds.names(), From: s.from.Stack, To: s.to.Stack, Detail: d.detail(s.adds.names()),
		Time: s.time.Estimate, Share: d.shareOf(s.share),
	}
}

// parts are the two layers of a step that zero-latency stacks tell apart.
func (d *draft) parts(s *chainStep) []BillLayer {
	var out []BillLayer
	for i, name := range aboveBlockLayer {
		p := s.split.parts[i]
		out = append(out, BillLayer{Names: []string{name}, Detail: d.detail([]string{name}), Time: p.time.Estimate, Share: d.shareOf(p.share)})
	}
	return out
}

// shareOf is nil when there is no tax to have a share of.
func (d *draft) shareOf(a *ask) *stat.Estimate {
	if d.taxed.p > alpha || d.tax.Contains(0) {
		return nil
	}
	return &a.Estimate
}

// detail is what some layers are here; of a guest like all others there is nothing to say.
func (d *draft) detail(names []string) string {
	var words []string
	for _, name := range names {
		if w := d.have(d.stack.Name, d.workload)[name]; w != ordinary {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// decide marks the layers whose time differs from none, after Benjamini and Hochberg's correction over all layers of the
// run. A comparison that stands in several bills is one.
func (x *explainer) decide(drafts []*draft, bills []Bill) {
	var tests []*ask
	var p []float64
	seen := map[*ask]int{}
	each := func(do func(l *BillLayer, a *ask)) {
		for i, d := range drafts {
			for j, a := range d.tests() {
				do(&bills[i].Layers[j], a)
			}
		}
	}
	each(func(_ *BillLayer, a *ask) {
		if _, known := seen[a]; !known {
			seen[a] = len(tests)
			tests, p = append(tests, a), append(p, a.p)
		}
	})
	adjusted := stat.BenjaminiHochberg(p)
	each(func(l *BillLayer, a *ask) { l.Differs = adjusted[seen[a]] <= alpha })
}

// tests are what tells whether each layer of the bill takes any time.
func (d *draft) tests() []*ask {
	var out []*ask
	for _, s := range d.steps {
		if s.split != nil && s.split.possible() {
			out = append(out, s.split.parts[0].against, s.split.parts[1].against)
		} else {
			out = append(out, s.against)
		}
	}
	return out
}

// timeWords is a time with its interval, in one unit.
func timeWords(e stat.Estimate) string {
	if !e.Known() {
		return unit.Latency(e.Value)
	}
	scale := unit.LatencyScale(e.Value, e.Low, e.High)
	return fmt.Sprintf("%s (%s to %s)", scale.Format(e.Value), scale.Number(e.Low), scale.Number(e.High))
}
