package analyse

import (
	"math"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func TestNoise(t *testing.T) {
	r := newRun().measured(8).analyse()
	if !r.Noise.Known() || r.Noise.Alarm || len(r.Noise.ByWorkload) != 3 {
		t.Fatalf("%+v", r.Noise)
	}
	widest := 1.0
	for name, b := range r.Noise.ByWorkload {
		if math.Abs(b.Low*b.High-1) > 1e-12 || b.High <= 1 || b.High > 1.1 || b.Detectable <= 0 || b.Detectable > 0.1 || b.Alarm {
			t.Errorf("%s: %+v", name, b)
		}
		c := r.cell(t, spec.Control, name)
		if e := c.Ratio[Headline(c.spec())]; e.Value < b.Low || e.Value > b.High || c.Differs || c.Baseline {
			t.Errorf("the control under %s: %+v against %+v", name, e, b)
		}
		widest = max(widest, b.High)
	}
	if r.Noise.High != widest || math.Abs(r.Noise.Low*r.Noise.High-1) > 1e-12 {
		t.Errorf("the floor of the run is not that of its noisiest workload: %+v", r.Noise)
	}
}

// spec finds the workload of a cell of a synthetic run.
func (c Cell) spec() spec.Workload {
	for _, w := range loads {
		if w.Name == c.Workload {
			return w
		}
	}
	return spec.Workload{}
}

// TestBandByHand follows the definition.
func TestBandByHand(t *testing.T) {
	r := newRun().measured(8).analyse()
	c := r.cell(t, spec.Control, "rr32")
	var logs []float64
	for _, p := range c.Points {
		logs = append(logs, math.Log(p.Ratio))
	}
	e := stat.Interval(logs, 0.95)
	b := r.Noise.ByWorkload["rr32"]
	if want := max(e.High, 1/e.Low); math.Abs(b.High-want) > 1e-12 || math.Abs(b.Low-1/want) > 1e-12 || b.Detectable != stat.Detectable(logs) {
		t.Errorf("%+v, want up to %g", b, want)
	}
}

// TestAlarm lets the control be slower than its twin under one workload, clearly and hardly.
func TestAlarm(t *testing.T) {
	for _, c := range []struct {
		slower float64
		alarm  bool
	}{{0.10, true}, {0.002, false}} {
		s := newRun().measured(8)
		s.change(spec.Control, "rw1", func(_ int, w *record.Window) { w.Metrics[record.IOPS] *= 1 - c.slower })
		s.change("fast", "rw1", func(_ int, w *record.Window) { w.Metrics[record.IOPS] *= 0.92 / 0.8 })
		r := s.analyse()
		if b := r.Noise.ByWorkload["rw1"]; b.Alarm != c.alarm || r.Noise.Alarm != c.alarm || r.Noise.ByWorkload["sr"].Alarm {
			t.Errorf("slower by %g: %+v, %+v", c.slower, b, r.Noise)
		}
		warned := len(r.said()) == 1 && strings.HasPrefix(r.Warnings[0], "under rw1 the host, measured twice, differs from itself by up to 1")
		if warned != c.alarm {
			t.Errorf("slower by %g: warnings %q", c.slower, r.Warnings)
		}
		// 8 % below the host is told from the host by its own rounds, and is real only in a quiet run.
		if fast := r.cell(t, "fast", "rw1"); fast.Ratio[record.IOPS].Contains(1) || fast.Differs == c.alarm {
			t.Errorf("slower by %g: %v, differs %v", c.slower, fast.Ratio[record.IOPS], fast.Differs)
		}
		if control := r.cell(t, spec.Control, "rw1"); control.Differs {
			t.Errorf("slower by %g: the control is outside its own noise", c.slower)
		}
	}
}

func TestNoControl(t *testing.T) {
	s := newRun().measured(8)
	s.change(spec.Control, "rw1", failed)
	r := s.analyse()
	if _, known := r.Noise.ByWorkload["rw1"]; known || !r.Noise.Known() {
		t.Errorf("%+v", r.Noise)
	}
	if c := r.cell(t, "virt", "rw1"); c.Differs || c.Status != record.OK {
		t.Errorf("a difference is claimed without a noise floor: %+v", c)
	}
	if !r.cell(t, "virt", "sr").Differs {
		t.Error("the other workloads are no longer told")
	}
	if len(r.said()) != 1 || !strings.Contains(r.Warnings[0], "not known under rw1:") {
		t.Errorf("%q", r.Warnings)
	}
}

// TestFalseDifferences counts, over many runs in which nothing differs, those that claim a difference.
func TestFalseDifferences(t *testing.T) {
	const runs = 200
	wrong, alarms := 0, 0
	for i := range runs {
		s := newRun()
		for name := range s.truth {
			s.truth[name] = 1
		}
		s.measure(0, 100*i, 6, append([]string{spec.Host, spec.Control}, s.guests()...))
		r := s.analyse()
		for _, c := range r.Cells {
			if c.Differs {
				wrong++
				break
			}
		}
		if r.Noise.Alarm {
			alarms++
		}
	}
	t.Logf("of %d runs in which nothing differs, %d claim a difference and %d raise an alarm", runs, wrong, alarms)
	if wrong > runs/20 || alarms > runs/20 {
		t.Errorf("%d of %d runs claim a difference, %d raise an alarm", wrong, runs, alarms)
	}
}
