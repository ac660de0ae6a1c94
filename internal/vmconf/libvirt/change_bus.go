package libvirt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// goals are the buses that a disk can be put on: libvirt's word, the prefix of its name, and the controller's model.
var goals = map[string]struct{ bus, prefix, model string }{
	vmconf.VirtioBlk:  {"virtio", "vd", ""},
	vmconf.VirtioSCSI: {"scsi", "sd", "virtio-scsi"},
	vmconf.LSI:        {"scsi", "sd", "lsilogic"},
	vmconf.MegaSAS:    {"scsi", "sd", "lsisas1078"},
	vmconf.PVSCSI:     {"scsi", "sd", "vmpvscsi"},
	vmconf.SATA:       {"sata", "sd", ""},
	vmconf.IDE:        {"ide", "hd", ""},
	vmconf.USB:        {"usb", "sd", ""},
}

// Attributes and elements that libvirt takes on some buses only.
var (
	onlyVirtio   = []string{"iothread", "queues", "queue_size", "ioeventfd", "event_idx", "iommu", "ats", "packed", "page_per_vq"}
	onlyRotating = map[string]bool{"ide": true, "scsi": true, "sata": true}
)

// changeBus puts a disk on another bus: its name, its address and what the new bus does not take change with it.
func (m *machine) changeBus(ed *edits, d *disk, value string) error {
	goal, ok := goals[value]
	target := d.el.kid("target")
	switch {
	case !ok:
		return fmt.Errorf("not a bus that a disk can be put on")
	case target == nil:
		return fmt.Errorf("the disk has no <target>")
	case d.is.Device == "floppy", d.bus == "sd", d.bus == "fdc":
		return fmt.Errorf("a disk on %s stays there", d.is.Bus.Value)
	case d.is.Device == "cdrom" && goal.bus == "virtio":
		return fmt.Errorf("virtio-blk has no CD-ROM drives; virtio-scsi has")
	case d.is.Device == "lun" && goal.bus != "scsi":
		return fmt.Errorf("a SCSI disk that is passed through needs a SCSI bus")
	case d.is.Backend == "vhost-user" || d.is.Backend == "vhost-vdpa":
		return errors.New(elsewhere)
	case goal.bus == "ide" && !strings.HasPrefix(m.vm.Machine.Value, "pc-i440fx") && m.vm.Machine.Value != "pc":
		return fmt.Errorf("machine %s has no IDE", m.vm.Machine.Value)
	}
	name := m.name(d, goal.bus, goal.prefix)
	if goal.bus == "ide" && letters(name) >= 4 {
		return fmt.Errorf("IDE has room for four disks")
	}
	ed.set(target, "dev", name)
	ed.set(target, "bus", goal.bus)
	if !onlyRotating[goal.bus] {
		ed.drop(target, "rotation_rate")
	}
	if goal.bus != "usb" {
		ed.drop(target, "removable")
	}
	m.dropForeign(ed, d, goal.bus)
	address := d.el.kid("address")
	if goal.bus != "scsi" {
		if address != nil {
			ed.remove(address)
		}
		return nil
	}
	where := m.seat(ed, goal.model, value)
	line := fmt.Sprintf("<address type='drive' controller='%d' bus='0' target='%d' unit='%d'/>", where.controller, where.target, where.unit)
	if address != nil {
		ed.replace(address, line)
	} else {
		ed.into(d.el, line)
	}
	return nil
}

// name is the name of a disk on its new bus: with the same letter where that is free, and on IDE and SATA the place that the
// name stands for is free, too.
func (m *machine) name(d *disk, bus, prefix string) string {
	free := func(n int) bool {
		name := nameOf(prefix, n)
		place := address(&element{}, bus, name)
		for i := range m.disks {
			o := &m.disks[i]
			if o.el == d.el {
				continue
			}
			if o.is.ID == name || bus != "scsi" && place != nil && o.bus == bus && *o.drive == *place {
				return false
			}
		}
		return true
	}
	n := letters(d.is.ID)
	if n < 0 || !free(n) {
		for n = 0; !free(n); n++ {
		}
	}
	return nameOf(prefix, n)
}

