package record

import (
	"slices"
	"time"
)

// Roles of the threads that carry a guest's I/O.
const (
	VCPU     = "vcpu"      // runs the guest, its fio and its kernel among it
	IOThread = "iothread"  // QEMU's, for the queues of a disk
	MainLoop = "main loop" // QEMU's first thread
	Worker   = "worker"    // QEMU's thread pool: aio=threads and what blocks
	Server   = "server"    // of a qemu-storage-daemon or SPDK that serves the disk
	Load     = "load"      // the load generator, where it runs on the host
)

// Roles lists them in their order of print.
var Roles = []string{VCPU, IOThread, MainLoop, Worker, Server, Load}

// Price is what the processes of a window took from the host while the load was steady: from when its first I/Os had ended
// to its end, without the start of the load generator and the flush at its end.
type Price struct {
	Span    int64       `json:"span_ns"`          // of the host's clock, over which was counted
	IOs     float64     `json:"ios"`              // that the load completed in the span
	Threads []ThreadUse `json:"threads"`          // by role, in the order of Roles, those that exist
	Cycles  *float64    `json:"cycles,omitempty"` // of all those threads, where the processor counts them
	Exits   *float64    `json:"exits,omitempty"`  // from the guest to KVM, where the kernel counts them
	Process int64       `json:"process_ns"`       // CPU time of those processes as wholes over the same span, threads that have ended included
}

// ThreadUse is the threads of one role together.
type ThreadUse struct {
	Role        string `json:"role"`
	CPU         int64  `json:"cpu_ns"`
	Waited      int64  `json:"waited_ns"`   // ready to run, without a processor
	Voluntary   int64  `json:"voluntary"`   // context switches: it had nothing to do
	Involuntary int64  `json:"involuntary"` // context switches: others took its processor
}

// busyShare tells the intervals of a series in which the load was under way: those with at least one in so many of the I/Os
// of the busiest.
const busyShare = 10

// Timed returns the intervals of the series, from first to before last, in which the timed part of the window lies, with the
// two that it fills in part; both 0 where there is no series. A series starts with the load generator itself: little or
// nothing is done, then the first busy interval, in which the load began, then its ramp time. It may end with the flush
// after the load, which the runtime tells from a load that came to a stand; 0 for a load that ends by itself.
func (e Evidence) Timed(ramp, runtime time.Duration) (first, last int) {
	if e.SeriesStep <= 0 || len(e.Series) == 0 {
		return 0, 0
	}
	busiest, step := slices.Max(e.Series), time.Duration(e.SeriesStep)
	first = slices.IndexFunc(e.Series, func(n int64) bool { return n > 0 && busyShare*n >= busiest })
	if first < 0 {
		return 0, 0
	}
	last = len(e.Series)
	for e.Series[last-1] == 0 {
		last--
	}
	if runtime > 0 {
		last = min(last, first+int((ramp+runtime)/step)+1)
	}
	return min(first+int(ramp/step), last), last
}

// Steady returns those intervals, from begin to before end, that lie whole inside the timed part.
func (e Evidence) Steady(ramp, runtime time.Duration) (begin, end int) {
	first, last := e.Timed(ramp, runtime)
	if first == last {
		return 0, 0
	}
	begin = first + 1
	if step := time.Duration(e.SeriesStep); ramp%step != 0 {
		begin++
	}
	return begin, max(begin, last-1)
}
