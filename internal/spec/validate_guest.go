package spec

import (
	"slices"

	"github.com/iotax/iotax/internal/unit"
)

// checkServed refuses a daemon where QEMU has the disk open itself, and what daemons cannot offer.
func checkServed(f *faults, path string, s Stack) {
	protocol := choice(f, path+".protocol", "protocol", s.Protocol, Protocols)
	daemon := choice(f, path+".daemon", "daemon", s.Daemon, Daemons)
	if !protocol || !daemon || s.OnHost() || s.InsideGuest() { // which have rules of their own
		return
	}
	switch {
	case s.Daemon == "qemu-img":
		f.add(path+".daemon", "\"qemu-img\" serves no guest; expected bus \"host\" beside it%s", ref(path+".bus"))
	case s.Protocol != "" && s.VhostUser():
		f.add(path+".protocol", "bus %q%s has a protocol of its own; expected none", s.Bus, ref(path+".bus"))
	case s.Protocol != "" && s.Ceiling():
		f.add(path+".protocol", "a disk of no latency%s is not served; expected none", ref(path+".format"))
	case s.Daemon != "" && s.Protocol == "" && !s.VhostUser():
		f.add(path+".daemon", "QEMU opens this disk itself; expected none, protocol nbd or a vhost-user bus")
	case s.Daemon == "spdk" && s.Protocol == "nbd":
		f.add(path+".daemon", "\"spdk\" serves vhost-user only; expected qemu-storage-daemon")
	case s.Daemon == "qemu-storage-daemon" && s.Bus == "vhost-user-scsi":
		f.add(path+".daemon", "\"qemu-storage-daemon\" has no vhost-user-scsi; expected spdk, or bus vhost-user-blk")
	case s.Served() == "spdk" && s.Format == "qcow2":
		f.add(path+".format", "SPDK knows no images; expected raw")
	}
}

// checkGuestOf checks what a stack wants of its guest: the vCPUs, the memory under it, the disk's settings inside.
func checkGuestOf(f *faults, path string, s Stack, g Guest) {
	choice(f, path+".scheduler", "scheduler", s.Scheduler, Schedulers)
	if s.CPUs < 0 || s.CPUs > maxCPUs {
		f.add(path+".cpus", "%d is out of range; expected 1 to %d, or 0 for the experiment's", s.CPUs, maxCPUs)
	}
	if s.VhostUser() && g.MemoryBackend == "ram" {
		f.add(path+".memory_backend", "\"ram\" cannot be shared with the server of bus %q%s; expected memfd or file", s.Bus, ref(path+".bus"))
	}
	own := Guest{Memory: g.Memory, Hugepages: s.Hugepages, MemoryBackend: s.MemoryBackend, Pinning: s.Pinning}
	checkMemory(f, path, own)
	if s.VQMapping < 0 || s.VQMapping > 64 {
		f.add(path+".iothread_vq_mapping", "%d is out of range; expected a number of iothreads up to 64, or 0 for no mapping", s.VQMapping)
	}
	if s.VQMapping > 0 && s.IOThread {
		f.add(path+".iothread", "a mapping%s brings its own iothreads; expected one of the two", ref(path+".iothread_vq_mapping"))
	}
	if s.VQMapping > 0 && !slices.Contains(virtioBuses, s.Bus) && !s.OnHost() && !s.InsideGuest() {
		f.add(path+".iothread_vq_mapping", "bus %q%s has no mapping of queues; expected bus virtio-blk, virtio-scsi or virtio-scsi-single", s.Bus, ref(path+".bus"))
	}
}

// checkMemory checks what backs a guest's memory.
func checkMemory(f *faults, path string, g Guest) {
	choice(f, join(path, "memory_backend"), "memory_backend", g.MemoryBackend, Memories)
	choice(f, join(path, "pinning"), "pinning", g.Pinning, []string{"on", "off"})
	switch h := g.Hugepages; {
	case h == 0:
	case h != 2<<20 && h != 1<<30:
		f.add(join(path, "hugepages"), "%s is not allowed; expected 2MiB or 1GiB", unit.ExactBytes(h))
	case g.MemoryBackend == "ram":
		f.add(join(path, "memory_backend"), "\"ram\" has no huge pages%s; expected memfd or file", ref(join(path, "hugepages")))
	case g.Memory%h != 0:
		f.add(join(path, "hugepages"), "the guest's memory, %s%s, is no whole number of them; expected another", unit.ExactBytes(g.Memory), ref("guest.memory"))
	}
}

// checkXen refuses what a domain of Xen does not have: QEMU's block layer, its controllers and its memory.
func checkXen(f *faults, path string, s Stack) {
	if !choice(f, path+".hypervisor", "hypervisor", s.Hypervisor, Hypervisors) || !choice(f, path+".backend", "backend", s.Backend, Backends) {
		return
	}
	if !s.Xen() {
		if s.Bus == "blkfront" {
			f.add(path+".bus", "\"blkfront\" is Xen's; expected hypervisor xen-pv, xen-pvh or xen-hvm beside it")
		}
		if s.Backend != "" {
			f.add(path+".backend", "%q is Xen's; expected hypervisor xen-pv, xen-pvh or xen-hvm beside it", s.Backend)
		}
		return
	}
	if s.Bus != "blkfront" && (s.Bus != "ide" || s.Hypervisor != "xen-hvm") {
		f.add(path+".bus", "hypervisor %q%s has no %q; expected blkfront, or ide with xen-hvm", s.Hypervisor, ref(path+".hypervisor"), s.Bus)
	}
	for _, key := range keysOf(map[string]bool{
		"cache": s.Cache != "", "aio": s.AIO != "", "iothread": s.IOThread, "iothread_vq_mapping": s.VQMapping != 0, "protocol": s.Protocol != "",
		"queues": s.Queues != 0, "queue_size": s.QueueSize != 0, "discard": s.Discard != "", "detect_zeroes": s.DetectZeroes != "",
		"machine": s.Machine != "", "hugepages": s.Hugepages != 0, "memory_backend": s.MemoryBackend != "", "l2_cache_size": s.L2CacheSize != 0,
	}) {
		f.add(path+"."+key, "is QEMU's, and this disk is Xen's%s; expected none", ref(path+".hypervisor"))
	}
	if s.Ceiling() {
		f.add(path+".format", "\"null-co\" is QEMU's, and this disk is Xen's%s; expected raw or qcow2", ref(path+".hypervisor"))
	}
}
