package analyse

import (
	"math"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Representative lists the stacks that a reader asks after first: the best one (Clearest), the usual defaults, and the one that
// keeps least of the host, without repeating any.
func (r Result) Representative() []string {
	var out []string
	add := func(stack string) {
		if stack != "" && !slices.Contains(out, stack) {
			out = append(out, stack)
		}
	}
	add(r.Clearest())
	for _, s := range r.Experiment.Stacks {
		if slices.Contains(defaults, s.Role) {
			add(s.Name)
		}
	}
	add(r.worst())
	return out
}

// Clearest is the best stack or, of those that cannot be told from it, the one whose bills tell most layers apart: which of
// them is the best is chance, and whether its neighbours were measured is not. "" where there is no best one.
func (r Result) Clearest() string {
	if r.Best == nil {
		return ""
	}
	lines := map[string]int{}
	if r.Explanation != nil {
		for _, b := range r.Explanation.Bills {
			lines[b.Stack] += len(b.Layers)
		}
	}
	out := r.Best.Stack
	for _, stack := range r.Best.Tied {
		if lines[stack] > lines[out] {
			out = stack
		}
	}
	return out
}

// worst is the stack with a guest and a disk that keeps least of the host, as a geometric mean over the workloads that it has
// a number for; "" for none.
func (r Result) worst() string {
	sum, n := map[string]float64{}, map[string]float64{}
	workloads := map[string]spec.Workload{}
	for _, w := range r.Experiment.Workloads {
		workloads[w.Name] = w
	}
	for _, c := range r.Cells {
		w := workloads[c.Workload]
		if v := c.Ratio[Headline(w)].Value; c.Status == record.OK && !w.Held() && v > 0 {
			sum[c.Stack], n[c.Stack] = sum[c.Stack]+math.Log(v), n[c.Stack]+1
		}
	}
	worst, least := "", math.Inf(1)
	for _, s := range r.Experiment.Stacks {
		if s.OnHost() || s.Ceiling() || n[s.Name] == 0 {
			continue
		}
		if mean := sum[s.Name] / n[s.Name]; mean < least {
			worst, least = s.Name, mean
		}
	}
	return worst
}

// Dominant is the layer that takes most of what the best stack loses to the host.
type Dominant struct {
	Stack     string        // whose bills these are: Clearest
	Layer     string        // of LayerNames; several that no measured stack tells apart are joined by " + "
	Share     stat.Estimate // of the tax, where its lower end is least
	Workloads int           // under which it takes more than half, beyond the interval
}

// Dominant is known where one layer takes more than half of the best stack's tax, beyond its interval, under at least half of
// the workloads that it was judged on, and no other layer does so under any; nil else. A bill of one line that
// holds several layers tells nothing.
func (r Result) Dominant() *Dominant {
	if r.Best == nil || r.Explanation == nil {
		return nil
	}
	stack := r.Clearest()
	var out *Dominant
	for _, b := range r.Explanation.Bills {
		l := b.most()
		if b.Stack != stack || !slices.Contains(r.Best.Workloads, b.Workload) || l == nil {
			continue
		}
		switch layer := strings.Join(l.Names, " + "); {
		case out == nil:
			out = &Dominant{Stack: stack, Layer: layer, Share: *l.Share}
		case out.Layer != layer:
			return nil
		case l.Share.Low < out.Share.Low:
			out.Share = *l.Share
		}
		out.Workloads++
	}
	if out == nil || 2*out.Workloads < len(r.Best.Workloads) {
		return nil
	}
	return out
}

// most is the layer that takes more than half of the tax for certain, nil for none.
func (b Bill) most() *BillLayer {
	for i, l := range b.Layers {
		if l.Share != nil && l.Share.Known() && l.Differs && l.Time.Value > 0 && l.Share.Low > 0.5 && (len(l.Names) == 1 || len(b.Layers) > 1) {
			return &b.Layers[i]
		}
	}
	return nil
}
