package rig

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// account is what is counted, around one window, of the processes that carry it out.
type account struct {
	watch   *meter.Watch // nil where there is no process of this host to watch: a domain of Xen
	samples meter.Samples
	own     *ownIO
}

// open begins to count the processes of a stack: QEMU and the stack's server for a guest's window, the server alone, where
// there is one, for a window on the host, to which the load generator adds itself when it starts.
func (s *session) open(ctx context.Context, stack string, inGuest bool) (*account, error) {
	a := &account{own: s.ownIO()}
	var watched []meter.Process
	if q, ok := s.machine.(*emulator); inGuest && ok {
		p, err := s.threads(ctx, q)
		if err != nil {
			return nil, err
		}
		watched = append(watched, p)
	} else if inGuest {
		return a, nil
	}
	if pid := pidOf(s.servers[stack]); pid > 0 {
		watched = append(watched, meter.Process{PID: pid, Rest: record.Server})
	}
	a.watch = meter.Start(meter.Interval, s.Accel == "kvm", watched...)
	return a, nil
}

// process is a server that is a process of this host. SPDK's may be somebody else's, of which nothing is known: 0.
type process interface{ PID() int }

func pidOf(s Server) int {
	if p, ok := s.(process); ok {
		return p.PID()
	}
	return 0
}

// threads tells the threads of QEMU apart. vCPUs and iothreads are there from the start to the end, so that it asks once.
func (s *session) threads(ctx context.Context, q *emulator) (meter.Process, error) {
	if s.qemu.PID != 0 {
		return s.qemu, nil
	}
	threads, err := proc.Threads(ctx, q.Proc.PID(), q.QMP)
	if err != nil {
		return meter.Process{}, fmt.Errorf("threads of QEMU: %w", err)
	}
	p := meter.Process{PID: q.Proc.PID(), Roles: map[int]string{}, Rest: record.Worker}
	names := map[proc.Role]string{proc.VCPU: record.VCPU, proc.IOThread: record.IOThread, proc.Main: record.MainLoop}
	for _, t := range threads {
		if role, ok := names[t.Role]; ok {
			p.Roles[t.TID] = role
		}
	}
	s.qemu = p
	return p, nil
}

// started has the load generator on the host counted. fio is told to make threads and no processes, and none of the other
// generators makes any.
func (a *account) started(pid int) {
	if a != nil && a.watch != nil {
		a.watch.Add(meter.Process{PID: pid, Rest: record.Load})
	}
}

// close ends the counting. It may be called again.
func (a *account) close() {
	if a.watch != nil {
		a.samples, a.watch = a.watch.Stop(), nil
	}
}

// completed is how many I/Os the load generator says that it completed while it timed them; to be asked before the kernel's
// own counts replace those of ioping, whose pace leaves the pauses out.
func completed(w record.Window, l spec.Workload) float64 {
	if l.Ioping() {
		return float64(w.Evidence.PathReads + w.Evidence.PathWrites)
	}
	return w.Metrics[record.IOPS] * float64(w.Timed) / float64(time.Second)
}

// price cuts the steady part out of what was counted. A window of which that part cannot be told, or is shorter than an
// interval of its series, has no price.
func (s *session) price(out *record.Window, a *account, r load.Result, w plan.Window, l spec.Workload, ios float64) {
	began, ok := s.hostTime(*out, r, s.inGuest(w.Stack))
	if out.Status != record.OK || len(a.samples) == 0 || !ok {
		return
	}
	runtime, ramp, even := w.Runtime, s.Plan.Experiment.Ramp, false
	if in, ok := s.onHost(w.Stack); ok && in.stack.BlockLayer() {
		// The series is of the device, which gets buffered writes when it suits the kernel.
		even = in.stack.Cache != "none" && in.stack.Cache != "directsync"
		if in.stack.Bench() {
			runtime, ramp = 0, 0
		}
	}
	if l.Ioping() {
		runtime, ramp = 0, 0
	}
	p := steady(*out, r, ramp, runtime, ios)
	if even {
		p = evenly(*out, r, runtime, ios)
	}
	span, ok := a.samples.Between(began.Add(p.from), began.Add(p.to))
	if !ok || p.ios <= 0 {
		return
	}
	price := record.Price{Span: int64(p.to - p.from), IOs: p.ios, Cycles: span.Cycles, Exits: span.Exits, Process: int64(span.Process)}
	for _, role := range record.Roles {
		if u, ok := span.ByRole[role]; ok {
			price.Threads = append(price.Threads, record.ThreadUse{
				Role: role, CPU: int64(u.CPU), Waited: int64(u.Waited), Voluntary: u.Voluntary, Involuntary: u.Involuntary,
			})
		}
	}
	out.Evidence.Price = &price
}

