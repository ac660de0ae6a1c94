package pve

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// adapter is one value of scsihw: the controller that QEMU has for it, and how many disks share one.
type adapter struct {
	bus, model, prefix string
	shared             int
}

// adapters are the values of scsihw (qemu-server, DriveDevice.pm).
var adapters = map[string]adapter{
	"lsi":                {vmconf.LSI, "lsi53c895a", "scsihw", 7},
	"lsi53c810":          {vmconf.LSI, "lsi53c810", "scsihw", 7},
	"megasas":            {vmconf.MegaSAS, "megasas", "scsihw", 256},
	"pvscsi":             {vmconf.PVSCSI, "pvscsi", "scsihw", 256},
	"virtio-scsi-pci":    {vmconf.VirtioSCSI, "virtio-scsi-pci", "scsihw", 256},
	"virtio-scsi-single": {vmconf.VirtioSCSI, "virtio-scsi-pci", "virtioscsi", 1},
}

const single = "virtio-scsi-single"

// scsihw is the kind of the SCSI controllers, and the line that says so.
func (c *conf) scsihw() (string, entry, bool) {
	e, ok := c.find("scsihw")
	if !ok {
		return "lsi", e, false
	}
	return oneLine(e.value), e, true
}

// bus is what the guest sees the drive on.
func (b *board) bus(d drive) vmconf.Setting {
	name := map[string]string{"ide": vmconf.IDE, "sata": vmconf.SATA, "virtio": vmconf.VirtioBlk}[d.slot.bus]
	if name != "" {
		s := vmconf.Written(name, d.key, d.at)
		if name == vmconf.IDE && strings.Contains(b.value("machine"), "q35") {
			s.Why = "the ports of a q35 machine, which are AHCI's"
		}
		return s
	}
	kind, e, ok := b.scsihw()
	if !ok {
		return vmconf.Default(vmconf.LSI, byDefault+" of scsihw", d.at)
	}
	s := vmconf.Written(adapters[kind].bus, kind, b.doc.at(e.line))
	if s.Value == "" {
		s.Value, s.Why = vmconf.OtherBus, "no value of Proxmox VE's scsihw"
	}
	return s
}

// controller returns the ID of what the drive hangs on, and lists it.
func (b *board) controller(d drive) string {
	k := vmconf.Controller{At: d.at}
	switch d.slot.bus {
	case "sata":
		k.ID, k.Bus = fmt.Sprintf("ahci%d", d.index/slots["sata"]), vmconf.SATA
		k.Model = vmconf.Default("ich9-ahci", byDefault, d.at)
	case "scsi":
		kind, e, written := b.scsihw()
		a, ok := adapters[kind]
		if !ok {
			return ""
		}
		k.ID, k.Bus = fmt.Sprintf("%s%d", a.prefix, d.index/a.shared), a.bus
		k.Model = vmconf.Default(a.model, byDefault, d.at)
		if written {
			k.At = b.doc.at(e.line)
			k.Model = vmconf.Written(a.model, kind, k.At)
		}
		k.IOThread, k.Queues, k.QueueSize = b.ioThread(d), b.queues(d), b.queueSize(d)
	default:
		return ""
	}
	if !b.listed[k.ID] {
		b.listed[k.ID] = true
		b.controllers = append(b.controllers, k)
	}
	return k.ID
}

// front fills in what the guest's side of the drive is like.
func (b *board) front(d drive, disk *vmconf.Disk) {
	disk.IOThread, disk.Queues, disk.QueueSize = b.ioThread(d), b.queues(d), b.queueSize(d)
	if disk.Device == "disk" {
		disk.LogicalBlock = vmconf.Default("512", "QEMU's default", d.at)
		disk.PhysicalBlock = disk.LogicalBlock
	}
}

// ioThread is "on" where the drive has a thread of its own.
func (b *board) ioThread(d drive) vmconf.Setting {
	text, ok := d.props.get("iothread")
	if !ok {
		return vmconf.Default("off", byDefault, d.at)
	}
	s := vmconf.Written(vmconf.OnOff(d.on("iothread")), text, d.at)
	if s.Value == "off" {
		return s
	}
	switch kind, _, _ := b.scsihw(); {
	case d.slot.bus == "scsi" && kind != single:
		s.Value, s.Why = "off", "Proxmox VE ignores it on scsihw "+kind+": it needs "+single
	case d.slot.bus != "scsi" && d.slot.bus != "virtio":
		s.Value, s.Why = "off", "Proxmox VE has none on "+d.slot.bus
	}
	return s
}

// queues are the request queues of the drive or of its controller.
func (b *board) queues(d drive) vmconf.Setting {
	if !b.virtio(d) {
		return vmconf.Setting{At: d.at}
	}
	auto := b.boot
	if b.version.Before(5, 2) {
		auto = vmconf.Default("1", fmt.Sprintf("QEMU's default of machine %d.%d", b.version.Major, b.version.Minor), d.at)
	}
	text, ok := d.props.get("queues")
	if !ok || d.slot.bus != "scsi" {
		return auto
	}
	if kind, _, _ := b.scsihw(); kind != single {
		s := vmconf.Written(auto.Value, text, d.at)
		s.Why = "Proxmox VE ignores it on scsihw " + kind + ": it needs " + single
		return s
	}
	n, ok := parseNumber(text)
	if !ok {
		b.note(d.entry, "queues=%s is not a number", text)
		return vmconf.Setting{Set: true, Written: text, At: d.at}
	}
	return vmconf.Written(whole(n), text, d.at)
}

// queueSize is QEMU's own: Proxmox VE has no setting for it.
func (b *board) queueSize(d drive) vmconf.Setting {
	switch {
	case !b.virtio(d):
		return vmconf.Setting{At: d.at}
	case b.version.Before(5, 0):
		return vmconf.Default("128", fmt.Sprintf("QEMU's default of machine %d.%d", b.version.Major, b.version.Minor), d.at)
	}
	return vmconf.Default("256", "QEMU's default", d.at)
}

func (b *board) virtio(d drive) bool {
	kind, _, _ := b.scsihw()
	return d.slot.bus == "virtio" || d.slot.bus == "scsi" && adapters[kind].bus == vmconf.VirtioSCSI
}

// parseNumber reads a number that is not negative.
func parseNumber(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && bareNumber.MatchString(s) && n < math.MaxInt64/mebibyte
}

func whole(n float64) string { return strconv.FormatInt(int64(n), 10) }
