package audit

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// Sizes of QEMU's queues.
const (
	queueSizeNow = 256 // default of virtio-blk and virtio-scsi since machine type 5.0
	mostQueues   = 64  // that are proposed: beyond it interrupt vectors cost more than queues give
)

var queueRules = []Rule{{
	ID: "IOT023", Title: "one queue for several vCPUs", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a virtio disk with one queue in a machine of two vCPUs or more: written, or the default of machine types up to 5.1.",
	Why:     "All vCPUs wait for one lock, and one of them gets every interrupt and all the work of completion.",
	Sources: []string{qemuCompat, libvirtDomain},
	disk: func(d disk) []Finding {
		cpus, _ := d.vm.cpus()
		n, known := number(d.queues())
		if !d.virtio() || !known || n != 1 || cpus < 2 || !d.vm.byQEMU() {
			return nil
		}
		f := about("queues", d.queues(), "%d vCPUs share one queue and one interrupt", cpus)
		return one(d.newMachineOr(f, vmconf.SetQueues, min(cpus, mostQueues)))
	},
}, {
	ID: "IOT024", Title: "more queues than vCPUs", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a virtio disk with more queues than the machine has vCPUs, with those that can be plugged in.",
	Why:     "Linux uses no more queues than CPUs, and where there are not vectors enough for all of them it may share one interrupt for all.",
	Sources: []string{"Linux, virtio-blk: limit number of hw queues by nr_cpu_ids (commit bf348f9b78d4)"},
	disk: func(d disk) []Finding {
		cpus, known := d.vm.cpus()
		n, _ := number(d.queues())
		if !d.virtio() || !known || n <= max(cpus, d.vm.MaxCPUs) {
			return nil
		}
		return one(about("queues", d.queues(), "%d queues, and the vCPUs are %d", n, cpus).change(d.set(vmconf.SetQueues, strconv.FormatInt(cpus, 10))))
	},
}, {
	ID: "IOT025", Title: "short queues", Severity: Hygiene, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a virtio disk whose queues have fewer than 256 entries: written, or the default of 128 of machine types up to 4.2.",
	Why:     "A request takes up to as many entries as it has pieces: large ones wait for room, and up to machine type 4.2 no request has more than 126 pieces. Longer queues can cost some random I/O: measure.",
	Sources: []string{qemuCompat, "SeaBIOS, 128 entries and no more, then: https://github.com/coreboot/seabios/issues/3", "libvirt, queue_size: https://www.mail-archive.com/libvir-list@redhat.com/msg220783.html"},
	disk: func(d disk) []Finding {
		n, known := number(d.queueSize())
		if !d.virtio() || !known || n >= queueSizeNow || !d.vm.byQEMU() {
			return nil
		}
		f := about("queue_size", d.queueSize(), "%d entries, where today's machine types have %d", n, queueSizeNow)
		if !d.vm.atLeast(5, 0) {
			f = f.needs("QEMU 5.0 or newer: firmware that came with older ones cannot start from a disk with longer queues")
		}
		return one(d.newMachineOr(f, vmconf.SetQueueSize, queueSizeNow))
	},
}, {
	ID: "IOT026", Title: "machine type that hides discard", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "discard=unmap on a virtio-blk disk of a machine type up to 3.1.",
	Why:     "Up to that type virtio-blk has no discard: what the guest frees is never given back, whatever discard says.",
	Sources: []string{qemuCompat},
	disk: func(d disk) []Finding {
		if d.Bus.Value != vmconf.VirtioBlk || d.Discard.Value != "unmap" || !d.vm.machineVersion().Before(4, 0) {
			return nil
		}
		f := about("machine", d.vm.Machine, "virtio-blk of this type tells the guest of no discard, and the disk has discard=unmap")
		return one(f.change(d.vm.newMachine()).needs(newMachineNeeds...))
	},
}}

var newMachineNeeds = []string{"the guest takes a newer machine type: Windows may find its devices anew and ask to be activated again"}

// newMachineOr changes the setting of the disk, or the machine type where the configuration cannot say the setting.
func (d disk) newMachineOr(f Finding, setting string, value int64) Finding {
	pve, scsi := d.vm.Kind == vmconf.Proxmox, d.Bus.Value == vmconf.VirtioSCSI
	says := !pve && !(scsi && d.vm.Kind == vmconf.Libvirt && setting == vmconf.SetQueueSize) || pve && scsi && setting == vmconf.SetQueues
	old := f.Default != "" && d.vm.machineVersion().Before(5, 2)
	switch {
	case says && !(pve && old):
		if pve && d.iothread().Value == "off" { // it counts for virtio-scsi-single alone
			f = f.change(d.set(vmconf.SetIOThread, "on"))
		}
		return f.change(d.set(setting, strconv.FormatInt(value, 10)))
	case old && !(pve && d.vm.Guest == vmconf.Windows):
		return f.change(d.vm.newMachine()).needs(newMachineNeeds...)
	case old: // Proxmox VE keeps a version for Windows where none is written
		return f.needs("a newer version of the machine type, which is chosen by hand for Windows: it may find its devices anew")
	}
	return f.needs("a way to say it: the configuration has no setting for it")
}

// newMachine is the machine type without its version: the newest that QEMU has.
func (m *machine) newMachine() Change {
	kind := m.Machine.Value
	if v := strings.LastIndex(kind, "-"); v >= 0 {
		kind = kind[:v]
	}
	alias := map[string]string{"pc-q35": "q35", "pc-i440fx": "pc"}[kind]
	return Change{Setting: vmconf.SetMachine, Value: cmp.Or(alias, kind)}
}
