package pve

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// block fills in what QEMU's block layer does with the drive (qemu-server, Drive.pm and Blockdev.pm).
func (b *board) block(d drive, disk *vmconf.Disk) {
	disk.Cache = b.cache(d)
	disk.AIO = b.aio(d, direct(disk.Cache.Value))
	disk.Discard = b.choice(d, "discard", vmconf.Default("ignore", byDefault, d.at), map[string]string{"on": "unmap", "ignore": "ignore"})
	disk.DetectZeroes = d.detectZeroes(disk.Discard.Value)
	if disk.Format.Value == "qcow2" {
		disk.L2CacheSize = vmconf.Default("33554432", "QEMU's default: as much as the image needs, up to 32 MiB", d.at)
	}
	if on, ok := d.props.get("snapshot"); ok && d.on("snapshot") {
		b.note(d.entry, "snapshot=%s: what the guest writes is thrown away at its end", on)
	}
}

// flash fills in the same for EFI variables. Machines before 10.0 have them without any option (qemu-server, OVMF.pm).
func (b *board) flash(d drive, disk *vmconf.Disk) {
	disk.Cache = vmconf.Default("writeback", byDefault+" of EFI variables", d.at)
	disk.Discard = vmconf.Default("ignore", byDefault, d.at)
	if b.version.Before(10, 0) {
		disk.AIO = vmconf.Default("threads", "QEMU's default", d.at)
		disk.DetectZeroes = vmconf.Default("off", "QEMU's default", d.at)
		return
	}
	disk.AIO = b.aio(d, false)
	disk.DetectZeroes = d.detectZeroes(disk.Discard.Value)
}

// direct reports whether a cache mode goes around the host's page cache.
func direct(cache string) bool { return cache == "none" || cache == "directsync" }

var (
	cacheModes = map[string]string{
		"none": "none", "writeback": "writeback", "writethrough": "writethrough", "directsync": "directsync", "unsafe": "unsafe",
	}
	aioModes = map[string]string{"threads": "threads", "native": "native", "io_uring": "io_uring"}
)

// choice is a property that takes one of some words, in QEMU's words.
func (b *board) choice(d drive, property string, unset vmconf.Setting, values map[string]string) vmconf.Setting {
	text, ok := d.props.get(property)
	if !ok {
		return unset
	}
	value, ok := values[text]
	s := vmconf.Written(value, text, d.at)
	if !ok {
		s.Why = "no value of Proxmox VE's, which refuses the line"
		b.note(d.entry, "%s is not a value of %s", text, property)
	}
	return s
}

func (b *board) cache(d drive) vmconf.Setting {
	unset := vmconf.Default("none", byDefault, d.at)
	switch {
	case d.cdrom:
		unset = vmconf.Default("writeback", byDefault+" of a CD-ROM drive", d.at)
	case d.pool.Type == "btrfs" && !d.pool.On("nocow"):
		unset = vmconf.Default("writeback", byDefault+" on btrfs", d.at)
	case d.access == "pool" && d.pool.Type == "":
		unset.Why = byDefault + " on all but btrfs; the kind of storage " + d.pool.Name + " is not known"
	}
	return b.choice(d, "cache", unset, cacheModes)
}

// aio is how QEMU gives requests to the kernel; nothing where a library of its own reaches the storage.
func (b *board) aio(d drive, direct bool) vmconf.Setting {
	unset := vmconf.Default("io_uring", byDefault, d.at)
	kernel := unset
	kernel.Value = "threads"
	if direct {
		kernel.Value = "native"
	}
	switch t := d.pool.Type; {
	case d.access == "network":
		s := vmconf.Default("", "QEMU reaches the storage by a library, which has no such setting", d.at)
		if text, ok := d.props.get("aio"); ok {
			s.Set, s.Written = true, text
		}
		return s
	case t == "lvm", t == "cifs":
		unset = kernel
		unset.Why = byDefault + " on " + t
	case t == "rbd" && !direct: // with krbd: the kernel has the device
		unset = kernel
		unset.Why = byDefault + " on krbd with the page cache"
	case d.pool.Name != "" && t == "":
		unset.Why = byDefault + " on most storages; the kind of storage " + d.pool.Name + " is not known"
	case d.pool.Name != "" && !d.known:
		unset.Why = byDefault + " on " + t + ", which storage " + d.pool.Name + " is taken for by its name"
	}
	return b.choice(d, "aio", unset, aioModes)
}

func (d drive) detectZeroes(discard string) vmconf.Setting {
	if d.cdrom {
		return vmconf.Default("off", byDefault+" of a CD-ROM drive", d.at)
	}
	value, why := "on", byDefault
	if discard == "unmap" {
		value, why = "unmap", byDefault+" with discard=on"
	}
	text, ok := d.props.get("detect_zeroes")
	if !ok {
		return vmconf.Default(value, why, d.at)
	}
	if on, ok := parseBool(text); ok && !on {
		return vmconf.Written("off", text, d.at)
	}
	return vmconf.Written(value, text, d.at)
}

// limits are the properties that throttle a drive, and their units in bytes or requests per second.
var limits = []struct {
	prefix string
	unit   float64
}{{"mbps", mebibyte}, {"bps", 1}, {"iops", 1}}

// throttles is the unit of a property that limits a drive, 0 of every other.
func throttles(key string) float64 {
	for _, l := range limits {
		if key == l.prefix || strings.HasPrefix(key, l.prefix+"_") {
			return l.unit
		}
	}
	return 0
}

// throttle are the limits of a drive, in the order of the line. The lengths of bursts, in seconds, are among them.
func (b *board) throttle(d drive) []vmconf.Setting {
	var list []vmconf.Setting
	seen := map[string]bool{}
	for _, p := range d.props {
		unit := throttles(p.key)
		if unit == 0 || seen[p.key] {
			continue
		}
		seen[p.key] = true
		if strings.HasSuffix(p.key, "_length") {
			unit = 1
		}
		n, ok := parseNumber(p.value)
		if !ok {
			b.note(d.entry, "%s is not a number", p.text)
		} else if n > 0 {
			list = append(list, vmconf.Written(whole(n*unit), p.text, d.at))
		}
	}
	return list
}
