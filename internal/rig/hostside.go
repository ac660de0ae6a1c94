package rig

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// inGuest reports whether the load of a stack runs inside the guest.
func (s *session) inGuest(stack string) bool {
	_, beside := s.onHost(stack)
	return stack != spec.Host && stack != spec.Control && !beside
}

// onHost finds a stack whose load runs on the host.
func (s *session) onHost(stack string) (intended, bool) {
	i := slices.IndexFunc(s.beside, func(in intended) bool { return in.stack.Name == stack })
	if i < 0 {
		return intended{}, false
	}
	return s.beside[i], true
}

// noMachine says why a boot has no guest.
func (s *session) noMachine() string {
	if len(s.beside) > 0 {
		return fmt.Sprintf("no guest, stacks on the host: %d", len(s.beside))
	}
	return "this host can offer none of its stacks"
}

// onHostTarget leads fio to the export of a stack that is served over NBD. The copy of fio that the guest has forgot the library
// for it. A part of a device is the server's to know.
func (s *session) onHostTarget(stack string, t target) target {
	in, ok := s.onHost(stack)
	if !ok || in.stack.Protocol != "nbd" {
		return t
	}
	t.fio, t.filename, t.offset, t.uri = s.Fio, in.disk.Serial, 0, exportURI(in)
	return t
}

// exportURI is the address of a stack's export (the NBD project's doc/uri.md).
func exportURI(in intended) string {
	return "nbd+unix:///" + in.disk.Serial + "?socket=" + url.PathEscape(in.disk.Socket)
}

// settleHost finds out what the stacks on the host really are, and leaves out those that do not work.
func (s *session) settleHost(ctx context.Context) error {
	for _, in := range slices.Clone(s.beside) {
		found, err := s.inspectOnHost(ctx, in)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.leaveOut(in.stack, err)
		default:
			s.stacks = append(s.stacks, found)
		}
	}
	return nil
}

// inspectOnHost says of a stack on the host what is said of every stack, and probes where a flush ends: through the very
// program that makes its load.
func (s *session) inspectOnHost(ctx context.Context, in intended) (is record.Stack, err error) {
	is = record.Stack{Name: in.stack.Name, Title: in.stack.Title, Role: in.stack.Role}
	var write func() error
	noFlush := false
	switch {
	case in.stack.Bench():
		err = s.lookAtBench(ctx, in, &is)
		_, noFlush, _ = cmdline.CacheFlags(in.stack.Cache) // of the command itself: it has no monitor to be asked

		write = func() error { return s.probeByBench(ctx, in) }
	case in.stack.Protocol == "nbd":
		noFlush, err = s.lookAtExport(ctx, in, &is)
		write = func() error { return s.probeByNBD(ctx, in) }
	default:
		is.Effective = map[string]string{"O_DIRECT": "on", "engine": "libaio"}
		v := s.Volumes[in.stack.Name]
		write = func() error {
			_, err := load.Probe{Path: v.Path, Offset: v.Offset, Size: v.Size, Count: probeWrites}.Sync()
			return err
		}
	}
	if err != nil {
		return is, err
	}
	if in.stack.Ceiling() {
		is.Durability, is.DurabilityWhy = record.Unsafe, "nothing is kept: reads give zeros, writes are thrown away"
		return is, nil
	}
	is.Durability, is.DurabilityWhy, err = classify(noFlush, func() (probed, error) { return s.probe(in.stack.Name, write) })
	return is, err
}

// lookAtBench asks the kernel how qemu-img has the volume open.
func (s *session) lookAtBench(ctx context.Context, in intended, is *record.Stack) error {
	argv, err := bench.Args(s.QEMUImg, in.disk, bench.Load{BlockSize: probeBlock, Depth: 1, Count: 1, Step: probeBlock})
	if err != nil {
		return err
	}
	found, err := bench.Look(ctx, s.QEMUImg, in.disk, s.Env)
	if err != nil {
		return err
	}
	saw := seen{openDirect: found.Direct}
	is.QEMUArgs = argv
	is.Effective, is.Mismatch = saw.effective(in), saw.mismatches(in)
	is.Effective["engine"], is.Effective["format"] = "qemu-img bench", in.stack.Format
	delete(is.Effective, "iothread") // which no program on the host has
	if !in.stack.Ceiling() {
		is.Mismatch = append(is.Mismatch, contradicted(found.AIO, in.stack, "qemu-img")...)
	}
	return nil
}

// lookAtExport asks the server how it has the volume open, after it has done I/O, and whether it ignores flushes.
func (s *session) lookAtExport(ctx context.Context, in intended, is *record.Stack) (noFlush bool, err error) {
	server, ok := s.servers[in.stack.Name]
	if !ok {
		return false, errors.New("it has no server")
	}
	if err := s.probeByNBD(ctx, in); err != nil {
		return false, err
	}
	var saw seen
	if err := saw.ask(ctx, server); err != nil {
		return false, err
	}
	is.Config = strings.Join(saw.serving.Args, " ")
	is.Effective, is.Mismatch = saw.effective(in), saw.mismatches(in)
	is.Effective["engine"] = "nbd"
	delete(is.Effective, "iothread") // which no program on the host has
	is.Mismatch = append(is.Mismatch, saw.serving.doubts(in.stack)...)
	return saw.protocol.Cache.NoFlush || saw.top.Cache.NoFlush, nil
}

// probePatience bounds one probe.
const probePatience = 20 * time.Second

// probeByBench writes synchronously through QEMU's block layer: a flush after each write.
func (s *session) probeByBench(ctx context.Context, in intended) error {
	argv, err := bench.Args(s.QEMUImg, in.disk, bench.Load{
		Write: true, BlockSize: probeBlock, Depth: 1, Count: probeWrites, Step: probeBlock, FlushEvery: 1,
	})
	if err != nil {
		return err
	}
	_, err = s.runProbe(ctx, load.Request{Argv: argv})
	return err
}

// probeByNBD writes synchronously through the export: a flush after each write.
func (s *session) probeByNBD(ctx context.Context, in intended) error {
	job := fio.Job{
		Name: "probe", Filename: in.disk.Serial, Size: probeWrites * probeBlock, RW: "write", BS: probeBlock, FDataSync: 1,
		Extra: map[string]string{"disk_util": "0"},
	}
	overNBD(&job, exportURI(in))
	text, err := job.Text()
	if err != nil {
		return err
	}
	_, err = s.runProbe(ctx, load.Request{Argv: append([]string{s.Fio}, fio.Args("-")...), Input: text})
	return err
}

// runProbe runs a program that is to succeed.
func (s *session) runProbe(ctx context.Context, q load.Request) (load.Result, error) {
	q.Env, q.Timeout = s.Env, probePatience
	r, err := load.Run(ctx, q)
	switch {
	case err != nil:
		return r, err
	case r.Stalled != "":
		return r, errors.New(r.Stalled)
	case r.Exit != 0:
		return r, errors.New(said(fmt.Sprintf("%s ended with exit status %d", q.Argv[0], r.Exit), r.Stderr))
	}
	return r, nil
}
