package rig

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm"
)

// start makes the guest of the session's group with every disk that it can have. What this host cannot offer is left
// out, down to a session without a guest; the error is a fault that would meet any guest.
func (s *session) start(ctx context.Context) error {
	if err := s.serve(ctx); err != nil { // first: SPDK takes huge pages for itself
		return err
	}
	if len(s.intended) == 0 { // all that there is to measure is on the host
		return nil
	}
	shared := slices.ContainsFunc(s.intended, func(in intended) bool { return cmdline.NeedsSharedMemory(in.stack) })
	folder, undo, err := s.memoryFor(s.group.Guest, shared)
	s.undos = append(s.undos, undo...)
	if err != nil {
		s.leaveOutAll(err)
		return nil
	}
	if s.group.Guest.Hypervisor != "" {
		return s.startDomain(ctx)
	}
	return s.startQEMU(ctx, folder)
}

// startQEMU starts a QEMU, without the disks that it refuses.
func (s *session) startQEMU(ctx context.Context, folder string) error {
	for len(s.intended) > 0 {
		machine, err := s.boots(ctx, s.config(folder, s.intended...))
		if err == nil {
			s.machine = &emulator{VM: machine, guest: s.group.Guest, servers: s.servers}
			return nil
		}
		refused, guest := s.refused(ctx, err, folder)
		if guest != "" && len(s.Plan.Groups) > 1 { // others may start
			s.leaveOutAll(errkind.Userf("QEMU refuses its guest: %s", guest))
			return nil
		}
		if len(refused) == 0 {
			return fmt.Errorf("the guest did not start: %w", err)
		}
		for stack, why := range refused {
			s.leaveOut(stack, errkind.Userf("QEMU refuses it: %s", why))
		}
	}
	return nil
}

// patience bounds the tries to boot a guest. Under emulation one boot in some hundred stands still before the agent
// starts, with all its vCPUs busy; the next one does not.
var patience = []time.Duration{45 * time.Second, 90 * time.Second, 3 * time.Minute}

// boots starts a guest, and once more when it does not come up.
func (s *session) boots(ctx context.Context, c vm.Config) (machine *vm.VM, err error) {
	for i, limit := range patience {
		c.Patience = limit
		machine, err = vm.Start(ctx, c)
		if !errors.Is(err, vm.ErrNotReady) || ctx.Err() != nil {
			return machine, err
		}
		if i < len(patience)-1 {
			s.Note(fmt.Sprintf("the guest did not come up within %v: started anew", limit))
		}
	}
	return machine, err
}

// anew tries to boot, and once more when the guest came up and was lost before all was found out of it: that happens as rarely.
func anew(ctx context.Context, note func(string), reason string, try func(reason string) (measure.Session, error)) (measure.Session, error) {
	s, err := try(reason)
	if !guest.Lost(err) || ctx.Err() != nil {
		return s, err
	}
	note(fmt.Sprintf("%v: the guest is started anew", err))
	return try(err.Error())
}

// config is the group's guest with some of its disks.
func (s *session) config(folder string, with ...intended) vm.Config {
	g := s.group.Guest
	c := vm.Config{
		Binary: s.Binary, Bios: s.Bios, Accel: s.Accel, Machine: s.group.Machine,
		CPUs: g.CPUs, Memory: g.Memory, MemoryBackend: g.MemoryBackend, Hugepages: g.Hugepages, MemoryFolder: folder,
		Image: s.Image, Dir: s.Dir, Name: "guest", Env: s.Env,
	}
	for _, in := range with {
		if !in.stack.InsideGuest() {
			c.Disks = append(c.Disks, in.disk)
		}
	}
	return c
}

// refused finds the stacks for which QEMU did not start, each with what QEMU says about it, or what it says about the
// guest as such: neither when err is about something else. QEMU complains of the first argument that it does not take,
// so those that it names are the ones; where it names none, the guest is tried without disks, then with each by itself.
func (s *session) refused(ctx context.Context, err error, folder string) (stacks map[spec.Stack]string, guest string) {
	found := map[spec.Stack]string{}
	exit := refusal(err)
	if exit == nil || ctx.Err() != nil {
		return nil, ""
	}
	for _, in := range s.intended {
		if line := complaint(exit, in.disk.Serial); line != "" {
			found[in.stack] = line
		}
	}
	if len(found) > 0 {
		return found, ""
	}
	if exit := refusal(vm.Try(ctx, s.config(folder))); exit != nil {
		return nil, complaint(exit, "")
	}
	for _, in := range s.intended {
		if exit := refusal(vm.Try(ctx, s.config(folder, in))); exit != nil {
			found[in.stack] = complaint(exit, "")
		}
	}
	return found, ""
}

// refusal is the end of a QEMU that did not take its arguments, nil for any other error.
func refusal(err error) *proc.Exit {
	var exit *proc.Exit
	if !errors.As(err, &exit) || exit.Status <= 0 || exit.Asked || exit.Panic != "" {
		return nil
	}
	return exit
}

// complaint returns the first line of QEMU's in which a disk is named, without the program and the argument before what
// it says; with serial "" the first that is no mere warning. "" when there is none.
func complaint(exit *proc.Exit, serial string) string {
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(serial) + `\b`)
	for line := range strings.Lines(exit.Stderr) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(line, ": warning: ") || serial != "" && !named.MatchString(line) {
			continue
		}
		for i := 1; i < len(exit.Argv); i++ {
			if _, rest, ok := strings.Cut(line, exit.Argv[i-1]+" "+exit.Argv[i]+": "); ok {
				return rest
			}
		}
		return strings.TrimPrefix(line, filepath.Base(exit.Argv[0])+": ")
	}
	return ""
}

// leaveOut goes on without a stack, and says why.
func (s *session) leaveOut(stack spec.Stack, why error) {
	a := absence{why: oneLine(why)}
	var e *errkind.Error
	if errors.As(why, &e) && e.Hint != "" {
		a.why, a.mend = oneLine(e.Err), e.Hint
	}
	s.absent[stack.Name] = a
	its := func(in intended) bool { return in.stack.Name == stack.Name }
	s.intended, s.beside = slices.DeleteFunc(slices.Clone(s.intended), its), slices.DeleteFunc(slices.Clone(s.beside), its)
	s.Note(fmt.Sprintf("%s is unavailable: %s", stack.Title, a.why))
}

// oneLine is what a table has room for: of a program that failed, its own words.
func oneLine(err error) string {
	var exit *proc.Exit
	var failed *sys.CommandError
	said := ""
	switch {
	case errors.As(err, &exit):
		said = complaint(exit, "")
		if said != "" {
			said = exit.Name + " refuses it: " + said
		}
	case errors.As(err, &failed):
		lines := strings.Split(strings.TrimSpace(failed.Stderr), "\n")
		said = lines[len(lines)-1]
		if said != "" {
			said = filepath.Base(failed.Argv[0]) + " said: " + said
		}
	}
	if said == "" {
		said = firstLine(err)
	}
	return said
}

func (s *session) leaveOutAll(why error) {
	for _, in := range s.intended {
		s.leaveOut(in.stack, why)
	}
}

// absence is why a session goes on without a stack, and what would mend that.
type absence struct{ why, mend string }
