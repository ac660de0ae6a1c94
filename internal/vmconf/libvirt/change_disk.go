package libvirt

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/vmconf"
)

// driverWords are settings that are an attribute of a disk's <driver>, and the values that libvirt knows.
var driverWords = map[string]struct {
	attr   string
	values []string
}{
	vmconf.SetCache:        {"cache", []string{"none", "writeback", "writethrough", "directsync", "unsafe"}},
	vmconf.SetAIO:          {"io", []string{"native", "threads", "io_uring"}},
	vmconf.SetDiscard:      {"discard", []string{"unmap", "ignore"}},
	vmconf.SetDetectZeroes: {"detect_zeroes", []string{"off", "on", "unmap"}},
}

// changeDisk changes a setting of a disk.
func (m *machine) changeDisk(ed *edits, d *disk, t task) error {
	if w, ok := driverWords[t.Setting]; ok {
		if t.Value != "" && !slices.Contains(w.values, t.Value) {
			return fmt.Errorf("not one of %v", w.values)
		}
		if d.is.Backend == "vhost-user" || d.is.Backend == "vhost-vdpa" {
			return fmt.Errorf("what serves a %s disk decides", d.is.Backend)
		}
		m.setDriver(ed, d, w.attr, t.Value)
		return nil
	}
	switch t.Setting {
	case vmconf.SetBus:
		return m.changeBus(ed, d, t.Value)
	case vmconf.SetSource:
		return m.changeSource(ed, d, t.Value)
	case vmconf.SetIOThread:
		return m.changeIOThread(ed, d, t.Value)
	case vmconf.SetQueues, vmconf.SetQueueSize:
		return m.changeQueues(ed, d, t)
	case vmconf.SetL2CacheSize:
		return m.changeL2(ed, d, t.Value)
	case vmconf.SetPhysical:
		return m.changePhysical(ed, d, t.Value)
	}
	m.liftThrottle(ed, d)
	return nil
}

// setDriver sets an attribute of <driver>, or takes it out.
func (m *machine) setDriver(ed *edits, d *disk, name, value string) {
	switch {
	case value == "":
		ed.drop(d.driver, name)
	case d.driver != nil:
		ed.set(d.driver, name, value)
	default:
		m.newDriver(ed, d, " "+name+"='"+value+"'/>")
	}
}

// newDriver gives a disk its <driver>, which ends as is told.
func (m *machine) newDriver(ed *edits, d *disk, lines ...string) {
	head := "<driver name='qemu'"
	if d.is.Format.Value != "" {
		head += " type='" + d.is.Format.Value + "'"
	}
	lines[0] = head + lines[0]
	if len(d.el.kids) > 0 {
		ed.before(d.el.kids[0], lines...)
		return
	}
	ed.into(d.el, lines...)
}

// changeSource changes the path; the kind of the source stays.
func (m *machine) changeSource(ed *edits, d *disk, value string) error {
	if d.is.Backend != "file" && d.is.Backend != "block" || value == "" {
		return fmt.Errorf("only the path of a file or block device can be changed, to another path")
	}
	kind := d.el.get("type")
	if kind == "" {
		kind = "file"
	}
	ed.set(d.el.kid("source"), sourceKinds[kind].attr, value)
	return nil
}

// changeIOThread gives a virtio disk, or the controller of a virtio-scsi disk, a thread, or takes it away.
func (m *machine) changeIOThread(ed *edits, d *disk, value string) error {
	if value != "on" && value != "off" && value != "" {
		return errOnOff
	}
	var driver *element
	ctl := m.virtioSCSI(d)
	switch {
	case ctl != nil:
		driver = ctl.el.kid("driver")
	case d.is.Bus.Value == vmconf.VirtioBlk:
		driver = d.driver
	default:
		return fmt.Errorf("only virtio-blk and virtio-scsi have threads, not %s", d.is.Bus.Value)
	}
	if value != "on" {
		ed.drop(driver, "iothread")
		if e := driver.kid("iothreads"); e != nil {
			ed.remove(e)
		}
		return nil
	}
	id := m.thread(ed)
	if ctl != nil {
		m.setController(ed, ctl, "iothread", id)
	} else {
		m.setDriver(ed, d, "iothread", id)
	}
	return nil
}

// virtioSCSI is the controller of a virtio-scsi disk, nil for others.
func (m *machine) virtioSCSI(d *disk) *controller {
	if d.drive == nil || d.is.Bus.Value != vmconf.VirtioSCSI {
		return nil
	}
	return m.find("scsi", d.drive.controller, d.is.At)
}