// robbed notes for how much of the time the guest's CPUs were ready to run and others had theirs, from the start of the load
// generator to its end.
//
// A vCPU also waits for threads of its own QEMU: on a small host it shares a CPU with the main loop and the workers, and that
// is a part of the stack's cost. So no more is laid to others than the CPU time that they took: what the host was busy in
// all, less what the watched processes took. The time in which the guest wanted to run is taken for the whole window at
// least, so that a guest that mostly sleeps is not said to be starved by the microseconds that each waking takes.
func (a *account) robbed(out *record.Window, d meter.Delta) {
	whole, ok := a.samples.Whole()
	vcpu, has := whole.ByRole[record.VCPU]
	if !ok || !has {
		return
	}
	others := max(d.All.Busy-whole.Process, 0)
	share := float64(min(vcpu.Waited, others)) / float64(max(d.Elapsed, vcpu.CPU+vcpu.Waited))
	out.Evidence.Robbed = &share
}

// hostTime is when the series of a load began, by the host's clock.
//
// A load in a guest tells it by the guest's clock. When the load had ended the guest was asked what its clock shows: the
// answer is right to half of the time that asking took, about a millisecond, and to as much as the two clocks ran
// apart since the load began, a thousandth of a window where the report has no footnote about it. On a host that is too busy
// for an answer in time it is known, all the same, that the load began after it was asked for, and so long before its result
// came as it ran. What is cut out begins and ends an interval of the series inside the timed part: where neither is right
// to half of one, the window has no price.
func (s *session) hostTime(w record.Window, r load.Result, inGuest bool) (time.Time, bool) {
	now := s.clock.last
	if !inGuest {
		now = reading{guest: monotonic(), host: time.Now()}
	}
	if r.Began > 0 && now.guest >= r.Ended && now.asked < seriesStep {
		return now.host.Add(r.Began - now.guest), true
	}
	slack, starting := time.Duration(w.Elapsed)-r.Elapsed, r.Elapsed-(r.Ended-r.Began)
	return w.Started.Add(slack/2 + starting), inGuest && slack < seriesStep
}

// monotonic is the clock of this side that load.Result.Began is of.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// part is a part of a window: from and to count from the start of the series.
type part struct {
	from, to time.Duration
	ios      float64
}

// steady is the part of a window in which its load was under way.
//
// The load generator says how many I/Os it completed in the timed part, and the series of the disk says when. The series
// alone would count requests: the kernel may make one of several I/Os of fio, or several of one, it counts flushes too,
// and on the host the device's counters hold what others do to it. So the I/Os are fio's, in the share that the series has
// in the steady part of all in the timed one. Without a series (the volume lies on several disks) the timed part is known
// to have ended with the generator, and its pace is taken for even.
func steady(w record.Window, r load.Result, ramp, runtime time.Duration, ios float64) part {
	e := w.Evidence
	begin, end := e.Steady(ramp, runtime)
	missed := int((r.Ended-r.Began)/seriesStep) - len(e.Series) // a busy machine may swallow ticks: then it is not known which
	if end <= begin || missed > 1 {
		return evenly(w, r, runtime, ios)
	}
	step := time.Duration(e.SeriesStep)
	first, last := e.Timed(ramp, runtime)
	inside, all := sum(e.Series[begin:end]), sum(e.Series[first:last])
	if all == 0 {
		return part{}
	}
	return part{time.Duration(begin) * step, time.Duration(end) * step, ios * inside / all}
}

// evenly is steady without a series.
func evenly(w record.Window, r load.Result, runtime time.Duration, ios float64) part {
	timed := time.Duration(w.Timed)
	active := timed
	if runtime > 0 {
		active = min(timed, runtime) // what is more is the flush
	}
	p := part{from: r.Elapsed - timed + seriesStep, to: r.Elapsed - timed + active - seriesStep}
	if p.from < 0 || p.to-p.from < seriesStep {
		return part{}
	}
	p.ios = ios * float64(p.to-p.from) / float64(active)
	return p
}

func sum(series []int64) (total float64) {
	for _, n := range series {
		total += float64(n)
	}
	return total
}
