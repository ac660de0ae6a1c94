package analyse

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

var approx = cmpopts.EquateApprox(1e-9, 1e-9)

func TestShape(t *testing.T) {
	s := newRun().measured(6)
	s.run.Warnings = []string{"a warning of the run"}
	r := s.analyse()
	if diff := cmp.Diff([]string{spec.Host, spec.Control, "fast", "near", "virt", "prox", "null"}, r.StackOrder); diff != "" {
		t.Error(diff)
	}
	var i int
	for _, stack := range r.StackOrder {
		for _, load := range s.exp.Workloads {
			c := r.Cells[i]
			if c.Stack != stack || c.Workload != load.Name || c.Baseline != (stack == spec.Host) {
				t.Errorf("cell %d is %s, %s, baseline %v", i, c.Stack, c.Workload, c.Baseline)
			}
			if (c.Ratio == nil) != c.Baseline || c.Rounds != 6 || len(c.Points) != 6 {
				t.Errorf("%s, %s: ratio %v, %d rounds, points %v", stack, load.Name, c.Ratio, c.Rounds, c.Points)
			}
			i++
		}
	}
	if i != len(r.Cells) {
		t.Errorf("%d cells, want %d", len(r.Cells), i)
	}
	if diff := cmp.Diff([]string{"a warning of the run", oneBoot}, r.Warnings); diff != "" {
		t.Error(diff)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestTruth checks that the ratios that went in come out, with intervals that hold them.
func TestTruth(t *testing.T) {
	s := newRun().measured(12)
	r := s.analyse()
	for _, c := range r.Cells {
		if c.Baseline {
			continue
		}
		truth := s.truth[c.Stack]
		for metric, e := range c.Ratio {
			want := truth
			if !record.HigherIsBetter(metric) {
				want = 1 / truth
			}
			off := 0.02
			if _, ok := percentiles[metric]; ok {
				off = 0.06 // of all rounds merged, which the scatter of whole rounds does not leave
			}
			if math.Abs(e.Value/want-1) > off || e.Low > e.Value || e.High < e.Value || e.HalfWidth() > 0.03 {
				t.Errorf("%s, %s, %s: %v, want about %g", c.Stack, c.Workload, metric, e, want)
			}
		}
		if want := truth != 1; c.Differs != want {
			t.Errorf("%s, %s: differs is %v, ratio %v, noise %v", c.Stack, c.Workload, c.Differs, c.Ratio[record.IOPS], r.Noise.ByWorkload[c.Workload])
		}
		if c.Ratio[record.IOPS].Contains(1) && truth != 1 {
			t.Errorf("%s, %s: %v", c.Stack, c.Workload, c.Ratio[record.IOPS])
		}
	}
}

// TestOrderOfWindows holds that the order of the windows does not matter and that they are not changed.
func TestOrderOfWindows(t *testing.T) {
	s := newRun().measured(6)
	want := s.analyse()
	slices.Reverse(s.windows)
	before := slices.Clone(s.windows)
	if diff := cmp.Diff(want, s.analyse(), approx); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, s.windows); diff != "" {
		t.Error(diff)
	}
}

func TestDiscardedWindowsCountForNothing(t *testing.T) {
	s := newRun().measured(6)
	want := s.analyse()
	for _, w := range slices.Clone(s.windows) {
		w.Discard, w.Round = true, w.Round+1000
		w.Metrics = map[string]float64{record.IOPS: 1, record.Bandwidth: 1}
		w.Evidence.FioErrors = 7
		s.windows = append(s.windows, w)
	}
	got := s.analyse()
	if diff := cmp.Diff(want.Cells, got.Cells); diff != "" {
		t.Error(diff)
	}
}

// TestPercentiles builds two rounds of which the mean of the percentiles is not the percentile of both.
func TestPercentiles(t *testing.T) {
	s := newRun().measured(2)
	s.change("fast", "rr32", func(i int, w *record.Window) {
		if i == 0 {
			w.Histogram = []hist.Bin{{NS: 100, Count: 9000}}
		} else {
			w.Histogram = []hist.Bin{{NS: 5000, Count: 1000}}
		}
		delete(w.Metrics, record.ClatP50) // then the histogram of the window tells it
		w.Metrics[record.ClatMean] = float64(w.Histogram[0].NS)
		w.Metrics[record.IOPS] = float64(w.Histogram[0].Count) / 0.9
	})
	s.change(spec.Host, "rr32", func(i int, w *record.Window) {
		w.Histogram = []hist.Bin{{NS: 50, Count: 10000}}
		w.Metrics[record.ClatMean] = 50
	})
	c := s.analyse().cell(t, "fast", "rr32")
	for metric, want := range map[string]float64{record.ClatP50: 100, record.ClatP99: 5000, record.ClatMean: 590} {
		if got := c.Metrics[metric].Value; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %g, want %g", metric, got, want)
		}
		if got := c.Ratio[metric].Value; math.Abs(got-want/50) > 1e-9 {
			t.Errorf("ratio of %s = %g, want %g", metric, got, want/50)
		}
	}
	p50 := c.Metrics[record.ClatP50]
	rounds := stat.Ratio([]float64{math.Log(100), math.Log(5000)})
	if diff := cmp.Diff(rounds.HalfWidth(), p50.HalfWidth(), approx); diff != "" || !p50.Known() {
		t.Errorf("the interval of p50 does not have the width of the rounds': %v, %v", p50, rounds)
	}
}

