package audit

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

var cacheRules = []Rule{{
	ID: "IOT004", Title: "flushes are ignored", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks: "a disk with cache=unsafe. Disks that can only be read are left alone.",
	Why:   "QEMU confirms what the guest flushes and leaves it in the host's memory: a crash of the host takes databases and file systems of the guest with it. The host may also save up writes until it stands still.",
	Sources: []string{
		qemuInvocation, redhatCache,
		"neondatabase/autoscaling, unsafe taken back, because hosts stood still over their page cache: https://github.com/neondatabase/autoscaling/issues/775",
	},
	disk: func(d disk) []Finding {
		if d.Cache.Value != "unsafe" {
			return nil
		}
		to := "none"
		if d.refusesDirect() {
			to = "writeback"
		}
		return one(about("cache", d.Cache, "a flush of the guest is confirmed and never carried out; cache=%s carries it out", to).
			change(d.set(vmconf.SetCache, to)))
	},
}, {
	ID: "IOT005", Title: "the host's page cache under the guest's", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: flushingGuest,
	Looks:   "cache=writeback, which is also QEMU's and libvirt's default, on a file or device of this host or its storage. Left alone: storage that takes no O_DIRECT or is harmed by it (tmpfs, btrfs with checksums, remote file systems of a program), disks over a network protocol, and Xen.",
	Why:     "Everything is copied and kept twice. With the power goes all that the guest has not flushed yet, which can be far more than its own cache; what the host saves up comes out in bursts that stop all guests; and a machine with such a disk cannot be migrated safely unless the storage keeps caches in step.",
	Sources: []string{redhatCache, libvirtDomain, "cloud-hypervisor, figures that were the host's cache: https://github.com/cloud-hypervisor/cloud-hypervisor/issues/1037"},
	disk: func(d disk) []Finding {
		local := d.onFile() || d.onDevice()
		if d.Cache.Value != "writeback" || d.Device != "disk" || !local || d.refusesDirect() || !d.vm.byQEMU() || d.Shared {
			return nil
		}
		f := about("cache", d.Cache, "the host keeps a second copy of what the guest caches, and writes it out when it likes until the guest flushes")
		if d.onFile() && d.volume.Filesystem == "" {
			f = f.needs("the file system under it takes O_DIRECT")
		}
		return one(f.change(d.set(vmconf.SetCache, "none")))
	},
}, {
	ID: "IOT006", Title: "every write waits for the medium", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: flushingGuest,
	Looks:   "cache=writethrough or directsync.",
	Why:     "Each single write is followed by a flush. A guest that flushes what must last is as safe with none, as it is with the cache of a real disk. No change is proposed: for a guest that never flushes this is the only safe mode, and who runs it must know.",
	Sources: []string{qemuInvocation, redhatCache},
	disk: func(d disk) []Finding {
		if d.Cache.Value != "writethrough" && d.Cache.Value != "directsync" || d.Shared || d.flushesAreFree() {
			return nil
		}
		return one(about("cache", d.Cache, "each write of the guest waits until it is on the medium, also those that the guest does not need there yet").
			needs("to change it to none: a guest that flushes, with barriers and write-cache flushing left on"))
	},
}, {
	ID: "IOT007", Title: "O_DIRECT on btrfs with checksums", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "cache=none or directsync on a file of btrfs that is not nocow, on a kernel before 6.15, which began to write such files through the page cache.",
	Why:     "A guest may change a buffer while it is being written. The checksum is then that of other data, and reading it back is an I/O error that no copy mends.",
	Sources: []string{btrfsManual, proxmoxDrive, "Linux 6.15, btrfs: fall back to buffered write if the inode requires checksum (commit 968f19c5b1b7)"},
	disk: func(d disk) []Finding {
		if !d.direct() || d.volume.Filesystem != "btrfs" || d.volume.NoCOW == nil || *d.volume.NoCOW || !kernelBefore(d.vm.host.Kernel, 6, 15) {
			return nil
		}
		to := "writeback"
		if d.Cache.Value == "directsync" {
			to = "writethrough"
		}
		f := about("cache", d.Cache, "btrfs keeps checksums of this file, and Linux %s takes them from buffers that the guest can still change", d.vm.host.Kernel).
			change(d.set(vmconf.SetCache, to))
		if d.AIO.Value == "native" { // which needs O_DIRECT
			f = f.change(d.set(vmconf.SetAIO, "threads"))
		}
		return one(f)
	},
}, {
	ID: "IOT008", Title: "shared disk with a cache", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a disk that several guests may have open (libvirt's shareable, share-rw), with a cache mode that uses the host's page cache.",
	Why:     "Guests on two hosts each see their own host's copy and overwrite what the other wrote.",
	Sources: []string{libvirtDomain},
	disk: func(d disk) []Finding {
		if !d.Shared || !d.buffered() {
			return nil
		}
		to := "none"
		if d.Cache.Value == "writethrough" {
			to = "directsync"
		}
		return one(about("cache", d.Cache, "several guests may have it open, and each host's page cache hides what others wrote").change(d.set(vmconf.SetCache, to)))
	},
}, {
	ID: "IOT009", Title: "shared image that one writer owns", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a disk that several guests may have open, in qcow2.",
	Why:     "The tables of a qcow2 image belong to the one process that has it open: a second writer destroys the image.",
	Sources: []string{qemuFormats, libvirtDomain},
	disk: func(d disk) []Finding {
		if !d.Shared || !d.qcow2() {
			return nil
		}
		f := about("format", d.Format, "several guests may have it open, and each would allocate the same clusters anew")
		return one(f.needs("the disk is raw where guests are to share it"))
	},
}}

// flushesAreFree reports whether all physical disks under it are known to write through.
func (d disk) flushesAreFree() bool {
	for _, name := range d.volume.Devices {
		i := slices.IndexFunc(d.vm.host.Devices, func(one Device) bool { return one.Name == name })
		if i < 0 || d.vm.host.Devices[i].WriteCache != "write through" {
			return false
		}
	}
	return len(d.volume.Devices) > 0
}

// refusesDirect reports whether O_DIRECT is known not to work, or to harm, on what lies under the disk.
func (d disk) refusesDirect() bool {
	fs, _, _ := strings.Cut(d.volume.Filesystem, ".")
	switch {
	case fs == "btrfs":
		return d.volume.NoCOW == nil || !*d.volume.NoCOW
	case d.volume.Filesystem == "":
		return d.Storage == "btrfs"
	}
	return slices.Contains([]string{"tmpfs", "ramfs", "9p", "virtiofs", "fuse", "overlay"}, fs)
}
