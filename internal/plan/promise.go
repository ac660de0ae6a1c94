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

// Promise is what a run is expected to find, and when.
type Promise struct {
	Noise      Noise
	Difference float64       // of one lone cell from the host, which nine of ten runs find (0.05 = 5 %); +Inf when no round fits twice
	Rounds     int           // counted rounds of each group that it takes
	Time       time.Duration // for measuring, at most
	Kept       bool          // the budget holds that time
}

// Promise says what the run will find under a noise. An experiment that says what it is to detect is promised that, in the
// time that it takes; any other is promised what its budget and its target allow. What differs from boot to boot comes
// on top of the noise, and no number of rounds makes it smaller.
func (p Plan) Promise(noise Noise) Promise {
	d, e := p.Describe(), p.Experiment
	stopping := e.Stopping()
	if e.Detect == 0 {
		rounds := int(d.Rounds)
		width := max(stat.WidthAfter(noise.Scatter, rounds), stopping.Width)
		return Promise{
			Noise: noise, Difference: stat.DifferenceFor(width, e.Comparisons(), rounds), Rounds: rounds,
			Time: d.Measure, Kept: !math.IsInf(width, 1),
		}
	}
	rounds := moreRounds*float64(stat.RoundsFor(noise.Scatter, stopping.Width, stopping.Most)) + lastRounds
	out := Promise{Noise: noise, Difference: e.Detect, Rounds: min(max(int(math.Ceil(rounds)), stopping.Least), stopping.Most)}
	for _, g := range d.Groups {
		out.Time += time.Duration(g.Boots)*(BootTime+g.Priming) + time.Duration(out.Rounds)*g.Round
	}
	out.Kept = out.Time <= e.Budget
	return out
}
