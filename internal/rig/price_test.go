package rig

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

const ms = time.Millisecond

// seriesOf is a window with this series, of which half a second was timed.
func seriesOf(counts ...int64) record.Window {
	return record.Window{Status: record.OK, Timed: int64(500 * ms), Evidence: record.Evidence{Series: counts, SeriesStep: int64(seriesStep)}}
}

func TestSteadyPart(t *testing.T) {
	whole := seriesOf(0, 50, 100, 100, 100, 100, 50, 1)
	tests := []struct {
		name    string
		w       record.Window
		elapsed time.Duration
		runtime time.Duration
		ios     float64
		want    part
	}{
		{"fio's I/Os in the series' share", whole, 800 * ms, 500 * ms, 1000, part{200 * ms, 600 * ms, 800}},
		{"a tick is late", whole, 950 * ms, 500 * ms, 1000, part{200 * ms, 600 * ms, 800}},
		{"ticks are missing: as without a series", whole, 1050 * ms, 500 * ms, 1000, part{650 * ms, 950 * ms, 600}},
		{"no series", seriesOf(), 800 * ms, 500 * ms, 1000, part{400 * ms, 700 * ms, 600}},
		{"no series, and a flush of 100 ms", seriesOf(), 800 * ms, 400 * ms, 1000, part{400 * ms, 600 * ms, 500}},
		{"no series, and too short", seriesOf(), 800 * ms, 250 * ms, 1000, part{}},
		{"no series, and longer timed than it ran", seriesOf(), 300 * ms, 500 * ms, 1000, part{}},
		{"no series, and no limit", seriesOf(), 800 * ms, 0, 1000, part{400 * ms, 700 * ms, 600}},
	}
	for _, tt := range tests {
		got := steady(tt.w, load.Result{Elapsed: tt.elapsed, Began: time.Second, Ended: time.Second + tt.elapsed}, 0, tt.runtime, tt.ios)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(part{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestCompleted(t *testing.T) {
	w := record.Window{Timed: 5e8, Metrics: map[string]float64{record.IOPS: 1000}, Evidence: record.Evidence{PathReads: 7, PathWrites: 2}}
	for load, want := range map[spec.Workload]float64{{}: 500, {Generator: "ioping"}: 9} {
		if got := completed(w, load); got != want {
			t.Errorf("%q: %v, want %v", load.Generator, got, want)
		}
	}
}

// TestHostTime maps the start of a series that a guest told by its own clock, or bounds it.
func TestHostTime(t *testing.T) {
	now := time.Now()
	w := record.Window{Started: now.Add(-2100 * ms), Elapsed: int64(2100 * ms)}
	answered := reading{guest: 100 * time.Second, host: now, asked: 2 * ms}
	slow := answered
	slow.asked = seriesStep
	for _, tt := range []struct {
		name         string
		clock        reading
		began, ended time.Duration // by the guest's clock, after 50 ms in which the generator started
		ago          time.Duration // 0: not known
	}{
		{"the guest was asked", answered, 98 * time.Second, 99900 * ms, 2000 * ms},
		{"it was asked before the load ended", answered, 99 * time.Second, 101 * time.Second, 2025 * ms},
		{"it was asked before, and the load may have begun at any time", answered, 99200 * ms, 101 * time.Second, 0},
		{"the answer took long", slow, 98 * time.Second, 99900 * ms, 0},
		{"the answer took long, and the load was begun at once", slow, 98 * time.Second, 100 * time.Second, 2025 * ms},
		{"the agent does not tell", answered, 0, 2000 * ms, 2025 * ms},
	} {
		s := &session{clock: clock{last: tt.clock}}
		at, ok := s.hostTime(w, load.Result{Began: tt.began, Ended: tt.ended, Elapsed: tt.ended - tt.began + 50*ms}, true)
		if ok != (tt.ago > 0) || ok && !at.Equal(now.Add(-tt.ago)) {
			t.Errorf("%s: %v before, %v; want %v", tt.name, now.Sub(at), ok, tt.ago)
		}
	}
	s := &session{}
	r := load.Result{Began: monotonic() - 300*ms, Ended: monotonic() - 100*ms, Elapsed: 200 * ms}
	if at, ok := s.hostTime(w, r, false); !ok || time.Since(at) < 300*ms || time.Since(at) > time.Minute {
		t.Errorf("on the host: %v ago, %v", time.Since(at), ok)
	}
	if _, ok := s.hostTime(w, load.Result{}, false); ok {
		t.Error("a load that did not begin has a start")
	}
}

// TestPriceless are windows of which nothing can be cut out.
func TestPriceless(t *testing.T) {
	r := load.Result{Began: monotonic() - time.Second, Ended: monotonic(), Elapsed: 1000 * ms}
	watch := meter.Start(5*ms, false)
	time.Sleep(20 * ms)
	samples := watch.Stop()
	failed := seriesOf(0, 50, 100, 100, 100, 100, 50, 1)
	failed.Status = record.Failed
	for name, tt := range map[string]struct {
		w record.Window
		a account
	}{
		"failed":                          {failed, account{samples: samples}},
		"not watched":                     {seriesOf(0, 50, 100, 100, 100, 100, 50, 1), account{}},
		"watched after it":                {seriesOf(0, 50, 100, 100, 100, 100, 50, 1), account{samples: samples}},
		"without a load that can be told": {seriesOf(), account{samples: samples}},
	} {
		s := &session{Rig: New(Config{})}
		s.price(&tt.w, &tt.a, r, plan.Window{Stack: spec.Host, Runtime: 500 * ms}, spec.Workload{}, 1000)
		if tt.w.Evidence.Price != nil {
			t.Errorf("%s: %+v", name, tt.w.Evidence.Price)
		}
	}
	var none *account
	none.started(1) // a load outside a window
}

func TestPlainStorage(t *testing.T) {
	one := []string{"sda"}
	for _, tt := range []struct {
		name            string
		layers, devices []string
		stack           spec.Stack
		want            bool
	}{
		{"a file", []string{"ext4", "sda1"}, one, spec.Stack{}, true},
		{"a file on a bare disk", []string{"xfs"}, one, spec.Stack{}, true},
		{"a loop device", []string{"loop3", "ext4", "sda1"}, one, spec.Stack{}, true},
		{"a partition", []string{"sda7"}, one, spec.Stack{}, true},
		{"not known", nil, one, spec.Stack{}, false},
		{"copy on write", []string{"btrfs", "sda1"}, one, spec.Stack{}, false},
		{"a file system that is not known", []string{"f2fs", "sda1"}, one, spec.Stack{}, false},
		{"data that are written twice", []string{"ext4 data=journal", "sda1"}, one, spec.Stack{}, false},
		{"several disks", []string{"ext4", "md0"}, []string{"sda", "sdb"}, spec.Stack{}, false},
		{"an array of one", []string{"ext4", "md0"}, one, spec.Stack{}, false},
		{"device-mapper of any kind", []string{"ext4", "dm-0", "sda1"}, one, spec.Stack{}, false},
		{"a volume of LVM", []string{"dm-0", "sda1"}, one, spec.Stack{Storage: "lvm"}, true},
		{"one under a snapshot", []string{"dm-0", "sda1"}, one, spec.Stack{Storage: "lvm", Snapshot: "copied"}, false},
		{"a thin one", []string{"dm-0", "sda1"}, one, spec.Stack{Storage: "lvm-thin"}, false},
		{"emptied before each window", []string{"ext4", "sda1"}, one, spec.Stack{Empty: true}, false},
	} {
		tt.stack.Name = "it"
		r := New(Config{Layers: map[string][]string{"it": tt.layers}, Devices: map[string][]string{"it": tt.devices}})
		s := r.session(plan.Group{Stacks: []spec.Stack{{Name: "another", Empty: true}, tt.stack}})
		if got := s.plain("it"); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestForeign counts bytes that nobody of this run asked for.
func TestForeign(t *testing.T) {
	const mib = 1 << 20
	n := func(v int64) *int64 { return &v }
	for _, tt := range []struct {
		name          string
		inGuest       bool
		read, written int64 // at the device
		flushes       int64
		wantR, wantW  *int64
	}{
		{"on the host, all of it the load's", false, 64 * mib, 32 * mib, 0, n(0), n(0)},
		{"on the host, others' too", false, 96 * mib, 48 * mib, 0, n(32 * mib), n(16 * mib)},
		{"on the host, less than was asked", false, 1 * mib, 1 * mib, 0, n(0), n(0)},
		{"a journal's commits", false, 64 * mib, 32*mib + 1000*journalCommit, 1000, n(0), n(0)},
		{"housekeeping", false, 64*mib + housekeeping, 32*mib + housekeeping, 0, n(0), n(0)},
		{"in a guest that did nothing", true, 64 * mib, 32 * mib, 0, n(64 * mib), n(32 * mib)},
	} {
		stack := spec.Host
		if tt.inGuest {
			stack = "guest"
		}
		r := New(Config{Layers: map[string][]string{stack: {"ext4"}}, Devices: map[string][]string{stack: {"sda"}}})
		s := r.session(plan.Group{})
		a := &account{own: s.ownIO()}
		a.own.pids, a.own.before = nil, meter.IO{}
		out := record.Window{}
		out.Evidence.PathFlush = tt.flushes
		d := meter.Delta{Disk: meter.Disk{ReadBytes: tt.read, WriteBytes: tt.written}}
		s.foreign(&out, a, load.Result{ReadBytes: 64 * mib, WriteBytes: 32 * mib}, d, stack)
		if diff := cmp.Diff([]*int64{tt.wantR, tt.wantW}, []*int64{out.Evidence.ForeignRead, out.Evidence.ForeignWrite}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		a.own.known = false
		out.Evidence.ForeignRead = nil
		if s.foreign(&out, a, load.Result{}, d, stack); out.Evidence.ForeignRead != nil {
			t.Errorf("%s: counted although the run's own is not known", tt.name)
		}
	}
	s := New(Config{}).session(plan.Group{})
	s.servers["x"] = nobody{}
	if o := s.ownIO(); o.known {
		t.Error("a server without a process is counted")
	}
}

func TestFlushes(t *testing.T) {
	s := New(Config{}).session(plan.Group{Stacks: []spec.Stack{{Name: "none", Cache: "none"}, {Name: "through", Cache: "writethrough"}, {Name: "sync", Cache: "directsync"}}})
	for stack, want := range map[string]int64{"none": 3, "through": 13, "sync": 13, spec.Host: 3} {
		if got := s.flushes(stack, record.Evidence{PathFlush: 3, PathWrites: 10}); got != want {
			t.Errorf("%s: %d, want %d", stack, got, want)
		}
	}
}

// nobody is a server of which no process is known.
type nobody struct{ Server }

// TestRobbed lays to others what they took, and no more.
func TestRobbed(t *testing.T) {
	watch := meter.Start(5*ms, false, meter.Process{PID: os.Getpid(), Rest: record.VCPU})
	time.Sleep(20 * ms)
	mine := account{samples: watch.Stop()}
	whole, ok := mine.samples.Whole()
	if !ok {
		t.Skip("this kernel does not count the time of threads")
	}
	waited := whole.ByRole[record.VCPU].Waited
	for name, tt := range map[string]struct {
		busy time.Duration // of the host, beside what was watched
		want time.Duration // robbed of a second
	}{
		"nobody else":             {-whole.Process, 0},
		"others took less":        {waited / 2, waited / 2},
		"others took much more":   {time.Hour, waited},
		"less than was accounted": {-time.Minute, 0},
	} {
		var w record.Window
		mine.robbed(&w, meter.Delta{Elapsed: time.Second, All: meter.CPU{Busy: whole.Process + tt.busy}})
		if got := w.Evidence.Robbed; got == nil || *got != tt.want.Seconds() {
			t.Errorf("%s: %v, want %v", name, got, tt.want.Seconds())
		}
	}
	for name, a := range map[string]account{"nothing was watched": {}, "no vCPU": {samples: meter.Start(ms, false).Stop()}} {
		var w record.Window
		if a.robbed(&w, meter.Delta{Elapsed: time.Second}); w.Evidence.Robbed != nil {
			t.Errorf("%s: %v", name, *w.Evidence.Robbed)
		}
	}
}
