package analyse

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// threads is a price of one second and 10,000 I/Os, with the CPU time of each role in milliseconds.
func threads(ms map[string]int64) *record.Price {
	p := &record.Price{Span: 1e9, IOs: 10_000}
	for _, role := range record.Roles {
		if cpu, ok := ms[role]; ok {
			p.Threads = append(p.Threads, record.ThreadUse{Role: role, CPU: cpu * 1e6, Voluntary: 4000, Involuntary: 20})
		}
	}
	return p
}

func priced(p *record.Price) change { return every(func(e *record.Evidence) { e.Price = p }) }

// foreignBytes adds others' to the bytes at the device, up to so large a share of them.
func foreignBytes(share float64) change {
	return every(func(e *record.Evidence) {
		own, zero := float64(*e.DeviceRead), int64(0)
		all, others := int64(own/(1-share)), int64(own/(1-share)*share)
		e.DeviceRead, e.DeviceWrite, e.ForeignRead, e.ForeignWrite = &all, &zero, &others, &zero
	})
}

func robbing(share float64) change {
	return every(func(e *record.Evidence) { e.Robbed = &share })
}

func stackIs(f func(*spec.Stack)) func(*synthetic) {
	return func(s *synthetic) { f(&s.exp.Stacks[0]) }
}

func withIOThread(s *spec.Stack) { s.IOThread = true }

func native(s *spec.Stack) { s.AIO, s.Cache, s.IOThread = "native", "none", true }

func worked(iothread, loop, worker int64) change {
	return priced(threads(map[string]int64{record.VCPU: 900, record.IOThread: iothread, record.MainLoop: loop, record.Worker: worker}))
}

const (
	idleWords = "the iothread does not serve this disk: it did nothing under the load, and QEMU's main loop did"
	poolWords = "aio=native fell back to threads: they took 60 % of the CPU time of QEMU's I/O"
)

