package emit

import (
	"errors"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/sys"
)

// serial is the name of the disk in QEMU, and of its export at a daemon.
const serial = "disk0"

// qemu writes the arguments that a run starts its guest with, without those of the guest that it boots.
func (e *emitter) qemu() {
	if !e.only([]reason{{e.s.Xen(), "it was measured under Xen; --as xl says it"}}) {
		return
	}
	g, machine := e.o.Guest, e.o.Machine
	if machine == "" {
		machine = "q35"
	}
	var args []string
	var err error
	if e.o.DiskOnly {
		args, err = cmdline.DiskArgs(e.disk())
	} else {
		args, err = cmdline.Args(cmdline.Config{
			Binary: "qemu-system-x86_64", Accel: e.o.Accel, Machine: machine, CPUs: g.CPUs, Memory: g.Memory,
			Backend: g.MemoryBackend, Pages: g.Hugepages, Folder: memoryFolder(g.MemoryBackend, g.Hugepages), Disks: []cmdline.Disk{e.disk()},
		})
	}
	e.fault(err)
	e.Args = args
	e.Text = commandLines(args)
	e.serve()
}

// fault takes over what another builder found wrong.
func (e *emitter) fault(err error) {
	var list errkind.List
	switch {
	case errors.As(err, &list):
		for _, one := range list {
			e.refuse("%v", one)
		}
	case err != nil:
		e.refuse("%v", err)
	}
}

// memoryFolder is where a machine has its memory in a file; huge pages of a size that is not the host's own choice need a
// mount of theirs.
func memoryFolder(backend string, pages int64) string {
	switch {
	case backend != "file":
		return ""
	case pages != 0:
		return "/dev/hugepages"
	}
	return "/dev/shm"
}

// disk is the stack's disk as package cmdline takes it.
func (e *emitter) disk() cmdline.Disk {
	d := cmdline.Disk{Stack: e.s, Serial: serial, Path: e.Disk, Base: e.base(), Block: e.block()}
	if e.s.Ceiling() {
		d.Size = e.o.Size
	}
	if e.s.Served() != "" {
		d.Socket = e.socket()
	}
	return d
}

// serve gives the daemon that a served disk needs.
func (e *emitter) serve() {
	switch e.s.Served() {
	case "":
	case "qemu-storage-daemon":
		argv, err := qsd.Args(qsd.Config{
			Binary: "qemu-storage-daemon", Disk: e.disk(), CPUs: e.o.Guest.CPUs, QMPSocket: strings.TrimSuffix(e.socket(), ".sock") + "-qmp.sock",
		})
		e.fault(err)
		e.command(argv...)
	default:
		e.note("it was served by " + e.s.Served() + ": its target must serve " + e.Disk + " at " + e.socket() + " first")
	}
}

// commandLines writes argv for a shell, each option on a line of its own.
func commandLines(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		switch {
		case i == 0:
		case strings.HasPrefix(arg, "-"):
			b.WriteString(" \\\n  ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(sys.Quote([]string{arg}))
	}
	b.WriteString("\n")
	return b.String()
}
