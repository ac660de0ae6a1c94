// Package analyse turns stored windows into findings: paired ratios with intervals, withheld cells with
// their reasons, the noise floor from the A/A control, and the best safe stack. It is pure.
package analyse

import (
	"time"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Result is all that a renderer needs; renderers compute nothing.
type Result struct {
	Run        record.Run
	Experiment spec.Experiment
	Noise      Noise
	Cells      []Cell // by stack in the order of StackOrder, then by workload in the order of the experiment
	StackOrder []string
	Efficiency float64 // share of wall time, first window's start to last one's end, inside windows
	TimedShare float64 // the same for the part that fio timed
	Best       *Best   // nil when no safe stack has a comparable cell
	Gains      []Gain  // what the best stack gains over the usual defaults
	Verdicts   []Verdict
	Figures    []Figure
	Warnings   []string

	Explanation *Explanation // nil in Estimates
}

// Cell is one stack under one workload. Metrics, Ratio and Points are there only when it is OK: a number that
// is withheld is not in the result at all. With a single round the intervals are not known (see stat.Estimate).
type Cell struct {
	Stack      string
	Workload   string
	Baseline   bool
	Status     string // record.OK, Withheld, Failed, Unavailable
	Reason     string // why it is not OK, in words
	Rounds     int    // counted rounds behind the numbers: of a stack, those in which the host has a number too
	Metrics    map[string]stat.Estimate
	Ratio      map[string]stat.Estimate // to the baseline of the same rounds; absent for the baseline
	Differs    bool                     // the headline ratio differs from 1 after correction for all cells; false prints "~"
	RAMShare   *float64                 // share of the bytes that never met the device, nil where it cannot be counted
	Derived    map[string]stat.Estimate // record.DerivedNames, where they could be counted: there for a withheld cell too
	BestOfN    *BestOfN                 // beside the estimates, only when the cell is OK
	Offered    float64                  // IOPS that a held load was held to; 0 = as fast as it goes
	Durability string
	Warnings   []string
	Points     []Point // the headline ratio, round by round, for strip charts
}

// BestOfN is what a program that reports the best of its rounds, as CrystalDiskMark does, would have said of a cell. It
// grows with the number of rounds and has no interval: it is there to be compared with such reports.
type BestOfN struct {
	N        int     // counted rounds
	Headline float64 // the highest
	ClatMean float64 // the lowest, nanoseconds; 0 when it is not known
}

// Point is one round of a cell.
type Point struct {
	Round int
	Boot  int
	Value float64 // headline metric
	Ratio float64 // to the baseline of the round

	Metrics map[string]float64 // of the window, by name; not to be changed
	Timed   time.Duration      // the part of the window that they are about
}

// Noise is the floor below which this run cannot see, from the A/A control: that of the noisiest workload. Low and
// High are ratios around 1. All three numbers are 0 when the control has fewer than two rounds (see Known).
type Noise struct {
	Low, High  float64
	Detectable float64 // smallest relative difference that the run would find under every workload with 80 % power (0.05 = 5 %)
	Alarm      bool    // the control differs from its twin: conditions changed under the run
	ByWorkload map[string]Band
}

// Known reports whether the control gave a noise floor at all.
func (n Noise) Known() bool { return n.High > 0 }

// Band is the noise floor of one workload; a workload without one has no entry in Noise.ByWorkload.
type Band struct {
	Low, High  float64
	Detectable float64
	Alarm      bool
}

// Best is the safe stack that loses least.
type Best struct {
	Stack     string
	Ratio     stat.Estimate // geometric mean of its ratios to the host over the workloads it was judged on
	Workloads []string      // those workloads
	Tied      []string      // stacks that cannot be told from it
}

// Gain is what the best stack gives over a usual default, workload by workload.
type Gain struct {
	Over      string // stack name
	Role      string // "virt-manager" or "proxmox"
	Overall   *stat.Estimate
	Differs   bool // Overall differs from 1 after correction for all workloads and defaults
	Workloads []GainCell
}

// GainCell is one line of a gain. Ratio is best over default; Reason says why there is none.
type GainCell struct {
	Workload string
	Ratio    *stat.Estimate
	Differs  bool
	Reason   string
}

// Headline is the metric that stands for a workload in a table: bandwidth for sequential loads, IOPS otherwise, and the
// mean latency of a load that is held to a rate.
func Headline(w spec.Workload) string {
	switch {
	case w.Held():
		return record.ClatMean
	case w.Sequential():
		return record.Bandwidth
	}
	return record.IOPS
}
