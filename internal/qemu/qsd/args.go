// Package qsd runs qemu-storage-daemon: one for each disk that it has open in QEMU's place and serves over
// vhost-user-blk or NBD, so that the end of one is the end of one disk.
package qsd

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// Config is one daemon.
type Config struct {
	Binary    string       // qemu-storage-daemon's path, the first argument
	Disk      cmdline.Disk // what it opens; it listens at Disk.Socket
	CPUs      int          // vCPUs of the guest: what a vhost-user disk without a number of queues has
	QMPSocket string       // it listens here for the monitor
	Env       []string     // "name=value", added to the environment of iotax
}

// export is the daemon's word for how it serves a stack.
func export(s spec.Stack) string {
	if s.Protocol == "nbd" {
		return "nbd"
	}
	return "vhost-user-blk"
}

// Args returns the daemon's argv. The volume is opened as QEMU would open it, node for node and flag for flag.
// Everything wrong with c is returned at once, as errkind.List.
func Args(c Config) ([]string, error) {
	d := c.Disk
	var faults errkind.List
	if served := d.Stack.Served(); served != "qemu-storage-daemon" {
		faults = append(faults, errkind.Userf("disk %s: served by %q, not by qemu-storage-daemon", d.Serial, served))
	}
	if c.CPUs < 1 {
		faults = append(faults, errkind.Userf("disk %s: a guest of %d CPUs", d.Serial, c.CPUs))
	}
	if n := len(c.QMPSocket); n > cmdline.MaxSocket {
		faults = append(faults, errkind.Userf("socket path of %d bytes, at most %d fit: %s", n, cmdline.MaxSocket, c.QMPSocket))
	}
	faults = append(faults, faultsOf(d)...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	nodes, err := cmdline.Blockdevs(d)
	if err != nil {
		return nil, err
	}
	args := []string{
		c.Binary,
		"--chardev", value("socket", "id", "qmp", "path", c.QMPSocket, "server", "on", "wait", "off"),
		"--monitor", "chardev=qmp,mode=control",
	}
	for _, node := range nodes {
		args = append(args, "--blockdev", node)
	}
	return append(args, exportArgs(c)...), nil
}

// faultsOf lists what is wrong with the disk on the side of its client: bus, protocol and socket. On the host there is no QEMU
// that would be the client.
func faultsOf(d cmdline.Disk) (faults errkind.List) {
	if !d.Stack.OnHost() {
		if _, err := cmdline.DiskArgs(d); err != nil {
			faults = append(faults, err)
		}
		return faults
	}
	if n := len(d.Socket); n == 0 || n > cmdline.MaxSocket {
		faults = append(faults, errkind.Userf("disk %s: socket path of %d bytes, 1 to %d fit: %s", d.Serial, n, cmdline.MaxSocket, d.Socket))
	}
	return faults
}

// exportArgs serves the topmost node. An iothread is for the process that takes the guest's requests off its queues:
// over NBD that is QEMU, and a daemon that does nothing else does it in its main loop.
func exportArgs(c Config) []string {
	d := c.Disk
	common := []string{"id", d.Serial, "node-name", d.Node(), "writable", "on"}
	if _, _, writeCache := cmdline.CacheFlags(d.Stack.Cache); !writeCache && (export(d.Stack) != "nbd" || d.Stack.OnHost()) {
		common = append(common, "writethrough", "on") // for a guest over NBD, the device in QEMU sees to it
	}
	if export(d.Stack) == "nbd" {
		return []string{
			"--nbd-server", value("", "addr.type", "unix", "addr.path", d.Socket),
			"--export", value("nbd", append(common, "name", d.Serial)...),
		}
	}
	var args []string
	if d.Stack.IOThread {
		args = append(args, "--object", value("iothread", "id", d.IOThreadID()))
		common = append(common, "iothread", d.IOThreadID())
	}
	common = append(common, "addr.type", "unix", "addr.path", d.Socket, "num-queues", strconv.Itoa(queues(c)))
	return append(args, "--export", value("vhost-user-blk", common...))
}

// queues is how many queues the device in the guest will have: QEMU refuses to start where the daemon offers fewer.
func queues(c Config) int {
	if c.Disk.Stack.Queues != 0 {
		return c.Disk.Stack.Queues
	}
	return c.CPUs
}

// value renders an option: head, then keys and values in turn. QEMU's parser ends a value at a comma unless it is
// doubled.
func value(head string, pairs ...string) string {
	var parts []string
	if head != "" {
		parts = append(parts, head)
	}
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, pairs[i]+"="+strings.ReplaceAll(pairs[i+1], ",", ",,"))
	}
	return strings.Join(parts, ",")
}
