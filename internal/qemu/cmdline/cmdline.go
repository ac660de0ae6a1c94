// Package cmdline turns the description of a guest and its disks into QEMU's arguments. It is pure: it starts
// nothing, opens nothing and asks nothing of the host.
package cmdline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// MaxSocket is the longest path of a Unix socket in bytes, sun_path without its final zero.
const MaxSocket = 107

const (
	maxPCI   = 30 // free slots on the root bus of both machines once the chipset has its own
	mebibyte = 1 << 20
)

// Config is one guest. Empty strings leave the part out.
type Config struct {
	Binary  string // QEMU's path, the first argument
	Accel   string // "tcg" or "kvm"
	Machine string // one of spec.Machines
	CPUs    int    // vCPUs
	Memory  int64  // bytes, whole MiB
	Backend string // of the memory: one of spec.Memories, "" for QEMU's own choice where nothing needs another
	Pages   int64  // bytes of the huge pages under the memory, 0 for ordinary ones
	Folder  string // where the file of backend "file" is made: on a hugetlbfs for huge pages
	Kernel  string // bzImage or an ELF vmlinux with a PVH note
	Initrd  string
	Append  string // kernel command line
	Bios    string // firmware image, "" for QEMU's own
	Paused  bool   // created but not started, until QMP's cont

	QMPSocket     string // QEMU listens here for the monitor
	AgentSocket   string // QEMU listens here for the agent's port
	ConsoleFile   string // serial console into a file
	ConsoleSocket string // serial console on a socket; with neither it is QEMU's standard output

	Disks []Disk
}

// Args returns QEMU's argv, binary included. Everything wrong with c is returned at once, as errkind.List.
func Args(c Config) ([]string, error) {
	b := builder{machine: c.Machine}
	b.checkGuest(c)
	b.checkMemory(c)
	args := append([]string{c.Binary}, guestArgs(c)...)
	if c.AgentSocket != "" {
		b.agent(c.AgentSocket)
	}
	for _, d := range c.Disks {
		b.disk(d)
	}
	if b.slots > maxPCI {
		b.fault("%d PCI devices in one guest, at most %d fit: attach fewer disks or share controllers", b.slots, maxPCI)
	}
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	return append(args, b.args()...), nil
}

// IOThreads returns how many iothreads the arguments make, to be compared with what QEMU says it runs.
func IOThreads(args []string) int {
	n := 0
	for i, a := range args {
		if i > 0 && args[i-1] == "-object" && strings.HasPrefix(a, "iothread,") {
			n++
		}
	}
	return n
}

func (b *builder) checkGuest(c Config) {
	if c.Binary == "" {
		b.fault("no QEMU binary")
	}
	if c.Accel != "tcg" && c.Accel != "kvm" {
		b.fault("accelerator %q: want tcg or kvm", c.Accel)
	}
	if !slices.Contains(spec.Machines, c.Machine) {
		b.fault("machine %q: want one of %v", c.Machine, spec.Machines)
	}
	if c.CPUs < 1 {
		b.fault("%d CPUs: want at least 1", c.CPUs)
	}
	if c.Kernel == "" && (c.Initrd != "" || c.Append != "") {
		b.fault("an initrd or a kernel command line without a kernel")
	}
	if c.ConsoleFile != "" && c.ConsoleSocket != "" {
		b.fault("the console goes either to a file or to a socket")
	}
	for _, s := range []string{c.QMPSocket, c.AgentSocket, c.ConsoleSocket} {
		if len(s) > MaxSocket {
			b.fault("socket path of %d bytes, at most %d fit: %s", len(s), MaxSocket, s)
		}
	}
}

func guestArgs(c Config) []string {
	// debug-threads names the threads after their roles, which the pinning and the price of an I/O rely on.
	args := []string{
		"-name", "iotax,debug-threads=on",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-machine", machine(c.Machine),
	}
	args = append(args, accel(c.Accel)...)
	args = append(args, "-smp", smp(c.Accel, c.CPUs), "-m", fmt.Sprintf("%dM", c.Memory/mebibyte))
	args = append(args, memory(c)...)
	for _, o := range []struct{ flag, value string }{
		{"-bios", c.Bios}, {"-kernel", c.Kernel}, {"-initrd", c.Initrd}, {"-append", c.Append},
	} {
		if o.value != "" {
			args = append(args, o.flag, o.value)
		}
	}
	if c.Paused {
		args = append(args, "-S")
	}
	if c.QMPSocket != "" {
		o := listen("qmp", c.QMPSocket)
		args = append(args, o.flag, o.value(), "-mon", "chardev=qmp,mode=control")
	}
	o := console(c)
	return append(args, o.flag, o.value(), "-device", "isa-serial,chardev=console")
}

// machine leaves out q35's own AHCI controller: a SATA stack brings one, on either machine, and otherwise the
// guest would probe six empty ports at every boot.
func machine(name string) string {
	if name == "q35" {
		return "q35,sata=off"
	}
	return name
}

func accel(name string) []string {
	if name == "kvm" {
		return []string{"-accel", "kvm", "-cpu", "host"}
	}
	return []string{"-accel", "tcg,thread=multi"}
}

// smp never lets an emulated guest have one possible CPU: before QEMU commit c914d46d0a64 ("tcg: Do not elide
// memory barriers for !CF_PARALLEL in system mode", in 8.1) the guest's barriers are then dropped, and a virtio
// or NVMe disk under load loses a notification and hangs. A second possible CPU that is never plugged suffices.
func smp(accel string, cpus int) string {
	if accel == "tcg" && cpus == 1 {
		return "cpus=1,maxcpus=2"
	}
	return "cpus=" + strconv.Itoa(cpus)
}

func listen(id, path string) option {
	o := option{flag: "-chardev", head: "socket"}
	o.set("id", id)
	o.set("path", path)
	o.set("server", "on")
	o.set("wait", "off")
	return o
}

func console(c Config) option {
	if c.ConsoleSocket != "" {
		return listen("console", c.ConsoleSocket)
	}
	o := option{flag: "-chardev", head: "stdio"}
	if c.ConsoleFile != "" {
		o.head = "file"
	}
	o.set("id", "console")
	if c.ConsoleFile != "" {
		o.set("path", c.ConsoleFile)
	} else {
		o.set("signal", "off") // Ctrl-C belongs to iotax
	}
	return o
}

func (b *builder) agent(socket string) {
	b.add(listen("agent", socket))
	b.slots++
	controller := option{flag: "-device", head: "virtio-serial-pci"}
	controller.set("id", "agent-bus")
	b.add(controller)
	port := option{flag: "-device", head: "virtserialport"}
	port.set("bus", "agent-bus.0")
	port.set("chardev", "agent")
	port.set("name", wire.PortName)
	b.add(port)
}

// builder collects options and faults. One builder makes one guest.
type builder struct {
	machine     string // "" when only fragments are built: any machine will do
	options     []option
	serials     []string
	controllers []*controller
	ideDisks    int
	slots       int // PCI slots taken
	faults      errkind.List
}

func (b *builder) add(o option) { b.options = append(b.options, o) }

func (b *builder) fault(format string, args ...any) {
	b.faults = append(b.faults, errkind.Userf(format, args...))
}

func (b *builder) args() []string {
	var args []string
	for _, o := range b.options {
		args = append(args, o.flag, o.value())
	}
	return args
}
