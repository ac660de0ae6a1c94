package qemuargs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// do makes the edits of one round.
func (e *editor) do(s step) error {
	if s.disk < 0 {
		return e.doMachine(s)
	}
	d := e.g.disks[s.disk]
	backend := len(d.chain) > 0
	switch s.Setting {
	case vmconf.SetCache, vmconf.SetAIO, vmconf.SetDiscard, vmconf.SetDetectZeroes, vmconf.SetL2CacheSize, vmconf.SetThrottle, vmconf.SetSource:
		if !backend {
			return errors.New("the disk has no medium among these arguments")
		}
		if s.Setting != vmconf.SetSource && shortOf(d.chain[0].o) != "" {
			return e.expand(d, s)
		}
	}
	switch s.Setting {
	case vmconf.SetBus:
		return e.bus(d, s.Value)
	case vmconf.SetSource:
		return e.source(d, s.Value)
	case vmconf.SetCache:
		return e.cache(d, s.Value)
	case vmconf.SetAIO:
		return e.aio(d, s.Value)
	case vmconf.SetDiscard:
		e.discard(d, s.Value)
	case vmconf.SetDetectZeroes:
		e.detectZeroes(d, s.Value)
	case vmconf.SetL2CacheSize:
		n := d.qcow2()
		if n == nil {
			return errors.New("the disk is not qcow2, as far as the arguments tell")
		}
		e.put(n, "l2-cache-size", s.Value, optstr.Number)
	case vmconf.SetThrottle:
		return e.unthrottle(d, s)
	default:
		return e.device(d, s)
	}
	return nil
}

// put sets a key of a node, or takes it out for "".
func (e *editor) put(n *node, key, value string, t optstr.Type) {
	if value == "" {
		e.drop(n.o, n.prefix+key)
		return
	}
	e.set(n.o, n.prefix+key, value, t)
}

// expand writes -hda and its like as the -drive that they are short for. iface "" leaves the drive on its interface.
func (e *editor) expand(d *disk, s step) error {
	if d.fixed != nil || s.Value == "" {
		if d.fixed != nil {
			return errors.New("-usbdevice cannot say it; make it a -drive and a -device usb-storage")
		}
		return nil // nothing is written
	}
	o := d.drive.o
	short := shorts[o.name]
	keys := []optstr.Edit{{From: 0, To: 0, Text: "file="}}
	tail := fmt.Sprintf(",if=%s,index=%d,media=%s", d.drive.iface, short.index, short.media)
	keys = append(keys, optstr.Edit{From: len(o.value.Text), To: len(o.value.Text), Text: tail})
	for i := range len(o.value.Text) {
		if o.value.Text[i] == ',' {
			keys = append(keys, optstr.Edit{From: i, To: i, Text: ","})
		}
	}
	slices.SortStableFunc(keys, func(a, b optstr.Edit) int { return a.From - b.From })
	if o.name == "" {
		_, inner := e.layout(o)
		e.insert(o, o.word.Start, "-drive"+inner)
	} else if sp, err := o.word.Splice(0, len(o.word.Text), "-drive"); err == nil {
		e.splices = append(e.splices, sp...)
	}
	e.again = true
	return e.splice(o, keys)
}

// source gives the disk another path.
func (e *editor) source(d *disk, path string) error {
	last := d.chain[len(d.chain)-1]
	p, ok := last.filename()
	switch {
	case path == "":
		return errors.New("a disk without a path is none")
	case !ok || p.ReadOnly:
		return errors.New("it is not written as a path")
	case shortOf(last.o) != "" || last.o.name == "usbdevice":
		return e.splice(last.o, []optstr.Edit{{From: p.From, To: p.To, Text: path}})
	}
	e.set(last.o, p.Key, path, optstr.String)
	return nil
}

// cache sets the mode where each of its parts counts, and takes out what would override it.
func (e *editor) cache(d *disk, value string) error {
	m := modes[value]
	l := d.legacy()
	if l != nil {
		if value == "" {
			e.drop(l.o, "cache")
		} else {
			e.set(l.o, "cache", value, optstr.String)
		}
		e.drop(l.o, "cache.writeback")
	}
	for _, f := range []struct {
		key string
		on  bool
	}{{"cache.direct", m.direct}, {"cache.no-flush", m.noFlush}} {
		word := map[bool]string{true: "on", false: "off"}[f.on]
		found := false
		for _, n := range d.chain {
			p, ok := n.get(f.key)
			switch {
			case !ok:
			case value == "" || l != nil && n.o == l.o && !p.ReadOnly:
				e.put(n, f.key, "", optstr.Bool)
			default:
				e.put(n, f.key, word, optstr.Bool)
			}
		}
		_, _, found = d.inherited(f.key)
		if l == nil && value != "" && !found && f.on {
			e.put(d.chain[len(d.chain)-1], f.key, word, optstr.Bool)
		}
	}
	if value == "" || d.dev == nil {
		return nil
	}
	p, _, ok := e.g.property(d.dev, d.driver, "write-cache")
	if ok && p.Value != "auto" && isOn(p.Value) != m.writeBack || !ok && l == nil && !m.writeBack {
		e.set(d.dev, "write-cache", map[bool]string{true: "on", false: "off"}[m.writeBack], optstr.String)
	}
	return nil
}