// setController sets an attribute of a controller's <driver>; "" takes it out.
func (m *machine) setController(ed *edits, c *controller, name, value string) {
	driver := "<driver " + name + "='" + value + "'/>"
	switch {
	case value == "":
		ed.drop(c.el.kid("driver"), name)
	case c.el == nil:
		m.addDevice(ed, "controller", newController(c.index), "\t"+driver, "</controller>")
	case c.el.kid("driver") != nil:
		ed.set(c.el.kid("driver"), name, value)
	case len(c.el.kids) > 0:
		ed.before(c.el.kids[0], driver)
	default:
		ed.into(c.el, driver)
	}
}

func newController(index int) string {
	return "<controller type='scsi' index='" + strconv.Itoa(index) + "' model='virtio-scsi'>"
}

// changeQueues sets the number of queues, of a virtio-scsi disk on its controller, or their size.
func (m *machine) changeQueues(ed *edits, d *disk, t task) error {
	name := map[string]string{vmconf.SetQueues: "queues", vmconf.SetQueueSize: "queue_size"}[t.Setting]
	if n := number(t.Value); t.Value != "" && (n < 1 || strconv.Itoa(n) != t.Value) {
		return fmt.Errorf("not a number from 1")
	}
	ctl := m.virtioSCSI(d)
	switch {
	case ctl != nil && name == "queue_size":
		return fmt.Errorf("libvirt has no word for the size of virtio-scsi's queues")
	case ctl != nil:
		m.setController(ed, ctl, name, t.Value)
	case d.bus == "virtio":
		m.setDriver(ed, d, name, t.Value)
	default:
		return fmt.Errorf("only virtio-blk and virtio-scsi have queues, not %s", d.is.Bus.Value)
	}
	return nil
}

// changeL2 sets the size of a qcow2's metadata cache.
func (m *machine) changeL2(ed *edits, d *disk, value string) error {
	cache := d.driver.kid("metadata_cache")
	most := cache.kid("max_size")
	n, err := strconv.ParseInt(value, 10, 64)
	line := "<max_size unit='bytes'>" + value + "</max_size>"
	switch {
	case value == "":
		if cache != nil {
			ed.remove(cache)
		}
	case err != nil || n < 1 || strconv.FormatInt(n, 10) != value:
		return fmt.Errorf("not a number of bytes")
	case d.is.Format.Value != "qcow2":
		return fmt.Errorf("only qcow2 has that cache, not %q", d.is.Format.Value)
	case most != nil:
		ed.replace(most, line)
	case cache != nil:
		ed.into(cache, line)
	default: // the format is said in <driver>, or it would not be qcow2
		ed.into(d.driver, "<metadata_cache>", "\t"+line, "</metadata_cache>")
	}
	return nil
}

// changePhysical sets the physical block size that the guest sees.
func (m *machine) changePhysical(ed *edits, d *disk, value string) error {
	io := d.el.kid("blockio")
	n := number(value)
	switch {
	case value == "":
		if io != nil && len(io.attrs) == 1 {
			ed.remove(io)
		} else {
			ed.drop(io, "physical_block_size")
		}
	case n < 512 || n&(n-1) != 0 || strconv.Itoa(n) != value:
		return fmt.Errorf("not a power of two from 512")
	case n < number(d.is.LogicalBlock.Value):
		return fmt.Errorf("smaller than the logical block size %s", d.is.LogicalBlock.Value)
	case d.is.Bus.Value == vmconf.Floppy || d.is.Bus.Value == vmconf.SD:
		return fmt.Errorf("%s has no block size to set", d.is.Bus.Value)
	case io != nil:
		ed.set(io, "physical_block_size", value)
	case d.el.kid("target") != nil:
		ed.before(d.el.kid("target"), "<blockio physical_block_size='"+value+"'/>")
	default:
		ed.into(d.el, "<blockio physical_block_size='"+value+"'/>")
	}
	return nil
}

// liftThrottle takes every limit of a disk out: its own, its groups', and the kernel's on the device under it.
func (m *machine) liftThrottle(ed *edits, d *disk) {
	for _, name := range []string{"iotune", "throttlefilters"} {
		if e := d.el.kid(name); e != nil {
			ed.remove(e)
		}
	}
	for _, device := range m.dom.kid("blkiotune").all("device") {
		if text(device.kid("path")) == d.is.Source.Value {
			for _, k := range device.kids {
				if limits[k.name] != "" {
					ed.remove(k)
				}
			}
		}
	}
}
