package rig

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/wire"
)

// emulator is a guest of QEMU.
type emulator struct {
	*vm.VM
	guest   spec.Guest        // as intended
	servers map[string]Server // of its disks, by stack
}

func (q *emulator) agent() *guest.Client { return q.Agent }

func (q *emulator) facts() (time.Duration, []string) { return q.Ready, q.Args }

// name implements machine. What a vhost-user disk shows as its serial is its server's choice.
func (q *emulator) name(ctx context.Context, in intended) (string, error) {
	if !in.stack.VhostUser() {
		return in.disk.Serial, nil
	}
	addresses, err := q.QMP.PCIAddresses(ctx)
	return addresses[in.disk.DeviceID()], err
}

// hardware asks QEMU and the kernel how many vCPUs run and what is under the guest's memory.
func (q *emulator) hardware(ctx context.Context) (findings, error) {
	var f findings
	cpus, err := q.QMP.CPUs(ctx)
	if err != nil {
		return f, err
	}
	backend, err := q.backend(ctx)
	if err != nil {
		return f, err
	}
	page, err := proc.PageSize(q.Proc.PID(), q.guest.Memory)
	if err != nil {
		return f, err
	}
	f.effective = map[string]string{"vCPUs": strconv.Itoa(len(cpus)), "memory backend": backend}
	var d differs
	d.when(len(cpus) != q.guest.CPUs || q.Hello.CPUs != q.guest.CPUs, "%d vCPUs were asked for, but QEMU runs %d and the guest sees %d", q.guest.CPUs, len(cpus), q.Hello.CPUs)
	d.when(q.guest.MemoryBackend != "" && backend != q.guest.MemoryBackend, "memory backend %s was asked for, but QEMU has %s", q.guest.MemoryBackend, backend)
	if page != 0 {
		f.effective["memory page size"] = unit.ExactBytes(page)
		d.when(q.guest.Hugepages != 0 && page != q.guest.Hugepages, "pages of %s were asked for, but the kernel has pages of %s under the guest's memory",
			unit.ExactBytes(q.guest.Hugepages), unit.ExactBytes(page))
	}
	f.mismatch = d
	return f, nil
}

// backend names what QEMU made the guest's memory of: every machine has one object for it (since QEMU 5.0).
func (q *emulator) backend(ctx context.Context) (string, error) {
	var objects []struct {
		Type string `json:"type"`
	}
	if err := q.QMP.Call(ctx, "qom-list", map[string]string{"path": "/objects"}, &objects); err != nil {
		return "", err
	}
	for _, o := range objects {
		if kind, ok := strings.CutPrefix(o.Type, "child<memory-backend-"); ok {
			return strings.TrimSuffix(kind, ">"), nil
		}
	}
	return "unknown", nil
}

// look implements machine.
func (q *emulator) look(ctx context.Context, in intended, disk wire.Disk) (f findings, err error) {
	saw := seen{guest: disk}
	if f.args, err = cmdline.DiskArgs(in.disk); err != nil {
		return f, err
	}
	if server, ok := q.servers[in.stack.Name]; ok {
		err = saw.ask(ctx, server)
		f.config = strings.Join(saw.serving.Args, " ")
	} else {
		err = q.nodes(ctx, in, &saw)
	}
	if err != nil {
		return f, err
	}
	if in.stack.VhostUser() {
		saw.iothreads = saw.serving.IOThreads
	} else {
		saw.iothreads, err = q.iothreads(ctx, in, disk.Queues)
	}
	f.effective, f.mismatch = saw.effective(in), saw.mismatches(in)
	f.noFlush = saw.protocol.Cache.NoFlush || saw.top.Cache.NoFlush
	return f, err
}

// nodes looks at the block nodes of a disk that QEMU has open itself.
func (q *emulator) nodes(ctx context.Context, in intended, saw *seen) error {
	nodes, err := q.QMP.NamedBlockNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.NodeName == in.disk.ProtocolNode() {
			saw.protocol = n
		}
		if n.NodeName == in.disk.Node() {
			saw.top = n
		}
	}
	if in.stack.Ceiling() {
		return nil
	}
	direct, err := q.OpenDirect(in.disk.Path) // before the reopening that asks for the aio
	if err != nil {
		return err
	}
	saw.openDirect = &direct
	saw.aio, err = q.aioOf(ctx, in, saw.protocol.Cache)
	return err
}

