package emit

import (
	"fmt"
	"strconv"
)

// The features of libvirt's domain XML that came late, as https://libvirt.org/formatdomain.html has them.
const (
	blkMapping  = "10.0.0" // iothreads of a disk's driver
	scsiMapping = "11.2.0" // iothreads of a controller's driver
)

// libvirtBus is how libvirt calls a bus.
type libvirtBus struct {
	bus        string // of <target>
	device     string // name of <target>
	controller string // type of <controller>, "" when the disk needs none
	model      string // of <controller>, "" for the only one
}

// The models are libvirt's names of QEMU's lsi53c895a, megasas and pvscsi.
var libvirtBuses = map[string]libvirtBus{
	"virtio-blk":         {bus: "virtio", device: "vda"},
	"virtio-scsi":        {bus: "scsi", device: "sda", controller: "scsi", model: "virtio-scsi"},
	"virtio-scsi-single": {bus: "scsi", device: "sda", controller: "scsi", model: "virtio-scsi"},
	"sata":               {bus: "sata", device: "sda", controller: "sata"},
	"ide":                {bus: "ide", device: "hda", controller: "ide"},
	"lsi53c895a":         {bus: "scsi", device: "sda", controller: "scsi", model: "lsilogic"},
	"megasas":            {bus: "scsi", device: "sda", controller: "scsi", model: "lsisas1078"},
	"pvscsi":             {bus: "scsi", device: "sda", controller: "scsi", model: "vmpvscsi"},
}

// libvirt writes a domain, or the parts of one that the disk needs.
func (e *emitter) libvirt() {
	s := e.s
	if !e.only([]reason{
		{s.Xen(), "it was measured under Xen; --as xl says it"},
		{s.Ceiling(), "libvirt has no disk of QEMU's null-co; --as qemu says it"},
		{s.Bus == "nvme", "libvirt before 11.5.0 has no emulated NVMe controller, and iotax writes none for later ones; --as qemu says it"},
		{s.VhostUser(), "libvirt cannot tell QEMU what the write cache of a vhost-user disk is (config-wce), without which the guest may not flush; --as qemu says it"},
		{e.virtioSCSI() && e.ownQueueSize(), fmt.Sprintf("libvirt has no queue size of a virtio-scsi controller, and it was measured with %d", s.QueueSize)},
	}) {
		return
	}
	switch {
	case s.VQMapping > 0 && e.virtioSCSI():
		e.note("iothreads of a controller need libvirt " + scsiMapping + " and QEMU 10.0: older ones refuse them")
	case s.VQMapping > 0:
		e.note("several iothreads of a disk need libvirt " + blkMapping + " and QEMU 9.0: older ones refuse them")
	}
	var x xmlText
	if e.o.DiskOnly {
		if n := e.libvirtThreads(); n > 0 {
			x.leaf("iothreads", strconv.Itoa(n))
		}
		e.libvirtDisk(&x)
	} else {
		e.domain(&x)
	}
	e.Text = x.String()
	e.serve()
}

// domain writes the machine around the disk, as it was measured.
func (e *emitter) domain(x *xmlText) {
	g := e.o.Guest
	kind, machine := "kvm", e.o.Machine
	if e.o.Accel == "tcg" {
		kind = "qemu"
	}
	if machine == "" {
		machine = "q35"
	}
	x.open("domain", "type", kind)
	x.leaf("name", e.o.Name)
	x.leaf("memory", strconv.FormatInt(g.Memory>>20, 10), "unit", "MiB")
	cpus, current := emulatedCPUs(e.o)
	x.leaf("vcpu", strconv.Itoa(cpus), "placement", "static", "current", current)
	if n := e.libvirtThreads(); n > 0 {
		x.leaf("iothreads", strconv.Itoa(n))
	}
	e.libvirtMemory(x)
	x.open("os")
	x.leaf("type", "hvm", "arch", "x86_64", "machine", machine)
	x.leaf("boot", "", "dev", "hd")
	x.close("os")
	x.open("features")
	x.leaf("acpi", "")
	x.leaf("apic", "")
	x.close("features")
	if kind == "kvm" {
		x.leaf("cpu", "", "mode", "host-passthrough")
	}
	x.open("devices")
	e.libvirtDisk(x)
	x.leaf("console", "", "type", "pty")
	x.close("devices")
	x.close("domain")
}

// emulatedCPUs is how many vCPUs the machine has room for, and how many it has where that is fewer: an emulated guest with
// room for one CPU loses what its virtio and NVMe disks wait for (QEMU before 8.1, commit c914d46d0a64).
func emulatedCPUs(o Options) (most int, current string) {
	if o.Accel == "tcg" && o.Guest.CPUs == 1 {
		return 2, "1"
	}
	return o.Guest.CPUs, ""
}

