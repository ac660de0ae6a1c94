package audit

import "github.com/iotax/iotax/internal/vmconf"

// storageCases are of what lies under a disk: images, file systems and LVM.
var storageCases = table{
	"IOT027": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.VirtualSize, i.ActualSize = 2<<40, 2<<40 }) },
		func(w *world) { w.qcow2(func(i *Image) {}); w.disk().L2CacheSize = set("1048576") },
		func(w *world) {
			w.qcow2(func(i *Image) {})
			w.vm().QEMU = vmconf.Version{Major: 3, Minor: 0}
		},
		func(w *world) {
			w.qcow2(func(i *Image) { i.VirtualSize, i.ActualSize, i.ExtendedL2 = 256<<30, 256<<30, true })
			w.vm().Kind = vmconf.Proxmox
		},
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) { i.VirtualSize, i.ActualSize = 256<<30, 256<<30 }) },
		func(w *world) {
			w.qcow2(func(i *Image) { i.VirtualSize, i.ActualSize = 2<<40, 2<<40 })
			w.disk().L2CacheSize = set("268435456")
		},
		func(w *world) {
			w.qcow2(func(i *Image) { i.VirtualSize, i.ActualSize, i.ClusterSize = 2<<40, 2<<40, 2<<20 })
		},
		func(w *world) { w.disk().Format, w.disk().Size = set("qcow2"), 2<<40 }, // clusters are not known
	}},
	"IOT028": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.ClusterSize = 4 << 10 }) },
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) {}) },
		func(w *world) { w.qcow2(func(i *Image) { i.Format, i.ClusterSize = "qed", 4<<10 }) },
	}},
	"IOT029": {[]edit{
		func(w *world) {
			w.qcow2(func(i *Image) { i.ClusterSize, i.Backing = 2<<20, []Backing{{"/base.raw", "raw", true}} })
		},
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) { i.ClusterSize = 2 << 20 }) },
		func(w *world) {
			w.qcow2(func(i *Image) {
				i.ClusterSize, i.Backing, i.ExtendedL2 = 2<<20, []Backing{{"/base.raw", "raw", true}}, true
			})
		},
		func(w *world) { w.qcow2(func(i *Image) { i.Backing = []Backing{{"/base.raw", "raw", true}} }) },
	}},
	"IOT030": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.ActualSize = 1 << 30 }) },
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) { i.ActualSize = 40 << 30 }) },
		func(w *world) {
			w.qcow2(func(i *Image) { i.ActualSize, i.Backing = 1<<30, []Backing{{"/base.raw", "raw", true}} })
		},
		func(w *world) { w.file("raw", "ext4", Volume{Size: 1 << 30, Allocated: new(int64(1))}) },
	}},
	"IOT031": {[]edit{
		func(w *world) { w.disk().Format, w.disk().Backing = set("qcow2"), []string{"/a", "/b", "/c"} },
		func(w *world) {
			w.qcow2(func(i *Image) {
				i.Backing = []Backing{{"/a", "qcow2", true}, {"/b", "qcow2", true}, {"/c", "raw", true}}
			})
			w.vm().Kind = vmconf.QEMU
		},
	}, []edit{
		func(w *world) { w.disk().Backing = []string{"/a", "/b"} },
		func(w *world) {
			w.qcow2(func(i *Image) { i.Backing = []Backing{{"/a", "raw", true}} }) // what is there counts, not what is written
			w.disk().Backing = []string{"/a", "/b", "/c"}
		},
	}},
	"IOT032": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Snapshots = []string{"before", "after update"} }) },
		func(w *world) {
			w.qcow2(func(i *Image) { i.Snapshots = []string{"a", "b", "c", "d", "e", "f"} })
			w.vm().Kind, w.vm().ID = vmconf.Proxmox, "101"
		},
		func(w *world) { w.qcow2(func(i *Image) { i.Snapshots = []string{"a"} }); w.vm().Kind = vmconf.QEMU },
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) {}) },
		func(w *world) { w.qcow2(func(i *Image) { i.Snapshots = []string{"a"} }); w.vm().Part = "snapshot a" },
	}},
	"IOT033": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Backing = []Backing{{"/base.raw", "raw", false}} }) },
		func(w *world) {
			w.qcow2(func(i *Image) { i.Backing = []Backing{{"/mid.qcow2", "qcow2", true}, {"/base", "raw", false}} })
		},
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Backing = []Backing{{"/base.raw", "raw", true}} }) },
		func(w *world) { w.disk().Backing = []string{"/base.raw"} },
	}},
	"IOT034": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Corrupt = true }) },
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) {}) },
		func(w *world) { w.qcow2(func(i *Image) { i.Corrupt = true }); w.disk().ReadOnly = true },
	}},
	"IOT035": {[]edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Compat = "0.10" }) },
	}, []edit{
		func(w *world) { w.qcow2(func(i *Image) { i.Compat = "" }) },
		func(w *world) { w.qcow2(func(i *Image) {}) },
	}},
	"IOT036": {[]edit{
		func(w *world) { w.file("raw", "btrfs", Volume{NoCOW: new(false)}) },
	}, []edit{
		func(w *world) { w.file("raw", "btrfs", Volume{NoCOW: new(true)}) },
		func(w *world) { w.file("raw", "btrfs", Volume{}) },
		func(w *world) { w.file("raw", "xfs", Volume{}) },
	}},
	"IOT037": {[]edit{
		func(w *world) {
			w.qcow2(func(i *Image) {})
			w.file("qcow2", "zfs", Volume{Image: &Image{Format: "qcow2"}})
		},
	}, []edit{
		func(w *world) { w.file("raw", "zfs", Volume{}) },
		func(w *world) { w.qcow2(func(i *Image) {}) },
		func(w *world) {
			w.file("qcow2", "zfs", Volume{Image: &Image{Format: "qcow2", Backing: []Backing{{"/a", "raw", true}}}})
		},
	}},
	"IOT038": {[]edit{
		func(w *world) {
			w.file("raw", "zfs", Volume{Dataset: &Dataset{Name: "tank/vm", Recordsize: 128 << 10}})
		},
	}, []edit{
		func(w *world) { w.file("raw", "zfs", Volume{Dataset: &Dataset{Name: "tank/vm", Recordsize: 64 << 10}}) },
		func(w *world) { w.file("raw", "zfs", Volume{Dataset: &Dataset{Name: "tank/vm"}}) },
		func(w *world) { w.zfs(Dataset{Recordsize: 128 << 10}) },
	}},
	"IOT039": {[]edit{
		func(w *world) { w.zfs(Dataset{Volblocksize: 128 << 10}) },
		func(w *world) { w.zfs(Dataset{Volblocksize: 4 << 10}) },
	}, []edit{
		func(w *world) { w.zfs(Dataset{Volblocksize: 8 << 10}) },
		func(w *world) { w.zfs(Dataset{Volblocksize: 64 << 10}) },
		func(w *world) { w.zfs(Dataset{}) },
	}},
	"IOT040": {[]edit{
		func(w *world) { w.zfs(Dataset{Sync: "disabled"}) },
	}, []edit{
		func(w *world) { w.zfs(Dataset{Sync: "standard"}) },
		func(w *world) { w.zfs(Dataset{}) },
	}},
	"IOT041": {[]edit{
		func(w *world) { w.zfs(Dataset{Dedup: "sha256,verify"}) },
	}, []edit{
		func(w *world) { w.zfs(Dataset{Dedup: "off"}) },
		func(w *world) { w.zfs(Dataset{}) },
	}},
	"IOT042": {[]edit{
		func(w *world) { w.file("raw", "tmpfs", Volume{}) },
	}, []edit{
		func(w *world) { w.file("raw", "ext4", Volume{}) },
		func(w *world) { w.file("raw", "tmpfs", Volume{}); w.disk().ReadOnly = true },
	}},
	"IOT043": {[]edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 64 << 10}) },
	}, []edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 128 << 10}) },
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool"}) },
		func(w *world) { w.lvm(LV{Chunk: 64 << 10}) },
	}},
	"IOT044": {[]edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 1 << 20, Zero: new(true)}) },
	}, []edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 1 << 20, Zero: new(false)}) },
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 1 << 20}) },
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Chunk: 64 << 10, Zero: new(true)}) },
	}},
	"IOT045": {[]edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Data: new(0.93)}) },
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Data: new(0.2), Metadata: new(0.95)}) },
	}, []edit{
		func(w *world) { w.lvm(LV{Thin: true, Pool: "pool", Data: new(0.89), Metadata: new(0.5)}) },
		func(w *world) { w.lvm(LV{Data: new(0.99)}) },
	}},
	"IOT046": {[]edit{
		func(w *world) { w.lvm(LV{Snapshots: []string{"web-before"}}) },
		func(w *world) { w.lvm(LV{Origin: "base"}) },
	}, []edit{
		func(w *world) { w.lvm(LV{Thin: true, Origin: "base"}) },
		func(w *world) { w.lvm(LV{}) },
	}},
	"IOT047": {[]edit{
		func(w *world) { w.lvm(LV{ReadAhead: new(int64(0))}); w.disk().Cache = set("writeback") },
		func(w *world) { w.lvm(LV{ReadAhead: new(int64(8 << 20))}); w.disk().Cache = set("writeback") },
	}, []edit{
		func(w *world) { w.lvm(LV{ReadAhead: new(int64(0))}) },
		func(w *world) { w.lvm(LV{ReadAhead: new(int64(128 << 10))}); w.disk().Cache = set("writeback") },
		func(w *world) { w.lvm(LV{}); w.disk().Cache = set("writeback") },
	}},
}
