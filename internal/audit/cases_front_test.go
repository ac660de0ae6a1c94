package audit

import "github.com/iotax/iotax/internal/vmconf"

// frontCases are of how a disk is attached: buses, caches, aio, iothreads and queues.
var frontCases = table{
	"IOT001": {[]edit{
		func(w *world) { w.disk().Bus = set("ide") },
		func(w *world) { w.disk().Bus, w.vm().Guest = set("sata"), vmconf.Windows },
		func(w *world) { w.disk().Bus, w.vm().Guest, w.vm().Kind = set("sata"), "", vmconf.Proxmox },
		func(w *world) { // no driver for virtio-scsi in it, whatever else hangs there
			w.vm().Kind, w.vm().Guest, w.vm().GuestDetail = vmconf.Proxmox, vmconf.Other, "macos"
			d := w.second()
			d.Bus, d.Device = set("virtio-scsi"), "cdrom"
			w.add(d)
			w.disk().Bus = set("sata")
		},
	}, []edit{
		func(w *world) { w.disk().Bus, w.vm().Hypervisor = set("ide"), "xen" },
		func(w *world) { w.disk().Bus, w.vm().GuestDetail = set("ide"), "wxp" },
		func(w *world) { w.disk().Bus, w.disk().Device = set("ide"), "cdrom" },
		func(w *world) { w.disk().Bus = set("nvme") },
	}},
	"IOT002": {[]edit{
		func(w *world) { w.disk().Bus = unset("lsi") },
		func(w *world) { w.disk().Bus = set("megasas") },
		func(w *world) { w.disk().Bus = set("pvscsi") },
		func(w *world) { // scsihw is of all
			w.vm().Kind, w.disk().Bus = vmconf.Proxmox, unset("lsi")
			d := w.second()
			d.Device = "cdrom"
			w.add(d)
		},
		func(w *world) { w.disk().Bus, w.disk().Device = set("lsi"), "lun" },
	}, []edit{
		func(w *world) { w.disk().Bus, w.vm().Hypervisor = set("lsi"), "" }, // VMware's, of libvirt
		func(w *world) { w.disk().Bus = set("virtio-scsi") },
		func(w *world) {
			w.disk().Bus, w.vm().GuestDetail = set("lsi"), "http://microsoft.com/win/xp"
		},
	}},
	"IOT003": {[]edit{
		func(w *world) { w.disk().Bus = set("usb") },
		func(w *world) { w.disk().Bus = set("sd") },
	}, []edit{
		func(w *world) { w.disk().Bus, w.disk().ReadOnly = set("usb"), true },
		func(w *world) { w.disk().Bus, w.disk().Source = set("usb"), set("/images/installer.iso") },
	}},
	"IOT004": {[]edit{
		func(w *world) { w.disk().Cache = set("unsafe") },
		func(w *world) { w.file("raw", "tmpfs", Volume{}); w.disk().Cache = set("unsafe") },
	}, []edit{
		func(w *world) { w.disk().Cache = set("writeback") },
		func(w *world) { w.disk().Cache, w.disk().ReadOnly = set("unsafe"), true },
	}},
	"IOT005": {[]edit{
		func(w *world) { w.disk().Cache = unset("writeback") },
		func(w *world) { w.disk().Cache, w.disk().Backend = set("writeback"), "file" },
		func(w *world) { w.file("qcow2", "ext4", Volume{}); w.disk().Cache = set("writeback") },
	}, []edit{
		func(w *world) { w.file("raw", "btrfs", Volume{NoCOW: new(false)}); w.disk().Cache = set("writeback") },
		func(w *world) { w.disk().Cache, w.disk().Backend = set("writeback"), "network" },
		func(w *world) { w.disk().Cache, w.vm().Kind = set("writeback"), vmconf.XL },
		func(w *world) { w.disk().Cache, w.disk().Device = set("writeback"), "lun" },
	}},
	"IOT006": {[]edit{
		func(w *world) { w.disk().Cache = set("writethrough") },
		func(w *world) { w.disk().Cache = set("directsync") },
		func(w *world) {
			w.device(Device{Name: "sda", WriteCache: "write back"})
			w.disk().Cache = set("directsync")
		},
	}, []edit{
		func(w *world) {
			w.device(Device{Name: "sda", WriteCache: "write through"})
			w.disk().Cache = set("directsync")
		},
		func(w *world) { w.disk().Cache = set("none") },
	}},
	"IOT007": {[]edit{
		func(w *world) { w.host.Kernel = "6.8.12-4-pve"; w.file("raw", "btrfs", Volume{NoCOW: new(false)}) },
	}, []edit{
		func(w *world) { w.host.Kernel = "6.15.1"; w.file("raw", "btrfs", Volume{NoCOW: new(false)}) },
		func(w *world) { w.host.Kernel = "6.8.12"; w.file("raw", "btrfs", Volume{NoCOW: new(true)}) },
		func(w *world) { w.host.Kernel = "6.8.12"; w.file("raw", "btrfs", Volume{}) },
		func(w *world) { w.host.Kernel = "6.8.12"; w.file("raw", "xfs", Volume{NoCOW: new(false)}) },
	}},
	"IOT008": {[]edit{
		func(w *world) { w.disk().Shared, w.disk().Cache = true, unset("writeback") },
		func(w *world) { w.disk().Shared, w.disk().Cache = true, set("writethrough") },
	}, []edit{
		func(w *world) { w.disk().Shared = true },
		func(w *world) { w.disk().Cache = set("writeback") },
	}},
	"IOT009": {[]edit{
		func(w *world) { w.disk().Shared, w.disk().Format = true, set("qcow2") },
	}, []edit{
		func(w *world) { w.disk().Shared = true },
		func(w *world) { w.disk().Format = set("qcow2") },
		func(w *world) { w.disk().Shared, w.disk().ReadOnly, w.disk().Format = true, true, set("qcow2") },
	}},
	"IOT010": {[]edit{
		func(w *world) { w.disk().Cache = unset("writeback") },
		func(w *world) { w.disk().Cache = set("writethrough") },
		func(w *world) { w.file("raw", "tmpfs", Volume{}); w.disk().Cache = unset("writeback") },
	}, []edit{
		func(w *world) { w.disk().Cache = set("directsync") },
		func(w *world) { w.disk().Cache, w.disk().AIO = unset("writeback"), unset("threads") },
		func(w *world) { w.disk().Cache = vmconf.Setting{} },
	}},
	"IOT011": {[]edit{
		func(w *world) { w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(1 << 20))}) },
		func(w *world) {
			w.qcow2(func(i *Image) { i.ActualSize = 1 << 30 })
			w.disk().AIO, w.vm().QEMU = set("native"), vmconf.Version{Major: 4, Minor: 2}
		},
	}, []edit{
		func(w *world) { w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(1 << 30))}) },
		func(w *world) { w.file("raw", "ext4", Volume{Size: 1 << 30}) },
		func(w *world) {
			w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(0))})
			w.disk().AIO = set("io_uring")
		},
	}},
	"IOT012": {[]edit{
		func(w *world) { w.disk().AIO = unset("threads") },
		func(w *world) { w.file("qcow2", "xfs", Volume{}); w.disk().AIO = set("threads") },
		func(w *world) { w.host.Kernel = "6.8.0"; w.file("raw", "xfs", Volume{}); w.disk().AIO = set("threads") },
	}, []edit{
		func(w *world) { w.disk().AIO, w.disk().Cache = unset("threads"), unset("writeback") },
		func(w *world) { w.file("raw", "cifs", Volume{}); w.disk().AIO = set("threads") },
		func(w *world) {
			w.host.IOURingDisabled = new(2)
			w.file("qcow2", "xfs", Volume{})
			w.disk().AIO = set("threads")
		},
		func(w *world) {
			w.disk().Backend, w.disk().AIO, w.vm().QEMU = "file", set("threads"), vmconf.Version{Major: 7, Minor: 1}
		},
		func(w *world) { w.disk().Backend, w.disk().AIO = "network", set("threads") },
	}},
	"IOT013": {[]edit{
		func(w *world) { w.disk().AIO, w.vm().QEMU = set("io_uring"), vmconf.Version{Major: 7, Minor: 1} },
		func(w *world) {
			w.vm().QEMU, w.host.QEMU = vmconf.Version{}, vmconf.Version{Major: 7, Minor: 1}
			w.file("raw", "xfs", Volume{})
			w.disk().AIO = set("io_uring")
		},
	}, []edit{
		func(w *world) { w.disk().AIO, w.vm().QEMU = set("io_uring"), vmconf.Version{Major: 7, Minor: 2} },
		func(w *world) {
			w.disk().AIO, w.vm().QEMU, w.disk().IOThread = set("io_uring"), vmconf.Version{Major: 7, Minor: 1}, unset("off")
		},
		func(w *world) { w.vm().QEMU = vmconf.Version{Major: 7, Minor: 1} },
		func(w *world) {
			w.disk().AIO, w.vm().QEMU, w.vm().Machine = set("io_uring"), vmconf.Version{}, set("pc-q35-7.1")
		},
	}},
	"IOT014": {[]edit{
		func(w *world) { w.host.IOURingDisabled = new(2); w.on(Volume{}); w.disk().AIO = set("io_uring") },
		func(w *world) { w.host.IOURingDisabled = new(1); w.on(Volume{}); w.disk().AIO = set("io_uring") },
		func(w *world) { w.host.Kernel = "4.18.0-553.el8"; w.on(Volume{}); w.disk().AIO = set("io_uring") },
	}, []edit{
		func(w *world) { w.host.IOURingDisabled = new(2); w.disk().AIO = set("io_uring") }, // another host's machine
		func(w *world) {
			w.host.IOURingDisabled, w.vm().Kind = new(1), vmconf.Proxmox
			w.on(Volume{})
			w.disk().AIO = set("io_uring")
		},
		func(w *world) { w.host.IOURingDisabled = new(2); w.on(Volume{}) },
	}},
	"IOT015": {[]edit{
		func(w *world) { w.disk().AIO, w.disk().Storage, w.disk().Backend = set("io_uring"), "cifs", "pool" },
		func(w *world) {
			w.vm().Kind, w.disk().AIO, w.disk().Cache = vmconf.Proxmox, set("io_uring"), set("writeback")
			w.disk().Storage, w.disk().Backend = "lvm", "pool"
		},
	}, []edit{
		func(w *world) { w.vm().Kind, w.disk().AIO, w.disk().Storage = vmconf.Proxmox, set("io_uring"), "lvm" },
		func(w *world) { w.disk().AIO, w.disk().Storage = unset("io_uring"), "cifs" },
		func(w *world) {
			w.vm().Kind, w.disk().AIO, w.disk().Cache, w.disk().Storage = vmconf.Proxmox, set("io_uring"), set("writeback"), "lvmthin"
		},
	}},
	"IOT016": {[]edit{
		func(w *world) { w.disk().IOThread = unset("off") },
		func(w *world) {
			w.disk().IOThread, w.disk().Bus = vmconf.Written("off", "iothread=0", vmconf.Place{}), set("virtio-scsi")
		},
	}, []edit{
		func(w *world) { w.disk().IOThread, w.disk().Bus = unset("off"), set("sata") },
		func(w *world) { w.disk().IOThread, w.vm().Hypervisor = unset("off"), "tcg" },
		func(w *world) { w.disk().IOThread = vmconf.Setting{} },
		func(w *world) {
			w.disk().IOThread, w.disk().Bus, w.disk().Controller = unset("off"), set("virtio-scsi"), "scsi0"
			w.vm().Controllers = []vmconf.Controller{{ID: "scsi0", IOThread: set("1")}}
		},
		func(w *world) {
			w.disk().IOThread, w.disk().AIO, w.vm().QEMU = unset("off"), set("io_uring"), vmconf.Version{Major: 7, Minor: 1}
		},
	}},
	"IOT017": {[]edit{
		func(w *world) {
			w.disk().IOThread, w.disk().Bus = vmconf.Written("off", "iothread=1", vmconf.Place{}), set("virtio-scsi")
		},
		func(w *world) {
			w.disk().IOThread, w.disk().Bus = vmconf.Written("off", "1", vmconf.Place{}), set("sata")
		},
	}, []edit{
		func(w *world) { w.disk().IOThread = vmconf.Written("off", "0", vmconf.Place{}) },
		func(w *world) { w.disk().IOThread = vmconf.Written("on", "iothread=1", vmconf.Place{}) },
		func(w *world) { w.disk().IOThread = unset("off") },
	}},
	"IOT018": {[]edit{
		func(w *world) { w.disk().IOThread = unset("off") },
	}, []edit{
		func(w *world) { w.disk().IOThread, w.vm().IOThreads = unset("off"), nil },
		func(w *world) { w.disk().IOThread = set("mapping") },
		func(w *world) { w.disk().IOThread, w.disk().Bus = unset("off"), set("sata") },
	}},
	"IOT019": {[]edit{
		func(w *world) { w.disk().Bus, w.disk().Controller = set("virtio-scsi"), "scsi0"; w.add(w.second()) },
		func(w *world) { // too many to move them all
			w.disk().Bus, w.disk().Controller = set("virtio-scsi"), "scsi0"
			for range mostMoved {
				w.add(w.second())
			}
		},
		func(w *world) {
			w.vm().Kind, w.disk().Bus, w.disk().Controller = vmconf.Proxmox, set("virtio-scsi"), "scsihw0"
			w.add(w.second())
		},
	}, []edit{
		func(w *world) {
			w.disk().Bus, w.disk().Controller = set("virtio-scsi"), "scsi0"
			d := w.second()
			d.Controller = "scsi1"
			w.add(d)
		},
		func(w *world) {
			w.disk().Bus, w.disk().Controller = set("virtio-scsi"), "scsi0"
			d := w.second()
			d.Device = "cdrom"
			w.add(d)
		},
		func(w *world) {
			w.disk().Bus, w.disk().Controller, w.disk().IOThread = set("virtio-scsi"), "scsi0", set("mapping")
			w.add(w.second())
		},
		func(w *world) { w.disk().Bus = set("virtio-scsi"); w.add(w.second()) }, // on which controllers is not known
	}},
	"IOT020": {[]edit{
		func(w *world) { w.add(w.second()) },
	}, []edit{
		func(w *world) { w.add(w.second()); w.vm().CPUs = set("1") },
		func(w *world) {
			w.vm().IOThreads = append(w.vm().IOThreads, vmconf.IOThread{ID: "2", Pinned: true})
			w.add(w.second())
		},
		func(w *world) { w.disk().IOThread = set("mapping"); w.add(w.second()) },
	}},
	"IOT021": {[]edit{
		func(w *world) { w.vm().CPUs, w.disk().Queues = set("8"), set("8") },
		func(w *world) {
			w.queues("virtio-scsi", "16")
			w.vm().CPUs = set("16")
		},
	}, []edit{
		func(w *world) { w.vm().CPUs, w.vm().QEMU = set("8"), vmconf.Version{Major: 8, Minor: 2} },
		func(w *world) { w.vm().CPUs, w.vm().Kind = set("8"), vmconf.Proxmox },
		func(w *world) { w.vm().CPUs, w.disk().IOThread = set("8"), set("mapping") },
		func(w *world) {
			w.queues("virtio-scsi", "8")
			w.vm().CPUs, w.vm().QEMU = set("8"), vmconf.Version{Major: 9, Minor: 2}
		},
		func(w *world) { w.vm().CPUs = set("7") },
	}},
	"IOT022": {[]edit{
		func(w *world) {
			w.vm().Pinning, w.vm().Hugepages, w.vm().IOThreads = set("on"), set("on"), []vmconf.IOThread{{ID: "1"}}
		},
	}, []edit{
		func(w *world) { w.vm().IOThreads = []vmconf.IOThread{{ID: "1"}} },
		func(w *world) { w.vm().Pinning, w.vm().Hugepages = set("on"), set("on") },
		func(w *world) {
			w.vm().Pinning, w.vm().IOThreads = set("on"), []vmconf.IOThread{{ID: "1", Pinned: true}, {ID: "2"}} // 2 serves nobody
		},
	}},
	"IOT023": {[]edit{
		func(w *world) { w.queues("virtio-blk", "1") },
		func(w *world) {
			w.vm().Kind, w.vm().Machine, w.disk().Queues = vmconf.Proxmox, set("pc-i440fx-5.1"), unset("1")
		},
		func(w *world) {
			w.vm().Kind, w.vm().Machine, w.disk().Queues, w.vm().Guest = vmconf.Proxmox, unset("pc-q35-5.1"), unset("1"), vmconf.Windows
		},
		func(w *world) { // one vCPU at the start, the others are plugged in
			w.vm().Kind, w.disk().Bus, w.disk().Queues, w.disk().IOThread = vmconf.Proxmox, set("virtio-scsi"), unset("1"), unset("off")
		},
	}, []edit{
		func(w *world) { w.queues("virtio-blk", "1"); w.vm().CPUs = set("1") },
		func(w *world) { w.queues("sata", "1") },
		func(w *world) { w.disk().Queues = vmconf.Setting{} },
		func(w *world) { w.queues("virtio-blk", "2") },
	}},
	"IOT024": {[]edit{
		func(w *world) { w.queues("virtio-blk", "8") },
	}, []edit{
		func(w *world) { w.queues("virtio-blk", "4") },
		func(w *world) { w.queues("virtio-blk", "8"); w.vm().CPUs = vmconf.Setting{} },
		func(w *world) { w.queues("virtio-blk", "8"); w.vm().MaxCPUs = 8 }, // to be plugged in
		func(w *world) { w.queues("nvme", "64") },
	}},
	"IOT025": {[]edit{
		func(w *world) { w.disk().QueueSize, w.vm().Machine = unset("128"), set("pc-q35-4.2") },
		func(w *world) {
			w.disk().QueueSize, w.vm().Machine, w.vm().Kind = unset("128"), set("pc-i440fx-4.1+pve0"), vmconf.Proxmox
		},
		func(w *world) { // libvirt cannot say it
			w.disk().QueueSize, w.vm().Machine, w.disk().Bus = unset("128"), set("pc-q35-4.2"), set("virtio-scsi")
		},
	}, []edit{
		func(w *world) { w.disk().QueueSize = set("1024") },
		func(w *world) { w.disk().QueueSize = vmconf.Setting{} },
		func(w *world) { w.disk().QueueSize, w.disk().Bus = set("32"), set("sata") },
	}},
	"IOT026": {[]edit{
		func(w *world) { w.vm().Machine = set("pc-i440fx-3.1") },
	}, []edit{
		func(w *world) { w.vm().Machine = set("pc-i440fx-4.0") },
		func(w *world) { w.vm().Machine, w.disk().Discard = set("pc-i440fx-3.1"), unset("ignore") },
		func(w *world) { w.vm().Machine, w.disk().Bus = set("pc-i440fx-3.1"), set("virtio-scsi") },
		func(w *world) { w.vm().Machine = set("pc-i440fx-rhel7.6.0") },
	}},
}
