package analyse

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// figures sets the headline figures of the windows of a cell, in their order.
func figures(of ...float64) change {
	return func(i int, w *record.Window) {
		for _, metric := range []string{record.IOPS, record.Bandwidth} {
			w.Metrics[metric] = 1e4 * of[i]
		}
	}
}

func TestSteadyRule(t *testing.T) {
	const tail = "; shares are paired and still hold"
	for _, c := range []struct {
		name    string
		of      []float64
		warning string
	}{
		{"steady, after a first round that was not", []float64{9, 1, 1.1, 0.95, 1, 1.05}, ""},
		{
			"ranges too far",
			[]float64{1, 1, 1.1, 0.88, 1, 1},
			"not steady by the rule: over the last 5 rounds it moved by 22.1 % (limit 20 %)" + tail,
		},
		{"ranges nearly too far", []float64{1, 1, 1.1, 0.91, 1, 1}, ""},
		{
			"has a slope",
			[]float64{1, 1, 1.03, 1.06, 1.09, 1.12},
			"not steady by the rule: over the last 5 rounds the line through it moved by 11.3 % (limit 10 %)" + tail,
		},
		{"has nearly a slope", []float64{1, 1, 1.025, 1.05, 1.075, 1.1}, ""},
		{
			"falls",
			[]float64{1, 1, 0.9, 0.8, 0.7, 0.6},
			"not steady by the rule: over the last 5 rounds it moved by 50.0 % (limit 20 %) and the line through it moved by 50.0 % (limit 10 %)" + tail,
		},
		{
			"five rounds",
			[]float64{1, 1, 1, 1, 1.3},
			"not steady by the rule: over the last 5 rounds it moved by 28.3 % (limit 20 %) and the line through it moved by 22.6 % (limit 10 %)" + tail,
		},
		{"four rounds", []float64{1, 1, 1, 1.3}, ""},
	} {
		for _, workload := range []string{"rr32", "sr"} {
			s := newRun()
			s.whole, s.exp.MinRounds = 0.02, 4
			r := s.measured(len(c.of)).change(spec.Host, workload, figures(c.of...)).change(spec.Control, "rw1", figures(1, 2, 3, 4, 5, 6)).analyse()
			var want []string
			if c.warning != "" {
				want = []string{c.warning}
			}
			if diff := cmp.Diff(want, r.cell(t, spec.Host, workload).Warnings); diff != "" {
				t.Errorf("%s, %s: %s", c.name, workload, diff)
			}
			if w := r.cell(t, spec.Control, "rw1").Warnings; len(w) > 0 {
				t.Errorf("%s: the rule is the baseline's: %q", c.name, w)
			}
		}
	}
}

// by changes all figures of the windows number i by the share that of says, whichever stack they are of.
func by(of func(i int) float64) change {
	return func(i int, w *record.Window) {
		for _, metric := range []string{record.IOPS, record.Bandwidth} {
			w.Metrics[metric] *= of(i)
		}
	}
}

// to goes from 1 to a share in so many rounds, on a line of logs.
func to(share float64, rounds int) func(i int) float64 {
	return func(i int) float64 { return math.Pow(share, float64(i)/float64(rounds-1)) }
}

func TestDrift(t *testing.T) {
	const tail = ": SLC cache, garbage collection, burst credits or a throttle; shares are paired and still hold, absolute figures do not"
	last := func(i int) float64 { return []float64{1, 1, 1, 1, 1, 1, 1, 0.5}[i] }
	for _, c := range []struct {
		name    string
		changes map[string]func(int) float64
		want    []string
	}{
		{"none", nil, nil},
		{"slower", map[string]func(int) float64{"rw1": to(0.6, 8)}, []string{"over the run the host itself slowed down by 40 % under rw1" + tail}},
		{"nearly", map[string]func(int) float64{"rw1": to(0.83, 8)}, nil},
		{"one slow round at the end", map[string]func(int) float64{"rw1": last}, nil},
		{"slower and faster", map[string]func(int) float64{"rr32": to(0.5, 8), "rw1": to(0.6, 8), "sr": to(1.3, 8)}, []string{
			"over the run the host itself slowed down by 50 % under rr32, by 40 % under rw1" + tail,
			"over the run the host itself sped up by 30 % under sr" + tail,
		}},
	} {
		s := newRun()
		s.whole, s.scatter = 0, 0.001
		s.measured(8)
		calm := s.analyse()
		for workload, of := range c.changes {
			for stack := range s.truth {
				s.change(stack, workload, by(of))
			}
		}
		r := s.analyse()
		if diff := cmp.Diff(c.want, r.said()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for i, cell := range r.Cells {
			if diff := cmp.Diff(calm.Cells[i].Ratio[record.IOPS], cell.Ratio[record.IOPS], approx); diff != "" {
				t.Errorf("%s: the ratio of %s under %s moved: %s", c.name, cell.Stack, cell.Workload, diff)
			}
		}
	}
}

// TestDriftOfOneSide: the host alone is looked at, and only where its number stands.
func TestDriftOfOneSide(t *testing.T) {
	s := newRun()
	s.whole = 0.01
	s.measured(8).change("fast", "rw1", by(to(0.5, 8))).change(spec.Host, "sr", by(to(0.5, 8))).change(spec.Host, "sr", ram(0.9))
	if r := s.analyse(); strings.Contains(strings.Join(r.Warnings, " "), "over the run") {
		t.Errorf("%q", r.Warnings)
	}
}

func TestSizes(t *testing.T) {
	const tail = "; a cache inside the disk, or under a virtual one, cannot be seen from here"
	const head = "the volumes (512 MiB each) are smaller than this host's RAM (24 GiB): caches are dropped before each window"
	for _, c := range []struct {
		name string
		host record.Host
		more func(*synthetic)
		want []string
	}{
		{
			name: "smaller", host: record.Host{VolumeSize: 512 << 20, Memory: 24 << 30},
			want: []string{head + " and what RAM served is measured for each cell" + tail},
		},
		{
			name: "not countable", host: record.Host{VolumeSize: 512 << 20, Memory: 24 << 30},
			more: func(s *synthetic) { s.change("", "", every(uncounted)) },
			want: []string{head + " and what RAM served could not be measured" + tail},
		},
		{
			name: "on ZFS", host: record.Host{VolumeSize: 512 << 20, Memory: 24 << 30, Filesystem: "zfs"},
			more: func(s *synthetic) { s.change("", "", every(uncounted)) },
			want: []string{head + " (ZFS may keep its own, the ARC) and what RAM served could not be measured" + tail},
		},
		{name: "as large", host: record.Host{VolumeSize: 24 << 30, Memory: 24 << 30}},
		{name: "memory not known", host: record.Host{VolumeSize: 512 << 20}},
		{name: "volumes not known", host: record.Host{Memory: 24 << 30}},
		{
			name: "before the first window", host: record.Host{VolumeSize: 512 << 20, Memory: 24 << 30},
			more: func(s *synthetic) { s.windows = nil },
		},
	} {
		s := newRun().measured(6)
		s.run.Host = c.host
		if c.more != nil {
			c.more(s)
		}
		if diff := cmp.Diff(c.want, s.analyse().said()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func uncounted(e *record.Evidence) { e.DeviceRead, e.DeviceWrite = nil, nil }
