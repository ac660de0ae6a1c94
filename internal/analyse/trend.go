package analyse

import (
	"fmt"
	"math"
	"slices"
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
	minIntervals = 4   // of a window's series, below which it tells no trend
	busyShare    = 10  // an interval with less than one in so many of the I/Os of the busiest is before the load began
)

// warnOfTrends adds a footnote to the cells whose load changes its pace inside a window, in one way in all of their
// windows: after Benjamini and Hochberg's correction over all cells, and by more than trendWarned.
func (t *table) warnOfTrends() {
	var cells []*cell
	var changes, p []float64
	for _, c := range t.order {
		if c.Status != record.OK {
			continue
		}
		if logs := c.trends(t.exp); len(logs) > 1 {
			cells = append(cells, c)
			changes = append(changes, math.Expm1(stat.Median(logs)))
			p = append(p, stat.PValue(logs))
		}
	}
	for i, q := range stat.BenjaminiHochberg(p) {
		if q <= trendAlpha && math.Abs(changes[i]) > trendWarned {
			cells[i].Warnings = append(cells[i].Warnings, cells[i].trendWords(changes[i]))
		}
	}
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

// trendWords says what a change means: what the series of the host counts is the physical device, on which others may
// be busy too, and that of a guest is its own disk.
func (c *cell) trendWords(change float64) string {
	words := fmt.Sprintf("%s by %.0f %% inside a window: ", pace(change, "slows down", "speeds up"), 100*math.Abs(change))
	switch {
	case onHost(c.Stack):
		return words + "the device, a throttle or others' I/O on the device changes while it is measured"
	case c.ceiling:
		return words + "there is no disk behind it, so the machine itself changes while it is measured"
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

// timedPart returns the intervals of a window's series that lie whole inside its timed part. A series starts with the
// load generator itself: little or nothing is done, then the first busy interval, in which the load began.
// It may end with the flush after the load, which the runtime tells from a load that came to a stand.
func timedPart(e record.Evidence, ramp, runtime time.Duration) []float64 {
	if e.SeriesStep <= 0 || len(e.Series) == 0 {
		return nil
	}
	busiest, step := slices.Max(e.Series), time.Duration(e.SeriesStep)
	first := slices.IndexFunc(e.Series, func(n int64) bool { return n > 0 && busyShare*n >= busiest })
	if first < 0 {
		return nil
	}
	last := len(e.Series) - 1
	for e.Series[last] == 0 {
		last--
	}
	begin := first + 1 + int((ramp+step-1)/step)
	if runtime > 0 {
		last = min(last, first+int((ramp+runtime)/step))
	}
	var out []float64
	for i := begin; i < last; i++ {
		out = append(out, float64(e.Series[i]))
	}
	return out
}
