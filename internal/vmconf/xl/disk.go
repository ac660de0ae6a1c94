package xl

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// diskOf is one disk and where its specification stands.
type diskOf struct {
	spec
	value
}

// machine is what the effective settings of a disk depend on.
type machine struct {
	hvm  bool
	ahci bool // hdX are on AHCI
}

// Back ends, as backendtype= has them.
const (
	phy        = "phy"   // the kernel's blkback, on a block device or a loop device
	qdisk      = "qdisk" // a QEMU beside the domain
	tap        = "tap"   // tapdisk
	standalone = "standalone"
)

// disk reads the specification of a disk at v into effective values.
func (m machine) disk(s *spec, at vmconf.Place) vmconf.Disk {
	d := vmconf.Disk{ID: s.of("vdev"), Device: "disk", At: at}
	if s.cdrom() {
		d.Device = "cdrom"
	}
	d.ReadOnly = s.cdrom() || strings.HasPrefix(s.of("access"), "r") && s.of("access") != "rw"
	d.Shared = s.of("access") == "w!"
	d.Bus, d.Controller = m.bus(s, at)
	d.Source, d.Backend = source(s, at)
	if format, ok := s.get("format"); ok && format.value != "" && format.value != "empty" {
		d.Format = vmconf.Written(format.value, s.written(format), at)
	} else {
		d.Format = vmconf.Default("raw", "xl's default", at)
	}
	d.XenBackend = m.backend(s, d)
	caching(s, &d)
	discarding(s, &d)
	return d
}

// bus is what the guest finds the disk on, and the controller of it.
func (m machine) bus(s *spec, at vmconf.Place) (bus vmconf.Setting, controller string) {
	vdev, _ := s.get("vdev")
	set := func(name, why string) vmconf.Setting {
		b := vmconf.Written(name, s.written(vdev), at)
		b.Why = why
		return b
	}
	const taken = "emulated; a guest with Xen's drivers reaches the same disk by blkfront"
	parts := vdevName.FindStringSubmatch(vdev.value)
	switch {
	case s.of("specification") == "virtio":
		virtio, _ := s.get("specification")
		return vmconf.Written(vmconf.VirtioBlk, s.written(virtio), at), ""
	case vdev.value == "":
		return vmconf.Setting{At: at}, ""
	case !m.hvm || parts == nil || parts[3] != "": // partitions are not emulated
		return set(vmconf.XenBlk, ""), ""
	case s.cdrom():
		return set(vmconf.IDE, "xl puts every CD drive of an HVM domain on IDE"), "ide"
	case parts[1] == "hd" && m.ahci:
		return set(vmconf.SATA, taken), "ahci0"
	case parts[1] == "hd":
		return set(vmconf.IDE, taken), "ide"
	case parts[1] == "sd":
		return set(vmconf.LSI, taken), "scsi0"
	}
	return set(vmconf.XenBlk, ""), ""
}

// scripts are those of Xen that bring a disk of their own kind to the host; of others nothing is known.
var scripts = map[string]string{"block-drbd": "block", "block-iscsi": "network", "block-nbd": "network", "block-enbd": "network"}

// source is where the bytes of the disk are, and of what kind that is.
func source(s *spec, at vmconf.Place) (vmconf.Setting, string) {
	p, ok := s.get("target")
	if !ok || p.value == "" {
		return vmconf.Default("", "", at), "none"
	}
	src := vmconf.Written(p.value, s.written(p), at)
	switch script := s.of("script"); {
	case script != "":
		return src, scripts[script]
	case remote(p.value):
		return src, "network"
	case !strings.HasPrefix(p.value, "/"):
		src.Value, src.Why = "/dev/"+p.value, "a path without / at its beginning is below /dev"
		return src, "block"
	case strings.HasPrefix(p.value, "/dev/"):
		return src, "block"
	}
	return src, "file"
}

// remote reports whether a target is an address for QEMU: "rbd:pool/image".
func remote(target string) bool {
	scheme, _, ok := strings.Cut(target, ":")
	return ok && !strings.Contains(scheme, "/")
}

