package analyse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// change is what a case does to the window number i of a cell.
type change = func(i int, w *record.Window)

func bad(n int, status, reason string) change {
	return func(i int, w *record.Window) {
		if i < n {
			w.Status, w.Reason = status, reason
		}
	}
}

func ram(share float64) change {
	return func(_ int, w *record.Window) {
		for _, device := range []*int64{w.Evidence.DeviceRead, w.Evidence.DeviceWrite} {
			if device != nil {
				*device = int64(float64(max(w.Evidence.PathRead, w.Evidence.PathWrite)) * (1 - share))
			}
		}
	}
}

func every(f func(*record.Evidence)) change {
	return func(_ int, w *record.Window) { f(&w.Evidence) }
}

func depth(d float64) change {
	return every(func(e *record.Evidence) { e.Depth = d })
}

func skew(v float64) change {
	return every(func(e *record.Evidence) { e.ClockSkew = &v })
}

func cpu(v float64) change {
	return every(func(e *record.Evidence) { e.FioCPU = v })
}

type ruleCase struct {
	name            string
	stack, workload string // "" is fast, rr32
	change          change
	more            func(*synthetic)
	status, reason  string
	warning         string // the only one
}

// ruleCases trip each rule of a cell's status and warnings, and each nearly. They change the windows of "fast"
// under rr32 unless they say otherwise.
var ruleCases = []ruleCase{
	{name: "sound", status: record.OK},
	{
		name: "unavailable, though it also failed", change: bad(6, record.Failed, "boom"),
		more:   func(s *synthetic) { s.stack("fast").Unavailable = "no such bus" },
		status: record.Unavailable, reason: "no such bus",
	},
	{
		name: "all stalled", change: bad(6, record.Stalled, "no I/O for 5 s"),
		status: record.Failed, reason: "stalled in 6 of 6 windows: no I/O for 5 s",
	},
	{
		name: "half stalled", change: bad(3, record.Stalled, "no I/O for 5 s"),
		status: record.Failed, reason: "stalled in 3 of 6 windows: no I/O for 5 s",
	},
	{
		name: "a third failed", change: bad(2, record.Failed, "EIO"),
		more:   func(s *synthetic) { s.exp.MinRounds = 4 },
		status: record.OK, warning: "failed in 2 of 6 windows: EIO",
	},
	{name: "failed and stalled", change: func(i int, w *record.Window) {
		bad(3, record.Failed, "")(i, w)
		bad(1, record.Stalled, "")(i, w)
	}, status: record.Failed, reason: "failed or stalled in 3 of 6 windows"},
	{
		name: "ended well without an I/O", change: func(_ int, w *record.Window) { w.Metrics[record.IOPS] = 0 },
		status: record.Failed, reason: "failed in 6 of 6 windows: no I/O was completed",
	},
	{name: "failed wins over withheld", change: func(i int, w *record.Window) {
		bad(3, record.Failed, "EIO")(i, w)
		ram(0.9)(i, w)
	}, status: record.Failed, reason: "failed in 3 of 6 windows: EIO"},
	{
		name: "mismatch", more: func(s *synthetic) {
			s.stack("fast").Mismatch = []string{"cache is writeback, not none", "aio is threads"}
		},
		status: record.Withheld, reason: "the effective configuration is not the intended one: cache is writeback, not none; aio is threads",
	},
	{
		name: "reads from RAM", change: ram(0.97), status: record.Withheld,
		reason: "97 % of these reads came from the host's RAM: this is not the disk",
	},
	{
		name: "writes that stay in RAM", workload: "rw1", change: ram(0.6), status: record.Withheld,
		reason: "60 % of these writes never reached the device during the window",
	},
	{
		name: "reads half from RAM", change: ram(0.499), status: record.OK,
		warning: "50 % of these reads came from the host's RAM: this is not the disk",
	},
	{name: "hardly any from RAM", change: ram(0.049), status: record.OK},
	{name: "reads from RAM in two windows", change: func(i int, w *record.Window) {
		if i < 2 {
			ram(0.97)(i, w)
		}
	}, status: record.OK},
	{name: "more read from the device than asked for", change: ram(-3), status: record.OK},
	{name: "a ceiling meets no device", stack: "null", change: ram(1), status: record.OK},
	{name: "device not countable", change: every(func(e *record.Evidence) { e.DeviceRead = nil }), status: record.OK},
	{name: "errors inside fio's output", change: func(i int, w *record.Window) {
		if i == 4 {
			w.Evidence.FioErrors = 2
		}
	}, status: record.Withheld, reason: "fio reported 2 errors in 1 of 6 windows"},
	{
		name: "a third of the depth", change: depth(10.7), status: record.Withheld,
		reason: "only 10.7 of the 32 I/Os asked for were in flight",
	},
	{
		name: "half of the depth", change: depth(16), status: record.OK,
		warning: "16.0 of the 32 I/Os asked for were in flight on average",
	},
	{name: "nine tenths of the depth", change: depth(28.9), status: record.OK},
	{name: "depth not known", change: depth(0), status: record.OK},
	{name: "a load that waits is never short", change: depth(4.7), more: func(s *synthetic) {
		for i := range s.exp.Workloads {
			s.exp.Workloads[i].ThinkTime = time.Millisecond
		}
	}, status: record.OK},
	{name: "iodepth 1 is never short", workload: "rw1", change: depth(0.4), status: record.OK},
	{name: "clock fast", change: skew(0.002), status: record.OK, warning: "the guest's clock ran 0.20 % faster than the host's"},
	{name: "clock slow", change: skew(-0.002), status: record.OK, warning: "the guest's clock ran 0.20 % slower than the host's"},
	{name: "clock wrong by a factor", change: skew(7), status: record.Withheld, reason: "the guest's clock ran 700.00 % faster than the host's"},
	{name: "clock far too slow", change: skew(-0.06), status: record.Withheld, reason: "the guest's clock ran 6.00 % slower than the host's"},
	{name: "clock nearly right", change: skew(0.0009), status: record.OK},
	{
		name: "steal", change: every(func(e *record.Evidence) { e.Steal = 0.03 }), status: record.OK,
		warning: "3.0 % of the host's CPU time was stolen from it",
	},
	{name: "little steal", change: every(func(e *record.Evidence) { e.Steal = 0.019 }), status: record.OK},
	{
		name: "fio busy on the host", stack: spec.Host, change: cpu(0.93), status: record.OK,
		warning: "fio was busy for 93 % of the time: it may be the limit, not the disk, and the loss of the guests larger than it looks",
	},
	{name: "fio less busy on the host", stack: spec.Control, change: cpu(0.79), status: record.OK},
	{name: "fio busy in the guest", change: cpu(0.93), status: record.OK},
	{
		name: "warnings of the windows, each once", change: every(func(e *record.Evidence) { e.Warnings = []string{"other I/O on sda"} }),
		status: record.OK, warning: "other I/O on sda",
	},
	{
		name: "too few rounds", more: func(s *synthetic) { s.exp.MinRounds = 7 }, status: record.OK,
		warning: "6 rounds, fewer than the 7 asked for",
	},
	{
		name: "the host failed", more: func(s *synthetic) { s.change(spec.Host, "rr32", bad(3, record.Failed, "EIO")) },
		status: record.Failed, reason: "the host baseline failed: failed in 3 of 6 windows: EIO",
	},
	{
		name: "the host is withheld", more: func(s *synthetic) { s.change(spec.Host, "rr32", ram(0.8)) }, status: record.Withheld,
		reason: "the host baseline is withheld: 80 % of these reads came from the host's RAM: this is not the disk",
	},
	{
		name: "nothing but the priming round", change: func(_ int, w *record.Window) { w.Discard = true }, status: record.Withheld,
		reason: "no counted round of this cell has ended",
	},
	{
		name: "no round in common", change: func(_ int, w *record.Window) { w.Round += 100 }, status: record.Withheld,
		reason: "no round holds a number of this cell and one of the host",
	},
}

