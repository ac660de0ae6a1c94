package spec

import "github.com/iotax/iotax/internal/stat"

// Stopping is when a workload stops being measured: after Least counted rounds and when the 95 % interval of each of its
// cells has a half-width of at most Width, or after Most rounds.
type Stopping struct {
	Width       float64
	Least, Most int
}

const (
	roundsToDetect = 12     // with fewer, Student's t has tails so long that the correction for many cells asks for far narrower intervals
	mostRounds     = 10_000 // that an experiment may ask for
)

// Stopping returns the rule of the experiment. Where it says what is to be detected, the width follows from that and from
// the number of comparisons, and max_rounds, which was chosen for another width, does not count.
func (e Experiment) Stopping() Stopping {
	if e.Detect == 0 {
		return Stopping{Width: e.Target, Least: e.MinRounds, Most: e.MaxRounds}
	}
	least := max(e.MinRounds, roundsToDetect)
	return Stopping{Width: stat.WidthFor(e.Detect, e.Comparisons(), least), Least: least, Most: mostRounds}
}

// Comparisons counts what is compared with the host: each stack and the control under each workload, without those that a
// stack skips.
func (e Experiment) Comparisons() int {
	n := len(e.Workloads)
	for _, s := range e.Stacks {
		for _, w := range e.Workloads {
			if s.Skips(w) == "" {
				n++
			}
		}
	}
	return n
}
