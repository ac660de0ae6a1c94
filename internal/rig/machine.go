package rig

import (
	"context"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/wire"
)

// machine is the guest of a session, a QEMU or a domain of Xen, in what differs between the two.
type machine interface {
	// agent talks to the guest, and facts say how it was made: how long its agent took to answer, and the command.
	agent() *guest.Client
	facts() (ready time.Duration, argv []string)
	// Pin puts the guest on the CPUs that it may use, and says on which. Where no CPU is its own the policy is empty.
	Pin(ctx context.Context) (proc.Policy, error)
	// name says by what the guest's kernel knows a stack's disk: its serial or the address of its PCI device.
	name(ctx context.Context, in intended) (string, error)
	// hardware says what the guest really has of CPUs and memory.
	hardware(ctx context.Context) (findings, error)
	// look asks what serves a stack's disk, and compares it with what was intended. The guest sees it as disk.
	look(ctx context.Context, in intended, disk wire.Disk) (findings, error)
	// doubts lists what shows only after the disk has done I/O.
	doubts(ctx context.Context, in intended) ([]string, error)
	// Lost returns why the guest can do nothing more, nil when it lives and err was about something else. Explain adds
	// to an error what the guest and its hypervisor say about it.
	Lost(err error) error
	Explain(err error) error
	Close() error
}

// findings is what runs, and in words where it is not what was asked for.
type findings struct {
	effective map[string]string
	mismatch  []string
	noFlush   bool     // flushes are ignored
	args      []string // what QEMU was told
	config    string   // what another program was told
}
