package audit

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

var iothreadRules = []Rule{{
	ID: "IOT016", Title: "no iothread", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks: "a virtio disk without an iothread. Left alone: controllers that cannot have one, software emulation, and io_uring on QEMU 7.1, which hangs with one.",
	Why:   "QEMU's main loop carries the requests of all disks, beside the monitor, the display and the timers. An iothread also polls for a moment before it sleeps, which is most of the gain at low queue depth.",
	Sources: []string{
		"LNVPS, 250 MiB/s in the guest of a pool of 8 GB/s: https://github.com/LNVPS/api/pull/352", blockbridge, proxmoxQM,
	},
	disk: func(d disk) []Finding {
		if !d.virtio() || d.iothread().Value != "off" || d.ignoredThread() || !d.vm.byQEMU() || d.Backend == "vhost-user" {
			return nil
		}
		if v := d.vm.qemu(); d.AIO.Value == "io_uring" && v.Major == 7 && v.Minor == 1 {
			return nil
		}
		return one(about("iothread", d.iothread(), "its requests share QEMU's main loop with everything else of the machine").
			change(d.set(vmconf.SetIOThread, "on")))
	},
}, {
	ID: "IOT017", Title: "iothread that is ignored", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a disk with an iothread in its configuration that its controller cannot use: in Proxmox VE, iothread=1 on a SCSI disk whose controller is not virtio-scsi-single, or on IDE and SATA.",
	Why:     "The owner believes that it is there. Proxmox VE only warns in a log.",
	Sources: []string{proxmoxDrive, proxmoxQM},
	disk: func(d disk) []Finding {
		if !d.ignoredThread() || !d.vm.byQEMU() {
			return nil
		}
		f := about("iothread", d.IOThread, "%s is written, and the %s controller runs in the main loop all the same", d.IOThread.Written, d.Bus.Value)
		if !d.virtio() {
			needs, possible := virtioNeeds(d.vm.VM)
			if !possible {
				return one(f)
			}
			f = f.change(d.set(vmconf.SetBus, virtioBus(d.vm))).needs(needs...)
		}
		return one(f.change(d.set(vmconf.SetIOThread, "on")))
	},
}, {
	ID: "IOT018", Title: "iothreads that serve no disk", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a machine with iothreads of which none is used by any disk or controller, while it has virtio disks in the main loop.",
	Why:     "Threads alone do nothing: each disk must name one.",
	Sources: []string{libvirtDomain},
	machine: unusedThreads,
}, {
	ID: "IOT019", Title: "several disks on one virtio-scsi controller", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "two or more disks that hold data on one virtio-scsi controller. One whose queues are spread over several iothreads (iothread-vq-mapping) is left alone, and so are disks that are passed through.",
	Why:     "The disks share the controller's queues and its one iothread: a busy disk slows the others, and together they have the ceiling of one thread.",
	Sources: []string{proxmoxQM, blockbridge},
	machine: crowdedControllers,
}, {
	ID: "IOT020", Title: "several disks in one iothread", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "two or more virtio-blk disks that name the same iothread, in a machine that has fewer iothreads than such disks and no fewer vCPUs than it would need. A disk whose queues are mapped to several is left alone.",
	Why:     "One thread is one CPU's worth of requests, whatever the number of disks.",
	Sources: []string{"Red Hat Developer, several iothreads in OpenShift Virtualization: https://developers.redhat.com/blog/2025/06/23/feature-introduction-multiple-iothreads-openshift-virtualization", libvirtDomain},
	machine: sharedThreads,
}, {
	ID: "IOT021", Title: "many vCPUs behind one iothread", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a virtio-blk disk (QEMU 9.0 or newer) or virtio-scsi controller (10.0) with one iothread in a machine of eight vCPUs or more. Proxmox VE cannot say the mapping and is left alone.",
	Why:     "All queues end in one thread, which is full at some hundred thousand requests a second. iothread-vq-mapping spreads them over several.",
	Sources: []string{vqMapping, libvirtDomain, "vhost-blk against one iothread, 4 vCPUs: 576k against 158k: https://www.spinics.net/lists/kvm/msg284570.html"},
	disk: func(d disk) []Finding {
		cpus, _ := d.vm.cpus()
		thread := d.iothread()
		able := d.Bus.Value == vmconf.VirtioBlk && d.vm.atLeast(9, 0) || d.Bus.Value == vmconf.VirtioSCSI && d.vm.atLeast(10, 0)
		says := d.vm.Kind == vmconf.Libvirt || d.vm.Kind == vmconf.QEMU
		if !able || !says || cpus < 8 || slices.Contains([]string{"", "off", "mapping"}, thread.Value) {
			return nil
		}
		return one(about("iothread", thread, "%d vCPUs end in the one thread %s", cpus, thread.Value).
			needs("an iothread-vq-mapping over two to four iothreads, where this disk is the machine's busiest"))
	},
}, {
	ID: "IOT022", Title: "pinned vCPUs, iothread at large", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a machine whose vCPUs are tied to CPUs while the iothreads that it uses are not.",
	Why:     "The scheduler puts the iothread on the vCPUs' CPUs: it then runs in place of the guest that waits for it.",
	Sources: []string{redhatNUMA, libvirtDomain},
	machine: func(m *machine) []Finding {
		if m.Pinning.Value != "on" {
			return nil
		}
		loose := slices.DeleteFunc(slices.Clone(m.IOThreads), func(t vmconf.IOThread) bool { return t.Pinned || !m.usesThread(t.ID) })
		if len(loose) == 0 {
			return nil
		}
		f := about("iothread", m.Pinning, "the vCPUs are pinned, and %s may run on their CPUs", names(loose))
		f.Setting, f.Effective, f.Default, f.At = "iothreadpin", "off", "", loose[0].At
		if m.Kind == vmconf.Libvirt {
			for _, t := range loose {
				f = f.shell("virsh iothreadpin " + m.name() + " " + t.ID + " CPULIST --live --config")
			}
		}
		return one(f.needs("a CPU of the same node that no vCPU is pinned to"))
	},
}}

