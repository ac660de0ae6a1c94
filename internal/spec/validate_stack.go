package spec

import (
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/unit"
)

var (
	roles          = []string{"virt-manager", "proxmox", "ceiling"}
	preallocations = []string{"off", "metadata", "falloc", "full"}
)

// Of QEMU's disk controllers only virtio-blk-pci and virtio-scsi-pci have an iothread, a number of
// queues and a queue size of their own.
var virtioBuses = []string{"virtio-blk", "virtio-scsi", "virtio-scsi-single"}

// buffered reports whether a cache mode goes through the host's page cache ("" is QEMU's writeback).
func buffered(cache string) bool { return cache != "none" && cache != "directsync" }

func checkStack(f *faults, path string, s Stack, g Guest) {
	choice(f, path+".role", "role", s.Role, roles)
	choice(f, path+".format", "format", s.Format, Formats)
	choice(f, path+".discard", "discard", s.Discard, Discards)
	choice(f, path+".detect_zeroes", "detect_zeroes", s.DetectZeroes, Detects)
	cacheKnown := choice(f, path+".cache", "cache", s.Cache, Caches)
	choice(f, path+".aio", "aio", s.AIO, AIOs)

	if s.AIO == "native" && buffered(s.Cache) && cacheKnown && !s.Ceiling() && s.BlockLayer() {
		checkNative(f, path, s)
	}
	if s.DetectZeroes == "unmap" && s.Discard != "unmap" { // QEMU refuses to open such a node
		f.add(path+".detect_zeroes", "\"unmap\" needs discard \"unmap\"%s", ref(path+".discard"))
	}
	if s.Role == "ceiling" && !s.Ceiling() {
		f.add(path+".role", "\"ceiling\" is for a disk of no latency; expected format null-co")
	}
	checkStorage(f, path, s)
	checkImage(f, path, s)
	checkController(f, path, s, g)
	checkServed(f, path, s)
	checkGuestOf(f, path, s, g)
	checkXen(f, path, s)
	checkOnHost(f, path, s)
	checkInsideGuest(f, path, s)
}

// checkNative words the clash of aio and cache at whichever of the two the reader can see.
func checkNative(f *faults, path string, s Stack) {
	const needs = "native needs cache none or directsync"
	if s.Cache == "" {
		f.add(path+".aio", "\"native\" cannot go with the default cache \"writeback\": %s", needs)
		return
	}
	f.add(path+".cache", "%q cannot go with aio \"native\"%s: %s", s.Cache, ref(path+".aio"), needs)
}

// checkImage refuses options of image formats that the stack's format does not have.
func checkImage(f *faults, path string, s Stack) {
	format := s.Format
	or(&format, "raw")
	const only = "is for format qcow2 only, and this is %q%s"
	if format == "qcow2" {
		checkQcow2(f, path, s)
	} else {
		for _, key := range keysOf(map[string]bool{
			"cluster_size": s.ClusterSize != 0, "extended_l2": s.ExtendedL2, "lazy_refcounts": s.LazyRefcounts,
			"l2_cache_size": s.L2CacheSize != 0, "backing_file": s.BackingFile,
		}) {
			f.add(path+"."+key, only, clip(format), ref(path+".format"))
		}
	}
	switch {
	case s.Preallocation == "":
	case format == "qcow2":
		choice(f, path+".preallocation", "preallocation", s.Preallocation, preallocations)
	case format != "raw" || s.Storage != "" && s.Storage != "file":
		f.add(path+".preallocation", "is for images and raw files, and this is %q%s", clip(format), ref(path+".format"))
	case s.Preallocation == "metadata":
		f.add(path+".preallocation", "a raw file has no metadata%s; expected off, falloc or full", ref(path+".format"))
	default:
		choice(f, path+".preallocation", "preallocation", s.Preallocation, preallocations)
	}
}

