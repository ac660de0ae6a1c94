package analyse

import (
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// ramShare is the median over the windows of the share of bytes that never met the device, nil where no
// window could count it. A ceiling stack has no device to meet.
func (c *cell) ramShare() *float64 {
	if c.ceiling {
		return nil
	}
	share, known := c.typical(func(e record.Evidence) (float64, bool) { return ramShare(e, c.workload, c.compress) })
	if !known {
		return nil
	}
	return &share
}

// depth is the median achieved iodepth and the asked one, known only where more than one was asked for, and all the time: a
// load that waits between its I/Os, or is held to a rate, has few in flight by itself.
func (c *cell) depth() (achieved, asked float64, known bool) {
	asked = float64(c.workload.InFlight())
	achieved, known = c.typical(func(e record.Evidence) (float64, bool) { return e.Depth, e.Depth > 0 })
	return achieved, asked, known && c.workload.InFlight() > 1 && c.workload.ThinkTime == 0 && !c.workload.Held()
}

// fioErrors sums the errors inside fio's output, and says in how many windows they were: of all counted ones, since a
// window with an error may have failed for it.
func (c *cell) fioErrors() (errors, windows int) {
	for _, w := range c.counted {
		if n := w.Evidence.FioErrors; n > 0 {
			errors, windows = errors+n, windows+1
		}
	}
	return errors, windows
}

// evidenceWarnings are those that came with the windows, each once.
func (c *cell) evidenceWarnings() []string {
	var out []string
	for _, w := range c.good {
		for _, s := range w.Evidence.Warnings {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// typical is the median over the good windows of what of returns; false when it is known of none.
func (c *cell) typical(of func(record.Evidence) (float64, bool)) (float64, bool) {
	var values []float64
	for _, w := range c.good {
		if v, ok := of(w.Evidence); ok {
			values = append(values, v)
		}
	}
	return stat.Median(values), len(values) > 0
}

// isHost reports whether a stack is the host baseline or its control.
func isHost(stack string) bool { return stack == spec.Host || stack == spec.Control }
