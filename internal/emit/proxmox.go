package emit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/sys"
)

// proxmoxBus is how Proxmox VE calls a bus.
type proxmoxBus struct{ disk, scsihw string }

var proxmoxBuses = map[string]proxmoxBus{
	"virtio-blk":         {"virtio0", ""},
	"virtio-scsi":        {"scsi0", "virtio-scsi-pci"},
	"virtio-scsi-single": {"scsi0", "virtio-scsi-single"},
	"sata":               {"sata0", ""},
	"ide":                {"ide0", ""},
	"lsi53c895a":         {"scsi0", "lsi"},
	"megasas":            {"scsi0", "megasas"},
	"pvscsi":             {"scsi0", "pvscsi"},
}

// setting is one line of a configuration.
type setting struct{ key, value string }

// proxmox writes the lines of a configuration and the command that sets the same.
func (e *emitter) proxmox() {
	s, g := e.s, e.o.Guest
	bus, known := proxmoxBuses[s.Bus]
	single := s.Bus == "virtio-scsi-single"
	if !e.only([]reason{
		{s.Xen(), "it was measured under Xen; --as xl says it"},
		{s.Ceiling(), "Proxmox VE has no disk of QEMU's null-co; --as qemu says it"},
		{!known && !s.Xen(), "Proxmox VE has no disk of bus " + s.Bus + "; --as qemu says it"},
		{s.Protocol != "", "Proxmox VE has no disk over NBD; --as qemu or libvirt say it"},
		{s.IOThread && s.Bus == "virtio-scsi", "Proxmox VE gives an iothread to disks of virtio-scsi-single, which have a controller each, and ignores it on virtio-scsi-pci"},
		{s.VQMapping != 0, "Proxmox VE has one iothread for a disk and no iothread-vq-mapping"},
		{s.Queues != 0 && s.Queues != g.CPUs && !single, "Proxmox VE sets a number of queues on virtio-scsi-single alone; elsewhere there is one for each vCPU"},
		{s.Queues == 1 && g.CPUs != 1 && single, "the least number of queues that Proxmox VE takes is 2"},
		{e.ownQueueSize(), fmt.Sprintf("Proxmox VE has no queue size, and it was measured with %d where QEMU's default is %d", s.QueueSize, defaultQueueSize)},
		{s.L2CacheSize != 0, "Proxmox VE has no size of the L2 cache of an image"},
		{s.DetectZeroes == "on" && s.Discard == "unmap", "Proxmox VE makes detect_zeroes \"unmap\" wherever discard is on, and it was measured with \"on\""},
		{g.MemoryBackend != "" && g.MemoryBackend != "ram" && g.Hugepages == 0 && !e.o.DiskOnly, "Proxmox VE has no choice of what backs memory, and it was measured with " + g.MemoryBackend},
	}) {
		return
	}
	var lines []setting
	if !e.o.DiskOnly {
		lines = e.proxmoxMachine(bus.disk)
	}
	if bus.scsihw != "" {
		lines = append(lines, setting{"scsihw", bus.scsihw})
	}
	lines = append(lines, setting{bus.disk, e.drive(single)})
	qm := []string{"qm", "set", e.vmid}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\n", l.key, l.value)
		qm = append(qm, "--"+l.key, l.value)
	}
	e.Text = b.String()
	e.qm = sys.Quote(qm)
}

// drive is the disk's own line. Everything is said, since Proxmox VE's defaults depend on the storage.
func (e *emitter) drive(single bool) string {
	s := e.s
	parts := []string{e.Disk}
	if strings.HasPrefix(e.Disk, "/") {
		parts = append(parts, "format="+s.Format) // a volume has it in its name
	}
	detect := map[string]string{"": "", "off": "0", "on": "1", "unmap": "1"}[s.DetectZeroes]
	discard := map[string]string{"ignore": "ignore", "unmap": "on"}[s.Discard]
	iothread, queues := "", ""
	if s.IOThread {
		iothread = "1"
	}
	if single && s.Queues > 1 {
		queues = strconv.Itoa(s.Queues)
	}
	parts = append(parts, settings("=", "cache", s.Cache, "aio", s.AIO, "discard", discard,
		"detect_zeroes", detect, "iothread", iothread, "queues", queues)...)
	return strings.Join(parts, ",")
}

// proxmoxMachine are the lines of the machine around the disk, as it was measured.
func (e *emitter) proxmoxMachine(disk string) []setting {
	g := e.o.Guest
	lines := []setting{{"name", hostName(e.o.Name)}, {"ostype", "l26"}, {"boot", "order=" + disk}}
	if e.o.Machine != "" {
		lines = append(lines, setting{"machine", e.o.Machine})
	}
	cpus, current := emulatedCPUs(e.o)
	lines = append(lines, setting{"cores", strconv.Itoa(cpus)})
	if current != "" {
		lines = append(lines, setting{"vcpus", current})
	}
	lines = append(lines, setting{"memory", strconv.FormatInt(g.Memory>>20, 10)})
	if e.o.Accel == "tcg" {
		lines = append(lines, setting{"kvm", "0"})
	} else {
		lines = append(lines, setting{"cpu", "host"})
	}
	if g.Hugepages != 0 { // which qemu-server takes with NUMA only
		lines = append(lines, setting{"numa", "1"}, setting{"hugepages", strconv.FormatInt(g.Hugepages>>20, 10)})
		if g.MemoryBackend != "file" {
			e.note("Proxmox VE has huge pages as files on a hugetlbfs, and it was measured with them in a memfd")
		}
	}
	return lines
}

var noHostName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// hostName makes a name that Proxmox VE takes: one label of a DNS name.
func hostName(s string) string {
	name := strings.Trim(noHostName.ReplaceAllString(s, "-"), "-")
	return strings.TrimRight(name[:min(len(name), 63)], "-")
}
