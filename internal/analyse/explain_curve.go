package analyse

import (
	"fmt"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// Limit is a latency that must be kept.
type Limit struct {
	Metric string  // record.ClatMean or one of its percentiles
	NS     float64 // nanoseconds
}

// curves makes IOPS against latency over iodepth, for every load that has several and every stack.
func (t *table) curves() []Curve {
	var out []Curve
	for _, load := range byLoad(t.exp.Workloads) {
		if len(load) < 2 || load[0].Held() {
			continue
		}
		for _, s := range t.stacks {
			if s == spec.Control {
				continue
			}
			c := Curve{Stack: s, Load: loadTitle(load[0])}
			for _, w := range load {
				c.Points = append(c.Points, t.point(t.cells[key{s, w.Name}]))
			}
			out = append(out, c)
		}
	}
	return out
}

func (t *table) point(c *cell) CurvePoint {
	p := CurvePoint{Workload: c.Workload, IODepth: c.workload.IODepth}
	if c.Status != record.OK {
		p.Reason = c.Status + ": " + c.Reason + mending(t.found[c.Stack].Mend)
		return p
	}
	if e, ok := c.Metrics[record.IOPS]; ok {
		p.IOPS = &e
	}
	if e, ok := c.Metrics[record.ClatP99]; ok {
		p.P99 = &e
	}
	return p
}

// Limit asks the curves of an explained result how many IOPS keep a latency under a limit.
func (r *Result) Limit(l Limit) {
	if r.Explanation == nil {
		return
	}
	r.Explanation.Limit = &l
	cells := map[key]Cell{}
	for _, c := range r.Cells {
		cells[key{c.Stack, c.Workload}] = c
	}
	for i := range r.Explanation.Curves {
		c := &r.Explanation.Curves[i]
		for j := range c.Points {
			p := &c.Points[j]
			p.Limited = nil
			if e, ok := cells[key{c.Stack, p.Workload}].Metrics[l.Metric]; ok {
				p.Limited = &e
			}
		}
		c.Under = under(c.Points, l)
	}
}

// under finds the most IOPS among the depths that keep a limit with the whole of their interval.
func under(points []CurvePoint, l Limit) *CurveUnder {
	u := &CurveUnder{}
	for _, p := range points {
		why := p.broken(l)
		u.Bound = why == "" // of the deepest, when all are seen
		switch {
		case why != "" && u.Reason == "":
			u.Reason = why
		case why == "" && (u.IOPS == nil || p.IOPS.Value > u.IOPS.Value):
			u.IODepth, u.IOPS = p.IODepth, p.IOPS
		}
	}
	if u.IOPS != nil {
		u.Reason = ""
	}
	return u
}

// broken says why an iodepth does not keep a limit, "" when it does.
func (p CurvePoint) broken(l Limit) string {
	switch {
	case p.IOPS == nil && p.Reason != "":
		return p.Reason
	case p.IOPS == nil || p.Limited == nil:
		return fmt.Sprintf("at iodepth %d this latency is not known", p.IODepth)
	case !p.Limited.Known():
		return fmt.Sprintf("at iodepth %d it was measured in a single round: it has no interval", p.IODepth)
	case p.Limited.High > l.NS:
		return fmt.Sprintf("at iodepth %d it is %s, and up to %s", p.IODepth, unit.Latency(p.Limited.Value), unit.Latency(p.Limited.High))
	}
	return ""
}