// checkQcow2 holds the options of an image to what qemu-img takes.
func checkQcow2(f *faults, path string, s Stack) {
	if !s.File() {
		f.add(path+".format", "\"qcow2\" needs a file, and storage is %q%s; expected storage file or zfs-file", s.Storage, ref(path+".storage"))
	}
	if c := s.ClusterSize; c != 0 && !power(c, 512, 2<<20) {
		f.add(path+".cluster_size", "%s is not allowed; expected a power of two from 512 to 2MiB", unit.ExactBytes(c))
	} else if s.ExtendedL2 && c != 0 && c < 16<<10 {
		f.add(path+".extended_l2", "needs clusters of 16KiB at least, and cluster_size is %s%s", unit.ExactBytes(c), ref(path+".cluster_size"))
	}
	if s.L2CacheSize < 0 {
		f.add(path+".l2_cache_size", "is negative; expected a size such as 1MiB")
	}
	if s.BackingFile && s.Preallocation != "" && s.Preallocation != "off" {
		f.add(path+".preallocation", "an overlay over a backing file is empty at first%s; expected off", ref(path+".backing_file"))
	}
	if s.BackingFile && s.Snapshot != "" {
		f.add(path+".snapshot", "an image is either an overlay%s or has a snapshot inside; expected one of the two", ref(path+".backing_file"))
	}
}

// power reports whether n is a power of two from low to high.
func power(n, low, high int64) bool { return n >= low && n <= high && n&(n-1) == 0 }

func checkController(f *faults, path string, s Stack, g Guest) {
	machineKnown := choice(f, path+".machine", "machine", s.Machine, Machines)
	if s.Bus == "" {
		f.add(path+".bus", "is missing; expected one such as \"virtio-blk\"")
		return
	}
	if !choice(f, path+".bus", "bus", s.Bus, Buses) {
		return
	}
	if s.Bus == "ide" && s.Machine != "" && s.Machine != "pc" && machineKnown {
		f.add(path+".machine", "%q has no IDE, which bus \"ide\"%s needs; expected pc", s.Machine, ref(path+".bus"))
	}
	if s.OnHost() || s.InsideGuest() { // their own checks speak of controllers
		return
	}
	checkQueues(f, path, s, g)
	if slices.Contains(virtioBuses, s.Bus) || s.VhostUser() || s.Bus == "blkfront" {
		return
	}
	const only = "bus %q%s has no %s; expected bus virtio-blk, virtio-scsi or virtio-scsi-single"
	if s.IOThread {
		f.add(path+".iothread", only, s.Bus, ref(path+".bus"), "iothread")
	}
	if s.Queues > 0 {
		f.add(path+".queues", only, s.Bus, ref(path+".bus"), "number of queues")
	}
	if s.QueueSize > 0 {
		f.add(path+".queue_size", only, s.Bus, ref(path+".bus"), "queue size")
	}
}

func checkQueues(f *faults, path string, s Stack, g Guest) {
	if s.Queues < 0 {
		f.add(path+".queues", "%d is negative; expected 1 to the number of vCPUs, or 0 for QEMU's default", s.Queues)
	}
	if s.Queues > g.CPUs {
		f.add(path+".queues", "%d is more than the guest has CPUs, %d%s; expected at most that", s.Queues, g.CPUs, ref("guest.cpus"))
	}
	if q := s.QueueSize; q != 0 && (q < 4 || q > 1024 || q&(q-1) != 0) {
		f.add(path+".queue_size", "%d is not allowed; expected a power of two from 4 to 1024, or 0 for QEMU's default", q)
	}
}

// checkShared checks that the stacks behind one shared virtio-scsi controller agree on what is the controller's:
// there is only one iothread and one set of queues for all of them. Stacks that need different guests share nothing.
func checkShared(f *faults, e Experiment) {
	first := map[Guest]int{}
	for i, s := range e.Stacks {
		if s.Bus != "virtio-scsi" {
			continue
		}
		j, shared := first[e.GuestOf(s)]
		if !shared {
			first[e.GuestOf(s)] = i
			continue
		}
		with, a, b := e.Stacks[j], stackPath(j), stackPath(i)
		for _, key := range keysOf(map[string]bool{
			"iothread": s.IOThread != with.IOThread, "iothread_vq_mapping": s.VQMapping != with.VQMapping,
			"queues": s.Queues != with.Queues, "queue_size": s.QueueSize != with.QueueSize,
		}) {
			f.add(b+"."+key, "differs from stack %q%s: all stacks of bus \"virtio-scsi\" share one controller; expected the same, or bus virtio-scsi-single", with.Name, ref(a))
		}
	}
}

func stackPath(i int) string { return fmt.Sprintf("stacks[%d]", i) }
