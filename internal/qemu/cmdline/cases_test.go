package cmdline_test

import (
	"path/filepath"
	"strconv"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
)

// machines are the guests of the golden files, by file name. Every path lies in dir.
func machines(dir string) map[string]cmdline.Config {
	at := func(name string) string { return filepath.Join(dir, name) }
	base := cmdline.Config{
		Binary: "qemu-system-x86_64", Accel: "tcg", Machine: "q35", CPUs: 2, Memory: 512 << 20,
		QMPSocket: at("qmp"), AgentSocket: at("agent"),
	}
	with := func(change func(*cmdline.Config)) cmdline.Config {
		c := base
		change(&c)
		return c
	}
	disk := func(s spec.Stack) cmdline.Disk { return cmdline.Disk{Stack: s, Path: at("0.img")} }
	disks := func(list ...cmdline.Disk) []cmdline.Disk {
		for i := range list {
			list[i].Serial = "disk" + strconv.Itoa(i)
			list[i].Path = at(list[i].Serial + ".img")
		}
		return list
	}
	stacks := func(list ...spec.Stack) (ds []cmdline.Disk) {
		for _, s := range list {
			ds = append(ds, disk(s))
		}
		return disks(ds...)
	}
	raw := func(bus string) spec.Stack { return spec.Stack{Format: "raw", Bus: bus, Cache: "none", AIO: "native"} }
	iothread := func(s spec.Stack) spec.Stack { s.IOThread = true; return s }

	return map[string]cmdline.Config{
		"boot": with(func(c *cmdline.Config) {
			c.Kernel, c.Initrd, c.Append = at("vmlinuz"), at("initrd"), "console=ttyS0 quiet panic=-1"
			c.Disks = stacks(iothread(spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"}))
		}),
		"kvm": with(func(c *cmdline.Config) { c.Accel = "kvm"; c.CPUs = 1; c.Disks = stacks(raw("virtio-blk")) }),
		"one-cpu": with(func(c *cmdline.Config) {
			c.CPUs, c.Machine, c.Bios, c.Paused = 1, "pc", at("bios"), true
			c.QMPSocket, c.ConsoleFile = at("qmp, second"), at("console,file")
		}),
		"buses": with(func(c *cmdline.Config) {
			c.ConsoleSocket = at("console")
			c.Disks = stacks(raw("virtio-blk"), iothread(raw("virtio-blk")),
				raw("virtio-scsi"), iothread(raw("virtio-scsi")), raw("virtio-scsi"), iothread(raw("virtio-scsi")),
				raw("virtio-scsi-single"), iothread(raw("virtio-scsi-single")),
				raw("sata"), raw("nvme"), raw("sata"), raw("lsi53c895a"), raw("megasas"), raw("pvscsi"), raw("pvscsi"))
		}),
		"ide": with(func(c *cmdline.Config) {
			c.Machine = "pc"
			c.Disks = stacks(raw("ide"), raw("sata"), raw("ide"), raw("ide"), raw("ide"))
		}),
		"full-controllers": with(func(c *cmdline.Config) {
			for _, bus := range []string{"sata", "lsi53c895a"} {
				for range 8 {
					c.Disks = append(c.Disks, disk(raw(bus)))
				}
			}
			c.Disks = disks(c.Disks...)
		}),
		"caches": with(func(c *cmdline.Config) {
			for _, bus := range []string{"virtio-blk", "virtio-scsi", "sata", "nvme"} {
				for _, cache := range spec.Caches {
					c.Disks = append(c.Disks, disk(spec.Stack{Format: "raw", Bus: bus, Cache: cache, AIO: "threads"}))
				}
			}
			c.Disks = disks(c.Disks...)
		}),
		"discard": with(func(c *cmdline.Config) {
			c.Disks = stacks(
				spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", Discard: "unmap", DetectZeroes: "unmap"},
				spec.Stack{Format: "qcow2", Bus: "virtio-scsi", Cache: "unsafe", AIO: "threads", Discard: "ignore", DetectZeroes: "on"},
				spec.Stack{Format: "qcow2", Bus: "sata", Cache: "writeback", AIO: "io_uring", DetectZeroes: "off"})
		}),
		"queues": with(func(c *cmdline.Config) {
			blk, scsi, nvme := raw("virtio-blk"), raw("virtio-scsi"), raw("nvme")
			blk.Queues, blk.QueueSize = 2, 128
			scsi.Queues, scsi.QueueSize = 2, 256
			nvme.Queues = 4
			c.Disks = stacks(blk, scsi, scsi, raw("virtio-scsi"), nvme)
		}),
		"mapping": with(func(c *cmdline.Config) {
			mapped := func(bus string, n int) spec.Stack { s := raw(bus); s.VQMapping = n; return s }
			tuned := mapped("virtio-blk", 2)
			tuned.Queues, tuned.QueueSize = 2, 128
			c.Disks = stacks(mapped("virtio-blk", 1), tuned, mapped("virtio-scsi", 2), mapped("virtio-scsi", 2), raw("virtio-scsi"), mapped("virtio-scsi-single", 2))
		}),
		"qcow2": with(func(c *cmdline.Config) {
			plain := spec.Stack{Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "threads"}
			lazy, cached, both := plain, plain, plain
			lazy.LazyRefcounts, cached.L2CacheSize = true, 1<<20
			both.LazyRefcounts, both.L2CacheSize = true, 64<<10
			overlay := plain
			overlay.BackingFile, overlay.L2CacheSize, overlay.AIO = true, 128<<10, "native"
			c.Disks = stacks(plain, lazy, cached, both, overlay)
			c.Disks[3].Offset, c.Disks[3].Size = 1<<20, 1<<20
			c.Disks[4].Base = at("base")
		}),
		"backing-file": with(func(c *cmdline.Config) {
			c.Disks = stacks(spec.Stack{Format: "qcow2", BackingFile: true, Bus: "virtio-blk", Cache: "none", AIO: "native", Discard: "unmap"})
			c.Disks[0].Base = at("base, filled.qcow2")
		}),
		"memory-ram":   with(func(c *cmdline.Config) { c.Backend = "ram" }),
		"memory-memfd": with(func(c *cmdline.Config) { c.Backend = "memfd" }),
		"memory-file":  with(func(c *cmdline.Config) { c.Backend, c.Folder = "file", filepath.Clean(dir) }),
		"pages-2M":     with(func(c *cmdline.Config) { c.Pages, c.Memory = 2<<20, 64<<20 }),
		"pages-1G":     with(func(c *cmdline.Config) { c.Backend, c.Pages, c.Memory = "memfd", 1<<30, 1<<30 }),
		"pages-file":   with(func(c *cmdline.Config) { c.Backend, c.Pages, c.Folder = "file", 2<<20, at("huge, pages") }),
		"ten-cpus":     with(func(c *cmdline.Config) { c.CPUs = 10 }),
		"slices": with(func(c *cmdline.Config) {
			qcow2 := spec.Stack{Format: "qcow2", Bus: "virtio-blk", Cache: "writeback", AIO: "threads"}
			c.Disks = stacks(raw("virtio-blk"), raw("nvme"), qcow2)
			c.Disks[0].Offset, c.Disks[0].Size = 1<<20, 1<<20
			c.Disks[1].Offset = 4096
			c.Disks[2].Offset, c.Disks[2].Size = 1<<20, 1<<20
		}),
		"block-device": with(func(c *cmdline.Config) {
			qcow2 := spec.Stack{Format: "qcow2", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"}
			c.Disks = stacks(raw("virtio-blk"), qcow2)
			c.Disks[0].Block, c.Disks[1].Block = true, true
		}),
		"null": with(func(c *cmdline.Config) {
			s := spec.Stack{Format: "null-co", Bus: "virtio-blk", Cache: "none"}
			scsi := spec.Stack{Format: "null-co", Bus: "virtio-scsi-single", Cache: "writeback", AIO: "threads", DetectZeroes: "on"}
			c.Disks = stacks(iothread(s), iothread(scsi))
			c.Disks[0].Size, c.Disks[1].Size = 1<<30, 1<<20
		}),
	}
}
