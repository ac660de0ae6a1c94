package audit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/vmconf"
)

// unsteady are names of devices that another disk can have after the next start of the host.
var unsteady = regexp.MustCompile(`^(?:phy:)?/dev/(?:sd[a-z]+|hd[a-z]+|xvd[a-z]+|vd[a-z]+|nvme\d+n\d+|mmcblk\d+|dm-|zd|loop)p?\d*$`)

const page = 4096 // bytes: the block of nearly every disk and file system

var deviceRules = []Rule{{
	ID: "IOT048", Title: "device by a name that can change", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a disk whose source is /dev/sdX, /dev/nvmeXnY, /dev/mmcblkN, /dev/dm-N, /dev/zdN or a loop device.",
	Why:     "Such names are given in the order in which disks are found: after the next start, the guest can write to another one.",
	Sources: []string{"Linux, names of block devices: https://wiki.archlinux.org/title/Persistent_block_device_naming", proxmoxQM},
	disk: func(d disk) []Finding {
		if !unsteady.MatchString(d.Source.Value) {
			return nil
		}
		f := about("source", d.Source, "the host gives the name %s anew at each start", strings.TrimPrefix(d.Source.Value, "phy:"))
		if d.volume.Steady != "" {
			return one(f.change(d.set(vmconf.SetSource, d.volume.Steady)))
		}
		return one(f.shell("ls -l /dev/disk/by-id /dev/mapper").needs("the name of the same disk there"))
	},
}, {
	ID: "IOT049", Title: "guest takes 4 KiB blocks for 512 bytes", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: "any; the partitions of the guest stay as they are, and new ones are aligned",
	Looks:   "a block device with physical blocks of 4 KiB that the guest is told are 512 bytes, which is QEMU's default.",
	Why:     "The guest then aligns nothing: a write across or below a physical block makes the disk read before it writes.",
	Sources: []string{libvirtDomain, "virt-alignment-scan(1): https://libguestfs.org/virt-alignment-scan.1.html"},
	disk: func(d disk) []Finding {
		b := d.volume.Block
		n, known := number(d.PhysicalBlock)
		if b == nil || !known || n != 512 || b.PhysicalBlock < page {
			return nil
		}
		f := about("physical_block_size", d.PhysicalBlock, "%s has physical blocks of %s, and the guest is told 512 B", b.Name, unit.Bytes(b.PhysicalBlock))
		if d.vm.Kind == vmconf.Proxmox {
			return one(f.needs("Proxmox VE has no setting for it: -global or -set in args"))
		}
		return one(f.change(d.set(vmconf.SetPhysical, strconv.FormatInt(b.PhysicalBlock, 10))))
	},
}, {
	ID: "IOT050", Title: "logical blocks smaller than the device's", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: "none as it is: partitions and file systems made with blocks of 512 bytes cannot be read with 4096",
	Looks:   "a disk with logical blocks of 512 bytes, on a block device that has 4096 and no smaller ones, opened with O_DIRECT.",
	Why:     "Each request that is not whole blocks is read, changed and written by QEMU.",
	Sources: []string{qemuInvocation, libvirtDomain},
	disk: func(d disk) []Finding {
		b := d.volume.Block
		n, known := number(d.LogicalBlock)
		if b == nil || !known || n >= b.LogicalBlock || !d.direct() {
			return nil
		}
		f := about("logical_block_size", d.LogicalBlock, "%s takes blocks of %s only, and the guest uses %s", b.Name, unit.Bytes(b.LogicalBlock), unit.Bytes(n))
		return one(f.needs("a new disk with logical_block_size=4096, to which the guest's files are copied"))
	},
}, {
	ID: "IOT051", Title: "partition that is not aligned", Severity: LargeLoss, Restart: RestartHost, Guests: anyGuest,
	Looks:   "a disk that is a partition of the host, which does not begin at a multiple of 4 KiB.",
	Why:     "Each block of the guest lies across two of the disk: one write reads and writes both.",
	Sources: []string{"virt-alignment-scan(1): https://libguestfs.org/virt-alignment-scan.1.html", sysfsBlock},
	disk: func(d disk) []Finding {
		o := d.volume.Offset
		if o == nil || *o%page == 0 {
			return nil
		}
		return one(d.below("partition start", decimal(*o), "it begins at byte %d, which is %d past a multiple of 4096", *o, *o%page).
			needs("a new partition, to which the disk is copied"))
	},
}, {
	ID: "IOT052", Title: "what the guest frees stays taken", Severity: Hygiene, Restart: RestartPowerCycle, Guests: "Linux with fstrim.timer or discard; Windows since 8, with virtio-win from 2020 on for virtio-blk",
	Looks:   "discard off on storage that gives room as it is needed: qcow2, thin LVM, zvols, sparse files. Shared disks, SD cards and what is given to the guest whole are left alone.",
	Why:     "Thin storage only grows: what the guest deletes is never free again, backups carry it, and pools fill up.",
	Sources: []string{proxmoxQM, qemuInvocation},
	disk: func(d disk) []Finding {
		kind := d.thin()
		if d.Discard.Value != "ignore" || d.Shared || kind == "" || d.Device == "lun" || d.Bus.Value == vmconf.SD || !d.vm.isQEMU() && d.Bus.Value != vmconf.XenBlk {
			return nil
		}
		f := about("discard", d.Discard, "%s could give back what the guest frees", kind)
		if d.hidesDiscard() {
			return one(f.needs("a machine type of 4.0 or newer, and discard=unmap with it: up to 3.1 virtio-blk tells the guest of no discard"))
		}
		return one(f.change(d.set(vmconf.SetDiscard, "unmap")))
	},
}, {
	ID: "IOT053", Title: "looking for zeros that save nothing", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "detect_zeroes on for a raw disk on thick LVM or a whole device, with discard off. It is Proxmox VE's default.",
	Why:     "Every write is searched for zeros, and those that are found are written all the same, only by another command.",
	Sources: []string{proxmoxDrive, qemuInvocation},
	disk: func(d disk) []Finding {
		lv := d.volume.LV
		thick := d.Storage == "lvm" || lv != nil && !lv.Thin || d.volume.Block != nil && lv == nil && d.volume.Dataset == nil
		if d.DetectZeroes.Value != "on" || d.Discard.Value != "ignore" || !d.raw() || !thick {
			return nil
		}
		return one(about("detect_zeroes", d.DetectZeroes, "the storage is thick: a zero takes as much room as anything else").
			change(d.set(vmconf.SetDetectZeroes, "off")))
	},
}, {
	ID: "IOT054", Title: "zeros to be unmapped, and discard off", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "detect_zeroes=unmap with discard off.",
	Why:     "QEMU refuses the two together, or takes it for detect_zeroes=on, depending on who starts it.",
	Sources: []string{qemuInvocation, libvirtDomain},
	disk: func(d disk) []Finding {
		asked := d.DetectZeroes.Set && strings.Contains(d.DetectZeroes.Written, "unmap") // libvirt makes "on" of it
		if d.DetectZeroes.Value != "unmap" && !asked || d.Discard.Value != "ignore" {
			return nil
		}
		return one(about("detect_zeroes", d.DetectZeroes, "discard is off, so that nothing may be unmapped").
			change(d.set(vmconf.SetDiscard, "unmap")))
	},
}, {
	ID: "IOT055", Title: "limits left behind", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a disk with a limit of its bandwidth or its IOPS.",
	Why:     "A limit is not seen in the guest, where the storage just seems slow, and is forgotten after the move or the backup that it was for.",
	Sources: []string{"QEMU, docs/throttle.txt: https://gitlab.com/qemu-project/qemu/-/blob/master/docs/throttle.txt", libvirtDomain},
	disk: func(d disk) []Finding {
		if len(d.Throttle) == 0 {
			return nil
		}
		f := about("throttle", d.Throttle[0], "it can do no more than %s", limits(d.Throttle))
		f.Effective = limits(d.Throttle)
		return one(f.change(d.unlimited()...).needs("nobody wants the limit"))
	},
}, {
	ID: "IOT056", Title: "limits in a QEMU that locks up under them", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a disk with a limit and an iothread in QEMU 9.1, 9.2 or 10.0.",
	Why:     "Under load the disk has been seen to stop for good, with nothing wrong on the host; without the limit it did not.",
	Sources: []string{"QEMU issue 3144, lock up under throttling, with 9.1 and 10.0: https://gitlab.com/qemu-project/qemu/-/issues/3144"},
	disk: func(d disk) []Finding {
		v, thread := d.vm.qemu(), d.iothread().Value
		if len(d.Throttle) == 0 || thread == "" || thread == "off" || v.Before(9, 1) || !v.Before(10, 1) {
			return nil
		}
		f := about("throttle", d.Throttle[0], "QEMU %d.%d may stop serving it for good under load", v.Major, v.Minor)
		f.Effective = limits(d.Throttle)
		return one(f.change(d.unlimited()...).needs("nobody wants the limit; otherwise another version of QEMU"))
	},
}}

