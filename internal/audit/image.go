package audit

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/unit"
	"github.com/iotax/iotax/internal/vmconf"
)

const (
	defaultCluster = 64 << 10 // of qemu-img
	largeCluster   = 1 << 20
	longChain      = 3 // files under the one that is written
)

var imageRules = []Rule{{
	ID: "IOT027", Title: "qcow2 L2 cache smaller than the disk needs", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image whose L2 tables do not fit the cache that QEMU has for them: 32 MiB by default, which is enough for 256 GiB with clusters of 64 KiB; 1 MiB before QEMU 3.1.",
	Why:     "A random request beyond the cache reads a table first, and often writes one out. The same image went from 2718 to 57000 IOPS when the tables fitted.",
	Sources: []string{qcow2Cache, "QEMU, commit af39bd0d: https://gitlab.com/qemu-project/qemu/-/commit/af39bd0d"},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || i.ClusterSize == 0 {
			return nil
		}
		have, why := d.l2Cache()
		need := i.L2Size()
		if have >= need {
			return nil
		}
		setting := d.L2CacheSize
		setting.Value = strconv.FormatInt(have, 10)
		if setting.Why == "" {
			setting.Why = why
		}
		if !setting.Set {
			setting.At = d.At
		}
		f := about("l2_cache_size", setting, "the %s of the disk need %s of L2 tables, and the cache holds %s, %s of them",
			unit.Bytes(i.VirtualSize), unit.Bytes(need), unit.Bytes(have), percent(have, need))
		f.Volume = d.volume.Path
		if d.vm.Kind == vmconf.Proxmox { // its configuration cannot say the size: larger clusters need less
			return one(d.converted(f, "cluster_size=1M,extended_l2=on"))
		}
		return one(f.change(d.set(vmconf.SetL2CacheSize, strconv.FormatInt(need, 10))))
	},
}, {
	ID: "IOT028", Title: "qcow2 with small clusters", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image with clusters below 64 KiB.",
	Why:     "Half the cluster size is twice the tables, allocations and fragments.",
	Sources: []string{qcow2Cache, qemuImg},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || i.ClusterSize == 0 || i.ClusterSize >= defaultCluster {
			return nil
		}
		f := d.below("cluster_size", unit.Bytes(i.ClusterSize), "%s of tables for a disk of %s; clusters of 64 KiB need %s",
			unit.Bytes(i.L2Size()), unit.Bytes(i.VirtualSize), unit.Bytes(l2Size(i.VirtualSize, defaultCluster, false)))
		return one(d.converted(f, "cluster_size=64k"))
	},
}, {
	ID: "IOT029", Title: "large clusters over a backing file", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image with clusters of 1 MiB or more and a backing file, without subclusters (extended_l2).",
	Why:     "The first write to a cluster, however small, copies the whole cluster from the backing file.",
	Sources: []string{qemuImg, qcow2Cache},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || i.ClusterSize < largeCluster || len(i.Backing) == 0 || i.ExtendedL2 {
			return nil
		}
		f := d.below("cluster_size", unit.Bytes(i.ClusterSize), "a first write of 4 KiB copies %s from %s", unit.Bytes(i.ClusterSize), i.Backing[0].File)
		return one(d.converted(f, "extended_l2=on,cluster_size=128k"))
	},
}, {
	ID: "IOT030", Title: "qcow2 without preallocation", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image, with no backing file and no snapshot, of which less than half has been given room on the storage.",
	Why:     "Each first write finds a cluster, writes tables and waits for them: until the image is full, writes are slower than they will be, and a measurement sees that.",
	Sources: []string{qemuImg, qcow2Cache},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || i.ClusterSize == 0 || len(i.Backing)+len(i.Snapshots) > 0 || 2*i.ActualSize >= i.VirtualSize {
			return nil
		}
		f := d.below("preallocation", "off", "%s of %s have been allocated so far", unit.Bytes(i.ActualSize), unit.Bytes(i.VirtualSize))
		return one(d.converted(f, "preallocation=metadata").needs("to be told apart from a disk that is thin on purpose"))
	},
}, {
	ID: "IOT031", Title: "long backing chain", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "an image with three files or more under it.",
	Why:     "A read that misses asks file after file, each with tables and a cache of its own, and each file more is one more that must not be lost.",
	Sources: []string{libvirtChains, qcow2Cache},
	disk:    longChains,
}, {
	ID: "IOT032", Title: "internal snapshots", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image with internal snapshots.",
	Why:     "Every cluster that a snapshot holds is copied before it is written for the first time, tables are copied as well, and what the snapshots hold is scattered through the image for good.",
	Sources: []string{qemuImg, qemuFormats},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || len(i.Snapshots) == 0 {
			return nil
		}
		f := d.below("snapshots", strconv.Itoa(len(i.Snapshots)), "what snapshots hold (%s) is copied before it is written", list(i.Snapshots))
		for _, name := range i.Snapshots {
			switch d.vm.Kind {
			case vmconf.Proxmox:
				f = f.run("qm", "delsnapshot", d.vm.name(), name)
			case vmconf.Libvirt:
				f = f.run("virsh", "snapshot-delete", d.vm.name(), name)
			default:
				f = f.run("qemu-img", "snapshot", "-d", name, d.volume.Path)
			}
		}
		return one(f.needs("nobody wants to go back to them"))
	},
}, {
	ID: "IOT033", Title: "backing file of a format that is guessed", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "an image that names its backing file and not that file's format.",
	Why:     "QEMU looks into the backing file to guess. Whoever could write a raw one can make it look like an image that leads to any file of the host, and an image taken for raw is read as garbage.",
	Sources: []string{libvirtChains, "libvirt, the format of a backing store (CVE-2010-2237 and those after it): https://www.mail-archive.com/libvir-list@redhat.com/msg26306.html"},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if i == nil {
			return nil
		}
		var found []Finding
		file := d.volume.Path
		for _, b := range i.Backing {
			if !b.Named {
				f := d.below("backing_fmt", "unset", "%s is taken to be %s because it looks so", b.File, cmp.Or(b.Format, "raw"))
				found = append(found, f.run("qemu-img", "rebase", "-u", "-b", b.File, "-F", cmp.Or(b.Format, "raw"), file).
					needs("the machine is off", "you know that the format is "+cmp.Or(b.Format, "raw")))
			}
			file = b.File
		}
		return found
	},
}, {
	ID: "IOT034", Title: "image marked corrupt", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image that QEMU has marked corrupt.",
	Why:     "QEMU found tables that contradict each other. It opens the image for reading only until it is repaired, and what the tables lost is lost.",
	Sources: []string{qemuImg, "qcow2 format: https://gitlab.com/qemu-project/qemu/-/blob/master/docs/interop/qcow2.rst"},
	disk: func(d disk) []Finding {
		if i := d.volume.Image; i == nil || !i.Corrupt {
			return nil
		}
		f := d.below("corrupt", "true", "QEMU has marked it")
		return one(f.run("qemu-img", "check", "-r", "all", d.volume.Path).needs("the machine is off", "a copy of the image"))
	},
}, {
	ID: "IOT035", Title: "qcow2 of the old version", Severity: Hygiene, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a qcow2 image of compatibility level 0.10.",
	Why:     "Version 2 has no clusters of zeros: what a guest clears or discards over a backing file is written out in full.",
	Sources: []string{qemuImg},
	disk: func(d disk) []Finding {
		i := d.volume.Image
		if !d.qcow2() || i == nil || i.Compat != "0.10" {
			return nil
		}
		f := d.below("compat", i.Compat, "it is of the version that QEMU made until 2013")
		return one(f.run("qemu-img", "amend", "-f", "qcow2", "-o", "compat=1.1", d.volume.Path).needs("the machine is off"))
	},
}}

