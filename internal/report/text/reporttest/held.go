package reporttest

import (
	"math"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Held is a short run with a load that all stacks are held to: some latencies that differ from the host's, some that do
// not, and a stack that did not keep up.
func Held() analyse.Result {
	r := Only(Default(), "randread-4k-q1", "randread-4k-q32")
	w := spec.Workload{Name: "randread-4k-held", Title: "4k held read q32", RW: "randread", BS: 4096, IODepth: 32, RateShare: 0.8}
	r.Experiment.Workloads = append(r.Experiment.Workloads, w)
	r.Noise.ByWorkload[w.Name] = analyse.Band{Low: 0.9, High: 1.11, Detectable: 0.12}
	r.Best.Workloads, r.Gains = []string{"randread-4k-q1", "randread-4k-q32"}, nil
	for _, s := range r.StackOrder {
		r.Cells = append(r.Cells, heldCell(s, w))
	}
	return r
}

func heldCell(stack string, w spec.Workload) analyse.Cell {
	c := analyse.Cell{Stack: stack, Workload: w.Name, Baseline: stack == spec.Host, Status: record.OK, Rounds: 5, Durability: durability(stack), Offered: 6272}
	switch stack {
	case "vhost":
		c.Status, c.Rounds, c.Reason, c.Offered = record.Unavailable, 0, "this kernel has no vhost-blk", 0
		return c
	case "sata":
		c.Status, c.Reason = record.Withheld, "reached only 5.8k of the 6.3k IOPS offered"
		return c
	}
	times := 1.0
	if !c.Baseline {
		times = math.Round(100/math.Sqrt(shares[stack][1])) / 100
		c.Ratio = map[string]stat.Estimate{record.IOPS: {Value: 1, Low: 0.9995, High: 1.0004}, record.ClatMean: around(times)}
	}
	c.Differs = math.Abs(times-1) > 0.3
	c.Metrics = map[string]stat.Estimate{
		record.IOPS: {Value: 6270, Low: 6268, High: 6271}, record.Bandwidth: {Value: 6270 * 4096, Low: 6268 * 4096, High: 6271 * 4096},
		record.ClatMean: around(52_300 * times), record.ClatP99: around(143_000 * times),
	}
	for round := range 2 {
		c.Points = append(c.Points, analyse.Point{Round: round + 1, Value: 52_300 * times, Ratio: times})
	}
	return c
}
