package audit

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/unit"
)

// Blocks of ZFS that suit a guest with blocks of 4 KiB.
const (
	zvolLeast, zvolMost = 8 << 10, 64 << 10
	recordMost          = 64 << 10
	recordBetter        = "16K"
)

var filesystemRules = []Rule{{
	ID: "IOT036", Title: "image on btrfs that is copied on write", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a file on btrfs without the attribute nocow.",
	Why:     "Every write of the guest goes to another place, with new checksums and trees: the file falls into millions of pieces, and reading in order becomes reading at random.",
	Sources: []string{btrfsManual, "LXD, nodatacow on the disks of machines: https://github.com/canonical/lxd/pull/9627"},
	disk: func(d disk) []Finding {
		v := d.volume
		if v.Filesystem != "btrfs" || v.NoCOW == nil || *v.NoCOW {
			return nil
		}
		f := d.below("nocow", "off", "btrfs writes each block of it to a new place").
			run("touch", v.Path+".new").run("chattr", "+C", v.Path+".new").
			run("dd", "if="+v.Path, "of="+v.Path+".new", "bs=16M", "conv=notrunc,sparse", "status=progress").
			run("mv", v.Path+".new", v.Path)
		return one(f.needs("the machine is off", "room for a second copy", "checksums of btrfs may be given up for this file"))
	},
}, {
	ID: "IOT037", Title: "copy on write on copy on write", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image in a file on ZFS.",
	Why:     "Both allocate, both keep tables, and ZFS has snapshots and thin provisioning itself. A raw file or a zvol does the same once.",
	Sources: []string{openzfsTuning, qemuFormats},
	disk: func(d disk) []Finding {
		v := d.volume
		if v.Filesystem != "zfs" || !d.qcow2() || v.Image == nil || len(v.Image.Backing) > 0 {
			return nil
		}
		f := d.below("format", "qcow2", "qcow2 finds clusters for what ZFS then finds blocks for").
			run("qemu-img", "convert", "-p", "-O", "raw", v.Path, strings.TrimSuffix(v.Path, ".qcow2")+".raw")
		return one(f.needs("the machine is off", "room for a second copy", "format raw and the new path in the machine's configuration", "nobody uses snapshots of QEMU's"))
	},
}, {
	ID: "IOT038", Title: "file on ZFS with large records", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a file on a file system of ZFS whose recordsize is 128 KiB, the default, or more.",
	Why:     "A write of 4 KiB reads, checks, changes and writes a whole record.",
	Sources: []string{openzfsTuning, zfsProps},
	disk: func(d disk) []Finding {
		s := d.volume.Dataset
		if s == nil || s.Recordsize <= recordMost || d.volume.Block != nil {
			return nil
		}
		f := d.below("recordsize", unit.Bytes(s.Recordsize), "a write of 4 KiB rewrites %s", unit.Bytes(s.Recordsize)).
			run("zfs", "set", "recordsize="+recordBetter, s.Name)
		return one(f.needs("the file is copied afterwards: records that exist keep their size"))
	},
}, {
	ID: "IOT039", Title: "zvol blocks that do not suit the guest", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a zvol with a volblocksize below 8 KiB or above 64 KiB.",
	Why:     "A guest writes blocks of 4 KiB. Much larger ones are read and written whole for each; much smaller ones cost metadata and, on RAID-Z, most of the space.",
	Sources: []string{openzfsZvol, zfsProps, "zvol against file under writes: https://github.com/openzfs/zfs/issues/10095"},
	disk: func(d disk) []Finding {
		s := d.volume.Dataset
		if s == nil || s.Volblocksize == 0 || s.Volblocksize >= zvolLeast && s.Volblocksize <= zvolMost {
			return nil
		}
		why := "a write of 4 KiB rewrites %s"
		if s.Volblocksize < zvolLeast {
			why = "blocks of %s cost about as much in tables as in data"
		}
		f := d.below("volblocksize", unit.Bytes(s.Volblocksize), why, unit.Bytes(s.Volblocksize))
		if d.volume.Size > 0 {
			f = f.run("zfs", "create", "-s", "-V", decimal(d.volume.Size), "-o", "volblocksize="+recordBetter, s.Name+"-new").
				run("dd", "if="+d.volume.Path, "of=/dev/zvol/"+s.Name+"-new", "bs=1M", "conv=sparse", "status=progress")
		}
		return one(f.needs("the machine is off", "the new zvol takes the old one's name: the size of blocks is fixed when a zvol is made"))
	},
}, {
	ID: "IOT040", Title: "ZFS ignores flushes", Severity: DataAtRisk, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a zvol, or a file system of ZFS under a disk, with sync=disabled.",
	Why:     "A flush of the guest is confirmed while its data waits in memory for the next transaction group: the last seconds are lost with the power, although the guest was told that they were safe.",
	Sources: []string{zfsProps},
	disk: func(d disk) []Finding {
		s := d.volume.Dataset
		if s == nil || s.Sync != "disabled" {
			return nil
		}
		return one(d.below("sync", s.Sync, "%s confirms flushes at once", s.Name).run("zfs", "set", "sync=standard", s.Name))
	},
}, {
	ID: "IOT041", Title: "deduplication under a disk", Severity: LargeLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a zvol, or a file system of ZFS under a disk, with dedup on.",
	Why:     "Each write looks its checksum up in a table that soon exceeds the memory: a random read for each block that is written.",
	Sources: []string{zfsProps, openzfsTuning},
	disk: func(d disk) []Finding {
		s := d.volume.Dataset
		if s == nil || s.Dedup == "" || s.Dedup == "off" {
			return nil
		}
		f := d.below("dedup", s.Dedup, "each block written to %s is looked up in the table of all", s.Name)
		return one(f.run("zfs", "set", "dedup=off", s.Name).needs("room for what is written from then on; what is deduplicated stays so"))
	},
}, {
	ID: "IOT042", Title: "disk in memory", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a disk that is a file on tmpfs or ramfs.",
	Why:     "It is gone when the host restarts.",
	Sources: []string{"Linux, tmpfs: https://docs.kernel.org/filesystems/tmpfs.html"},
	disk: func(d disk) []Finding {
		if !slices.Contains([]string{"tmpfs", "ramfs"}, d.volume.Filesystem) {
			return nil
		}
		return one(d.below("filesystem", d.volume.Filesystem, "%s keeps it in the host's memory", d.volume.Filesystem).
			needs("another place, unless the machine is to be thrown away"))
	},
}}
