package rig

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/record"
)

// drained waits until the storage of a window's stack has written what it held back, so that the disk gets it before
// the next window begins, and counts it to this one, to which it belongs. Other figures of the window end with its
// load: delta is what was counted until then, since before.
func (s *session) drained(ctx context.Context, w *record.Window, stack string, watch meter.Meter, before meter.Snapshot, delta meter.Delta) meter.Delta {
	drain, holds := s.Drain[stack]
	if !holds {
		return delta
	}
	all, err := afterDrain(ctx, drain, watch, before)
	if err != nil {
		w.Evidence.Warnings = append(w.Evidence.Warnings, fmt.Sprintf("what the storage still held back is not among the bytes at the device: %v", err))
		return delta
	}
	return all
}

func afterDrain(ctx context.Context, drain func(context.Context) error, watch meter.Meter, before meter.Snapshot) (meter.Delta, error) {
	if err := drain(ctx); err != nil {
		return meter.Delta{}, err
	}
	after, err := watch.Snapshot()
	if err != nil {
		return meter.Delta{}, err
	}
	return after.Sub(before)
}
