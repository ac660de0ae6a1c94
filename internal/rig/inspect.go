package rig

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// seen is what was found out of one stack's disk, from the host's side and from the guest's.
type seen struct {
	protocol, top qmp.BlockNode
	guest         wire.Disk
	aio           string // the node's aio, "" when this QEMU does not tell
	openDirect    *bool  // O_DIRECT on the file descriptor that QEMU holds, nil for null-co
	iothread      bool   // an iothread of its own or of its controller exists
}

// inspect asks QEMU, the host's kernel and the guest's kernel what the stack really is, compares it with what was
// intended, and probes where a flush ends.
func (s *session) inspect(ctx context.Context, in intended) (record.Stack, error) {
	found := record.Stack{Name: in.stack.Name, Title: in.stack.Title, Role: in.stack.Role}
	var err error
	if found.QEMUArgs, err = cmdline.DiskArgs(in.disk); err != nil {
		return found, err
	}
	saw, err := s.look(ctx, in)
	if err != nil {
		return found, err
	}
	found.Effective = saw.effective(in)
	found.Mismatch = saw.mismatches(in)
	if in.stack.Ceiling() {
		found.Durability, found.DurabilityWhy = record.Unsafe, "nothing is kept: reads give zeros, writes are thrown away"
		return found, nil
	}
	p, err := s.probeGuest(ctx, in)
	if err != nil {
		return found, err
	}
	if found.Mismatch, err = s.fellBack(in, found.Mismatch); err != nil {
		return found, err
	}
	found.Durability, found.DurabilityWhy = durability(saw.protocol.Cache.NoFlush || saw.top.Cache.NoFlush, p)
	return found, nil
}

// look gathers the facts of one disk.
func (s *session) look(ctx context.Context, in intended) (seen, error) {
	var saw seen
	nodes, err := s.vm.QMP.NamedBlockNodes(ctx)
	if err != nil {
		return saw, err
	}
	for _, n := range nodes {
		switch n.NodeName {
		case in.disk.ProtocolNode():
			saw.protocol = n
			if in.stack.Ceiling() {
				saw.top = n
			}
		case in.disk.Node():
			saw.top = n
		}
	}
	disks, err := s.vm.Agent.Disks(ctx)
	if err != nil {
		return saw, err
	}
	for _, d := range disks {
		if d.Serial == in.disk.Serial {
			saw.guest = d
		}
	}
	threads, err := s.vm.QMP.IOThreads(ctx)
	if err != nil {
		return saw, err
	}
	saw.iothread = servedBy(in, threads)
	if in.stack.Ceiling() {
		return saw, nil
	}
	direct, err := s.vm.OpenDirect(in.disk.Path) // before the reopening that asks for the aio
	if err != nil {
		return saw, err
	}
	saw.openDirect = &direct
	saw.aio, err = s.aioOf(ctx, in, saw.protocol.Cache)
	return saw, err
}

// fellBack adds what shows, after the disk has done I/O, that QEMU gave up the aio that it was asked for.
func (s *session) fellBack(in intended, known []string) ([]string, error) {
	aio, err := proc.AsyncIO(s.vm.Proc.PID())
	if err != nil {
		return known, err
	}
	if why := aio.Contradicts(in.stack.AIO); why != "" {
		known = append(known, fmt.Sprintf("aio %s was asked for, but %s", in.stack.AIO, why))
	}
	for _, line := range s.vm.Proc.Fallbacks() {
		ring := strings.Contains(line, "io_uring")
		if in.stack.AIO == "io_uring" && ring || in.stack.AIO == "native" && !ring {
			known = append(known, "QEMU said: "+line)
		}
	}
	return known, nil
}