func (e *editor) aio(d *disk, value string) error {
	last := d.chain[len(d.chain)-1]
	if k := last.driver(); k != "file" && k != "host_device" && k != "host_cdrom" && value != "" {
		return fmt.Errorf("%s has no aio", k)
	}
	l := d.legacy()
	if _, ok := last.get("aio"); ok || l == nil {
		e.put(last, "aio", value, optstr.String)
		if value != "" || l == nil {
			return nil
		}
	}
	e.put(l.root, "aio", value, optstr.String)
	return nil
}

// discard sets it at the top; to pass it on, every node below and the device must do so too.
func (e *editor) discard(d *disk, value string) {
	for i, n := range d.chain {
		_, written := n.get("discard")
		switch {
		case i == 0:
			e.put(n, "discard", value, optstr.String)
		case value == "unmap" && (written || !n.inline):
			e.put(n, "discard", value, optstr.String)
		}
	}
	if d.dev != nil && value == "unmap" {
		if p, ok := d.dev.set.Get("discard"); ok && !isOn(p.Value) {
			e.set(d.dev, "discard", "on", optstr.Bool)
		}
	}
}

func (e *editor) detectZeroes(d *disk, value string) {
	for i, n := range d.chain {
		if _, written := n.get("detect-zeroes"); written || i == 0 {
			e.put(n, "detect-zeroes", value, optstr.String)
		}
	}
}

// unthrottle lifts every limit, one key at each round. A group that limits other disks too must be lifted for all.
func (e *editor) unthrottle(d *disk, s step) error {
	for _, o := range e.g.throttles(d) {
		for i, other := range e.g.disks {
			wished := slices.ContainsFunc(e.all, func(a step) bool { return a.disk == i && a.Setting == vmconf.SetThrottle })
			if other != d && !wished && slices.Contains(e.g.throttles(other), o) {
				return fmt.Errorf("the limits of line %d are also those of %s; lift them for both", o.at.Line, other.id)
			}
		}
		for _, p := range o.set.Pairs {
			if (isLimit(p.Key) || belongsToLimit(p.Key)) && !p.ReadOnly {
				e.drop(o, p.Key)
				e.again = true
				return nil
			}
		}
	}
	return nil
}

// device changes what is a property of the disk's device or of its controller.
func (e *editor) device(d *disk, s step) error {
	if d.dev == nil && d.fixed == nil && !d.loose {
		if s.Value == "" || s.Value == "off" {
			return nil
		}
		driver := e.g.deviceDriver(d)
		if base(driver) != "virtio-blk" && (driver != "ide-hd" || s.Setting != vmconf.SetPhysical) {
			return fmt.Errorf("if=%s has no such setting; change its bus", d.drive.iface)
		}
		if d.device == "cdrom" {
			driver = "ide-cd"
		}
		e.again = true
		return e.explicit(d, driver)
	}
	target, driver := d.dev, d.driver
	if d.ctl != nil && s.Setting != vmconf.SetPhysical {
		target, driver = d.ctl.o, d.ctl.driver
	}
	if d.fixed != nil && d.fixed.name == "export" {
		target, driver = d.fixed, "export"
	}
	if target == nil {
		return errors.New("no -device of its own makes it")
	}
	if s.Setting == vmconf.SetIOThread {
		return e.ioThread(d, target, driver, s.Value)
	}
	names := map[string][]string{
		vmconf.SetPhysical: {"physical_block_size"}, vmconf.SetQueues: {"num-queues", "num_queues"}, vmconf.SetQueueSize: {"queue-size", "virtqueue_size"},
	}[s.Setting]
	key := names[0]
	switch b := base(driver); {
	case s.Setting == vmconf.SetPhysical && driver != "export":
	case b == "virtio-scsi", b == "vhost-user-scsi":
		key = names[1]
	case b == "nvme" && s.Setting == vmconf.SetQueues:
		key = "max_ioqpairs"
	case b == "virtio-blk", b == "vhost-user-blk", b == "export" && s.Setting == vmconf.SetQueues:
	default:
		return fmt.Errorf("%s has no such setting", driver)
	}
	if s.Value == "" {
		e.drop(target, key)
		return nil
	}
	e.set(target, key, s.Value, optstr.Number)
	return nil
}

// ioThread ties the device to a thread, made for it where value is "on", or to none.
func (e *editor) ioThread(d *disk, target *option, driver, value string) error {
	if b := base(driver); b != "virtio-blk" && b != "virtio-scsi" && b != "export" {
		return fmt.Errorf("%s has no iothread; it takes virtio-blk or virtio-scsi", driver)
	}
	now := e.g.vm.Disks[slices.Index(e.g.disks, d)].IOThread
	switch {
	case value == "off" || value == "":
		if now.Value == "mapping" {
			return fmt.Errorf("the iothread-vq-mapping of line %d must be taken out by hand", target.at.Line)
		}
		e.drop(target, "iothread")
	case value == "on" && now.Value != "off" && now.Value != "":
	case value == "on":
		id := e.g.unique("iothread-", d.id)
		e.before(target, [2]string{"object", "iothread,id=" + id})
		e.set(target, "iothread", id, optstr.String)
	case slices.ContainsFunc(e.g.vm.IOThreads, func(t vmconf.IOThread) bool { return t.ID == value }):
		e.set(target, "iothread", value, optstr.String)
	default:
		return errors.New(`there is no such iothread; "on" makes one`)
	}
	return nil
}