func TestRules(t *testing.T) { runRules(t, ruleCases) }

// runRules runs cases on six rounds.
func runRules(t *testing.T, cases []ruleCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newRun()
			s.whole = 0.02 // so that the host is steady
			s.measured(6)
			stack, workload := or(c.stack, "fast"), or(c.workload, "rr32")
			if c.change != nil {
				s.change(stack, workload, c.change)
			}
			if c.more != nil {
				c.more(s)
			}
			got := s.analyse().cell(t, stack, workload)
			if got.Status != c.status || got.Reason != c.reason {
				t.Errorf("%s: %q\nwant %s: %q", got.Status, got.Reason, c.status, c.reason)
			}
			if joined := strings.Join(got.Warnings, " | "); c.status == record.OK &&
				(c.warning == "" && joined != "" || !strings.Contains(joined, c.warning) || len(got.Warnings) > 1) {
				t.Errorf("warnings %q, want %q", joined, c.warning)
			}
			if (got.Status == record.OK) != (len(got.Metrics) == 6) || got.Status != record.OK && (got.Ratio != nil || got.Points != nil) {
				t.Errorf("%s, and metrics %v, ratio %v", got.Status, got.Metrics, got.Ratio)
			}
		})
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func TestRAMShare(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	mixed := spec.Workload{RW: "randrw"}
	read, write := spec.Workload{RW: "read"}, spec.Workload{RW: "write"}
	cases := []struct {
		name string
		load spec.Workload
		e    []record.Evidence
		want *float64
	}{
		{"no window", read, nil, nil},
		{"reads", read, []record.Evidence{{PathRead: 100, DeviceRead: n(25), PathWrite: 9, DeviceWrite: n(0)}}, new(0.75)},
		{"writes", write, []record.Evidence{{PathRead: 9, DeviceRead: n(0), PathWrite: 100, DeviceWrite: n(60)}}, new(0.4)},
		{"mixed, of the sum", mixed, []record.Evidence{{PathRead: 60, DeviceRead: n(0), PathWrite: 40, DeviceWrite: n(50)}}, new(0.5)},
		{"mixed, half of it not countable", mixed, []record.Evidence{{PathRead: 60, DeviceRead: n(0), PathWrite: 40}}, nil},
		{"more at the device", write, []record.Evidence{{PathWrite: 100, DeviceWrite: n(300)}}, new(0.0)},
		{"others' reads do not hide it", read, []record.Evidence{{PathRead: 100, DeviceRead: n(900), ForeignRead: n(880)}}, new(0.8)},
		{"more others' than there is", write, []record.Evidence{{PathWrite: 100, DeviceWrite: n(10), ForeignWrite: n(20)}}, new(1.0)},
		{"nothing asked for", read, []record.Evidence{{DeviceRead: n(0)}}, nil},
		{"median of those that count", read, []record.Evidence{
			{PathRead: 10, DeviceRead: n(10)},
			{PathRead: 10},
			{PathRead: 10, DeviceRead: n(0)},
			{PathRead: 10, DeviceRead: n(8)},
			{PathRead: 10, DeviceRead: n(5)},
		}, new(0.35)},
	}
	for _, c := range cases {
		cell := cell{workload: c.load}
		for _, e := range c.e {
			cell.good = append(cell.good, &record.Window{Evidence: e})
		}
		if diff := cmp.Diff(c.want, cell.ramShare(), approx); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		cell.ceiling = true
		if cell.ramShare() != nil {
			t.Errorf("%s: a ceiling has a RAM share", c.name)
		}
	}
}
