package rig

import (
	"context"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// nullBlk is the module of the guest's kernel whose disks answer at once.
const nullBlk = "null_blk"

// nullSettings are the parameters of null_blk (Documentation/block/null_blk.rst) that make it what a disk of no latency under
// virtual hardware is: an I/O passes the multi-queue block layer and is completed where it was submitted, nothing
// is kept, and there are queues for as many I/Os as a virtio-blk disk has by default.
var nullSettings = []struct{ name, value string }{
	{"queue_mode", "2"}, {"irqmode", "0"}, {"memory_backed", "N"}, {"bs", "512"}, {"hw_queue_depth", "256"},
}

// nullParameters are those of all stacks of the guest together: the module is loaded once.
func (s *session) nullParameters() string {
	var text []string
	for _, p := range nullSettings {
		text = append(text, p.name+"="+p.value)
	}
	for _, p := range s.nullCounts() {
		text = append(text, p.name+"="+p.value)
	}
	return strings.Join(text, " ")
}

// nullCounts are the parameters that follow from the guest: a disk for each stack, a queue for each vCPU.
func (s *session) nullCounts() []struct{ name, value string } {
	return []struct{ name, value string }{
		{"nr_devices", strconv.Itoa(len(s.inside()))},
		{"submit_queues", strconv.Itoa(s.group.Guest.CPUs)},
		{"gb", strconv.FormatInt(wholeGiB(s.Plan.Experiment.Size)>>30, 10)},
	}
}

// inside lists the stacks of the guest's own kernel; the n-th has the disk nullbN.
func (s *session) inside() (names []string) {
	for _, stack := range s.group.Stacks {
		if stack.InsideGuest() {
			names = append(names, stack.Name)
		}
	}
	return names
}

// diskSize is what the guest should see of a stack's disk. One of null_blk has whole GiB, of which loads use as much as of the
// others.
func (r *Rig) diskSize(stack spec.Stack) int64 {
	if stack.InsideGuest() {
		return wholeGiB(r.Plan.Experiment.Size)
	}
	return r.Plan.Experiment.Size
}

func wholeGiB(size int64) int64 { return (size + 1<<30 - 1) >> 30 << 30 }

// nameOf says by what the guest's kernel knows a stack's disk.
func (s *session) nameOf(ctx context.Context, in intended) (string, error) {
	for i, name := range s.inside() {
		if name == in.stack.Name {
			return wire.NullBlk + strconv.Itoa(i), nil
		}
	}
	return s.machine.name(ctx, in)
}

// look asks what a stack's disk really is: the guest's own kernel, or what serves it from outside.
func (s *session) look(ctx context.Context, in intended) (findings, error) {
	if !in.stack.InsideGuest() {
		return s.machine.look(ctx, in, s.disks[in.stack.Name])
	}
	f := findings{effective: map[string]string{}, config: "modprobe " + nullBlk + " " + s.nullParameters()}
	var d differs
	for _, want := range append(s.nullCounts(), nullSettings...) { // a module that is built in was not ours to load
		text, err := s.agent().ReadFile(ctx, "/sys/module/"+nullBlk+"/parameters/"+want.name)
		if err != nil {
			return f, err
		}
		is := strings.TrimSpace(text)
		f.effective[nullBlk+"."+want.name] = is
		d.when(is != want.value, "%s was to have %s=%s, but the guest's kernel has %s", nullBlk, want.name, want.value, is)
	}
	f.mismatch = d
	return f, nil
}