// iothreads counts the iothreads that serve this disk: those that its device, or the controller in front of it, was
// given, that run, and that have a queue.
func (q *emulator) iothreads(ctx context.Context, in intended, queues int) (int, error) {
	device := in.disk.DeviceID()
	switch in.stack.Bus {
	case "virtio-blk":
	case "virtio-scsi", "virtio-scsi-single":
		var bus string // "/machine/peripheral/CONTROLLER/virtio-backend/..."
		if err := q.QMP.Property(ctx, device, "parent_bus", &bus); err != nil {
			return 0, err
		}
		device, _, _ = strings.Cut(strings.TrimPrefix(bus, "/machine/peripheral/"), "/")
	default:
		return 0, nil // QEMU serves them from its main loop
	}
	given, err := q.given(ctx, device)
	if err != nil || len(given) == 0 {
		return 0, err
	}
	running, err := q.QMP.IOThreads(ctx)
	n := 0
	for _, t := range running {
		if slices.Contains(given, t.ID) {
			n++
		}
	}
	if queues > 0 {
		n = min(n, queues)
	}
	return n, err
}

// given names the iothreads of a device: its one, or those of its mapping.
func (q *emulator) given(ctx context.Context, device string) (ids []string, err error) {
	var one string // "/objects/ID"
	if err := q.QMP.Property(ctx, device, "iothread", &one); err != nil {
		return nil, err
	}
	if one != "" {
		ids = append(ids, path.Base(one))
	}
	var mapping []struct {
		IOThread string `json:"iothread"`
	}
	err = q.QMP.Property(ctx, device, "iothread-vq-mapping", &mapping)
	var refused *qmp.Error
	if errors.As(err, &refused) { // a QEMU or a device that has none
		err = nil
	}
	for _, m := range mapping {
		ids = append(ids, m.IOThread)
	}
	return ids, err
}

// doubts implements machine: QEMU may have given up the aio that it was asked for.
func (q *emulator) doubts(ctx context.Context, in intended) ([]string, error) {
	if server, ok := q.servers[in.stack.Name]; ok {
		serving, err := server.Serving(ctx)
		if err != nil || serving.AIO == nil {
			return nil, err
		}
		return serving.doubts(in.stack), nil
	}
	aio, err := proc.AsyncIO(q.Proc.PID())
	if err != nil {
		return nil, err
	}
	return append(contradicted(aio, in.stack, "QEMU"), gaveUp(q.Proc.Fallbacks(), in.stack, "QEMU")...), nil
}

// doubts lists what shows only after a served disk has done I/O.
func (v Serving) doubts(s spec.Stack) []string {
	if v.AIO == nil {
		return nil
	}
	return append(contradicted(*v.AIO, s, s.Served()), gaveUp(v.Fallbacks, s, s.Served())...)
}

// gaveUp picks, of the lines in which a program said that it gave up an aio, those that are about the one of a stack.
func gaveUp(lines []string, s spec.Stack, program string) (doubts []string) {
	for _, line := range lines {
		ring := strings.Contains(line, "io_uring")
		if s.AIO == "io_uring" && ring || s.AIO == "native" && !ring {
			doubts = append(doubts, program+" said: "+line)
		}
	}
	return doubts
}

func contradicted(aio proc.AIO, s spec.Stack, program string) []string {
	why := aio.Contradicts(s.AIO)
	if why == "" {
		return nil
	}
	return []string{fmt.Sprintf("aio %s was asked for, but %s", s.AIO, strings.Replace(why, "QEMU", program, 1))}
}

// aioOf asks which aio a node was opened with. No query tells, but a node refuses to be reopened with another one
// ("Cannot change the option 'aio'"), so that reopening it as it was meant to be is a question with an answer. Its
// cache flags are given as they are, not as they were meant to be: asking must not mend what is wrong.
func (q *emulator) aioOf(ctx context.Context, in intended, is qmp.Cache) (string, error) {
	driver := "file"
	if in.disk.Block {
		driver = "host_device"
	}
	options := map[string]any{
		"driver": driver, "node-name": in.disk.ProtocolNode(), "filename": in.disk.Path, "aio": in.stack.AIO,
		"cache": map[string]bool{"direct": is.Direct, "no-flush": is.NoFlush},
	}
	if in.stack.Discard != "" {
		options["discard"] = in.stack.Discard
	}
	err := q.QMP.Call(ctx, "blockdev-reopen", map[string]any{"options": []any{options}}, nil)
	var refused *qmp.Error
	switch {
	case err == nil:
		return in.stack.AIO, nil
	case errors.As(err, &refused) && refused.Class == "CommandNotFound":
		return "", nil // before QEMU 6.1
	case errors.As(err, &refused):
		return "not " + in.stack.AIO + ": " + refused.Desc, nil
	}
	return "", err
}