var suspectCases = []ruleCase{
	{name: "others at the disk", change: foreignBytes(0.26), status: record.Withheld, reason: "26 % of the bytes at the device were others': this is a share of the disk, not the disk"},
	{name: "others at the disk of the host", stack: spec.Host, change: foreignBytes(0.26), status: record.Withheld, reason: "26 % of the bytes at the device were others': this is a share of the disk, not the disk"},
	{name: "some others at the disk", change: foreignBytes(0.24), status: record.OK, warning: "24 % of the bytes at the device were others': this is a share of the disk, not the disk"},
	{name: "a few bytes of others", change: foreignBytes(0.049), status: record.OK},
	{name: "others in two windows of six", change: func(i int, w *record.Window) {
		if i < 2 {
			foreignBytes(0.9)(i, w)
		} else {
			foreignBytes(0)(i, w)
		}
	}, status: record.OK},
	{name: "nothing met the device, and others neither", stack: "null", change: func(i int, w *record.Window) {
		*w.Evidence.DeviceRead = 0
		foreignBytes(0.5)(i, w)
	}, status: record.OK},
	{name: "others not countable", change: every(func(e *record.Evidence) { n := int64(1 << 40); e.DeviceWrite, e.ForeignWrite = &n, &n }), status: record.OK},

	{name: "starved", change: robbing(0.34), status: record.Withheld, reason: "the host is busy with others: for 34 % of the time the guest's CPUs were ready to run and had no processor"},
	{name: "hungry", change: robbing(0.33), status: record.OK, warning: "the host is busy with others: for 33 % of the time the guest's CPUs were ready to run and had no processor"},
	{name: "hardly hungry", change: robbing(0.1), status: record.OK},
	{name: "starved in two windows of six", change: func(i int, w *record.Window) {
		if i < 2 {
			robbing(0.9)(i, w)
		} else {
			robbing(0)(i, w)
		}
	}, status: record.OK},

	{name: "idle iothread", more: stackIs(withIOThread), change: worked(1, 300, 2), status: record.Withheld, reason: idleWords},
	{name: "no thread of that role", more: stackIs(withIOThread), change: priced(threads(map[string]int64{record.VCPU: 900, record.MainLoop: 300})), status: record.Withheld, reason: idleWords},
	{name: "idle iothreads of a mapping", more: stackIs(func(s *spec.Stack) { s.VQMapping = 2 }), change: worked(0, 300, 2), status: record.Withheld, reason: idleWords},
	{name: "an iothread under a load of few I/Os", more: stackIs(withIOThread), status: record.OK, change: func(i int, w *record.Window) {
		worked(1, 20, 0)(i, w)
		w.Evidence.Price.IOs = 20
	}},
	{name: "a main loop that is idle too", more: stackIs(withIOThread), change: worked(1, 1, 0), status: record.OK},
	{name: "a working iothread beside a busy main loop", more: stackIs(withIOThread), change: worked(200, 300, 2), status: record.OK},
	{name: "no iothread was asked for", change: worked(0, 300, 2), status: record.OK},
	{name: "an iothread of another process", more: stackIs(func(s *spec.Stack) { s.IOThread, s.Bus = true, "vhost-user-blk" }), change: worked(0, 300, 2), status: record.OK},

	{name: "fallen back to threads", more: stackIs(native), change: worked(100, 100, 300), status: record.Withheld, reason: poolWords},
	{name: "io_uring fallen back", more: stackIs(func(s *spec.Stack) { native(s); s.AIO = "io_uring" }), change: worked(100, 100, 300), status: record.Withheld, reason: strings.Replace(poolWords, "native", "io_uring", 1)},
	{name: "native with a few helpers", more: stackIs(native), change: worked(200, 100, 30), status: record.OK},
	{name: "native in a QEMU that had next to nothing to do", more: stackIs(native), change: worked(1, 1, 4), status: record.OK},
	{name: "threads were asked for", more: stackIs(func(s *spec.Stack) { s.AIO, s.Cache = "threads", "none" }), change: worked(0, 100, 300), status: record.OK},
	{name: "buffered io_uring", more: stackIs(func(s *spec.Stack) { s.AIO, s.Cache = "io_uring", "writeback" }), change: worked(0, 100, 300), status: record.OK},
	{name: "writes that make qcow2 allocate", workload: "rw1", more: stackIs(func(s *spec.Stack) { native(s); s.Snapshot = "fresh" }), change: worked(100, 100, 300), status: record.OK},
	{name: "flushes after each write", workload: "rw1", more: stackIs(func(s *spec.Stack) { native(s); s.Cache = "directsync" }), change: worked(100, 100, 300), status: record.OK},
	{name: "reads where writes are flushed", more: stackIs(func(s *spec.Stack) { native(s); s.Cache = "directsync" }), change: worked(100, 100, 300), status: record.Withheld, reason: poolWords},
	{name: "served by a daemon", more: stackIs(func(s *spec.Stack) { native(s); s.Protocol = "nbd" }), change: worked(100, 100, 300), status: record.OK},
	{name: "nothing of QEMU ran", more: stackIs(native), change: priced(threads(map[string]int64{record.VCPU: 900})), status: record.OK},
}

// TestSuspects trips each rule on the counters of processes and devices, and each nearly.
func TestSuspects(t *testing.T) {
	for _, c := range suspectCases {
		t.Run(c.name, func(t *testing.T) {
			s := newRun()
			s.whole = 0.02 // so that the host is steady
			s.measured(6)
			stack, workload := or(c.stack, "fast"), or(c.workload, "rr32")
			s.change(stack, workload, c.change)
			if c.more != nil {
				c.more(s)
			}
			got := s.analyse().cell(t, stack, workload)
			if got.Status != c.status || got.Reason != c.reason {
				t.Errorf("%s: %q\nwant %s: %q", got.Status, got.Reason, c.status, c.reason)
			}
			if joined := strings.Join(got.Warnings, " | "); c.status == record.OK && joined != c.warning {
				t.Errorf("warnings %q, want %q", joined, c.warning)
			}
		})
	}
}

// Of a load beside which others had much of the device, nobody can tell what it made the device do.
func TestDeviceOfOthers(t *testing.T) {
	for share, told := range map[float64]bool{0.24: true, 0.26: false} {
		s := newRun()
		s.measured(6)
		s.change("fast", "rr32", foreignBytes(share))
		got := s.analyse().cell(t, "fast", "rr32").Derived
		if _, has := got[record.DeviceReadRatio]; has != told {
			t.Errorf("others had %v of the bytes: device_read_ratio %v", share, got[record.DeviceReadRatio])
		}
		if _, has := got[record.RAMShare]; !has {
			t.Errorf("others had %v of the bytes: no ram_share", share)
		}
	}
}
