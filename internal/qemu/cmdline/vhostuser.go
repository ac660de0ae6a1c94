package cmdline

import (
	"slices"

	"github.com/iotax/iotax/internal/spec"
)

// NeedsSharedMemory reports whether the guest's memory must be shared with another process: the one that serves a
// vhost-user disk finds requests and data in it by itself.
func NeedsSharedMemory(s spec.Stack) bool { return s.VhostUser() }

// attachVhostUser adds a device whose queues another process serves over the disk's socket. Each has a controller
// of its own. It carries no serial that iotax could choose: what a guest reads there is the server's name for all of
// its disks ("vhost_user_blk" of qemu-storage-daemon, the kind of the bdev of SPDK), so the guest is to know it by
// its PCI address, which QMP tells.
//
// Without a number of queues QEMU asks the server for one per vCPU, and refuses to start when that offers fewer.
func (b *builder) attachVhostUser(d Disk) {
	socket := option{flag: "-chardev", head: "socket"}
	socket.set("id", d.Serial+"-socket")
	socket.set("path", d.Socket)
	b.add(socket)
	b.slots++
	o := option{flag: "-device", head: buses[d.Stack.Bus].device}
	o.set("id", d.DeviceID())
	o.set("chardev", d.Serial+"-socket")
	s := d.Stack
	s.IOThread = false // belongs to the process that serves the queues
	b.tune(&o, s, "")
	if s.Bus == "vhost-user-blk" {
		// Where the device lets the guest choose (config-wce), qemu-storage-daemon 7.2 shows it no write cache, whatever
		// its own mode: the guest would then never flush what the daemon holds back. Where it does not, the guest
		// takes the cache for granted, and flushes.
		o.set("config-wce", onOff(!cacheModes[s.Cache].writeCache))
	}
	b.add(o)
}

// checkServed refuses what no daemon would serve as it was asked for.
func (b *builder) checkServed(d Disk) {
	s := d.Stack
	nbd := s.Protocol == "nbd"
	if s.Protocol != "" && !slices.Contains(spec.Protocols, s.Protocol) {
		b.fault("disk %s: protocol %q: want one of %q", d.Serial, s.Protocol, spec.Protocols)
	}
	if s.Daemon != "" && !slices.Contains(spec.Daemons, s.Daemon) {
		b.fault("disk %s: daemon %q: want one of %q", d.Serial, s.Daemon, spec.Daemons)
	}
	switch {
	case s.Served() == "":
		return
	case nbd && s.VhostUser():
		b.fault("disk %s: bus %s does not go over NBD", d.Serial, s.Bus)
	case !nbd && !s.VhostUser():
		b.fault("disk %s: daemon %s needs protocol nbd or a vhost-user bus", d.Serial, s.Daemon)
	case nbd && s.Served() == "spdk":
		b.fault("disk %s: SPDK serves no NBD socket, only /dev/nbd of the host", d.Serial)
	case s.Bus == "vhost-user-scsi" && s.Served() != "spdk":
		b.fault("disk %s: %s does not serve vhost-user-scsi, only spdk does", d.Serial, s.Daemon)
	}
	switch {
	case d.Socket == "":
		b.fault("disk %s: no socket", d.Serial)
	case len(d.Socket) > MaxSocket:
		b.fault("disk %s: socket path of %d bytes, at most %d fit: %s", d.Serial, len(d.Socket), MaxSocket, d.Socket)
	}
}