// backend is who serves the disk on the host.
func (m machine) backend(s *spec, d vmconf.Disk) vmconf.Setting {
	p, set := s.get("backendtype")
	switch {
	case m.hvm && s.cdrom():
		b := vmconf.Default(qdisk, "xl gives the CD drives of an HVM domain to QEMU", d.At)
		b.Set, b.Written = set, s.written(p)
		return b
	case set:
		return vmconf.Written(p.value, s.written(p), d.At)
	case s.of("specification") == "virtio":
		return vmconf.Default(standalone, "the only one that speaks virtio", d.At)
	case s.has("colo"):
		return vmconf.Default(qdisk, "the only one that replicates", d.At)
	case d.Format.Value != "raw":
		return vmconf.Default(qdisk, "blkback reads raw disks only", d.At)
	case s.of("script") == "" && s.of("backend") == "" && d.Backend == "network":
		return vmconf.Default(qdisk, "blkback takes devices and files only", d.At)
	}
	return vmconf.Default(phy, "xl's choice for a raw disk", d.At)
}

// caching fills in how the host reads and writes the disk.
func caching(s *spec, d *vmconf.Disk) {
	at := d.At
	none := vmconf.Setting{Why: d.XenBackend.Value + " serves it, not QEMU", At: at}
	d.AIO, d.IOThread, d.Queues, d.QueueSize = none, none, none, none
	d.Cache, d.LogicalBlock, d.PhysicalBlock, d.DetectZeroes, d.L2CacheSize = none, none, none, none, none
	direct, isDirect := s.get("direct-io-safe")
	switch {
	case d.Bus.Value == vmconf.IDE || d.Bus.Value == vmconf.SATA || d.Bus.Value == vmconf.LSI:
		d.Cache = vmconf.Default("writeback", "xl gives no other to an emulated disk", at)
		d.AIO = vmconf.Default("threads", "QEMU's default", at)
		d.IOThread = vmconf.Default("off", "an emulated disk has none", at)
		d.Queues = vmconf.Default("1", "an emulated disk has one", at)
		d.QueueSize = vmconf.Setting{Why: "not a setting of it", At: at}
		byQEMU(d)
	case d.XenBackend.Value == qdisk:
		d.Cache = vmconf.Default("writeback", "xl's default for qdisk: through dom0's page cache", at)
		d.AIO = vmconf.Default("threads", "xl's default for qdisk", at)
		if isDirect {
			d.Cache = vmconf.Written("none", s.written(direct), at)
			d.AIO = vmconf.Written("native", s.written(direct), at)
		}
		d.IOThread = vmconf.Default("on", "QEMU gives every disk of Xen a thread of its own", at)
		d.Queues = vmconf.Setting{Why: "the guest's driver asks for as many as it likes", At: at}
		d.QueueSize = d.Queues
		byQEMU(d)
	case d.XenBackend.Value == tap:
		d.Cache = vmconf.Default("none", "tapdisk opens with O_DIRECT", at)
		d.AIO = vmconf.Default("native", "tapdisk uses Linux's asynchronous I/O", at)
	case d.XenBackend.Value == phy && d.Backend == "block":
		d.Cache = vmconf.Default("none", "blkback goes straight to the block device", at)
	case d.XenBackend.Value == phy && d.Backend == "file":
		d.Cache = vmconf.Default("writeback", "blkback on a loop device: through dom0's page cache", at)
	}
}

// byQEMU fills in what QEMU does with a disk of which xl tells it no more.
func byQEMU(d *vmconf.Disk) {
	d.LogicalBlock = vmconf.Default("512", "QEMU's default", d.At)
	d.PhysicalBlock = vmconf.Default("512", "QEMU's default", d.At)
	d.DetectZeroes = vmconf.Default("off", "QEMU's default", d.At)
	if d.L2CacheSize.Why = "the disk has no such tables"; d.Format.Value == "qcow2" {
		d.L2CacheSize = vmconf.Default("33554432", "QEMU's default, less where the disk needs less", d.At)
	}
}

// discarding fills in whether the guest may discard.
func discarding(s *spec, d *vmconf.Disk) {
	yes, isYes := s.get("discard")
	no, isNo := s.get("no-discard")
	emulated := d.Bus.Value != vmconf.XenBlk && d.Bus.Value != vmconf.VirtioBlk
	switch {
	case isNo && (!isYes || no.start > yes.start):
		d.Discard = vmconf.Written("ignore", s.written(no), d.At)
	case isYes:
		d.Discard = vmconf.Written("unmap", s.written(yes), d.At)
	case d.ReadOnly:
		d.Discard = vmconf.Default("ignore", "the disk is read-only", d.At)
	default:
		d.Discard = vmconf.Default("unmap", "xl's default", d.At)
	}
	if emulated && d.Discard.Value == "unmap" {
		d.Discard.Value, d.Discard.Why = "ignore", "an emulated disk takes no discards"
	}
}

// written is a parameter as the configuration has it.
func (s *spec) written(p param) string { return strings.TrimSpace(s.text[p.start:p.end]) }