// L2Size is how many bytes of L2 tables a qcow2 image has when all of it is written: an entry of 8 bytes for each cluster,
// 16 with subclusters, in tables of whole clusters (docs/qcow2-cache.txt).
func (i Image) L2Size() int64 { return l2Size(i.VirtualSize, i.ClusterSize, i.ExtendedL2) }

func l2Size(virtual, cluster int64, extended bool) int64 {
	entry := int64(8)
	if extended {
		entry = 16
	}
	tables := above(above(virtual, cluster)*entry, cluster)
	return tables * cluster
}

// above divides, rounding up.
func above(n, by int64) int64 { return (n + by - 1) / by }

// l2Cache is the room for L2 tables, and whose default it is where it is one.
func (d disk) l2Cache() (bytes int64, why string) {
	if n, ok := number(d.L2CacheSize); ok {
		return n, ""
	}
	if d.vm.qemu().Before(3, 1) {
		return 1 << 20, "QEMU's default before 3.1"
	}
	return 32 << 20, "QEMU's default"
}

func percent(part, whole int64) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

func list(names []string) string {
	const shown = 4
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return strings.Join(names, ", ")
}

// converted adds the command that writes the image anew with other options. It keeps its backing file.
func (d disk) converted(f Finding, options string) Finding {
	argv := []string{"qemu-img", "convert", "-p", "-O", "qcow2", "-o", options}
	if under := d.volume.Image.Backing; len(under) > 0 {
		argv = append(argv, "-B", under[0].File, "-F", cmp.Or(under[0].Format, "raw"))
	}
	f = f.run(append(argv, d.volume.Path, d.volume.Path+".new")...).run("mv", d.volume.Path+".new", d.volume.Path).
		needs("the machine is off", "room for a second copy")
	if len(d.volume.Image.Snapshots) > 0 {
		f = f.needs("nobody wants to go back to the snapshots in it: they are not copied")
	}
	return f
}

func longChains(d disk) []Finding {
	length := len(d.Backing)
	if d.volume.Image != nil {
		length = len(d.volume.Image.Backing)
	}
	if length < longChain {
		return nil
	}
	f := d.below("backing", strconv.Itoa(length), "a read can ask %d files one after the other", length+1)
	switch {
	case d.vm.Kind == vmconf.Libvirt:
		f = f.run("virsh", "blockpull", d.vm.name(), d.ID, "--wait", "--verbose")
	case d.volume.Path != "":
		f = f.run("qemu-img", "rebase", "-p", "-f", "qcow2", "-b", "", d.volume.Path).needs("the machine is off")
	}
	return one(f.needs("nobody wants to go back to the files under it, and no other image stands on them"))
}
