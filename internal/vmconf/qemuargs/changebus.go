package qemuargs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// common are the properties that a disk keeps on another bus.
var common = set(`driver id drive bootindex serial logical_block_size physical_block_size min_io_size opt_io_size
	discard_granularity write-cache share-rw werror rerror`)

// bus moves a disk to another bus.
func (e *editor) bus(d *disk, want string) error {
	i := slices.Index(e.g.disks, d)
	if e.g.vm.Disks[i].Bus.Value == want {
		return nil
	}
	driver, err := e.driverFor(d, want)
	if err != nil {
		return err
	}
	if d.dev == nil {
		e.again = true
		return e.explicit(d, driver)
	}
	pci := slices.Contains([]string{"virtio-blk", "vhost-user-blk", "nvme"}, base(d.driver))
	var drops []string
	for _, p := range d.dev.set.Pairs {
		place := (p.Key == "bus" || p.Key == "addr") && pci && (base(driver) == "virtio-blk" || driver == "nvme")
		if !common[p.Key] && !place && p.Key != "multifunction" {
			drops = append(drops, p.Key)
		}
	}
	if want == vmconf.NVMe {
		drops = append(drops, "werror", "rerror")
	}
	added, bus := e.controllerFor(d, want, pci)
	if bus != "" {
		drops = slices.DeleteFunc(drops, func(k string) bool { return k == "bus" })
		e.set(d.dev, "bus", bus, optstr.String)
	}
	if added != "" {
		e.before(d.dev, [2]string{"device", added})
	}
	e.drop(d.dev, drops...)
	e.set(d.dev, "driver", driver, optstr.String)
	if slot := e.g.freeSlot(); slot != "" && !pci && (base(driver) == "virtio-blk" || driver == "nvme") {
		e.set(d.dev, "addr", slot, optstr.String)
	}
	if serial := d.dev.set.Value("serial"); want == vmconf.NVMe && serial == "" {
		id := e.g.unique("", d.id)
		e.set(d.dev, "serial", id[:min(len(id), 20)], optstr.String)
	}
	return nil
}

// driverFor returns the device of a disk on a bus.
func (e *editor) driverFor(d *disk, want string) (string, error) {
	plug := e.g.board().plug
	switch {
	case d.fixed != nil:
		return "", errors.New("it is not a disk of a -drive or a -device")
	case d.loose:
		return "", errors.New("no device of these arguments uses it; change the device where it stands")
	case d.device == "floppy":
		return "", errors.New("it is a floppy")
	case want == vmconf.VirtioSCSI:
		return map[string]string{"disk": "scsi-hd", "cdrom": "scsi-cd", "lun": "scsi-block"}[d.device], nil
	case d.device == "lun":
		return "", errors.New("a host's SCSI device is given through virtio-scsi only")
	case want == vmconf.IDE && !e.g.board().sata && e.g.board().bus == "ide", want == vmconf.SATA:
		return map[string]string{"cdrom": "ide-cd", "disk": "ide-hd"}[d.device], nil
	case d.device == "cdrom":
		return "", errors.New("a CD-ROM drive needs ide, sata or virtio-scsi")
	case want == vmconf.VirtioBlk:
		return "virtio-blk-" + plug, nil
	case want == vmconf.NVMe:
		return "nvme", nil
	}
	return "", fmt.Errorf("a %s disk on machine type %q cannot become %s", d.device, e.g.vm.Machine.Value, want)
}

// controllerFor returns the controller that a bus needs, "" for none, and the bus that it gives. It takes the place of a
// PCI disk, and its iothread.
func (e *editor) controllerFor(d *disk, want string, pci bool) (added, bus string) {
	switch {
	case want == vmconf.VirtioSCSI:
		id := e.g.unique("scsi-", d.id)
		added = "virtio-scsi-" + e.g.board().plug + ",id=" + id
		for _, key := range []string{"bus", "addr", "iothread"} {
			if p, ok := d.dev.set.Get(key); ok && pci && openIn(d.dev.value, p.From, p.To) == "" {
				added += "," + key + "=" + p.Value
			}
		}
		if slot := e.g.freeSlot(); slot != "" && !pci {
			added += ",addr=" + slot
		}
		return added, id + ".0"
	case want == vmconf.SATA && !e.g.board().sata:
		id := e.g.unique("ahci-", d.id)
		added = "ich9-ahci,id=" + id
		if slot := e.g.freeSlot(); slot != "" {
			added += ",addr=" + slot
		}
		return added, id + ".0"
	}
	return "", ""
}

// explicit writes the disk of a -drive alone as a -drive without an interface and a -device.
func (e *editor) explicit(d *disk, driver string) error {
	o := d.drive.o
	if shortOf(o) != "" {
		return e.expand(d, step{Change: vmconf.Change{Value: "-"}})
	}
	switch base(driver) {
	case "scsi-hd", "scsi-cd", "scsi-block": // the move to its controller follows
		driver = map[bool]string{true: "ide-cd", false: "ide-hd"}[d.device == "cdrom"]
		if e.g.board().bus != "ide" {
			driver = "virtio-blk-" + e.g.board().plug
		}
	}
	if driver == "nvme" {
		driver = "virtio-blk-" + e.g.board().plug
	}
	e.set(o, "if", "none", optstr.String)
	e.drop(o, "index", "bus", "unit")
	id := o.set.Value("id")
	if id == "" {
		id = e.g.unique("", strings.TrimSuffix(d.id, "#2"))
		e.set(o, "id", id, optstr.String)
	}
	device := driver + ",drive=" + id
	if slot := e.g.freeSlot(); slot != "" && base(driver) == "virtio-blk" {
		device += ",addr=" + slot
	}
	e.after(o, [2]string{"device", device})
	return nil
}

// Slots of a PCI bus that a new device takes, from the top: chipsets have theirs above and below.
const highestSlot, lowestSlot = 0x18, 0x03

// freeSlot is a slot for a device that QEMU would otherwise put into the first one that is free so far: one that a later
// option asks for, so that the machine would not start. It is "" where no option asks for one, and without PCI.
func (g *guest) freeSlot() string {
	taken := map[uint64]bool{}
	for _, o := range g.all("device") {
		slot, _, _ := strings.Cut(o.set.Value("addr"), ".")
		if n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(slot), "0x"), 16, 8); err == nil {
			taken[n] = true
		}
	}
	if len(taken) == 0 || g.board().plug != "pci" {
		return ""
	}
	for n := uint64(highestSlot); n >= lowestSlot; n-- {
		if !taken[n] {
			return "0x" + strconv.FormatUint(n, 16)
		}
	}
	return ""
}