// dropForeign takes out what libvirt refuses on the new bus.
func (m *machine) dropForeign(ed *edits, d *disk, bus string) {
	if bus != "virtio" {
		ed.drop(d.driver, onlyVirtio...)
		if e := d.driver.kid("iothreads"); e != nil {
			ed.remove(e)
		}
	}
	ed.drop(d.el, "model") // of virtio and USB
	scsi := bus == "scsi"
	for _, e := range d.el.kids {
		switch {
		case e.is("vendor") && !scsi, e.is("product") && !scsi && bus != "sata", e.is("wwn") && !scsi && bus != "ide" && bus != "sata",
			e.is("geometry") && bus == "usb", e.is("geometry") && bus == "sata",
			e.is("alias") && !strings.HasPrefix(e.get("name"), "ua-"):
			ed.remove(e)
		}
	}
}

// seat is a free place on a controller of that model, which is added when there is none.
func (m *machine) seat(ed *edits, model, bus string) drive {
	found := -1
	for _, c := range m.ctls {
		if c.kind == "scsi" && c.is.Bus == bus && (found < 0 || c.index < found) && m.hasRoom(c.index, bus) {
			found = c.index
		}
	}
	if found < 0 {
		for found = 0; m.known("scsi", found); found++ {
		}
		line := strings.TrimSuffix(newController(found), ">") + "/>"
		m.addDevice(ed, "controller", strings.Replace(line, "virtio-scsi", model, 1))
	}
	at, _ := m.freeSeat(found, bus)
	return at
}

func (m *machine) known(kind string, index int) bool {
	for _, c := range m.ctls {
		if c.kind == kind && c.index == index {
			return true
		}
	}
	return false
}

func (m *machine) hasRoom(controller int, bus string) bool {
	_, ok := m.freeSeat(controller, bus)
	return ok
}

// freeSeat is the first free place on a controller: targets on all but virtio-scsi and LSI, whose disks are units in
// libvirt's words. Unit 7 is the controller itself.
func (m *machine) freeSeat(controller int, bus string) (drive, bool) {
	taken := map[drive]bool{}
	for _, d := range m.disks {
		if d.bus == "scsi" && d.drive.controller == controller {
			taken[drive{0, 0, d.drive.target, d.drive.unit}] = true
		}
	}
	for _, h := range m.all("hostdev") {
		if a := h.kid("address"); a.get("type") == "drive" && number(a.get("controller")) == controller {
			taken[drive{0, 0, max(0, number(a.get("target"))), max(0, number(a.get("unit")))}] = true
		}
	}
	most := map[string]int{vmconf.VirtioSCSI: 16000, vmconf.LSI: 7, vmconf.MegaSAS: 64, vmconf.PVSCSI: 64}[bus]
	for n := range most {
		at := drive{target: n}
		if bus == vmconf.VirtioSCSI || bus == vmconf.LSI {
			at = drive{unit: n}
		}
		if n != 7 && !taken[at] {
			at.controller = controller
			return at, true
		}
	}
	return drive{}, false
}

// boots is the index of the disk that the firmware tries first when disks have no order of their own: libvirt takes the
// first of its list, in which disks of one bus stand together by their names. -1 when that does not decide.
func (m *machine) boots() int {
	os := m.dom.kid("os")
	boot := os.all("boot")
	if os.kid("kernel") != nil || len(boot) > 0 && !hasDev(boot, "hd") {
		return -1
	}
	var list []int
	for i, d := range m.disks {
		if d.el.kid("boot") != nil {
			return -1
		}
		if d.is.Device != "disk" && d.is.Device != "lun" {
			continue
		}
		at := -1
		for j := len(list) - 1; j >= 0; j-- {
			o := m.disks[list[j]]
			if o.bus != d.bus {
				continue
			}
			if letters(o.is.ID) > letters(d.is.ID) {
				at = j
			} else if at < 0 {
				at = j + 1
			}
		}
		if at < 0 {
			at = len(list)
		}
		list = append(list[:at], append([]int{i}, list[at:]...)...)
	}
	if len(list) == 0 {
		return -1
	}
	return list[0]
}

func hasDev(boot []*element, dev string) bool {
	for _, b := range boot {
		if b.get("dev") == dev {
			return true
		}
	}
	return false
}
