package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/spec"
)

// usual is what a run has where a stack says nothing.
func usual() Options {
	return Options{Path: "", Size: 1 << 30, Accel: "kvm", Guest: spec.Guest{CPUs: 2, Memory: 512 << 20}}
}

// matrix is every stack that a bus, a cache mode and an aio make together, as far as package spec allows it.
func matrix(bus string) (stacks []spec.Stack) {
	for _, cache := range spec.Caches {
		for _, aio := range spec.AIOs {
			e := experiment(spec.Stack{Name: fmt.Sprintf("%s-%s-%s", bus, cache, aio), Bus: bus, Cache: cache, AIO: aio})
			if spec.Validate(e) == nil {
				stacks = append(stacks, e.Stacks...)
			}
		}
	}
	return stacks
}

// experiment is a valid one with the stacks, completed.
func experiment(stacks ...spec.Stack) spec.Experiment {
	e, err := spec.Preset("quick")
	if err != nil {
		panic(err) // it is part of the program
	}
	e.Stacks = stacks
	return spec.Complete(e)
}

// variant is a stack with all else that can be said of one, and the machine around it.
type variant struct {
	stack spec.Stack
	opts  Options
}

// variants are those of the golden files, by name, each with what it is a file of.
func variants() map[string]variant {
	all := map[string]variant{}
	add := func(name string, s spec.Stack, change ...func(*Options)) {
		s.Name = name
		if s.Bus == "" {
			s.Bus = "virtio-blk"
		}
		if s.Cache == "" && s.Hypervisor == "" {
			s.Cache, s.AIO = "none", "io_uring"
		}
		e := experiment(s)
		if err := spec.Validate(e); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // a slip in this file
		}
		v := variant{e.Stacks[0], usual()}
		v.opts.Guest = e.GuestOf(v.stack)
		for _, c := range change {
			c(&v.opts)
		}
		all[name] = v
	}
	at := func(path string) func(*Options) { return func(o *Options) { o.Path = path } }
	tcg := func(o *Options) { o.Accel = "tcg" }

	add("plain", spec.Stack{})
	add("emulated", spec.Stack{CPUs: 1, Machine: "pc"}, tcg)
	add("iothread", spec.Stack{IOThread: true, Discard: "unmap", DetectZeroes: "unmap"}, at("/srv/a b'&<c>.raw"))
	add("scsi-iothread", spec.Stack{Bus: "virtio-scsi", IOThread: true, Queues: 2})
	add("scsi-single", spec.Stack{Bus: "virtio-scsi-single", IOThread: true, Queues: 2, QueueSize: 256, DetectZeroes: "on"})
	add("mapping", spec.Stack{VQMapping: 2, Queues: 2})
	add("scsi-mapping", spec.Stack{Bus: "virtio-scsi-single", VQMapping: 2, Queues: 2})
	add("queues", spec.Stack{Queues: 2, QueueSize: 128})
	add("qcow2", spec.Stack{Format: "qcow2", Preallocation: "metadata", ClusterSize: 128 << 10, ExtendedL2: true, LazyRefcounts: true, L2CacheSize: 4 << 20})
	add("qcow2-default", spec.Stack{Format: "qcow2", Cache: "writeback", AIO: "threads", Discard: "unmap", Bus: "sata"})
	add("overlay", spec.Stack{Format: "qcow2", BackingFile: true})
	add("snapshot", spec.Stack{Format: "qcow2", Snapshot: "fresh"})
	add("preallocated", spec.Stack{Preallocation: "falloc", Scheduler: "mq-deadline", ReadAhead: "128k"})
	add("device", spec.Stack{Storage: "device", AIO: "native", Cache: "none", ReadAhead: "none"}, at("/dev/sdb"))
	add("lvm", spec.Stack{Storage: "lvm", Pool: "data", Stripes: 2, ExtentSize: 64 << 20, LVReadAhead: "none"})
	add("lvm-mapper", spec.Stack{Storage: "lvm", Stripes: 2}, at("/dev/mapper/data-vm"))
	add("thin", spec.Stack{Storage: "lvm-thin", ChunkSize: 4 << 20, Zeroing: "off", Discard: "unmap"})
	add("thin-pool", spec.Stack{Storage: "lvm-thin", Pool: "data/pool"}, at("/dev/data/vm"))
	add("zvol", spec.Stack{Storage: "zvol", Pool: "tank/vms", VolBlockSize: 16 << 10, Compression: "lz4", Sync: "always", PrimaryCache: "metadata"})
	add("zfs-file", spec.Stack{Storage: "zfs-file", RecordSize: 16 << 10})
	add("hugepages", spec.Stack{Hugepages: 2 << 20})
	add("hugepages-file", spec.Stack{Hugepages: 2 << 20, MemoryBackend: "file"})
	add("memfd", spec.Stack{MemoryBackend: "memfd"})
	add("nbd", spec.Stack{Protocol: "nbd", Format: "qcow2", DetectZeroes: "on", Discard: "unmap", IOThread: true})
	add("vhost-user", spec.Stack{Bus: "vhost-user-blk"})
	add("spdk", spec.Stack{Bus: "vhost-user-scsi", AIO: "native", Cache: "none"})
	add("null-co", spec.Stack{Format: "null-co"})
	add("xen-pv", spec.Stack{Bus: "blkfront", Hypervisor: "xen-pv"})
	add("xen-qcow2", spec.Stack{Bus: "blkfront", Hypervisor: "xen-pvh", Backend: "qdisk", Format: "qcow2"})
	add("xen-hvm", spec.Stack{Bus: "ide", Hypervisor: "xen-hvm", Storage: "zvol"})
	add("xen-hvm-blkfront", spec.Stack{Bus: "blkfront", Hypervisor: "xen-hvm"})
	return all
}

// shown is all that a configuration holds, or why there is none.
func shown(c Config, err error) string {
	if err != nil {
		return "refused: " + strings.ReplaceAll(err.Error(), "\n", "\nrefused: ") + "\n"
	}
	text, rest := c.Commented()
	for _, line := range slices.Concat(c.Notes, rest) {
		text = "note: " + line + "\n" + text
	}
	return text
}
