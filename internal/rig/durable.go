package rig

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// probeWrites is how many synchronous writes a probe makes: enough to stand out from what others do to the device.
const (
	probeWrites = 16
	probeBlock  = 4096 // bytes of each
)

// probed is what a probe saw on both sides.
type probed struct {
	asked    int64 // bytes written, as the side that wrote them counts
	device   meter.Disk
	counted  bool   // the device could be watched
	volatile bool   // the device has a write cache of its own, so that a flush must reach it
	why      string // why the device could not be watched
}

// probeGuest writes synchronously inside the guest and watches what reaches the device.
func (s *session) probeGuest(ctx context.Context, in intended) (probed, error) {
	disk := s.disks[in.stack.Name].Name
	return s.probe(in.stack.Name, func() error {
		_, err := s.agent().Probe(ctx, load.Probe{Path: "/dev/" + disk, Disk: disk, Size: in.size, Count: probeWrites})
		return err
	})
}

// probeHost does the same on the host's own volume: the baseline has a durability class too.
func (s *session) probeHost(v provision.Volume) (probed, error) {
	return s.probe(spec.Host, func() error {
		_, err := load.Probe{Path: v.Path, Offset: v.Offset, Size: v.Size, Count: probeWrites}.Sync()
		return err
	})
}

// probeTries is how often a probe may say that a flush does not end on the device before it is believed. Of flushes that
// are asked for at the same time the kernel makes one (block/blk-flush.c), so that beside others at work some of ours
// may not show.
const probeTries = 3

// classify probes and decides.
func classify(noFlush bool, probe func() (probed, error)) (class, why string, err error) {
	for range probeTries {
		p, err := probe()
		if err != nil {
			return "", "", err
		}
		if class, why = durability(noFlush, p); class != record.Volatile {
			break
		}
	}
	return class, why, nil
}

// probe watches the device under a stack's volume while write runs.
func (r *Rig) probe(stack string, write func() error) (probed, error) {
	p := probed{asked: probeWrites * probeBlock}
	watch := r.meterOf(stack)
	before, err := watch.Snapshot()
	if err != nil {
		return p, err
	}
	if err := write(); err != nil {
		return p, err
	}
	after, err := watch.Snapshot()
	if err != nil {
		return p, err
	}
	delta, err := after.Sub(before)
	if err != nil || !delta.HasDisks {
		p.why = "the device under the volume cannot be watched"
		return p, nil
	}
	p.counted, p.device = true, delta.Disk
	p.volatile = r.WriteCache[stack] == "write back"
	return p, nil
}

// durability decides the class from what runs and from the probe, never from the mode's name: the flags say
// what QEMU means to do, the probe says what arrived.
func durability(noFlush bool, p probed) (class, why string) {
	if noFlush {
		return record.Unsafe, "QEMU ignores flushes (cache.no-flush is on)"
	}
	if !p.counted {
		return record.Unknown, p.why + ": that a flush ends there could not be probed"
	}
	written := p.device.WriteBytes
	if written < p.asked {
		return record.Volatile, fmt.Sprintf("after %d synchronous writes, %d of %d bytes had reached the device", probeWrites, written, p.asked)
	}
	if p.volatile && p.device.Flushes != nil {
		if n := *p.device.Flushes; n < probeWrites {
			return record.Volatile, fmt.Sprintf("%d synchronous writes made %d flushes at a device that has a write cache", probeWrites, n)
		}
		return record.Durable, fmt.Sprintf("%d synchronous writes made %d flushes at the device", probeWrites, *p.device.Flushes)
	}
	return record.Durable, fmt.Sprintf("%d synchronous writes put %d bytes on the device", probeWrites, written)
}
