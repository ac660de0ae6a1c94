package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// simulated is a run on a device of the imagination. Its clock moves when a guest boots and when a window runs, and nobody waits. All
// else is the real thing: what is planned, when it stops and what is made of it.
type simulated struct {
	plan   plan.Plan
	device *device
	truth  map[plan.Key]float64 // what a cell reaches of the host, 1 where it is not named
	bootSD float64              // of a cell's log from boot to boot
	draw   *rand.Rand
	now    time.Duration
	memory
}

// epoch is when simulated runs begin.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// run measures and analyses. It returns what was found and how long it took.
func (s *simulated) run() (analyse.Result, time.Duration, error) {
	run, err := measure.Run(context.Background(), measure.Config{
		Plan: s.plan, Run: record.Run{ID: "sim", Started: epoch, Seed: s.plan.Seed},
		Executor: s, Sink: s, Now: func() time.Time { return epoch.Add(s.now) },
	})
	if err != nil {
		return analyse.Result{}, 0, fmt.Errorf("simulated run: %w", err)
	}
	return analyse.Analyse(run, s.plan.Experiment, s.windows), s.now, nil
}

// Boot takes the time that a boot is planned to take. In each, every cell is a little different.
func (s *simulated) Boot(_ context.Context, b plan.Boot, _ string) (measure.Session, error) {
	s.now += plan.BootTime
	return &session{simulated: s, boot: b, shift: map[plan.Key]float64{}}, nil
}

// memory is a sink that keeps windows, and nothing of a run.
type memory struct{ windows []record.Window }

// SaveWindow implements measure.Sink.
func (m *memory) SaveWindow(w record.Window) error {
	m.windows = append(m.windows, w)
	return nil
}

// UpdateRun implements measure.Sink.
func (m *memory) UpdateRun(record.Run) error { return nil }

// session is one boot of a simulated run.
type session struct {
	*simulated
	boot  plan.Boot
	shift map[plan.Key]float64
}

// usualIOPS is what a device reaches when it is as fast as usual.
const usualIOPS = 20_000

// Window lets the time of a window pass.
func (s *session) Window(_ context.Context, w plan.Window, load spec.Workload) (record.Window, error) {
	took := s.plan.Experiment.Ramp + w.Runtime + plan.Overhead
	iops := usualIOPS * s.device.speed(s.now+took/2)
	if truth, differs := s.truth[w.Key()]; differs {
		iops *= truth
	}
	if w.Stack != spec.Host && w.Stack != spec.Control && s.bootSD > 0 {
		if _, drawn := s.shift[w.Key()]; !drawn {
			s.shift[w.Key()] = s.bootSD * s.draw.NormFloat64()
		}
		iops *= math.Exp(s.shift[w.Key()])
	}
	latency := float64(load.InFlight()) / iops * 1e9 // by Little's law
	if w.Rate > 0 {
		iops = min(iops, w.Rate)
	}
	out := record.Window{
		Status: record.OK, Started: epoch.Add(s.now), Elapsed: int64(took), Timed: int64(w.Runtime),
		Metrics: map[string]float64{record.IOPS: iops, record.Bandwidth: iops * float64(load.BS), record.ClatMean: latency},
	}
	s.now += took
	return out, nil
}

// Facts says that all stacks are what they should be.
func (s *session) Facts() (record.Boot, []record.Stack) {
	var all []record.Stack
	for _, k := range s.plan.Groups[s.boot.Group].Stacks {
		all = append(all, record.Stack{Name: k.Name, Title: k.Title, Durability: record.Durable})
	}
	return record.Boot{Index: s.boot.Index}, all
}

// Close has nothing to undo.
func (s *session) Close() error { return nil }
