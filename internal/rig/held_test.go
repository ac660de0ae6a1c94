package rig

import (
	"testing"
	"time"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Real loads that are held to a rate stay below it, on the host and in a guest, where each does many times as much by
// itself; and all jobs together are held to it.
func TestHeldForReal(t *testing.T) {
	s := boot(t, realRig(t, stacks[:1]))
	const rate = 40
	load := spec.Workload{Name: "held", RW: "randread", BS: 4096, IODepth: 8, NumJobs: 2, RateShare: 0.8}
	for _, stack := range []string{spec.Host, "none"} {
		var iops []float64
		for _, held := range []float64{0, rate} {
			w, err := s.Window(t.Context(), plan.Window{Stack: stack, Workload: load.Name, Seed: 7, Runtime: time.Second, Rate: held}, load)
			if err != nil || w.Status != record.OK {
				t.Fatalf("%s held to %v: %s %s, %v", stack, held, w.Status, w.Reason, err)
			}
			iops = append(iops, w.Metrics[record.IOPS])
		}
		if iops[0] < 3*rate || iops[1] > 1.2*rate || iops[1] == 0 {
			t.Errorf("%s: %.0f IOPS by itself, %.0f held to %d", stack, iops[0], iops[1], rate)
		}
	}
}
