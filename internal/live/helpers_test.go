package live

import (
	"testing"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

func preset(t testing.TB, name string) spec.Experiment {
	t.Helper()
	exp, err := spec.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Complete(exp)
}

// progress stands in front of a window of the first boot of two.
func progress(exp spec.Experiment, round, done int) measure.Progress {
	return measure.Progress{
		Boots: 2, Round: round, Rounds: 7, Done: done, Planned: 168, Left: 72 * time.Second,
		Cell: plan.Key{Stack: exp.Stacks[0].Name, Workload: exp.Workloads[0].Name},
	}
}

// rounds are the windows of whole rounds, in which the host does about 20,000 I/Os a second and each stack less than the one before.
func rounds(exp spec.Experiment, n int) (out []record.Window) {
	stacks := []string{spec.Host, spec.Control}
	for _, s := range exp.Stacks {
		stacks = append(stacks, s.Name)
	}
	for round := range n {
		for j, load := range exp.Workloads {
			for i, stack := range stacks {
				v := 20000 + float64(200*((round*(i+2)+i*j)%17))
				if i > 1 {
					v /= 1 + float64(i)/3
				}
				latency, rate := float64(load.IODepth)*1e9/v, 0.0
				if load.Held() { // all reach what they are offered
					v, rate = 3000, 3000
				}
				size := float64(load.BS) * v
				bytes := int64(size)
				out = append(out, record.Window{
					Round: round + 1, Stack: stack, Workload: load.Name, Status: record.OK,
					Metrics:  map[string]float64{record.IOPS: v, record.Bandwidth: size, record.ClatMean: latency},
					Evidence: record.Evidence{PathRead: bytes, DeviceRead: &bytes, PathWrite: bytes, DeviceWrite: &bytes, Depth: float64(load.IODepth), Rate: rate},
				})
			}
		}
	}
	return out
}

func estimates(exp spec.Experiment, n int) analyse.Result {
	return analyse.Estimates(record.Run{}, exp, rounds(exp, n))
}
