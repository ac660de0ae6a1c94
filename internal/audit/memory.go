package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/vmconf"
)

const (
	hugeMatters = 4 << 30 // bytes of memory of a machine
	hugePage    = 2 << 20 // of x86 and ARM by default
)

var memoryRules = []Rule{{
	ID: "IOT057", Title: "memory in small pages", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a machine of 4 GiB or more without huge pages, where the host gives none by itself either (transparent huge pages are off), or whose owner cares for latency: its vCPUs are pinned.",
	Why:     "Each miss of the TLB walks the tables of the guest and those of the host; requests of disks touch pages all over the memory.",
	Sources: []string{blockbridge, "Linux, transparent huge pages: https://docs.kernel.org/admin-guide/mm/transhuge.html", libvirtDomain},
	machine: smallPages,
}, {
	ID: "IOT058", Title: "huge pages that are not there", Severity: LargeLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a machine that wants huge pages of a size of which the host has set aside fewer than the machine's memory.",
	Why:     "It does not start, or runs in small pages without a word.",
	Sources: []string{"Linux, huge pages: https://docs.kernel.org/admin-guide/mm/hugetlbpage.html", libvirtDomain},
	machine: func(m *machine) []Finding {
		memory, _ := number(m.Memory)
		size, explicit := number(m.Hugepages)
		i := slices.IndexFunc(m.host.Hugepages, func(p Hugepages) bool { return p.Size == size })
		if !explicit || i < 0 || m.host.Hugepages[i].Total*size >= memory {
			return nil
		}
		pool := m.host.Hugepages[i]
		f := about("hugepages", m.Hugepages, "%s of memory need %d pages of %s, and the host has %d", unit.Bytes(memory), above(memory, size), unit.Bytes(size), pool.Total)
		return one(f.shell(fmt.Sprintf("echo %d > /sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages", above(memory, size), size>>10)))
	},
}, {
	ID: "IOT059", Title: "balloon beside a device of the host", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "ballooning in a machine that is given a PCI or mediated device of the host (VFIO). USB, SCSI and vhost devices are left alone.",
	Why:     "Memory is pinned for the device: QEMU does not let the balloon give any back, and the guest can still be made to believe that it has less.",
	Sources: []string{"QEMU, vfio: inhibit ballooning (commit c65ee433153b): https://github.com/qemu/qemu/commit/c65ee433153b5925e183a00ebf568e160077c694"},
	machine: func(m *machine) []Finding {
		device := m.vfio()
		if m.Balloon.Value != "on" || device == "" || !m.byQEMU() {
			return nil
		}
		return one(about("balloon", m.Balloon, "as long as the machine has %s, QEMU gives no memory back", device).
			change(Change{Setting: vmconf.SetBalloon, Value: "off"}))
	},
}, {
	ID: "IOT060", Title: "balloon in huge pages", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "ballooning in a machine whose memory is in huge pages.",
	Why:     "The balloon returns pages of 4 KiB, and a huge page comes free as a whole only: the guest loses memory that the host does not get.",
	Sources: []string{libvirtDomain, "QEMU, hw/virtio/virtio-balloon.c: https://gitlab.com/qemu-project/qemu/-/blob/master/hw/virtio/virtio-balloon.c"},
	machine: func(m *machine) []Finding {
		huge := m.Hugepages.Value != "" && m.Hugepages.Value != "off"
		if m.Balloon.Value != "on" || !huge || m.vfio() != "" || !m.byQEMU() {
			return nil
		}
		return one(about("balloon", m.Balloon, "the memory is in huge pages (%s), which a balloon cannot give back in pieces", pageSize(m.Hugepages)).
			change(Change{Setting: vmconf.SetBalloon, Value: "off"}))
	},
}, {
	ID: "IOT061", Title: "machine spread over NUMA nodes", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a machine that fits into one NUMA node of its host, which has several, and is tied to none: neither its vCPUs nor its memory.",
	Why:     "vCPUs, memory, the iothread and the disk's interrupts end up on different nodes: each access across costs, by Red Hat's account often more than a tenth.",
	Sources: []string{redhatNUMA},
	machine: func(m *machine) []Finding {
		memory, known := number(m.Memory)
		cpus, counted := m.cpus()
		if !known || !counted || len(m.host.Nodes) < 2 || m.NUMA.Value != "off" || m.Pinning.Value != "off" {
			return nil
		}
		i := slices.IndexFunc(m.host.Nodes, func(n Node) bool { return int64(n.CPUs) >= cpus && n.Memory > memory })
		if i < 0 {
			return nil
		}
		node := strconv.Itoa(m.host.Nodes[i].ID)
		f := about("numa", m.NUMA, "its %d vCPUs and %s would fit node %s, and the host has %d nodes", cpus, unit.Bytes(memory), node, len(m.host.Nodes))
		switch m.Kind {
		case vmconf.Libvirt:
			f = f.run("virsh", "numatune", m.name(), "--mode", "strict", "--nodeset", node, "--config")
		case vmconf.QEMU:
			f = f.shell("numactl --cpunodebind=" + node + " --membind=" + node + " -- qemu-system-x86_64 ...")
		}
		return one(f.needs("the node that the disk's controller is on (/sys/block/DISK/device/numa_node), with room for the machine"))
	},
}, {
	ID: "IOT062", Title: "more vCPUs than the host has CPUs", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "one machine with more vCPUs than its host has CPUs.",
	Why:     "Some vCPUs always wait: locks of the guest are held by one that does not run, and the iothread waits with them.",
	Sources: []string{sysctlVM},
	machine: func(m *machine) []Finding {
		cpus, known := m.cpus()
		if !known || m.host.CPUs == 0 || cpus <= int64(m.host.CPUs) {
			return nil
		}
		return one(about("cpus", m.CPUs, "the host has %d CPUs", m.host.CPUs).needs("no more vCPUs than CPUs"))
	},
}}

// ofVFIO are the names of devices that the guest's memory is pinned for: a PCI address, a mediated device's UUID, a path in
// sysfs.
var ofVFIO = regexp.MustCompile(`(?i)^(?:(?:[0-9a-f]{4,}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/sys/.+)$`)

// vfio is the first device of the host that the machine is given by VFIO, "" where there is none.
func (m *machine) vfio() string {
	for _, p := range m.Passthrough {
		if m.Kind == vmconf.Proxmox || ofVFIO.MatchString(p.Value) {
			return p.Value
		}
	}
	return ""
}

func pageSize(s vmconf.Setting) string {
	if n, ok := number(s); ok {
		return unit.Bytes(n)
	}
	return s.Value
}

func smallPages(m *machine) []Finding {
	memory, known := number(m.Memory)
	never := m.host.THP == "never"
	pinned := m.Pinning.Value == "on" && m.host.THP != "always" && m.host.THP != "madvise" // QEMU asks by madvise
	if m.Hugepages.Value != "off" || !known || memory < hugeMatters || !m.byQEMU() || !never && !pinned {
		return nil
	}
	if never {
		return one(about("hugepages", m.Hugepages, "%s are in pages of 4 KiB: transparent huge pages are off on this host", unit.Bytes(memory)).
			shell("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"))
	}
	return one(about("hugepages", m.Hugepages, "its vCPUs are pinned for latency, and its %s have huge pages only where the host happens to find some", unit.Bytes(memory)).
		change(Change{Setting: vmconf.SetHugepages, Value: "on"}).
		needs(fmt.Sprintf("huge pages that the host has set aside (vm.nr_hugepages), %d where they are of 2 MiB: it does not start without", above(memory, hugePage))))
}
