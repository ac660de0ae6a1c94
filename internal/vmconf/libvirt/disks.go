package libvirt

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// disk is one <disk> beside what it means.
type disk struct {
	el     *element
	bus    string // libvirt's word: "virtio", "scsi"
	driver *element
	drive  *drive // where it hangs on its controller; nil on a bus without controllers
	is     vmconf.Disk
}

// drive is an address on a controller.
type drive struct{ controller, bus, target, unit int }

// Names of disks, and the bus that libvirt takes by them.
var prefixes = []struct{ prefix, bus string }{
	{"xvd", "xen"}, {"ubd", "uml"}, {"nvme", "nvme"}, {"vd", "virtio"}, {"sd", "scsi"}, {"hd", "ide"}, {"fd", "fdc"},
}

var buses = map[string]string{
	"virtio": vmconf.VirtioBlk, "ide": vmconf.IDE, "sata": vmconf.SATA, "usb": vmconf.USB, "fdc": vmconf.Floppy,
	"sd": vmconf.SD, "xen": vmconf.XenBlk, "nvme": vmconf.NVMe,
}

func (m *machine) readDisks() {
	m.groups = map[string][]vmconf.Setting{}
	for _, e := range m.dom.kid("throttlegroups").all("throttlegroup") {
		m.groups[text(e.kid("group_name"))] = m.limits(e)
	}
	for _, e := range m.all("disk") {
		m.disks = append(m.disks, m.disk(e))
	}
	m.sharedThrottles()
	m.cgroupThrottles()
	for _, d := range m.disks {
		m.vm.Disks = append(m.vm.Disks, d.is)
	}
	m.publishControllers()
}

func (m *machine) disk(e *element) disk {
	d := disk{el: e, driver: e.kid("driver")}
	target := e.kid("target")
	d.is = vmconf.Disk{ID: strings.TrimPrefix(target.get("dev"), "ioemu:"), Device: e.get("device"), At: m.at(e)}
	if d.is.ID == "" {
		d.is.ID = "disk " + strconv.Itoa(len(m.disks)+1)
	}
	if d.is.Device == "" {
		d.is.Device = "disk"
	}
	d.is.Shared = e.kid("shareable") != nil
	d.is.ReadOnly = e.kid("readonly") != nil || d.is.Device == "cdrom"
	m.source(&d)
	m.bus(&d, target)
	m.format(&d)
	m.blocks(&d)
	m.policy(&d)
	m.l2cache(&d)
	d.is.Throttle = m.throttle(e)
	return d
}

// bus is what the guest sees the disk on, and by which controller.
func (m *machine) bus(d *disk, target *element) {
	var set vmconf.Setting
	if a := target.attr("bus"); a != nil {
		d.bus, set = a.value, m.written(a, "")
	} else {
		d.bus, set = busOf(d.is.ID, d.is.Device), vmconf.Default("", byLibvirt+" for "+d.is.ID, d.is.At)
	}
	set.Value = buses[d.bus]
	if set.Value == "" {
		set.Value = vmconf.OtherBus
	}
	var ctl *controller
	if d.drive = address(d.el, d.bus, d.is.ID); d.drive != nil {
		ctl = m.find(d.bus, d.drive.controller, d.is.At)
		d.is.Controller = ctl.is.ID
	}
	switch {
	case ctl != nil && d.bus == "scsi":
		set.Value = ctl.is.Bus
		set.Why = ctl.is.ID + " is " + ctl.is.Model.Value
		d.is.IOThread, d.is.Queues, d.is.QueueSize = ctl.is.IOThread, ctl.is.Queues, ctl.is.QueueSize
	case d.bus == "virtio":
		m.virtioSettings(d.driver, &d.is.IOThread, &d.is.Queues, &d.is.QueueSize, d.is.At)
		if d.is.Backend == "vhost-user" {
			set.Value = vmconf.VhostUserBlk
		}
	default:
		why := "none on " + set.Value
		d.is.IOThread = vmconf.Default("off", why, d.is.At)
		d.is.Queues, d.is.QueueSize = vmconf.Default("", why, d.is.At), vmconf.Default("", why, d.is.At)
	}
	d.is.Bus = set
}

// busOf is the bus of a disk that does not name one.
func busOf(name, device string) string {
	if device == "floppy" {
		return "fdc"
	}
	for _, p := range prefixes[:len(prefixes)-1] {
		if strings.HasPrefix(name, p.prefix) {
			return p.bus
		}
	}
	return "ide"
}

// address is where a disk hangs: where it says, else where libvirt puts a disk of that name.
func address(e *element, bus, name string) *drive {
	switch bus {
	case "scsi", "sata", "ide", "fdc":
	default:
		return nil
	}
	if a := e.kid("address"); a.get("type") == "drive" {
		n := func(name string) int { return max(0, number(a.get(name))) }
		return &drive{n("controller"), n("bus"), n("target"), n("unit")}
	}
	n := max(0, letters(name))
	switch bus {
	case "scsi": // 15 on each controller; 7 is the controller itself
		unit := n % 15
		if unit >= 7 {
			unit++
		}
		return &drive{controller: n / 15, unit: unit}
	case "sata":
		return &drive{controller: n / 6, unit: n % 6}
	case "ide":
		return &drive{controller: n / 4, bus: n % 4 / 2, unit: n % 2}
	}
	return &drive{controller: n / 2, unit: n % 2}
}

// letters is the number of a disk by its name: 0 of "vda", 26 of "sdaa"; -1 of a name of another kind.
func letters(name string) int {
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(name, p.prefix)
		if !ok || rest == "" || len(rest) > 4 {
			continue
		}
		n := 0
		for _, c := range rest {
			if c < 'a' || c > 'z' {
				return -1
			}
			n = n*26 + int(c-'a') + 1
		}
		return n - 1
	}
	return -1
}

// nameOf is the name of the n-th disk of a prefix.
func nameOf(prefix string, n int) string {
	s := ""
	for n++; n > 0; n = (n - 1) / 26 {
		s = string(rune('a'+(n-1)%26)) + s
	}
	return prefix + s
}
