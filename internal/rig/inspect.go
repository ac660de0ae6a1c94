package rig

import (
	"context"
	"maps"
	"strconv"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// inspect asks the hypervisor, the host's kernel and the guest's kernel what the stack really is, compares it with
// what was intended, and probes where a flush ends.
func (s *session) inspect(ctx context.Context, in intended) (record.Stack, error) {
	is := record.Stack{Name: in.stack.Name, Title: in.stack.Title, Role: in.stack.Role}
	found, err := s.look(ctx, in)
	if err != nil {
		return is, err
	}
	is.QEMUArgs, is.Config = found.args, found.config
	is.Effective, is.Mismatch = guestSide(in, s.disks[in.stack.Name])
	maps.Copy(is.Effective, s.hardware.effective)
	maps.Copy(is.Effective, found.effective)
	is.Mismatch = append(append(found.mismatch, is.Mismatch...), s.hardware.mismatch...)
	if in.stack.Ceiling() {
		is.Durability, is.DurabilityWhy = record.Unsafe, "nothing is kept: reads give zeros, writes are thrown away"
		return is, nil
	}
	is.Durability, is.DurabilityWhy, err = classify(found.noFlush, func() (probed, error) { return s.probeGuest(ctx, in) })
	if err != nil {
		return is, err
	}
	doubts, err := s.machine.doubts(ctx, in)
	if err != nil {
		return is, err
	}
	is.Mismatch = append(is.Mismatch, doubts...)
	return is, nil
}

// hostStacks says of the baseline and its control what is said of every stack.
func (s *session) hostStacks() ([]record.Stack, error) {
	v, ok := s.Volumes[spec.Host]
	if !ok {
		return nil, nil
	}
	class, why, err := classify(false, func() (probed, error) { return s.probeHost(v) })
	if err != nil {
		return nil, err
	}
	host := record.Stack{Name: spec.Host, Title: "host", Effective: map[string]string{"O_DIRECT": "on", "engine": "libaio"}}
	host.Durability, host.DurabilityWhy = class, why
	control := host
	control.Name, control.Title = spec.Control, "host again (control)"
	return []record.Stack{host, control}, nil
}

// seen is what was found out of one stack's disk on the side of QEMU or of the disk's server.
type seen struct {
	protocol, top qmp.BlockNode
	guest         wire.Disk
	aio           string // the node's aio, "" when this QEMU does not tell
	openDirect    *bool  // O_DIRECT on the file descriptor that QEMU or the server holds, nil for null-co
	iothreads     int    // that serve this disk
	serving       Serving
}

// ask takes from the server what is its.
func (w *seen) ask(ctx context.Context, server Server) (err error) {
	w.serving, err = server.Serving(ctx)
	w.protocol, w.top, w.openDirect = w.serving.Protocol, w.serving.Top, w.serving.Direct
	return err
}

// effective lists what was found, for a reader.
func (w seen) effective(in intended) map[string]string {
	m := map[string]string{"iothread": onOff(w.iothreads > 0)}
	if w.protocol.Driver != "" {
		m["cache.direct"], m["cache.no-flush"] = onOff(w.protocol.Cache.Direct), onOff(w.protocol.Cache.NoFlush)
		m["format"], m["protocol"], m["detect-zeroes"] = w.top.Driver, w.protocol.Driver, w.top.DetectZeroes
	}
	if in.stack.VQMapping > 0 {
		m["iothreads"] = strconv.Itoa(w.iothreads)
	}
	if w.aio != "" {
		m["aio"] = w.aio
	}
	if w.openDirect != nil {
		m["O_DIRECT"] = onOff(*w.openDirect)
	}
	if served := in.stack.Served(); served != "" {
		m["server"] = served
	}
	maps.Copy(m, w.serving.Settings)
	return m
}

// mismatches says, in words, where what runs is not what was asked for.
func (w seen) mismatches(in intended) []string {
	var d differs
	mode, who := in.stack.Cache, "QEMU"
	if served := in.stack.Served(); served != "" {
		who = served
	}
	direct, noFlush, _ := cmdline.CacheFlags(mode)
	if w.protocol.Driver != "" && !in.stack.Ceiling() {
		d.when(w.protocol.Cache.Direct != direct, "cache %s was asked for, but %s's node has cache.direct %v", mode, who, w.protocol.Cache.Direct)
		d.when(w.protocol.Cache.NoFlush != noFlush, "cache %s was asked for, but %s's node has cache.no-flush %v", mode, who, w.protocol.Cache.NoFlush)
	}
	if !in.stack.Ceiling() {
		d.when(w.openDirect != nil && *w.openDirect != direct, "cache %s was asked for, but O_DIRECT is %v on the open file", mode, !direct)
		d.when(w.aio != "" && w.aio != in.stack.AIO, "aio %s was asked for, but the node has %s", in.stack.AIO, w.aio)
	}
	d.when(in.stack.IOThread && w.iothreads == 0, "an iothread was asked for, but none serves this disk")
	d.when(in.stack.VQMapping != 0 && w.iothreads != in.stack.VQMapping, "queues spread over %d iothreads were asked for, but %d serve this disk", in.stack.VQMapping, w.iothreads)
	d.when(!in.stack.IOThread && in.stack.VQMapping == 0 && w.iothreads > 0, "no iothread was asked for, but one serves this disk")
	return d
}
