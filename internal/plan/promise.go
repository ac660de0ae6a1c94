package plan

import (
	"math"
	"time"

	"github.com/iotax/iotax/internal/stat"
)

// Noise is what a promise goes by: how much a cell's share of the host scatters from round to round, as the standard deviation of its
// log (0.1 is about 10 %).
type Noise struct {
	Scatter float64
	From    string // where it was measured, "" where it is assumed
}

// Assumed is the noise of a host of which nothing is known yet: that of the quietest whole run in the recordings by which iotax
// is calibrated (internal/calibrate holds it to that).
var Assumed = Noise{Scatter: 0.12}

// A promise allows for more rounds than are expected on average: the noise of one run is not that of the next, a workload is
// measured until the noisiest of its cells is narrow, and narrow for several rounds in a row.
const (
	moreRounds = 2.0
	lastRounds = 2
)

// amongMany is what one of many comparisons has to clear when half of them differ: as much as one of two (Benjamini and Hochberg's
// correction).
const amongMany = 2

// Promise is what a run is expected to find, and when. Differences are of one cell from the host, found by nine of ten runs
// (0.05 = 5 %: the host is 5 % faster or slower); +Inf when no round fits twice.
type Promise struct {
	Noise   Noise
	Typical float64       // where half of the cells differ, as they do in most runs
	Lone    float64       // where no other cell does: the hardest to tell from chance
	Rounds  int           // counted rounds of each group that it takes
	Time    time.Duration // for measuring, at most
	Kept    bool          // the budget holds that time; if not, Typical and Lone are those of the budget
}

// Promise says what the run will find under a noise. An experiment that says what it is to detect is promised that, in the
// time that it takes; any other is promised what its budget and its target allow. What differs from boot to boot comes
// on top of the noise, and no number of rounds makes it smaller.
func (p Plan) Promise(noise Noise) Promise {
	d, e := p.Describe(), p.Experiment
	stopping := e.Stopping()
	fit := int(d.Rounds)
	out := Promise{Noise: noise, Rounds: fit, Time: d.Measure, Kept: fit > 1}
	if e.Detect > 0 {
		out.Rounds, out.Time = p.toDetect(noise, d)
		if out.Kept = out.Time <= e.Budget; out.Kept {
			out.Typical, out.Lone = stat.DifferenceFor(stopping.Width, amongMany, out.Rounds), e.Detect
			return out
		}
	}
	find := func(comparisons int) float64 {
		return max(stat.DifferenceAfter(noise.Scatter, comparisons, fit), stat.DifferenceFor(stopping.Width, comparisons, fit))
	}
	out.Typical, out.Lone = find(amongMany), find(e.Comparisons())
	return out
}

// toDetect is what it takes to find what the experiment is to detect.
func (p Plan) toDetect(noise Noise, d Description) (rounds int, took time.Duration) {
	stopping := p.Experiment.Stopping()
	expected := moreRounds*float64(stat.RoundsFor(noise.Scatter, stopping.Width, stopping.Most)) + lastRounds
	rounds = min(max(int(math.Ceil(expected)), stopping.Least), stopping.Most)
	for _, g := range d.Groups {
		took += time.Duration(g.Boots)*(BootTime+g.Priming) + time.Duration(rounds)*g.Round
	}
	return rounds, took
}