// ignoredThread reports whether a thread is written and none takes effect.
func (d disk) ignoredThread() bool {
	off := []string{"", "0", "off", "no", "false", "iothread=0", "iothread=off"}
	return d.iothread().Value == "off" && d.IOThread.Set && !slices.Contains(off, lower(d.IOThread.Written))
}

func (m *machine) usesThread(id string) bool {
	return slices.ContainsFunc(m.disks, func(d disk) bool { return d.iothread().Value == id || d.iothread().Value == "mapping" }) ||
		slices.ContainsFunc(m.Controllers, func(c vmconf.Controller) bool { return c.IOThread.Value == id || c.IOThread.Value == "mapping" })
}

func names(threads []vmconf.IOThread) string {
	ids := make([]string, len(threads))
	for i, t := range threads {
		ids[i] = "iothread " + t.ID
	}
	return strings.Join(ids, ", ")
}

func unusedThreads(m *machine) []Finding {
	used := slices.ContainsFunc(m.IOThreads, func(t vmconf.IOThread) bool { return m.usesThread(t.ID) })
	var changes []Change
	for _, d := range m.disks {
		if d.virtio() && d.iothread().Value == "off" {
			changes = append(changes, d.set(vmconf.SetIOThread, "on"))
		}
	}
	if len(m.IOThreads) == 0 || used || len(changes) == 0 {
		return nil
	}
	f := Finding{Setting: "iothreads", At: m.IOThreads[0].At, Effective: "unused", Changes: changes}
	f.Why = names(m.IOThreads) + ": no disk names one"
	return one(f)
}

// crowdedControllers finds the virtio-scsi controllers with several disks, in the order of their first disks.
func crowdedControllers(m *machine) []Finding {
	if !m.byQEMU() {
		return nil
	}
	var order []string
	on := map[string][]disk{}
	for _, d := range m.disks {
		if d.Bus.Value != vmconf.VirtioSCSI || d.Controller == "" || d.Device != "disk" || d.iothread().Value == "mapping" {
			continue
		}
		if len(on[d.Controller]) == 0 {
			order = append(order, d.Controller)
		}
		on[d.Controller] = append(on[d.Controller], d)
	}
	var found []Finding
	for _, id := range order {
		if disks := on[id]; len(disks) > 1 {
			found = append(found, crowded(m, id, disks))
		}
	}
	return found
}

// mostMoved is how many disks of a controller are moved to devices of their own: each takes a slot of PCI, of which a
// machine has some thirty.
const mostMoved = 4

func crowded(m *machine, controller string, disks []disk) Finding {
	ids := make([]string, len(disks))
	for i, d := range disks {
		ids[i] = d.ID
	}
	at := disks[0].controller.At
	if at == (vmconf.Place{}) {
		at = disks[0].At
	}
	f := Finding{
		Setting: "controller", At: at, Effective: controller,
		Why: strings.Join(ids, ", ") + " share the queues and the one thread of " + controller,
	}
	if m.Kind == vmconf.Proxmox { // virtio-scsi-single is a controller and a thread for each disk
		for _, d := range disks {
			f = f.change(d.set(vmconf.SetIOThread, "on"))
		}
		return f
	}
	if len(disks) > mostMoved {
		return f.needs("a second virtio-scsi controller, or virtio-blk, for those of them that are busy")
	}
	needs, _ := virtioNeeds(m.VM) // the guest has virtio drivers, of one kind
	for _, d := range disks[1:] {
		f = f.change(d.set(vmconf.SetBus, vmconf.VirtioBlk))
	}
	return f.needs(needs...)
}

func sharedThreads(m *machine) []Finding {
	on := map[string][]disk{}
	blk := 0
	for _, d := range m.disks {
		if d.Bus.Value == vmconf.VirtioBlk {
			blk++
			on[d.IOThread.Value] = append(on[d.IOThread.Value], d)
		}
	}
	cpus, known := m.cpus()
	if !known || len(m.IOThreads) == 0 || len(m.IOThreads) >= blk || cpus < int64(blk) {
		return nil
	}
	var found []Finding
	for _, t := range m.IOThreads {
		disks := on[t.ID]
		if len(disks) < 2 {
			continue
		}
		ids := make([]string, len(disks))
		for i, d := range disks {
			ids[i] = d.ID
		}
		f := about("iothread", disks[0].IOThread, "%s share iothread %s", strings.Join(ids, ", "), t.ID)
		f.Disk = disks[1].ID
		found = append(found, f.needs("an iothread of its own for each busy disk"))
	}
	return found
}
