package analyse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

const step = int64(100 * time.Millisecond)

// paced gives the windows from the number first on a series of 8 intervals, the last four at so much of the pace of the
// others, between fio's start and the flush at the end.
func paced(first int, share float64) change {
	return func(i int, w *record.Window) {
		s := second(1)
		if i >= first {
			s = second(share)
		}
		s[3] += int64(i) // no two windows are alike
		w.Evidence.Series, w.Evidence.SeriesStep = s, step
	}
}

func second(share float64) []int64 {
	n := int64(1000 * share)
	return []int64{0, 0, 400, 1000, 1000, 1000, 1000, n, n, n, n, n / 2, 0, 2}
}

func TestTrendsInsideWindows(t *testing.T) {
	slows := "slows down by 34 % inside a window: the device or a throttle changes while it is measured"
	withheld := func(words string) string { return words + "; the figure is a mean of two speeds" }
	for _, c := range []struct {
		name, stack string // "" is fast
		change      change
		more        func(*synthetic)
		warning     string
		reason      string
	}{
		{name: "level", change: paced(0, 1)},
		{name: "slows down", change: paced(0, 0.66), warning: slows},
		{
			name: "speeds up", change: paced(0, 1.5),
			warning: "speeds up by 50 % inside a window: the device or a throttle changes while it is measured",
		},
		{name: "slows down by little", change: paced(0, 0.81)},
		{name: "in all windows but one", change: paced(1, 0.66), warning: slows},
		{name: "in half of the windows", change: paced(3, 0.5)},
		{
			name: "to a stand", change: paced(0, 0.0),
			reason: withheld("slows down by 100 % inside a window: the device or a throttle changes while it is measured"),
		},
		{
			name: "to less than half", change: paced(0, 0.49),
			reason: withheld("slows down by 51 % inside a window: the device or a throttle changes while it is measured"),
		},
		{
			name: "to more than twice", change: paced(0, 2.1),
			reason: withheld("speeds up by 110 % inside a window: the device or a throttle changes while it is measured"),
		},
		{
			name: "to less than half in two windows, where the others tell nothing", change: func(i int, w *record.Window) {
				if paced(0, 0.4)(i, w); i > 1 {
					w.Evidence.Series = nil
				}
			},
			warning: "slows down by 60 % inside a window: the device or a throttle changes while it is measured",
		},
		{
			name: "where every write changes the volume", change: paced(0, 0.3),
			more:    func(s *synthetic) { s.exp.Stacks[0].Snapshot = "fresh" },
			warning: "slows down by 70 % inside a window: the device or a throttle changes while it is measured",
		},
		{
			name: "the host", stack: spec.Host, change: paced(0, 0.66),
			warning: "slows down by 34 % inside a window: the device, a throttle or others' I/O on the device changes while it is measured",
		},
		{
			name: "a ceiling", stack: "null", change: paced(0, 0.66),
			warning: "slows down by 34 % inside a window: there is no disk behind it, so the machine itself changes while it is measured",
		},
		{name: "without a step", change: func(i int, w *record.Window) {
			paced(0, 0.5)(i, w)
			w.Evidence.SeriesStep = 0
		}},
		{name: "too short", change: func(_ int, w *record.Window) {
			w.Evidence.Series, w.Evidence.SeriesStep = []int64{0, 400, 1000, 500, 100, 600}, step
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRun()
			s.whole, s.exp.Runtime = 0.02, 850*time.Millisecond
			if c.more != nil {
				c.more(s)
			}
			stack := or(c.stack, "fast")
			got := s.measured(6).change(stack, "rr32", c.change).analyse()
			if found := got.cell(t, stack, "rr32"); found.Reason != c.reason || (found.Status == record.Withheld) != (c.reason != "") {
				t.Errorf("%s: %q, want %q", found.Status, found.Reason, c.reason)
			}
			var want []string
			if c.warning != "" {
				want = []string{c.warning}
			}
			if diff := cmp.Diff(want, got.cell(t, stack, "rr32").Warnings); diff != "" {
				t.Error(diff)
			}
			if w := got.cell(t, "near", "rr32").Warnings; len(w) > 0 {
				t.Errorf("another cell: %q", w)
			}
		})
	}
}

