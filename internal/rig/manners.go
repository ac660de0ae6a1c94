package rig

import (
	"context"
	"fmt"
	"time"
)

// What counts as others at work, seen over a short look while none of our own load runs, and how long a polite
// run waits for them before one window.
const (
	look        = 100 * time.Millisecond
	busyCPU     = 0.5     // share of all CPUs
	busyDevice  = 4 << 20 // bytes a second
	yieldAtMost = 10 * time.Second
)

// manners counts what a polite run did for others.
type manners struct {
	waits  int
	waited time.Duration
}

// yield lets others go first: before each window of a polite run the host is looked at, and while others use it the
// window waits.
func (r *Rig) yield(ctx context.Context) {
	if !r.Polite {
		return
	}
	start := time.Now()
	waited := false
	for time.Since(start) < yieldAtMost && ctx.Err() == nil && r.othersAtWork(ctx) {
		waited = true
	}
	if waited {
		r.manners.waits++
		r.manners.waited += time.Since(start)
	}
}

func (r *Rig) othersAtWork(ctx context.Context) bool {
	before, err := r.meter.Snapshot()
	if err != nil {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(look):
	}
	after, err := r.meter.Snapshot()
	if err != nil {
		return false
	}
	d, err := after.Sub(before)
	if err != nil {
		return false
	}
	rate := float64(d.Disk.ReadBytes+d.Disk.WriteBytes) / d.Elapsed.Seconds()
	return (d.HasDisks && rate > busyDevice) || d.All.Total() > 0 && float64(d.All.Busy)/float64(d.All.Total()) > busyCPU
}

// Manners says what a polite run did, "" when it was not one.
func (r *Rig) Manners() string {
	if !r.Polite {
		return ""
	}
	return fmt.Sprintf("waited %d times for others, %.0f s in all", r.manners.waits, r.manners.waited.Seconds())
}
