package analyse

import (
	"fmt"
	"math"
	"time"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// trendAlpha is the share of runs of noise alone in which trends may be claimed inside windows, and again the share in
// which one of the host over the run may: together alpha.
const trendAlpha = alpha / 2

// Limits of the search for trends inside windows.
const (
	trendWarned  = 0.2 // change from the first half of a window to the second
	trendFactor  = 2.0 // change from which on a cell has two speeds, and its figure is neither
	minIntervals = 4   // of a window's series, below which it tells no trend
	minAgreed    = 3   // windows that a number is withheld for: two can agree by chance
)

// findTrends marks the cells whose load changes its pace inside a window, in one way in all of their windows: after
// Benjamini and Hochberg's correction over all cells, and by more than trendWarned.
func (t *table) findTrends() {
	var cells []*cell
	var changes, p []float64
	for _, c := range t.order {
		if logs := c.trends(t.exp); len(logs) > 1 {
			cells = append(cells, c)
			changes = append(changes, math.Expm1(stat.Median(logs)))
			p = append(p, stat.PValue(logs))
		}
	}
	for i, q := range stat.BenjaminiHochberg(p) {
		if q <= trendAlpha && math.Abs(changes[i]) > trendWarned {
			cells[i].trend = changes[i]
			cells[i].agreed = len(cells[i].trends(t.exp)) >= minAgreed
		}
	}
}

// twoSpeeds reports whether the pace changes so much that the figure, a mean over the window, is that of no state and
// depends on how long the window is. A stack whose writes are to change its volume, as those under a fresh snapshot do,
// cannot have one pace: there it is a footnote.
func (c *cell) twoSpeeds() bool {
	return c.agreed && !c.changing && (1+c.trend >= trendFactor || 1+c.trend <= 1/trendFactor)
}

// trends returns, for each window whose series is long enough, the log of its second half over its first.
func (c *cell) trends(exp spec.Experiment) []float64 {
	var out []float64
	for _, w := range c.good {
		if x := timedPart(w.Evidence, exp.Ramp, exp.Runtime); len(x) >= minIntervals {
			out = append(out, stat.Halves(x, 1))
		}
	}
	return out
}

// trendWords says what a change means: what the series of a load on the host counts is the physical device, on which others may
// be busy too, and that of a guest is its own disk.
func (c *cell) trendWords(change float64) string {
	words := fmt.Sprintf("%s by %.0f %% inside a window: ", pace(change, "slows down", "speeds up"), 100*math.Abs(change))
	switch {
	case c.ceiling:
		return words + "there is no disk behind it, so the machine itself changes while it is measured"
	case !c.guest:
		return words + "the device, a throttle or others' I/O on the device changes while it is measured"
	}
	return words + "the device or a throttle changes while it is measured"
}

// pace picks the word for a relative change.
func pace(change float64, slower, faster string) string {
	if change < 0 {
		return slower
	}
	return faster
}

// timedPart returns the intervals of a window's series that lie whole inside its timed part.
func timedPart(e record.Evidence, ramp, runtime time.Duration) []float64 {
	var out []float64
	begin, end := e.Steady(ramp, runtime)
	for _, n := range e.Series[begin:end] {
		out = append(out, float64(n))
	}
	return out
}
