package rig

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// settle loads drivers, waits for every disk and sets its queue, pins the threads, and finds out what really runs.
func (s *session) settle(ctx context.Context) error {
	if err := s.loadDrivers(ctx); err != nil {
		return s.machine.Explain(err)
	}
	if err := s.findDisks(ctx); err != nil {
		return s.machine.Explain(err)
	}
	if err := s.tune(ctx); err != nil {
		return s.machine.Explain(err)
	}
	if err := s.pin(ctx); err != nil {
		return s.machine.Explain(err)
	}
	hardware, err := s.machine.hardware(ctx)
	if err != nil {
		return s.machine.Explain(err)
	}
	hardware.effective["pinning"] = pinned(s.policy)
	s.hardware = hardware
	for _, in := range s.intended {
		found, err := s.inspect(ctx, in)
		if err != nil {
			if dead := s.unserved(in.stack.Name); dead != nil {
				s.leaveOut(in.stack, dead)
				continue
			}
			return s.machine.Explain(err)
		}
		s.stacks = append(s.stacks, found)
	}
	return nil
}

// loadDrivers loads what the guest's disks and their schedulers need.
func (s *session) loadDrivers(ctx context.Context) error {
	var drivers []string
	for _, in := range s.intended {
		modules := guest.Scheduler(in.stack.Scheduler)
		if _, missing := s.Image.Modules(modules...); len(missing) > 0 {
			s.leaveOut(in.stack, errkind.WithHint(errkind.Userf("the guest's kernel %s has no scheduler %s", s.Image.Release, in.stack.Scheduler),
				"give a kernel that has it with --kernel and --modules"))
			continue
		}
		drivers = append(append(drivers, guest.Drivers(in.stack.Bus)...), modules...)
	}
	paths, missing := s.Image.Modules(drivers...)
	if len(missing) > 0 { // experiment leaves such stacks out
		return fmt.Errorf("kernel %s has no driver %s", s.Image.Release, strings.Join(missing, ", "))
	}
	return s.agent().LoadWith(ctx, paths, map[string]string{nullBlk: s.nullParameters()})
}

// diskPatience is how long drivers may take to find their disks: LSI's resets its bus for 3 s.
const diskPatience = 30 * time.Second

// findDisks waits until the guest has every disk. Stacks whose disk does not come are left out, the others are not.
func (s *session) findDisks(ctx context.Context) error {
	names := map[string]string{} // stack -> by what the guest knows its disk
	for _, in := range s.intended {
		name, err := s.nameOf(ctx, in)
		if err != nil {
			return err
		}
		names[in.stack.Name] = name
	}
	start := time.Now()
	for {
		found, err := s.agent().Disks(ctx)
		if err != nil {
			return err
		}
		var missing []spec.Stack
		for _, in := range s.intended {
			disk, ok := called(names[in.stack.Name], found)
			s.disks[in.stack.Name] = disk
			if !ok {
				missing = append(missing, in.stack)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if waited := time.Since(start); waited > diskPatience {
			for _, stack := range missing {
				s.leaveOut(stack, fmt.Errorf("the guest did not see the disk within %.0f s", waited.Seconds()))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// called finds the disk of a serial or a PCI address.
func called(name string, disks []wire.Disk) (wire.Disk, bool) {
	for _, d := range disks {
		if name != "" && (d.Serial == name || d.Address == name) {
			return d, true
		}
	}
	return wire.Disk{}, false
}

// tune sets the scheduler and read-ahead of the disks whose stacks say so, and looks at all of them again.
func (s *session) tune(ctx context.Context) error {
	tuned := false
	for _, in := range s.intended {
		q := wire.Tune{Disk: s.disks[in.stack.Name].Name, Scheduler: in.stack.Scheduler, ReadAhead: readAhead(in.stack.ReadAhead)}
		if q.Scheduler == "" && q.ReadAhead == "" {
			continue
		}
		tuned = true
		if err := s.agent().Tune(ctx, q); err != nil {
			if ctx.Err() != nil || s.machine.Lost(err) != nil {
				return err
			}
			s.leaveOut(in.stack, err)
		}
	}
	if !tuned {
		return nil
	}
	return s.findDisks(ctx)
}

// pin puts the guest's threads, and those of its disks' servers, on CPUs of their own unless the guest is to do without.
func (s *session) pin(ctx context.Context) (err error) {
	if s.group.Guest.Pinning == "off" {
		return nil
	}
	if s.policy, err = s.machine.Pin(ctx); err != nil {
		return err
	}
	return s.pinServers(ctx)
}

// pinned says where a guest's threads run.
func pinned(p proc.Policy) string {
	if len(p.VCPUs) == 0 {
		return "off"
	}
	text := fmt.Sprintf("vCPUs on CPUs %s", cpuList(p.VCPUs))
	if len(p.Others) > 0 {
		text += fmt.Sprintf(", all else on %s", cpuList(p.Others))
	}
	return text
}

// absentStacks says of every stack that was left out why.
func (s *session) absentStacks() (out []record.Stack) {
	for _, stack := range s.group.Stacks {
		if a, ok := s.absent[stack.Name]; ok {
			out = append(out, record.Stack{
				Name: stack.Name, Title: stack.Title, Role: stack.Role, Durability: record.Unknown, Unavailable: a.why, Mend: a.mend, AtBoot: true,
			})
		}
	}
	return out
}
