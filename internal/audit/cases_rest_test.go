package audit

import "github.com/iotax/iotax/internal/vmconf"

// restCases are of devices, memory, guests and the host.
var restCases = table{
	"IOT048": {[]edit{
		func(w *world) { w.disk().Source = set("/dev/sdb") },
		func(w *world) { w.disk().Source = set("phy:/dev/nvme0n1p3") },
		func(w *world) { w.disk().Source = set("/dev/mmcblk0p3") },
		func(w *world) {
			w.disk().Source = set("/dev/zd16")
			w.on(Volume{Block: &Device{Name: "zd16"}, Steady: "/dev/zvol/tank/web"})
		},
	}, []edit{
		func(w *world) { w.disk().Source = set("/dev/disk/by-id/ata-disk") },
		func(w *world) { w.disk().Source = set("/dev/vg0/sda") },
		func(w *world) { w.disk().Source, w.disk().Device = set("/dev/sr0"), "cdrom" },
		func(w *world) { w.disk().Source = set("/images/dev/sda") },
	}},
	"IOT049": {[]edit{
		func(w *world) {
			w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 512, PhysicalBlock: 4096}})
			w.disk().PhysicalBlock = unset("512")
		},
	}, []edit{
		func(w *world) { w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 512, PhysicalBlock: 4096}}) },
		func(w *world) {
			w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 512, PhysicalBlock: 512}})
			w.disk().PhysicalBlock = unset("512")
		},
		func(w *world) {
			w.on(Volume{Block: &Device{Name: "sdb", PhysicalBlock: 4096}})
			w.disk().PhysicalBlock = vmconf.Setting{}
		},
	}},
	"IOT050": {[]edit{
		func(w *world) { w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 4096, PhysicalBlock: 4096}}) },
	}, []edit{
		func(w *world) { w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 512, PhysicalBlock: 4096}}) },
		func(w *world) {
			w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 4096, PhysicalBlock: 4096}})
			w.disk().LogicalBlock = set("4096")
		},
		func(w *world) {
			w.on(Volume{Block: &Device{Name: "sdb", LogicalBlock: 4096}})
			w.disk().Cache = unset("writeback")
		},
	}},
	"IOT051": {[]edit{
		func(w *world) { w.on(Volume{Block: &Device{Name: "sda1"}, Offset: new(int64(63 * 512))}) },
	}, []edit{
		func(w *world) { w.on(Volume{Block: &Device{Name: "sda1"}, Offset: new(int64(2048 * 512))}) },
		func(w *world) { w.on(Volume{Block: &Device{Name: "sda"}}) },
	}},
	"IOT052": {[]edit{
		func(w *world) { w.disk().Discard, w.disk().Format = unset("ignore"), set("qcow2") },
		func(w *world) { w.disk().Discard, w.disk().Storage = unset("ignore"), "lvmthin" },
		func(w *world) { // a change alone would do nothing
			w.disk().Discard, w.disk().Format, w.vm().Machine = unset("ignore"), set("qcow2"), set("pc-q35-3.1")
		},
		func(w *world) {
			w.disk().Discard, w.disk().Format, w.vm().Machine = unset("ignore"), set("qcow2"), set("pc-q35-rhel7.6.0")
		},
		func(w *world) { w.disk().Discard, w.disk().Storage = unset("ignore"), "zfspool" },
		func(w *world) {
			w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(1 << 20))})
			w.disk().Discard = unset("ignore")
		},
	}, []edit{
		func(w *world) { w.disk().Discard = unset("ignore") },
		func(w *world) { w.disk().Discard, w.disk().Storage = unset("ignore"), "lvm" },
		func(w *world) {
			w.disk().Discard, w.disk().Format, w.disk().Bus = unset("ignore"), set("qcow2"), set("sd")
		},
		func(w *world) {
			w.vm().Kind, w.disk().Bus, w.disk().Discard, w.disk().Format = vmconf.XL, set("ide"), unset("ignore"), set("qcow2")
		},
		func(w *world) { w.disk().Format = set("qcow2") },
		func(w *world) {
			w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(1 << 30))})
			w.disk().Discard = unset("ignore")
		},
	}},
	"IOT053": {[]edit{
		func(w *world) {
			w.disk().Storage, w.disk().DetectZeroes, w.disk().Discard = "lvm", unset("on"), unset("ignore")
		},
		func(w *world) { w.lvm(LV{}); w.disk().DetectZeroes, w.disk().Discard = set("on"), unset("ignore") },
	}, []edit{
		func(w *world) {
			w.lvm(LV{Thin: true})
			w.disk().DetectZeroes, w.disk().Discard = set("on"), unset("ignore")
		},
		func(w *world) { w.disk().Storage, w.disk().DetectZeroes = "lvm", unset("on") },
		func(w *world) { w.disk().DetectZeroes, w.disk().Discard = set("on"), unset("ignore") },
	}},
	"IOT054": {[]edit{
		func(w *world) { w.disk().DetectZeroes, w.disk().Discard = set("unmap"), unset("ignore") },
		func(w *world) { // as libvirt reads it
			w.disk().DetectZeroes, w.disk().Discard = vmconf.Written("on", "detect_zeroes='unmap'", vmconf.Place{File: "web.xml", Line: 7}), unset("ignore")
		},
	}, []edit{
		func(w *world) { w.disk().DetectZeroes = set("unmap") },
		func(w *world) { w.disk().DetectZeroes, w.disk().Discard = set("on"), unset("ignore") },
	}},
	"IOT055": {[]edit{
		func(w *world) {
			w.disk().Throttle = []vmconf.Setting{
				vmconf.Written("500", "total_iops_sec=500", vmconf.Place{File: "web.xml", Line: 9}), set("1048576"),
			}
		},
		func(w *world) { // one group of two disks
			w.vm().Kind, w.disk().Throttle = vmconf.QEMU, []vmconf.Setting{set("500")}
			w.add(w.second())
		},
	}, []edit{
		func(w *world) { w.disk().Throttle = []vmconf.Setting{} },
		func(w *world) { w.disk().Throttle, w.disk().Device = []vmconf.Setting{set("500")}, "cdrom" },
	}},
	"IOT056": {[]edit{
		func(w *world) {
			w.disk().Throttle, w.vm().QEMU = []vmconf.Setting{set("500")}, vmconf.Version{Major: 10}
		},
		func(w *world) {
			w.disk().Throttle, w.vm().QEMU = []vmconf.Setting{set("500")}, vmconf.Version{Major: 9, Minor: 1}
		},
	}, []edit{
		func(w *world) { w.disk().Throttle = []vmconf.Setting{set("500")} },
		func(w *world) { w.disk().Throttle, w.vm().QEMU = []vmconf.Setting{set("500")}, vmconf.Version{} },
		func(w *world) {
			w.disk().Throttle, w.vm().QEMU = []vmconf.Setting{set("500")}, vmconf.Version{Major: 9}
		},
		func(w *world) { w.vm().QEMU = vmconf.Version{Major: 10} },
	}},
	"IOT057": {[]edit{
		func(w *world) { w.host.THP = "never"; w.on(Volume{}) },
		func(w *world) { w.vm().Pinning = set("on") },
	}, []edit{
		func(w *world) { w.host.THP = "never" }, // another host's machine
		func(w *world) { w.host.THP, w.vm().Pinning = "madvise", set("on"); w.on(Volume{}) },
		func(w *world) { w.host.THP, w.vm().Memory = "never", set("1073741824"); w.on(Volume{}) },
		func(w *world) { w.vm().Pinning, w.vm().Hugepages = set("on"), set("1073741824") },
	}},
	"IOT058": {[]edit{
		func(w *world) {
			w.host.Hugepages, w.vm().Hugepages = []Hugepages{{2 << 20, 100}, {1 << 30, 4}}, set("1073741824")
			w.on(Volume{})
		},
	}, []edit{
		func(w *world) {
			w.host.Hugepages, w.vm().Hugepages = []Hugepages{{2 << 20, 100}, {1 << 30, 8}}, set("1073741824")
			w.on(Volume{})
		},
		func(w *world) {
			w.host.Hugepages, w.vm().Hugepages = []Hugepages{{2 << 20, 0}}, set("1073741824")
			w.on(Volume{})
		},
		func(w *world) { w.host.Hugepages, w.vm().Hugepages = []Hugepages{{2 << 20, 0}}, set("2097152") },
	}},
	"IOT059": {[]edit{
		func(w *world) {
			w.vm().Balloon, w.vm().Passthrough = unset("on"), []vmconf.Setting{set("0000:01:00.0")}
		},
		func(w *world) {
			w.vm().Balloon, w.vm().Passthrough = unset("on"), []vmconf.Setting{set("usb 14-6"), set("6b8cae6b-55f6-4358-bc80-7470fdeaaf51")}
		},
		func(w *world) {
			w.vm().Kind, w.vm().Balloon, w.vm().Passthrough = vmconf.Proxmox, unset("on"), []vmconf.Setting{set("mapping gpu")}
		},
	}, []edit{
		func(w *world) { // none of VFIO
			w.vm().Balloon = unset("on")
			w.vm().Passthrough = []vmconf.Setting{set("usb 14-6"), set("scsi_host0 0:0:0"), set("iqn.1992-01.com.example:storage/1"), set("naa.5123456789abcde0")}
		},
		func(w *world) { w.vm().Passthrough = []vmconf.Setting{set("0000:01:00.0")} },
		func(w *world) { w.vm().Balloon = unset("on") },
	}},
	"IOT060": {[]edit{
		func(w *world) { w.vm().Balloon, w.vm().Hugepages = unset("on"), set("2097152") },
	}, []edit{
		func(w *world) { w.vm().Balloon = unset("on") },
		func(w *world) { w.vm().Hugepages = set("2097152") },
	}},
	"IOT061": {[]edit{
		func(w *world) { w.host.Nodes = []Node{{0, 2, 64 << 30}, {1, 16, 64 << 30}}; w.on(Volume{}) },
		func(w *world) {
			w.host.Nodes, w.vm().Kind = []Node{{0, 16, 64 << 30}, {1, 16, 64 << 30}}, vmconf.QEMU
			w.on(Volume{})
		},
	}, []edit{
		func(w *world) { w.host.Nodes = []Node{{0, 16, 64 << 30}}; w.on(Volume{}) },
		func(w *world) {
			w.host.Nodes, w.vm().NUMA = []Node{{0, 16, 64 << 30}, {1, 16, 64 << 30}}, set("on")
			w.on(Volume{})
		},
		func(w *world) { w.host.Nodes = []Node{{0, 2, 64 << 30}, {1, 2, 64 << 30}}; w.on(Volume{}) },
		func(w *world) { w.host.Nodes = []Node{{0, 16, 64 << 30}, {1, 16, 64 << 30}} },
	}},
	"IOT062": {[]edit{
		func(w *world) { w.host.CPUs = 2; w.on(Volume{}) },
	}, []edit{
		func(w *world) { w.host.CPUs = 4; w.on(Volume{}) },
		func(w *world) { w.host.CPUs = 2 },
	}},
	"IOT063": {[]edit{
		func(w *world) { w.vm().Agent = unset("off") },
		func(w *world) { w.vm().Agent, w.vm().Kind, w.disk().Backup = unset("off"), vmconf.Proxmox, true },
	}, []edit{
		func(w *world) { w.vm().Agent, w.vm().Kind = unset("off"), vmconf.Proxmox },
		func(w *world) { w.vm().Agent, w.vm().Kind = unset("off"), vmconf.QEMU },
		func(w *world) { w.vm().Agent, w.vm().Hypervisor = unset("off"), "xen" },
		func(w *world) { w.vm().Agent, w.vm().Guest = unset("off"), "" },
	}},
	"IOT064": {[]edit{
		func(w *world) { w.device(Device{Name: "nvme0n1", Scheduler: "mq-deadline", Rotational: new(false)}) },
		func(w *world) { w.device(Device{Name: "sda", Scheduler: "bfq", Rotational: new(false)}) },
	}, []edit{
		func(w *world) { w.device(Device{Name: "nvme0n1", Scheduler: "none", Rotational: new(false)}) },
		func(w *world) { w.device(Device{Name: "sda", Scheduler: "mq-deadline", Rotational: new(false)}) },
		func(w *world) { w.device(Device{Name: "sda", Scheduler: "bfq", Rotational: new(true)}) },
		func(w *world) { w.host.Devices = []Device{{Name: "nvme0n1", Scheduler: "bfq", Rotational: new(false)}} },
	}},
	"IOT065": {[]edit{
		func(w *world) { w.host.Governors = []string{"performance", "powersave"}; w.on(Volume{}) },
	}, []edit{
		func(w *world) { w.host.Governors = []string{"performance"}; w.on(Volume{}) },
		func(w *world) { w.host.Governors = []string{"powersave"} },
		func(w *world) { w.on(Volume{}) },
	}},
	"IOT066": {[]edit{
		func(w *world) {
			w.device(Device{Name: "sda", ReadAhead: new(int64(0))})
			w.disk().Cache = set("writeback")
		},
	}, []edit{
		func(w *world) { w.device(Device{Name: "sda", ReadAhead: new(int64(0))}) },
		func(w *world) {
			w.device(Device{Name: "sda", ReadAhead: new(int64(128 << 10))})
			w.disk().Cache = set("writeback")
		},
		func(w *world) { w.device(Device{Name: "sda"}); w.disk().Cache = set("writeback") },
	}},
	"IOT067": {[]edit{
		func(w *world) { w.host.Swappiness, w.host.Swap = new(60), new(int64(8<<30)); w.on(Volume{}) },
	}, []edit{
		func(w *world) { w.host.Swappiness, w.host.Swap = new(10), new(int64(8<<30)); w.on(Volume{}) },
		func(w *world) { w.host.Swappiness, w.host.Swap = new(60), new(int64(0)); w.on(Volume{}) },
		func(w *world) { w.host.Swappiness, w.host.Swap = new(60), new(int64(8<<30)) },
	}},
	"IOT068": {[]edit{
		func(w *world) { w.on(Volume{}); w.twin("db") },
	}, []edit{
		func(w *world) { w.on(Volume{}); w.twin("web") },
		func(w *world) { w.twin("db") }, // of hosts that are not this one
		func(w *world) { w.disk().Shared = true; w.on(Volume{}); w.twin("db") },
	}},
}