// ofBefore4 are machine types of distributions that keep to QEMU 3.1 or older.
var ofBefore4 = regexp.MustCompile(`-(?:rhel[67]\.|rhel8\.0\.|trusty|xenial|bionic|cosmic|disco)`)

// hidesDiscard reports whether the machine type is one whose virtio-blk has no discard.
func (d disk) hidesDiscard() bool {
	old := d.vm.machineVersion().Before(4, 0) || ofBefore4.MatchString(d.vm.Machine.Value)
	return d.Bus.Value == vmconf.VirtioBlk && old
}

// unlimited lifts the limits of the disk, and of all that share them: they are one group of QEMU's.
func (d disk) unlimited() []Change {
	var changes []Change
	for _, other := range d.vm.Disks {
		shared := len(other.Throttle) > 0 && d.vm.Kind == vmconf.QEMU && other.Throttle[0].At == d.Throttle[0].At && d.Throttle[0].At.Line > 0
		if other.ID == d.ID || shared {
			changes = append(changes, Change{Disk: other.ID, Setting: vmconf.SetThrottle})
		}
	}
	return changes
}

// thin names the thin storage under a disk, "" when it is thick or not known.
func (d disk) thin() string {
	v := d.volume
	switch {
	case d.qcow2():
		return "the qcow2 image"
	case v.LV != nil && v.LV.Thin || d.Storage == "lvmthin":
		return "the thin volume"
	case v.Dataset != nil && v.Dataset.Volblocksize > 0 || d.Storage == "zfspool":
		return "the zvol"
	case d.onFile() && d.raw() && d.sparse():
		return "the sparse file"
	}
	return ""
}

// unallocated is how much of the disk has no room yet.
func (d disk) unallocated() string {
	if i := d.volume.Image; i != nil && i.Format == "qcow2" {
		return unit.Bytes(i.VirtualSize-i.ActualSize) + " of " + unit.Bytes(i.VirtualSize)
	}
	return unit.Bytes(d.volume.Size-*d.volume.Allocated) + " of " + unit.Bytes(d.volume.Size)
}

func limits(settings []vmconf.Setting) string {
	words := make([]string, len(settings))
	for i, s := range settings {
		words[i] = s.Written
		if words[i] == "" {
			words[i] = s.Value
		}
	}
	return strings.Join(words, ", ")
}

func decimal(n int64) string { return fmt.Sprint(n) }
