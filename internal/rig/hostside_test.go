package rig

import (
	"errors"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

var errTrial = errors.New("trial")

// Where a load runs, and on what, follows from its stack.
func TestOnHostTarget(t *testing.T) {
	s := New(Config{Fio: "/usr/bin/fio", Note: func(string) {}}).session(plan.Group{})
	nbd := spec.Stack{Name: "nbd", Bus: "host", Protocol: "nbd"}
	s.beside = []intended{
		{stack: spec.Stack{Name: "plain", Bus: "host"}},
		{stack: nbd, disk: cmdline.Disk{Stack: nbd, Serial: "iotax-3", Socket: "/tmp/a b/iotax-3.served"}},
	}
	s.intended = []intended{{stack: spec.Stack{Name: "guest", Bus: "virtio-blk"}}}
	given := target{fio: "/cache/fio", filename: "/dev/sdb", offset: 1 << 20, size: 64 << 20, cpus: "0-1"}
	for _, stack := range []string{spec.Host, "plain"} {
		if got := s.onHostTarget(stack, given); got != given || s.inGuest(stack) {
			t.Errorf("%s: %+v", stack, got)
		}
	}
	got := s.onHostTarget("nbd", given)
	want := given
	want.fio, want.filename, want.offset, want.uri = "/usr/bin/fio", "iotax-3", 0, "nbd+unix:///iotax-3?socket=%2Ftmp%2Fa%20b%2Fiotax-3.served"
	if got != want || s.inGuest("nbd") || s.inGuest(spec.Control) || !s.inGuest("guest") {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, ok := s.intent("nbd"); ok {
		t.Error("a stack on the host is attached to the guest")
	}
	s.leaveOut(nbd, errTrial)
	if _, ok := s.onHost("nbd"); ok || len(s.beside) != 1 || s.absent["nbd"].why != "trial" {
		t.Errorf("left out: %+v, %+v", s.beside, s.absent)
	}
	if why := s.noMachine(); !strings.Contains(why, "stacks on the host: 1") {
		t.Errorf("%q", why)
	}
	s.beside = nil
	if why := s.noMachine(); !strings.Contains(why, "can offer none") {
		t.Errorf("%q", why)
	}
}

// A disk of the guest's own kernel is told from the others by its place, and is no device of QEMU's.
func TestInside(t *testing.T) {
	s := New(Config{Plan: plan.Plan{Experiment: spec.Experiment{Size: 1<<30 + 1}}}).session(plan.Group{
		Guest: spec.Guest{CPUs: 3},
		Stacks: []spec.Stack{
			{Name: "a", Bus: "null_blk"},
			{Name: "disk", Bus: "virtio-blk"},
			{Name: "b", Bus: "null_blk"},
		},
	})
	for i, stack := range s.group.Stacks {
		s.intended = append(s.intended, intended{stack, cmdline.Disk{Stack: stack}, s.diskSize(stack)})
		name, size := []string{"nullb0", "", "nullb1"}[i], []int64{2 << 30, 1<<30 + 1, 2 << 30}[i]
		if s.intended[i].size != size {
			t.Errorf("%s has %d bytes, want %d", stack.Name, s.intended[i].size, size)
		}
		if name == "" {
			continue
		}
		if got, err := s.nameOf(t.Context(), s.intended[i]); err != nil || got != name {
			t.Errorf("%s is %q, %v; want %q", stack.Name, got, err, name)
		}
	}
	const want = "queue_mode=2 irqmode=0 memory_backed=N bs=512 hw_queue_depth=256 nr_devices=2 submit_queues=3 gb=2"
	if got := s.nullParameters(); got != want {
		t.Errorf("the module is loaded with %q, want %q", got, want)
	}
	if c := s.config("", s.intended...); len(c.Disks) != 1 || c.Disks[0].Stack.Name != "disk" {
		t.Errorf("QEMU is given %+v", c.Disks)
	}
}