func TestTimedPart(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name          string
		ramp, runtime time.Duration
		series        []int64
		want          []float64
	}{
		{"none", 0, 600 * ms, nil, nil},
		{"nothing done", 0, 600 * ms, []int64{0, 0, 0}, nil},
		{"start and end", 0, 600 * ms, []int64{0, 0, 86, 411, 391, 365, 380, 379, 299}, []float64{411, 391, 365, 380, 379}},
		{"others' I/O before", 0, 600 * ms, []int64{3, 9, 2679, 10547, 10765, 11021, 11028, 10764, 7357}, []float64{10547, 10765, 11021, 11028, 10764}},
		{"flush at the end", 0, 600 * ms, []int64{0, 230, 980, 990, 970, 960, 1000, 740, 0, 0, 2, 0}, []float64{980, 990, 970, 960, 1000}},
		{"the load came to a stand", 0, 800 * ms, []int64{0, 230, 980, 990, 970, 0, 0, 0, 0, 0, 2}, []float64{980, 990, 970, 0, 0, 0, 0}},
		{"a throttle to a tenth", 0, 900 * ms, []int64{500, 1000, 1000, 1000, 80, 80, 80, 80, 80, 40}, []float64{1000, 1000, 1000, 80, 80, 80, 80, 80}},
		{"ramp", 150 * ms, 500 * ms, []int64{0, 20, 30, 50, 100, 100, 100, 50}, []float64{100, 100, 100}},
		{"runtime not known", 0, 0, []int64{0, 50, 100, 100, 60, 0}, []float64{100, 100}},
		{"a single busy interval", 0, 600 * ms, []int64{0, 50, 0}, nil},
		{"a ramp longer than the series", time.Second, 600 * ms, []int64{0, 50, 100, 60}, nil},
	} {
		got := timedPart(record.Evidence{Series: c.series, SeriesStep: step}, c.ramp, c.runtime)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestFalseTrends counts the runs of noise alone that claim a trend, inside windows or of the host over the run. The
// noise is strong enough for changes of more than 20 % to be common.
func TestFalseTrends(t *testing.T) {
	const runs = 400
	for _, correlation := range []float64{0, 0.3} {
		inside, over, either := 0, 0, 0
		for i := range runs {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			s := newRun()
			s.exp.Runtime = 850 * time.Millisecond
			s.measure(0, 100*i, 6, append([]string{spec.Host, spec.Control}, s.guests()...))
			s.noisy(r, correlation)
			result := s.analyse()
			drifts := strings.Contains(strings.Join(result.Warnings, " "), "the host itself")
			trends := slices.ContainsFunc(result.Cells, func(c Cell) bool {
				return strings.Contains(strings.Join(c.Warnings, " "), "inside a window")
			})
			inside, over, either = inside+count(trends), over+count(drifts), either+count(trends || drifts)
		}
		t.Logf("of %d runs of noise with a correlation of %g, %d claim a trend inside windows, %d one of the host", runs, correlation, inside, over)
		if either > runs/20 {
			t.Errorf("a correlation of %g: %d of %d runs claim a trend", correlation, either, runs)
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// noisy lets the pace of each interval scatter by 40 %, with a correlation from one to the next, and so the rounds
// of the host by 20 % more than they do.
func (s *synthetic) noisy(r *rand.Rand, correlation float64) {
	next := func(last float64) float64 {
		return correlation*last + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
	}
	s.change("", "", func(_ int, w *record.Window) {
		z, x := 0.0, second(1)
		for j := range x {
			z = next(z)
			x[j] = int64(float64(x[j]) * math.Exp(0.4*z))
		}
		w.Evidence.Series, w.Evidence.SeriesStep = x, step
	})
	z := map[string]float64{}
	s.change(spec.Host, "", func(_ int, w *record.Window) {
		z[w.Workload] = next(z[w.Workload])
		for _, metric := range []string{record.IOPS, record.Bandwidth} {
			w.Metrics[metric] *= math.Exp(0.2 * z[w.Workload])
		}
	})
}

// TestTrendsOfNoiseAreLarge holds that the simulation above has something to hold back.
func TestTrendsOfNoiseAreLarge(t *testing.T) {
	large, cells := 0, 0
	for i := range 20 {
		s := newRun().measured(6)
		s.exp.Runtime = 850 * time.Millisecond
		s.noisy(rand.New(rand.NewPCG(6, uint64(i))), 0)
		table := newTable(s.run, s.exp, s.windows)
		for _, c := range table.order {
			sum := 0.0
			for _, l := range c.trends(s.exp) {
				sum += l / 6
			}
			cells, large = cells+1, large+count(math.Abs(sum) > math.Log1p(trendWarned))
		}
	}
	if large < cells/20 {
		t.Errorf("only %d of %d cells changed by more than 20 %%", large, cells)
	}
}

// TestTrendsAreFound is of the other error: a device that slows down by 40 %, in rounds and intervals as noisy as they
// usually are.
func TestTrendsAreFound(t *testing.T) {
	const runs = 100
	inside, over := 0, 0
	for i := range runs {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		s := newRun()
		s.whole, s.exp.Runtime = 0.04, 850*time.Millisecond
		s.measure(0, 100*i, 6, append([]string{spec.Host, spec.Control}, s.guests()...))
		s.change(spec.Host, "rw1", by(to(0.6, 6)))
		s.change("", "", func(_ int, w *record.Window) {
			share := 1.0
			if w.Stack == "fast" && w.Workload == "rw1" {
				share = 0.6
			}
			x := second(share)
			for j := range x {
				x[j] = int64(float64(x[j]) * math.Exp(0.1*r.NormFloat64()))
			}
			w.Evidence.Series, w.Evidence.SeriesStep = x, step
		})
		result := s.analyse()
		inside += count(len(result.cell(t, "fast", "rw1").Warnings) == 1)
		over += count(strings.Contains(strings.Join(result.Warnings, " "), "the host itself slowed down"))
	}
	t.Logf("of %d slow runs, %d are found inside windows and %d over the run", runs, inside, over)
	if inside < 90*runs/100 || over < 90*runs/100 {
		t.Errorf("of %d slow runs, %d are found inside windows and %d over the run", runs, inside, over)
	}
}
