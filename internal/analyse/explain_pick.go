package analyse

import (
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Representative lists the stacks that a reader asks after first: the best one, the usual defaults, and the one that keeps least
// of the host, without repeating any.
func (r Result) Representative() []string {
	var out []string
	add := func(stack string) {
		if stack != "" && !slices.Contains(out, stack) {
			out = append(out, stack)
		}
	}
	if r.Best != nil {
		add(r.Best.Stack)
	}
	for _, s := range r.Experiment.Stacks {
		if slices.Contains(defaults, s.Role) {
			add(s.Name)
		}
	}
	add(r.worst())
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
