package analyse

import (
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// A load that is held to a rate is offered alike to all, and tells nothing of speed: every cell of it reaches about as much
// as the host does. What stands for it is its latency. It has no part in what is said of speed: the noise floor of the run,
// the best stack and its gains, drift and steadiness.

// minReached is the share of the offered IOPS below which a stack was not under the load that it is compared at.
const minReached = 0.95

// Ranked lists the workloads of an experiment that tell speed, by which stacks are ranked: all but the held ones.
func Ranked(e spec.Experiment) []spec.Workload {
	return slices.DeleteFunc(slices.Clone(e.Workloads), spec.Workload.Held)
}

// offered is the IOPS that the cell's windows were held to, 0 for none.
func (c *cell) offered() float64 {
	for _, w := range c.counted {
		if w.Evidence.Rate > 0 {
			return w.Evidence.Rate
		}
	}
	return 0
}

// short says that the cell did not keep up with what it was offered, "" when it did.
func (c *cell) short() string {
	var shares []float64
	for _, w := range c.good {
		if w.Evidence.Rate > 0 {
			shares = append(shares, w.Metrics[record.IOPS]/w.Evidence.Rate)
		}
	}
	share := stat.Median(shares)
	if len(shares) == 0 || share >= minReached {
		return ""
	}
	s := unit.IOPSScale(c.offered())
	if s.Div > 1 { // two that round alike would say nothing
		s.Decimals = max(s.Decimals, 1)
	} else {
		s.Decimals = 0
	}
	return fmt.Sprintf("reached only %s of the %s IOPS offered", s.Format(share*c.offered()), s.Format(c.offered()))
}

// waiting is the CPU time that the load generator took outside the kernel in the span of a price, in nanoseconds, where it
// was held to a rate: 0 where it was not. fio waits for its next I/O in a loop that looks at the clock (usec_sleep of its
// time.c), for as long as it found timers to be late when it started: in an emulated guest a large part of the time between
// two I/Os, and the larger the faster the stack. That is no cost of an I/O. Its own work on the I/Os goes with it, a
// microsecond or two for each, the same for all stacks.
func waiting(e record.Evidence) float64 {
	if e.Rate == 0 {
		return 0
	}
	return e.FioUser * float64(e.Price.Span)
}

// generatorRole is the role of the threads in which the load generator runs.
func generatorRole(p *record.Price) string {
	if _, onHost := used(p, record.Load); onHost {
		return record.Load
	}
	return record.VCPU
}

// named lists the workloads that patterns mean, all of them where there are none. Held loads cannot be put together with
// others: a pattern that means both means the others, and a held one beside them only its name.
func (t *table) named(patterns ...string) []string {
	var names []string
	held := map[string]bool{}
	for _, w := range t.exp.Workloads {
		names, held[w.Name] = append(names, w.Name), w.Held()
	}
	meant := spec.Match(patterns, names)
	if !slices.ContainsFunc(meant, func(w string) bool { return !held[w] }) {
		return meant
	}
	return slices.DeleteFunc(slices.Clone(meant), func(w string) bool { return held[w] && !slices.Contains(patterns, w) })
}
