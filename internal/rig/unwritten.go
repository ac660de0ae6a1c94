package rig

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// lookAtVolume notes how much of a stack's volume was never written, or is zeros that are stored nowhere: reads of it
// meet no disk, and writes allocate. What was found whole once stays so within a boot, unless its disk takes discards or
// looks for zeros.
func (s *session) lookAtVolume(ctx context.Context, w *record.Window, stack string) {
	unwritten, tells := s.Unwritten[stack]
	if !tells {
		return
	}
	share := 0.0
	if !s.mapped[stack] {
		var err error
		if share, err = unwritten(ctx); err != nil {
			w.Evidence.Warnings = append(w.Evidence.Warnings, fmt.Sprintf("how much of the volume is written could not be asked: %v", firstLine(err)))
			return
		}
	}
	w.Evidence.Unwritten = &share
	in, _ := s.intent(stack)
	s.mapped[stack] = share == 0 && !canUnwrite(in.stack)
}

// canUnwrite reports whether a guest can make a hole in the volume, or leave one.
func canUnwrite(s spec.Stack) bool {
	return s.Discard == "unmap" || s.DetectZeroes == "on" || s.DetectZeroes == "unmap"
}
