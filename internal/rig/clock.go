package rig

import (
	"context"
	"math"
	"time"
)

// How the guest's clock is read: the quickest of a few looks counts, and a comparison whose error could be as
// large as skewError says nothing, unless it shows skewFar times its error: a clock that is grossly wrong shows on a busy
// host too, where every answer is late.
const (
	clockLooks = 4
	skewError  = 0.0005
	skewFar    = 10
)

// guestClock is the part of the agent that tells the time.
type guestClock interface {
	Clock(ctx context.Context) (time.Duration, error)
}

// clock compares the guest's clock with the host's from window to window.
type clock struct {
	last reading
}

// reading is what both clocks showed at one moment, give or take half of the time that asking took.
type reading struct {
	guest time.Duration
	host  time.Time
	asked time.Duration
}

// skew is how much faster the guest's clock ran since the last call, as a share; nil at the first, and when asking
// took so long that the answer may be noise.
func (c *clock) skew(ctx context.Context, agent guestClock) *float64 {
	now, ok := quickest(ctx, agent)
	if !ok {
		return nil
	}
	last := c.last
	c.last = now
	if last.guest == 0 {
		return nil
	}
	return now.skew(last)
}

// skew is how much faster the guest's clock ran since an earlier reading, nil where that is not known.
func (r reading) skew(last reading) *float64 {
	host := float64(r.host.Sub(last.host))
	if host <= 0 {
		return nil
	}
	skew, fault := float64(r.guest-last.guest)/host-1, float64(r.asked+last.asked)/2/host
	if fault > skewError && math.Abs(skew) < skewFar*fault {
		return nil
	}
	return &skew
}

// quickest reads the guest's clock a few times and keeps the reading with the quickest answer.
func quickest(ctx context.Context, agent guestClock) (best reading, ok bool) {
	for range clockLooks {
		before := time.Now()
		guest, err := agent.Clock(ctx)
		if err != nil {
			return best, false
		}
		asked := time.Since(before)
		if !ok || asked < best.asked {
			best, ok = reading{guest, before.Add(asked / 2), asked}, true
		}
	}
	return best, ok
}
