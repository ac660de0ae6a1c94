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

	if s.AIO == "native" && buffered(s.Cache) && cacheKnown && !s.Ceiling() {
		checkNative(f, path, s)
	}
	if s.DetectZeroes == "unmap" && s.Discard != "unmap" { // QEMU refuses to open such a node
		f.add(path+".detect_zeroes", "\"unmap\" needs discard \"unmap\"%s", ref(path+".discard"))
	}
	if s.Role == "ceiling" && !s.Ceiling() {
		f.add(path+".role", "\"ceiling\" is for a disk of no latency; expected format null-co")
	}
	checkImage(f, path, s)
	checkController(f, path, s, g)
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

func checkImage(f *faults, path string, s Stack) {
	if s.Format == "qcow2" {
		choice(f, path+".preallocation", "preallocation", s.Preallocation, preallocations)
		if c := s.ClusterSize; c != 0 && (c < 512 || c > 2<<20 || c&(c-1) != 0) {
			f.add(path+".cluster_size", "%s is not allowed; expected a power of two from 512 to 2MiB", unit.ExactBytes(c))
		}
		return
	}
	format := s.Format
	or(&format, "raw")
	if s.Preallocation != "" {
		f.add(path+".preallocation", "is for format qcow2 only, and this is %q%s", clip(format), ref(path+".format"))
	}
	if s.ClusterSize != 0 {
		f.add(path+".cluster_size", "is for format qcow2 only, and this is %q%s", clip(format), ref(path+".format"))
	}
}

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
	checkQueues(f, path, s, g)
	if slices.Contains(virtioBuses, s.Bus) {
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

// checkShared checks that the stacks behind the one shared virtio-scsi controller agree on what is the
// controller's: there is only one iothread and one set of queues for all of them.
func checkShared(f *faults, stacks []Stack) {
	first := slices.IndexFunc(stacks, func(s Stack) bool { return s.Bus == "virtio-scsi" })
	for i, s := range stacks {
		if i <= first || s.Bus != "virtio-scsi" {
			continue
		}
		a, b := stackPath(first), stackPath(i)
		const shared = "differs from stack %q%s: all stacks of bus \"virtio-scsi\" share one controller; expected the same, or bus virtio-scsi-single"
		if s.IOThread != stacks[first].IOThread {
			f.add(b+".iothread", shared, stacks[first].Name, ref(a))
		}
		if s.Queues != stacks[first].Queues {
			f.add(b+".queues", shared, stacks[first].Name, ref(a))
		}
		if s.QueueSize != stacks[first].QueueSize {
			f.add(b+".queue_size", shared, stacks[first].Name, ref(a))
		}
	}
}

func stackPath(i int) string { return fmt.Sprintf("stacks[%d]", i) }
