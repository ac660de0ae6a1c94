package jsonout

import (
	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

func cell(c analyse.Cell) Cell {
	out := Cell{
		Stack: c.Stack, Workload: c.Workload, Baseline: c.Baseline, Status: c.Status, Reason: c.Reason, Rounds: c.Rounds,
		Metrics: map[string]Estimate{}, Ratio: map[string]Estimate{}, Durability: c.Durability,
		Warnings: all(c.Warnings), Points: []Point{},
	}
	if out.Durability == "" {
		out.Durability = record.Unknown
	}
	if c.RAMShare != nil {
		out.RAMShare = number(*c.RAMShare)
	}
	out.Derived = estimates(c.Derived)
	if c.Offered > 0 {
		out.Offered = number(c.Offered)
	}
	if c.Status != record.OK {
		return out
	}
	out.Metrics, out.Ratio, out.Differs = estimates(c.Metrics), estimates(c.Ratio), c.Differs
	if b := c.BestOfN; b != nil {
		out.BestOfN = bestOfN(b)
	}
	for _, p := range c.Points {
		if v := number(p.Value); v != nil {
			out.Points = append(out.Points, Point{Round: p.Round, Value: *v, Ratio: number(p.Ratio)})
		}
	}
	return out
}

func gain(g analyse.Gain) Gain {
	return Gain{Over: g.Over, Role: g.Role, Overall: estimate(g.Overall), Differs: g.Differs, Workloads: list(g.Workloads, func(c analyse.GainCell) GainCell {
		return GainCell{Workload: c.Workload, Ratio: estimate(c.Ratio), Differs: c.Differs, Reason: c.Reason}
	})}
}

func estimates(in map[string]stat.Estimate) map[string]Estimate {
	out := map[string]Estimate{}
	for name, e := range in {
		if e := estimate(&e); e != nil {
			out[name] = *e
		}
	}
	return out
}

// estimate is nil without a finite value; the bounds are null where the interval is not known.
func estimate(e *stat.Estimate) *Estimate {
	if e == nil || number(e.Value) == nil {
		return nil
	}
	if !e.Known() {
		return &Estimate{Value: e.Value}
	}
	return &Estimate{Value: e.Value, Low: number(e.Low), High: number(e.High)}
}

// bestOfN has no latency where none is known.
func bestOfN(b *analyse.BestOfN) *BestOfN {
	out := &BestOfN{N: b.N, Headline: number(b.Headline)}
	if b.ClatMean > 0 {
		out.ClatMean = number(b.ClatMean)
	}
	return out
}