func TestNoHistogram(t *testing.T) {
	s := newRun().measured(6)
	s.change("fast", "rr32", func(_ int, w *record.Window) { w.Histogram = nil })
	s.change("near", "rr32", func(i int, w *record.Window) { // a p999 needs a thousand completions
		w.Histogram = []hist.Bin{{NS: 100, Count: 166}}
		if i == 0 {
			w.Histogram[0].Count = 169
		}
	})
	r := s.analyse()
	names := func(m map[string]stat.Estimate) (out []string) {
		for _, metric := range record.MetricNames {
			if _, ok := m[metric]; ok {
				out = append(out, metric)
			}
		}
		return out
	}
	fast, near, host := r.cell(t, "fast", "rr32"), r.cell(t, "near", "rr32"), r.cell(t, spec.Host, "rr32")
	few := []string{record.IOPS, record.Bandwidth, record.ClatMean}
	if diff := cmp.Diff([][]string{few, few}, [][]string{names(fast.Metrics), names(fast.Ratio)}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(record.MetricNames[:5], names(near.Metrics)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(record.MetricNames, names(host.Metrics)); diff != "" {
		t.Error(diff)
	}
}

// TestSyncs: a load that syncs has the latency of its syncs, and no other has, whatever the windows say.
func TestSyncs(t *testing.T) {
	s := newRun()
	s.exp.Workloads[1].FDataSync = 1
	s.measured(6).change("", "", func(_ int, w *record.Window) {
		w.Metrics[record.SyncMean], w.Metrics[record.SyncP99] = 500, 900
		if !isHost(w.Stack) {
			w.Metrics[record.SyncMean], w.Metrics[record.SyncP99] = 1500, 1800
		}
	})
	r := s.analyse()
	syncs, others := r.cell(t, "fast", "rw1"), r.cell(t, "fast", "rr32")
	for metric, want := range map[string][2]float64{record.SyncMean: {1500, 3}, record.SyncP99: {1800, 2}} {
		value, ratio := syncs.Metrics[metric], syncs.Ratio[metric]
		if diff := cmp.Diff(want, [2]float64{value.Value, ratio.Value}, approx); diff != "" || !value.Known() || !ratio.Known() {
			t.Errorf("%s: %v, %v, want %v", metric, value, ratio, want)
		}
		if _, has := others.Metrics[metric]; has {
			t.Errorf("a load that does not sync has %s", metric)
		}
	}
	if _, has := r.cell(t, spec.Host, "rw1").Ratio[record.SyncP99]; has || r.cell(t, spec.Host, "rw1").Metrics[record.SyncP99].Value == 0 {
		t.Error("the host has a ratio, or no latency of its syncs")
	}
}

// TestEstimates differ from the analysis in the latencies alone.
func TestEstimates(t *testing.T) {
	s := newRun().measured(6)
	want := s.analyse()
	want.Verdicts, want.Figures, want.Explanation = nil, nil, nil
	for i := range want.Cells {
		c := &want.Cells[i]
		c.Derived = nil
		for _, m := range []map[string]stat.Estimate{c.Metrics, c.Ratio} {
			maps.DeleteFunc(m, func(metric string, _ stat.Estimate) bool { return strings.HasPrefix(metric, "clat") })
		}
	}
	if diff := cmp.Diff(want, Estimates(s.run, s.exp, s.windows)); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyAndSmall(t *testing.T) {
	if r := Analyse(record.Run{}, spec.Experiment{}, nil); len(r.Cells) != 0 || r.Best != nil || len(r.Warnings) != 0 || r.Noise.Known() {
		t.Errorf("of nothing: %+v", r)
	}
	r := newRun().analyse()
	for _, c := range r.Cells {
		if c.Status != record.Withheld || c.Reason == "" {
			t.Errorf("before the first window: %+v", c)
		}
	}
	if r.Best != nil || len(r.Warnings) != 0 || r.Efficiency != 0 {
		t.Errorf("before the first window: best %v, warnings %q", r.Best, r.Warnings)
	}

	r = newRun().measured(1).analyse()
	c := r.cell(t, "fast", "rr32")
	if e := c.Ratio[record.IOPS]; c.Status != record.OK || e.Known() || math.Abs(e.Value-0.8) > 0.1 || c.Differs {
		t.Errorf("one round: %+v", c)
	}
	if diff := cmp.Diff([]string{"a single round: there is no interval"}, c.Warnings); diff != "" {
		t.Error(diff)
	}
	if r.Noise.Known() || len(r.Noise.ByWorkload) != 0 || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "noise floor is not known under rr32, rw1, sr") {
		t.Errorf("one round: noise %v, warnings %q", r.Noise, r.Warnings)
	}
	if !strings.Contains(r.Warnings[1], "18 of 18 intervals are wider than the target of ±5 %") {
		t.Errorf("one round: nothing is said of the width: %q", r.Warnings)
	}
	if r.Best == nil || r.Best.Ratio.Known() || math.Abs(r.Best.Ratio.Value-0.8) > 0.1 {
		t.Errorf("one round: best %+v", r.Best)
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"iops":{"value":`) {
		t.Errorf("one round as JSON: %v", err)
	}
}

// TestNoTime has a run that ended in order before some cells had a counted round.
func TestNoTime(t *testing.T) {
	for status, want := range map[string]bool{record.Complete: true, record.Partial: false} {
		s := newRun().measured(2)
		s.run.Status = status
		s.change("near", "rr32", func(_ int, w *record.Window) { w.Discard = true })
		said := slices.Contains(s.analyse().Warnings, "1 of 21 cells have no counted round: it takes more time (--budget)")
		if said != want {
			t.Errorf("a %s run: said %v, want %v: %q", status, said, want, s.analyse().Warnings)
		}
	}
}

// TestPartialRound has the last round end in the middle, as after each block of a running run.
func TestPartialRound(t *testing.T) {
	s := newRun().measured(6)
	s.windows = s.windows[:len(s.windows)-10]
	for _, c := range s.analyse().Cells {
		if c.Rounds != 5 && c.Rounds != 6 || c.Status != record.OK {
			t.Errorf("%s, %s: %s (%s) with %d rounds", c.Stack, c.Workload, c.Status, c.Reason, c.Rounds)
		}
	}
}

// TestRepeatedRound has a window of a resumed run stand for the one that it repeats.
func TestRepeatedRound(t *testing.T) {
	s := newRun().measured(5)
	again := s.windows[2]
	again.Metrics = map[string]float64{record.IOPS: 123, record.Bandwidth: 123}
	s.windows = append(s.windows, again)
	c := s.analyse().cell(t, again.Stack, again.Workload)
	if c.Rounds != 5 || c.Points[0].Value != 123 {
		t.Errorf("%d rounds, points %v", c.Rounds, c.Points)
	}
}

func TestEfficiency(t *testing.T) {
	at := func(boot int, start float64) record.Window {
		return record.Window{Boot: boot, Started: epoch.Add(time.Duration(start * 1e9)), Elapsed: 4e9, Timed: 3e9}
	}
	resumed := []record.Boot{{Index: 0}, {Index: 1}, {Index: 1, Reason: "resumed"}}
	cases := []struct {
		name          string
		boots         []record.Boot
		windows       []record.Window
		inside, timed float64
	}{
		{"none", nil, nil, 0, 0},
		{"one", nil, []record.Window{at(0, 0)}, 1, 0.75},
		{"a boot between", nil, []record.Window{at(0, 0), at(0, 4), at(1, 12)}, 0.75, 9.0 / 16},
		{"not in order", nil, []record.Window{at(1, 12), at(0, 0), at(0, 4)}, 0.75, 9.0 / 16},
		{"a long gap of the run's own", resumed[:2], []record.Window{at(0, 0), at(1, 76)}, 0.1, 0.075},
		{"a long gap after an interruption", resumed, []record.Window{at(0, 0), at(1, 4), at(1, 1000), at(1, 1006)}, 16.0 / 18, 12.0 / 18},
		{"a short gap after an interruption", resumed, []record.Window{at(1, 0), at(1, 60)}, 8.0 / 64, 6.0 / 64},
		{"resumed before its first window", resumed, []record.Window{at(0, 0), at(1, 1000)}, 1, 0.75},
		{"two gaps, one interruption", resumed, []record.Window{at(1, 0), at(1, 500), at(1, 604)}, 12.0 / 112, 9.0 / 112},
	}
	for _, c := range cases {
		inside, timed := efficiency(c.boots, c.windows)
		if math.Abs(inside-c.inside) > 1e-9 || math.Abs(timed-c.timed) > 1e-9 {
			t.Errorf("%s: %g, %g; want %g, %g", c.name, inside, timed, c.inside, c.timed)
		}
	}
}

// BenchmarkAnalyse is of a default run after its last block and of one of 10,000 windows, all with histograms
// of 300 bins.
func BenchmarkAnalyse(b *testing.B) {
	for _, size := range []struct{ stacks, rounds int }{{12, 30}, {18, 72}} {
		s := large(size.stacks, 7, size.rounds)
		b.Run(fmt.Sprintf("%d windows", len(s.windows)), func(b *testing.B) {
			for b.Loop() {
				s.analyse()
			}
		})
		b.Run(fmt.Sprintf("%d windows, estimates only", len(s.windows)), func(b *testing.B) {
			for b.Loop() {
				Estimates(s.run, s.exp, s.windows)
			}
		})
		for i := range s.windows {
			s.windows[i].Boot = 2 * s.windows[i].Round / size.rounds
		}
		b.Run(fmt.Sprintf("%d windows of two boots, estimates only", len(s.windows)), func(b *testing.B) {
			for b.Loop() {
				Estimates(s.run, s.exp, s.windows)
			}
		})
	}
}

// large is a run of so many guest stacks and workloads.
func large(stacks, workloads, rounds int) *synthetic {
	s := newRun()
	for len(s.exp.Stacks) < stacks {
		name := fmt.Sprint("more-", len(s.exp.Stacks))
		s.exp.Stacks = append(s.exp.Stacks, spec.Stack{Name: name, Format: "raw"})
		s.truth[name] = 0.7
	}
	for len(s.exp.Workloads) < workloads {
		w := loads[0]
		w.Name = fmt.Sprint("more-", len(s.exp.Workloads))
		s.exp.Workloads = append(s.exp.Workloads, w)
	}
	s.measured(rounds)
	for i := range s.windows {
		bins := make([]hist.Bin, 300)
		for j := range bins {
			bins[j] = hist.Bin{NS: uint64(1000 * (j + i%7)), Count: uint64(1 + j%11)}
		}
		s.windows[i].Histogram = bins
	}
	return s
}