func (e *emitter) libvirtMemory(x *xmlText) {
	g := e.o.Guest
	source := map[string]string{"ram": "anonymous", "memfd": "memfd", "file": "file"}[g.MemoryBackend]
	if g.MemoryBackend == "" && g.Hugepages != 0 {
		source = "memfd" // as it was measured
	}
	if g.MemoryBackend == "file" && g.Hugepages != 0 {
		source = "" // what libvirt does with huge pages
	}
	if source == "" && g.Hugepages == 0 {
		return
	}
	x.open("memoryBacking")
	if g.Hugepages != 0 {
		x.open("hugepages")
		x.leaf("page", "", "size", strconv.FormatInt(g.Hugepages>>10, 10), "unit", "KiB")
		x.close("hugepages")
	}
	if source != "" {
		x.leaf("source", "", "type", source)
	}
	x.close("memoryBacking")
}

// libvirtThreads is how many iothreads the stack has.
func (e *emitter) libvirtThreads() int {
	if e.s.IOThread {
		return 1
	}
	return e.s.VQMapping
}

// libvirtDisk writes the disk and its controller. What belongs to the queues is said of whichever of the two has them.
func (e *emitter) libvirtDisk(x *xmlText) {
	s, bus := e.s, libvirtBuses[e.s.Bus]
	nbd := s.Protocol == "nbd"
	kind := "file"
	switch {
	case nbd:
		kind = "network"
	case e.block():
		kind = "block"
	}
	x.open("disk", "type", kind, "device", "disk")
	driver := []string{"name", "qemu", "type", s.Format, "cache", s.Cache, "io", s.AIO, "discard", s.Discard, "detect_zeroes", s.DetectZeroes}
	if nbd { // the daemon has format, aio and detection of zeros
		driver = []string{"name", "qemu", "type", "raw", "cache", s.Cache, "discard", s.Discard}
	}
	children := e.metadataCache
	if s.Bus == "virtio-blk" {
		driver = append(driver, e.libvirtQueues(true)...)
		children = func(x *xmlText) { e.libvirtMapping(x); e.metadataCache(x) }
	}
	x.parent("driver", children, driver...)
	switch {
	case nbd:
		x.open("source", "protocol", "nbd", "name", serial)
		x.leaf("host", "", "transport", "unix", "socket", e.socket())
		x.close("source")
	case e.block():
		x.leaf("source", "", "dev", e.Disk)
	default:
		x.leaf("source", "", "file", e.Disk)
	}
	if base := e.base(); base != "" {
		x.open("backingStore", "type", "file")
		x.leaf("format", "", "type", "qcow2")
		x.leaf("source", "", "file", base)
		x.leaf("backingStore", "")
		x.close("backingStore")
	}
	x.leaf("target", "", "dev", bus.device, "bus", bus.bus)
	x.close("disk")
	if bus.controller == "" {
		return
	}
	controller := []string{"type", bus.controller, "index", "0", "model", bus.model}
	x.parent("controller", func(x *xmlText) {
		if e.virtioSCSI() {
			x.parent("driver", e.libvirtMapping, e.libvirtQueues(false)...)
		}
	}, controller...)
}

// libvirtQueues are the attributes of a driver that has queues.
func (e *emitter) libvirtQueues(size bool) (attrs []string) {
	if e.s.IOThread {
		attrs = append(attrs, "iothread", "1")
	}
	attrs = append(attrs, "queues", number(int64(e.s.Queues)))
	if size {
		attrs = append(attrs, "queue_size", number(int64(e.s.QueueSize)))
	}
	return attrs
}

func (e *emitter) libvirtMapping(x *xmlText) {
	if e.s.VQMapping == 0 {
		return
	}
	x.open("iothreads")
	for i := range e.s.VQMapping {
		x.leaf("iothread", "", "id", strconv.Itoa(i+1))
	}
	x.close("iothreads")
}

// metadataCache says the L2 cache. libvirt's size is that of QEMU's cache-size, of which four clusters are for refcounts
// (docs/qcow2-cache.txt in QEMU).
func (e *emitter) metadataCache(x *xmlText) {
	if e.s.L2CacheSize == 0 {
		return
	}
	cluster := e.s.ClusterSize
	if cluster == 0 {
		cluster = 64 << 10
	}
	x.open("metadata_cache")
	x.leaf("max_size", strconv.FormatInt(e.s.L2CacheSize+4*cluster, 10), "unit", "bytes")
	x.close("metadata_cache")
}