// hostStacks says of the baseline and its control what is said of every stack.
func (s *session) hostStacks() ([]record.Stack, error) {
	v, ok := s.Volumes[spec.Host]
	if !ok {
		return nil, nil
	}
	p, err := s.probeHost(v)
	if err != nil {
		return nil, err
	}
	host := record.Stack{Name: spec.Host, Title: "host", Effective: map[string]string{"O_DIRECT": "on", "engine": "libaio"}}
	host.Durability, host.DurabilityWhy = durability(false, p)
	control := host
	control.Name, control.Title = spec.Control, "host again (control)"
	return []record.Stack{host, control}, nil
}

// servedBy reports whether an iothread exists for the disk: its own, or its controller's.
func servedBy(in intended, threads []qmp.IOThread) bool {
	args, err := cmdline.DiskArgs(in.disk)
	if err != nil {
		return false
	}
	return cmdline.IOThreads(args) > 0 && len(threads) > 0
}

// aioOf asks which aio a node was opened with. No query tells, but a node refuses to be reopened with another one
// ("Cannot change the option 'aio'"), so that reopening it as it was meant to be is a question with an answer. Its
// cache flags are given as they are, not as they were meant to be: asking must not mend what is wrong.
func (s *session) aioOf(ctx context.Context, in intended, is qmp.Cache) (string, error) {
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
	err := s.vm.QMP.Call(ctx, "blockdev-reopen", map[string]any{"options": []any{options}}, nil)
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

// effective lists what was found, for a reader.
func (w seen) effective(in intended) map[string]string {
	onOff := func(b bool) string {
		if b {
			return "on"
		}
		return "off"
	}
	m := map[string]string{
		"cache.direct":           onOff(w.protocol.Cache.Direct),
		"cache.no-flush":         onOff(w.protocol.Cache.NoFlush),
		"format":                 w.top.Driver,
		"protocol":               w.protocol.Driver,
		"detect-zeroes":          w.top.DetectZeroes,
		"iothread":               onOff(w.iothread),
		"guest disk":             w.guest.Name,
		"guest write cache":      w.guest.WriteCache,
		"guest scheduler":        w.guest.Scheduler,
		"guest queues":           strconv.Itoa(w.guest.Queues),
		"guest logical block":    w.guest.Logical,
		"guest physical block":   w.guest.Physical,
		"guest read-ahead (KiB)": w.guest.ReadAhead,
	}
	if w.aio != "" {
		m["aio"] = w.aio
	}
	if w.openDirect != nil {
		m["O_DIRECT"] = onOff(*w.openDirect)
	}
	return m
}

// mismatches says, in words, where what runs is not what was asked for.
func (w seen) mismatches(in intended) []string {
	var out []string
	differ := func(wrong bool, format string, args ...any) {
		if wrong {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	mode := in.stack.Cache
	direct, noFlush, writeCache := cmdline.CacheFlags(mode)
	if !in.stack.Ceiling() {
		differ(w.protocol.Cache.Direct != direct, "cache %s was asked for, but QEMU's node has cache.direct %v", mode, w.protocol.Cache.Direct)
		differ(w.protocol.Cache.NoFlush != noFlush, "cache %s was asked for, but QEMU's node has cache.no-flush %v", mode, w.protocol.Cache.NoFlush)
		differ(w.openDirect != nil && *w.openDirect != direct, "cache %s was asked for, but O_DIRECT is %v on the open file", mode, !direct)
		differ(w.aio != "" && w.aio != in.stack.AIO, "aio %s was asked for, but the node has %s", in.stack.AIO, w.aio)
	}
	differ(in.stack.IOThread && !w.iothread, "an iothread was asked for, but none serves this disk")
	differ(!writeCache && mode != "" /* a disk of zero latency may have none */ && w.guest.WriteCache == "write back", "cache %s was asked for, but the guest sees a volatile write cache", mode)
	differ(writeCache && !in.stack.Ceiling() && w.guest.WriteCache == "write through",
		"cache %s was asked for, but the guest sees no write cache and will not flush", mode)
	differ(w.guest.Size != in.size, "the guest sees a disk of %d bytes, expected %d", w.guest.Size, in.size)
	return out
}
