// Package plan turns an experiment into seeded, interleaved rounds grouped into the fewest boots. It is pure.
package plan

import (
	"time"

	"github.com/iotax/iotax/internal/spec"
)

// Plan is what a run will do: groups of stacks that share a guest, and the boots in order.
type Plan struct {
	Experiment spec.Experiment
	Seed       uint64
	Groups     []Group
	Boots      []Boot
}

// Group is a set of stacks that can live in one guest at once. The host and its control belong to every group.
type Group struct {
	Machine string     // "pc" or "q35", the kind of a domain of Xen (one of spec.Hypervisors), or NoMachine
	Guest   spec.Guest // what all of its stacks need, defaults spelled out
	Stacks  []spec.Stack
}

// NoMachine is the machine of a group whose stacks are all on the host: its boots start no guest.
const NoMachine = "none"

// Boot is one start of the guest of a group.
type Boot struct {
	Index  int           // from 0, in the order of the run
	Group  int           // index into Plan.Groups
	Budget time.Duration // wall time that this boot may take
}

// Window is one timed execution of one cell: one stack under one workload.
type Window struct {
	Boot     int
	Round    int    // unique over the run, from 0; cells of one round are compared with each other
	Seq      int    // position in the round
	Stack    string // spec.Host, spec.Control or a stack's name
	Workload string
	Seed     uint64        // offsets of fio, new in every window
	Runtime  time.Duration // timed part
	Rate     float64       // IOPS that the load is held to, all its jobs together; 0 = as fast as it goes
	Discard  bool          // a window of the first (priming) round of a boot: stored, never analysed
}

// AllPrimed is the first boot by whose priming every group has been visited: from then on it is known what all stacks
// can do.
func (p Plan) AllPrimed() int {
	seen := map[int]bool{}
	for _, b := range p.Boots {
		if seen[b.Group] = true; len(seen) == len(p.Groups) {
			return b.Index
		}
	}
	return len(p.Boots)
}

// Key names the cell of the window.
func (w Window) Key() Key { return Key{w.Stack, w.Workload} }

// Key is a cell: a stack under a workload.
type Key struct{ Stack, Workload string }
