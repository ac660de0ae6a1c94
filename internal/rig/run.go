package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Window implements measure.Session. A window after which the storage has run out of room has no number: what was
// measured is not what was meant.
func (s *session) Window(ctx context.Context, w plan.Window, l spec.Workload) (record.Window, error) {
	out, err := s.window(ctx, w, l)
	health := s.Health[w.Stack]
	if health == nil || ctx.Err() != nil || out.Status == "" {
		return out, err
	}
	if sick := health(ctx); sick != nil && err == nil {
		out.Metrics, out.Histogram = nil, nil
		return failed(out, firstLine(sick)), nil
	}
	return out, err
}

// window empties caches, reads counters, runs the load, and reads the counters again.
func (s *session) window(ctx context.Context, w plan.Window, l spec.Workload) (record.Window, error) {
	out := record.Window{Status: record.OK, Started: time.Now().UTC()}
	if a, ok := s.absent[w.Stack]; ok {
		return failed(out, a.why), nil
	}
	if err := s.unserved(w.Stack); err != nil {
		return failed(out, firstLine(err)), nil
	}
	volume, real := s.Volumes[w.Stack]
	if err := s.restore(ctx, w.Stack, l); err != nil {
		return failed(out, err.Error()), nil
	}
	s.lookAtVolume(ctx, &out, w.Stack)
	if err := s.caches(ctx, w.Stack, l.Warm); err != nil {
		return failed(out, err.Error()), nil
	}
	s.yield(ctx)
	inGuest := s.inGuest(w.Stack)
	var err error
	if s.account, err = s.open(ctx, w.Stack, inGuest); err != nil {
		return out, err
	}
	defer s.account.close()
	watch := s.meterOf(w.Stack)
	before, err := watch.Snapshot()
	if err != nil {
		return out, err
	}
	out.Started = time.Now().UTC()
	start := time.Now()
	var result load.Result
	if inGuest {
		result, err = s.guestLoad(ctx, w, l)
	} else {
		result, err = s.hostLoad(ctx, w, l, volume)
	}
	out.Elapsed = int64(time.Since(start))
	s.account.close()
	dead := s.deadServer(w.Stack, err != nil || result.Exit != 0 || result.Stalled != "")
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case dead != nil && result.Stuck:
		return out, fmt.Errorf("%w: %w", measure.ErrGuestLost, dead)
	case dead != nil:
		return failed(out, firstLine(dead)), nil
	case err == nil:
	case errors.Is(err, measure.ErrGuestLost):
		return out, err
	default: // an error of this disk, while the guest lives: others can still be measured
		return failed(out, err.Error()), nil
	}
	after, err := watch.Snapshot()
	if err != nil {
		return out, err
	}
	delta, err := after.Sub(before)
	if err != nil && !errors.Is(err, meter.ErrBackwards) {
		return out, err
	}
	s.fold(&out, result, l, w)
	ios := completed(out, l)
	if inGuest && result.Stuck {
		return out, fmt.Errorf("%w: its load generator hangs in the kernel", measure.ErrGuestLost)
	}
	if inGuest {
		seenInGuest(&out, result)
		out.Evidence.ClockSkew = s.clock.skew(ctx, s.agent())
	}
	if real && delta.HasDisks && err == nil {
		s.foreign(&out, s.account, result, delta, w.Stack)
		seenAtDevice(&out, s.drained(ctx, &out, w.Stack, watch, before, delta))
	}
	s.price(&out, s.account, result, w, l, ios)
	s.account.robbed(&out, delta)
	seenOnHost(&out, delta)
	return out, nil
}

// failed is a window without a number.
func failed(w record.Window, reason string) record.Window {
	w.Status, w.Reason = record.Failed, reason
	return w
}

// caches puts the host's cache of our volumes into a known state, empty or (warm) full of it: of the one that is measured
// next, and of the one before, whose dirty pages (with cache=unsafe, or after a stall) would be written back during this window.
func (s *session) caches(ctx context.Context, stack string, warm bool) error {
	last := s.before
	s.before = stack
	for _, name := range []string{last, stack} {
		if v, ok := s.Volumes[name]; ok {
			if warm && name == stack {
				return provision.WarmCache(ctx, v)
			}
			if err := provision.DropCache(v); err != nil {
				return err
			}
		}
		if last == stack {
			break
		}
	}
	return nil
}

