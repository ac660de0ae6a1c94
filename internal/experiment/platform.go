package experiment

import (
	"context"

	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Platform is what decides which stacks can be offered.
type Platform struct {
	Caps       caps.Caps // of the QEMU that would run
	IOURing    error     // why the kernel does not let this process use io_uring; nil when it does
	BareDevice bool      // volumes lie on a block device, without a file system
	Others     []Lack    // what else may be missing, asked in order
}

// Lack says why a stack cannot be offered, in the guest that it needs, and what mends that; both are "" when it can.
type Lack func(ctx context.Context, s spec.Stack, g spec.Guest) (reason, mend string)

// Judge says of each stack, in order, whether the platform can offer it: Unavailable and Mend are empty when it can.
func (p Platform) Judge(ctx context.Context, e spec.Experiment) []record.Stack {
	var all []record.Stack
	for _, s := range e.Stacks {
		known := record.Stack{Name: s.Name, Title: s.Title, Role: s.Role, Durability: record.Unknown}
		known.Unavailable, known.Mend = p.lacks(ctx, s, e.GuestOf(s))
		all = append(all, known)
	}
	return all
}

func (p Platform) lacks(ctx context.Context, s spec.Stack, g spec.Guest) (reason, mend string) {
	for _, lack := range append([]Lack{p.block}, p.Others...) {
		if reason, mend = lack(ctx, s, g); reason != "" {
			return reason, mend
		}
	}
	return "", ""
}

// block is what QEMU, the kernel and the place of the volumes offer.
func (p Platform) block(_ context.Context, s spec.Stack, g spec.Guest) (reason, mend string) {
	if p.BareDevice && s.Format == "qcow2" && s.PlainFile() {
		return "an image needs a file system, and --device is a bare device", "give --scratch DIR"
	}
	if !s.BlockLayer() {
		return "", ""
	}
	if !s.OnHost() { // whose programs are asked by themselves
		if reason, mend = p.Caps.SupportsIn(s, g); reason != "" {
			return reason, mend
		}
	}
	if s.AIO == "io_uring" && !s.Ceiling() && p.IOURing != nil {
		return "io_uring cannot be used here: " + p.IOURing.Error(), "sysctl -w kernel.io_uring_disabled=0, outside of a container that forbids it"
	}
	return "", ""
}
