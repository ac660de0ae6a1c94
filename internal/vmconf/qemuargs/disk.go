package qemuargs

import (
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// describe returns a disk as it takes effect.
func (g *guest) describe(d *disk) vmconf.Disk {
	o := d.option()
	v := vmconf.Disk{ID: d.id, Device: d.device, At: o.at, Bus: g.bus(d)}
	if d.ctl != nil {
		v.Controller = d.ctl.id
	}
	g.medium(d, &v)
	v.Cache, v.AIO = g.cache(d), g.aio(d)
	v.Discard, v.DetectZeroes = g.discard(d, v.Bus.Value), g.detectZeroes(d)
	v.L2CacheSize = g.l2Cache(d)
	v.Throttle = g.throttle(d)
	driver := g.deviceDriver(d)
	switch {
	case d.ctl != nil && d.ctl.isSCSI():
		v.IOThread = g.ioThread(d.ctl.o, d.ctl.driver)
		v.Queues, v.QueueSize = g.queues(d.ctl.o, d.ctl.driver)
	case o.name == "export":
		v.IOThread = g.setting(o, "", "off", "QEMU's default", "iothread")
		v.Queues = g.setting(o, "", "1", "QEMU's default", "num-queues")
		v.QueueSize = g.unset(o, "", "")
	default:
		v.IOThread = g.ioThread(d.dev, driver)
		v.Queues, v.QueueSize = g.queues(d.dev, driver)
	}
	blocks, why := "512", "QEMU's default"
	if d.device == "lun" {
		blocks, why = "", "the host device's own"
	} else if d.device == "cdrom" {
		blocks, why = "2048", "a CD-ROM drive's"
	}
	v.LogicalBlock = g.setting(d.dev, driver, blocks, why, "logical_block_size", "logical-block-size")
	v.PhysicalBlock = g.setting(d.dev, driver, blocks, why, "physical_block_size", "physical-block-size")
	if d.dev != nil {
		v.Shared = isOn(d.dev.set.Value("share-rw"))
	}
	v.ReadOnly = d.readOnly()
	for _, s := range []*vmconf.Setting{&v.IOThread, &v.Queues, &v.QueueSize, &v.LogicalBlock, &v.PhysicalBlock} {
		if !s.Set && d.dev == nil {
			s.At = o.at
		}
	}
	return v
}

// deviceDriver is the driver of the disk's device, also where -drive alone makes it.
func (g *guest) deviceDriver(d *disk) string {
	switch {
	case d.dev != nil:
		return d.driver
	case d.drive == nil || d.loose || d.fixed != nil:
		return ""
	case d.drive.iface == "virtio":
		return "virtio-blk-" + g.board().plug
	case d.drive.iface == "ide":
		return "ide-hd"
	case d.drive.iface == "scsi":
		return "scsi-hd"
	}
	return d.drive.iface
}

// bus tells what a disk hangs on.
func (g *guest) bus(d *disk) vmconf.Setting {
	board := g.board()
	at := d.option().at
	switch {
	case d.fixed != nil:
		return d.bus
	case d.loose:
		return vmconf.Default("", "no device of these arguments uses it", at)
	case d.dev != nil:
		p, _ := d.dev.set.Get("driver")
		return g.deviceBus(d, g.written(d.dev, p, frontends[base(d.driver)].bus))
	}
	p, written := d.drive.o.set.Get("if")
	s := vmconf.Default("", "the default of machine type "+g.vm.Machine.Value, at)
	if written {
		s = g.written(d.drive.o, p, "")
	}
	switch d.drive.iface {
	case "virtio":
		s.Value = vmconf.VirtioBlk
	case "ide":
		if s.Value = vmconf.IDE; board.sata {
			s.Value, s.Why = vmconf.SATA, "if=ide is AHCI on this machine type"
		}
	case "scsi":
		s.Value, s.Why = vmconf.LSI, "if=scsi is an LSI controller up to QEMU 2.12; newer ones refuse it"
		if len(g.controllers) > 0 {
			for _, c := range g.controllers {
				if c.isSCSI() {
					d.ctl, s.Value, s.Why = c, c.bus, "if=scsi on "+c.driver
					break
				}
			}
		} else if strings.HasPrefix(g.vm.Machine.Value, "pseries") {
			s.Value, s.Why = vmconf.OtherBus, "if=scsi is spapr-vscsi on this machine type"
		}
	case "floppy":
		s.Value, d.device = vmconf.Floppy, "floppy"
	case "sd":
		s.Value = vmconf.SD
	case "xen":
		s.Value = vmconf.XenBlk
	case "none":
		s.Value, s.Why = "", "this machine type has no default interface"
	default:
		if s.Value = vmconf.OtherBus; strings.Contains(d.drive.iface, "$") {
			s.Value = ""
		}
	}
	return s
}

// deviceBus completes the bus of a device that hangs on a controller.
func (g *guest) deviceBus(d *disk, s vmconf.Setting) vmconf.Setting {
	switch {
	case s.Value != "" || strings.Contains(d.driver, "$"):
	case d.ctl != nil:
		s.Value, s.Why = d.ctl.bus, "its controller is "+d.ctl.driver
	case strings.HasPrefix(d.driver, "ide-"):
		bus := d.dev.set.Value("bus")
		if s.Value = vmconf.IDE; g.board().sata || strings.HasPrefix(bus, "sata") || strings.HasPrefix(bus, "ahci") {
			s.Value = vmconf.SATA
		}
		s.Why = "the board's controller"
	case strings.HasPrefix(d.driver, "scsi-"):
		s.Why = "its controller is not among these arguments"
	default:
		s.Value = vmconf.OtherBus
	}
	return s
}

// medium tells what holds the disk's bytes.
func (g *guest) medium(d *disk, v *vmconf.Disk) {
	o := d.option()
	if len(d.chain) == 0 {
		v.Source, v.Format = vmconf.Default("", "no medium", o.at), vmconf.Default("", "no medium", o.at)
		v.Backend = "none"
		switch {
		case o.set.Value("drive") != "" || o.set.Value("node-name") != "":
			name := o.set.Value("drive", "node-name")
			v.Backend = ""
			v.Source.Why = name + " is not among these arguments"
			g.unknown(v.Source.Why, o.word.Start)
		case o.set.Value("chardev") != "":
			v.Backend = "vhost-user"
			v.Format.Why = "the program that serves it knows"
			v.Source = vmconf.Default("", "its chardev is not among these arguments", o.at)
			for _, c := range g.all("chardev") {
				if c.set.Value("id") == o.set.Value("chardev") {
					if p, ok := c.set.Get("path"); ok {
						v.Source = keep(g.written(c, p, p.Value))
					}
				}
			}
		}
		return
	}
	last := d.chain[len(d.chain)-1]
	v.Backend = protocols[last.driver()]
	if p, ok := last.filename(); ok && !p.ReadOnly {
		v.Source = keep(g.written(last.o, p, strings.TrimPrefix(p.Value, "file:")))
		if p.Value == "" {
			v.Source.Value, v.Backend = "", "none"
		}
	} else if s := g.source(last); s != "" {
		v.Source = vmconf.Written(s, shorten(last.o.value.Text), last.o.at)
	} else {
		if v.Source, v.Backend = g.unset(last.o, "", "no medium"), "none"; v.Source.Why != "no medium" {
			v.Backend = ""
		}
		if name := last.value("file"); name != "" && last.drive == nil {
			v.Backend, v.Source.Why = "", name+" is not among these arguments"
			g.unknown(v.Source.Why, last.o.word.Start)
		}
	}
	if strings.HasPrefix(v.Source.Value, "/dev/") && v.Backend == "file" && protocolOf(v.Source.Value) == "host_device" {
		v.Backend = "block"
	}
	if strings.HasPrefix(v.Source.Value, "/dev/fdset/") || strings.HasPrefix(v.Source.Value, "$") && v.Backend == "file" {
		v.Backend = ""
	}
	v.Format = g.format(d)
	v.Backing = g.backing(d.chain)
}

// keep leaves a name as it is written where a part of it is not known.
func keep(s vmconf.Setting) vmconf.Setting {
	if s.Value == "" {
		s.Value = s.Written
	}
	return s
}

// format is that of the first node that has one.
func (g *guest) format(d *disk) vmconf.Setting {
	for _, n := range d.chain {
		driver := n.driver()
		switch {
		case protocols[driver] != "" && n.prefix == "file." && n.o.name != "blockdev":
			return g.unset(n.o, "", "QEMU probes it, no format= is written")
		case protocols[driver] != "":
			return vmconf.Default("raw", "no format is over "+driver, n.o.at)
		case filters[driver] || driver == "":
			continue
		}
		key, _ := n.get("format", "driver")
		return g.written(n.o, key, driver)
	}
	return g.unset(d.chain[0].o, "", "no format is written")
}

// ioThread is the thread of a device.
func (g *guest) ioThread(o *option, driver string) vmconf.Setting {
	why := "QEMU's default"
	switch base(driver) {
	case "virtio-blk", "virtio-scsi":
	case "":
		return g.unset(o, "", "")
	default:
		return g.unset(o, "off", "the device has none")
	}
	if o != nil && o.set.Under("iothread-vq-mapping") {
		p, _ := o.set.Get("iothread-vq-mapping.0.iothread")
		s := g.written(o, p, "mapping")
		s.Written = "iothread-vq-mapping"
		return s
	}
	s := g.setting(o, driver, "off", why, "iothread")
	if s.Set && s.Written == "" {
		s.Value = "off"
	}
	return s
}

// queues are the number of queues of a device and their length.
func (g *guest) queues(o *option, driver string) (n, size vmconf.Setting) {
	def := func(v, why string) vmconf.Setting { return g.unset(o, v, why) }
	b := base(driver)
	switch b {
	case "virtio-blk", "vhost-user-blk", "virtio-scsi", "vhost-user-scsi", "vhost-scsi":
	case "nvme":
		n = g.setting(o, driver, "64", "QEMU's default", "max_ioqpairs", "num_queues")
		return n, g.setting(o, driver, "2048", "QEMU's default", "mqes")
	case "ide-hd", "ide-drive", "ide-cd", "ide-cf":
		if n, size = def("1", "one queue"), def("1", "one command at a time"); g.board().sata {
			size = def("32", "AHCI")
		}
		return n, size
	default:
		return def("", ""), def("", "")
	}
	many, why := g.vm.CPUs.Value, "one for each vCPU"
	switch {
	case !strings.Contains(driver, "-pci") && driver != b:
		many, why = "1", "QEMU's default without PCI"
	case g.older(5, 1):
		many, why = "1", "the default of machine type "+g.vm.Machine.Value
	case !g.version.Known():
		why += "; machine types up to 5.1 have one"
	}
	length, lengthWhy := "256", "QEMU's default"
	switch {
	case b == "vhost-user-blk" || strings.HasPrefix(b, "vhost-"):
		length = "128"
	case g.older(4, 2):
		length, lengthWhy = "128", "the default of machine type "+g.vm.Machine.Value
	case !g.version.Known():
		lengthWhy += "; machine types up to 4.2 have 128"
	}
	n = g.setting(o, driver, many, why, "num-queues", "num_queues")
	if n.Set && (n.Written == "auto" || n.Written == "65535") {
		n.Value, n.Why = many, why
	}
	return n, g.setting(o, driver, length, lengthWhy, "queue-size", "virtqueue_size")
}

func (d *disk) readOnly() bool {
	if o := d.option(); d.device == "cdrom" || o.name == "export" && !isOn(o.set.Value("writable")) {
		return true
	}
	for i, n := range d.chain {
		if p, ok := n.get("read-only", "readonly"); ok {
			return isOn(p.Value) && (i == 0 || !isOn(n.value("auto-read-only")))
		}
	}
	return false
}