// hostLoad runs the load on the host itself, on as many CPUs as the guest has.
func (s *session) hostLoad(ctx context.Context, w plan.Window, l spec.Workload, v provision.Volume) (load.Result, error) {
	cpus, err := hostCPUs(s.group.Guest.CPUs)
	if err != nil {
		return load.Result{}, err
	}
	disk := ""
	if devices := s.Devices[w.Stack]; len(devices) == 1 {
		disk = devices[0]
	}
	if in, ok := s.onHost(w.Stack); ok && in.stack.Bench() {
		return s.benchLoad(ctx, w, l, in, target{size: in.size, cpus: cpus, disk: disk})
	}
	q, err := request(w, l, s.Plan.Experiment, s.onHostTarget(w.Stack, target{
		fio: s.Image.Fio, ioping: s.Ioping, filename: v.Path, offset: v.Offset, size: v.Size, cpus: cpus, disk: disk,
	}))
	if err != nil {
		return load.Result{}, err
	}
	q.Env, q.Started = s.Env, s.account.started
	return load.Run(ctx, q)
}

// guestLoad runs the load inside the guest on the stack's disk.
func (s *session) guestLoad(ctx context.Context, w plan.Window, l spec.Workload) (load.Result, error) {
	disk := s.disks[w.Stack].Name
	q, err := request(w, l, s.Plan.Experiment, target{
		fio: guest.FioPath, ioping: guest.IopingPath, filename: "/dev/" + disk, size: s.Plan.Experiment.Size,
		cpus: guestCPUs(s.policy, s.group.Guest.CPUs, l), disk: disk,
	})
	if err != nil {
		return load.Result{}, err
	}
	// The agent ends its generator by itself: one that does not answer even after that is lost, though it may live.
	patience, cancel := context.WithTimeoutCause(ctx, q.Timeout+answerGrace, errNoAnswer)
	defer cancel()
	r, err := s.agent().Window(patience, q)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	if errors.Is(err, errNoAnswer) {
		return r, fmt.Errorf("%w: %w", measure.ErrGuestLost, err)
	}
	if reason := s.machine.Lost(err); reason != nil {
		return r, fmt.Errorf("%w: %w", measure.ErrGuestLost, reason)
	}
	return r, err
}

// answerGrace is what the agent may take beyond its generator's own limit: reaping it, reading counters, sending.
const answerGrace = 30 * time.Second

var errNoAnswer = errors.New("the guest's agent did not answer in time")

// seenInGuest replaces what fio says it moved by what the guest's kernel gave its disk: that has the ramp time
// too, and flushes.
func seenInGuest(w *record.Window, r load.Result) {
	d := r.After.Sub(r.Before)
	w.Evidence.PathRead, w.Evidence.PathWrite = d.ReadBytes, d.WriteBytes
	w.Evidence.PathReads, w.Evidence.PathWrites = d.Reads, d.Writes
	if d.Flushes >= 0 {
		w.Evidence.PathFlush = d.Flushes
	}
	if r.Elapsed > 0 {
		busy := float64(r.Busy) / float64(r.Elapsed)
		w.Evidence.GuestCPU = &busy
	}
}

// seenAtDevice notes what reached the physical disks.
func seenAtDevice(w *record.Window, d meter.Delta) {
	w.Evidence.DeviceRead, w.Evidence.DeviceWrite = &d.Disk.ReadBytes, &d.Disk.WriteBytes
	w.Evidence.DeviceReads, w.Evidence.DeviceWrites = &d.Disk.Reads, &d.Disk.Writes
	w.Evidence.DeviceFlush = d.Disk.Flushes
}

// seenOnHost notes what the host's processors and ZFS's cache did meanwhile.
func seenOnHost(w *record.Window, d meter.Delta) {
	busy := d.BusyCPUs()
	w.Evidence.HostCPU, w.Evidence.Steal = &busy, d.StealShare()
	if d.ARC != nil {
		w.Evidence.ARCHits, w.Evidence.ARCMisses = &d.ARC.Hits, &d.ARC.Misses
	}
}
