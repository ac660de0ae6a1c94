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
