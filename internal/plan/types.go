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
	Machine string     // "pc" or "q35", or the kind of a domain of Xen: one of spec.Hypervisors
	Guest   spec.Guest // what all of its stacks need, defaults spelled out
	Stacks  []spec.Stack
}

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
	Discard  bool          // a window of the first (priming) round of a boot: stored, never analysed
}

// Key names the cell of the window.
func (w Window) Key() Key { return Key{w.Stack, w.Workload} }

// Key is a cell: a stack under a workload.
type Key struct{ Stack, Workload string }
