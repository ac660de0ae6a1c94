package qemuargs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// controllerBuses are the devices that disks hang on, by their names without what they are connected with.
var controllerBuses = map[string]string{
	"virtio-scsi": vmconf.VirtioSCSI, "vhost-user-scsi": vmconf.VhostUserSCSI, "vhost-scsi": vmconf.OtherBus,
	"lsi": vmconf.LSI, "lsi53c895a": vmconf.LSI, "lsi53c810": vmconf.LSI, "megasas": vmconf.MegaSAS, "megasas-gen2": vmconf.MegaSAS,
	"pvscsi": vmconf.PVSCSI, "mptsas1068": vmconf.OtherBus, "am53c974": vmconf.OtherBus, "dc390": vmconf.OtherBus,
	"spapr-vscsi": vmconf.OtherBus, "usb-bot": vmconf.USB, "usb-uas": vmconf.USB, "ahci": vmconf.SATA, "ich9-ahci": vmconf.SATA,
	"piix3-ide": vmconf.IDE, "piix4-ide": vmconf.IDE, "isa-ide": vmconf.IDE, "cmd646-ide": vmconf.IDE, "via-ide": vmconf.IDE,
	"sii3112": vmconf.SATA, "nvme": vmconf.NVMe, "nvme-subsys": vmconf.NVMe, "sdhci": vmconf.SD, "isa-fdc": vmconf.Floppy,
}

// frontends are the devices that are disks, with their bus ("" is that of the controller) and what they are.
var frontends = map[string]struct{ bus, device string }{
	"virtio-blk": {vmconf.VirtioBlk, "disk"}, "vhost-user-blk": {vmconf.VhostUserBlk, "disk"},
	"scsi-hd": {"", "disk"}, "scsi-disk": {"", "disk"}, "scsi-cd": {"", "cdrom"}, "scsi-block": {"", "lun"}, "scsi-generic": {"", "lun"},
	"ide-hd": {"", "disk"}, "ide-drive": {"", "disk"}, "ide-cf": {"", "disk"}, "ide-cd": {"", "cdrom"},
	"nvme": {vmconf.NVMe, "disk"}, "nvme-ns": {vmconf.NVMe, "disk"}, "usb-storage": {vmconf.USB, "disk"},
	"floppy": {vmconf.Floppy, "floppy"}, "sd-card": {vmconf.SD, "disk"}, "sd-card-spi": {vmconf.SD, "disk"}, "emmc": {vmconf.SD, "disk"},
	"xen-disk": {vmconf.XenBlk, "disk"}, "xen-cdrom": {vmconf.XenBlk, "cdrom"}, "vhost-user-scsi": {vmconf.VhostUserSCSI, "disk"},
}

// controller is a device that disks hang on.
type controller struct {
	o      *option
	driver string
	bus    string // one of vmconf's
	name   string // of the bus that QEMU makes: "scsi0.0"
	id     string
}

// disk is what is behind one of the guest's disks.
type disk struct {
	dev    *option // its -device, nil for a -drive with an interface
	driver string  // of the device
	drive  *drive  // nil for a -blockdev
	chain  []*node // from the device to the protocol; empty without a medium
	ctl    *controller
	loose  bool // no device uses it
	id     string
	device string         // "disk", "cdrom", "floppy", "lun"
	fixed  *option        // what makes it, where that is neither a -device nor a -drive
	bus    vmconf.Setting // its bus, where it is fixed
}

// option is what makes the disk.
func (d *disk) option() *option {
	switch {
	case d.dev != nil:
		return d.dev
	case d.fixed != nil:
		return d.fixed
	case d.drive != nil:
		return d.drive.o
	}
	return d.chain[0].o
}

// isSCSI reports whether SCSI disks hang on the controller.
func (c *controller) isSCSI() bool {
	switch c.bus {
	case vmconf.IDE, vmconf.SATA, vmconf.NVMe, vmconf.SD, vmconf.Floppy:
		return false
	}
	return true
}

func (g *guest) readControllers() {
	seen := map[string]int{}
	unnamed := 0
	for _, o := range g.all("device") {
		driver := o.set.Value("driver")
		bus, ok := controllerBuses[base(driver)]
		if !ok || base(driver) == "nvme" && o.set.Value("drive") != "" {
			continue
		}
		c := &controller{o: o, driver: driver, bus: bus, id: o.set.Value("id")}
		c.name = c.id + ".0"
		if c.id == "" {
			c.id = driver
			if seen[driver]++; seen[driver] > 1 {
				c.id += "#" + strconv.Itoa(seen[driver])
			}
			if c.name = c.id + ".0"; c.isSCSI() {
				c.name = "scsi." + strconv.Itoa(unnamed)
				unnamed++
			}
		}
		g.controllers = append(g.controllers, c)
		v := vmconf.Controller{ID: c.id, Bus: bus, Model: vmconf.Written(driver, driver, o.at), At: o.at}
		v.IOThread = g.ioThread(o, driver)
		v.Queues, v.QueueSize = g.queues(o, driver)
		g.vm.Controllers = append(g.vm.Controllers, v)
	}
}

// hangsOn returns the controller of a device, nil for one of the board's own.
func (g *guest) hangsOn(o *option, scsi bool) *controller {
	name := o.set.Value("bus")
	for _, c := range g.controllers {
		if name != "" && (c.name == name || c.id == name || strings.HasPrefix(name, c.id+".")) {
			return c
		}
	}
	if name == "" && scsi { // the first that there is
		for _, c := range g.controllers {
			if c.isSCSI() {
				return c
			}
		}
	}
	return nil
}

// readDisks finds every disk, in the order of the options that make them.
func (g *guest) readDisks() {
	refs := g.referenced()
	for _, o := range g.opts {
		switch {
		case !o.has:
		case o.name == "device":
			g.deviceDisk(o)
		case o.name == "blockdev":
			name := o.set.Value("node-name")
			if !refs[name] && o.bad == nil {
				g.add(&disk{chain: g.chain(&node{o: o}), loose: true}, name, "disk")
			}
		case o.name == "global":
			g.floppies(o)
		case o.name == "export":
			g.export(o)
		case o.name == "usbdevice" && strings.HasPrefix(o.value.Text, "disk:"):
			g.usbDisk(o)
		}
	}
	for _, d := range g.driveList {
		switch d.iface {
		case "pflash":
		case "none":
			if !refs[d.id] && (d.o.set.Value("node-name") == "" || !refs[d.o.set.Value("node-name")]) {
				g.add(&disk{drive: d, chain: g.chain(d.root), loose: true}, d.id, "disk")
			}
		default:
			g.add(&disk{drive: d, chain: g.chain(d.root)}, d.id, "disk")
		}
	}
	slices.SortStableFunc(g.disks, func(a, b *disk) int { return cmp.Compare(a.option().word.Start, b.option().word.Start) })
	seen := map[string]int{}
	for i, d := range g.disks {
		if seen[d.id]++; seen[d.id] > 1 {
			d.id += "#" + strconv.Itoa(seen[d.id])
		}
		v := vmconf.Disk{ID: d.id}
		if g.doc.look.wants(g.index, i) {
			v = g.describe(d)
		}
		g.vm.Disks = append(g.vm.Disks, v)
	}
}

func (g *guest) add(d *disk, id, device string) {
	d.id, d.device = id, device
	if d.drive != nil && d.drive.media == "cdrom" {
		d.device = "cdrom"
	}
	g.disks = append(g.disks, d)
}

// deviceDisk adds the disk that a -device is.
func (g *guest) deviceDisk(o *option) {
	driver := o.set.Value("driver")
	front, known := frontends[base(driver)]
	uses := o.set.Value("drive")
	switch {
	case base(driver) == "isa-fdc":
		g.floppies(o)
		return
	case !known && uses == "", base(driver) == "nvme" && uses == "":
		return
	case !known:
		front.bus, front.device = vmconf.OtherBus, "disk"
	}
	d := &disk{dev: o, driver: driver}
	scsi := strings.HasPrefix(driver, "scsi-")
	switch {
	case scsi || strings.HasPrefix(driver, "ide-") || driver == "nvme-ns":
		d.ctl = g.hangsOn(o, scsi)
	}
	g.attach(d, uses)
	id := o.set.Value("id")
	for _, name := range []string{uses, o.set.Value("chardev"), driver} {
		if id == "" {
			id = name
		}
	}
	g.add(d, id, front.device)
}

// attach gives a disk the node that a device names.
func (g *guest) attach(d *disk, name string) {
	if n := g.drives[name]; n != nil {
		d.drive, d.chain = n.drive, g.chain(n)
	} else if n := g.nodes[name]; n != nil {
		d.drive, d.chain = n.drive, g.chain(n)
	}
}

// floppies adds the drives that isa-fdc has by its own properties.
func (g *guest) floppies(o *option) {
	for _, key := range []string{"driveA", "driveB"} {
		name := o.set.Value(key)
		if o.name == "global" {
			name = o.set.Value("isa-fdc." + key)
		}
		if name != "" {
			d := &disk{fixed: o, bus: vmconf.Written(vmconf.Floppy, "isa-fdc", o.at)}
			g.attach(d, name)
			g.add(d, name, "floppy")
		}
	}
}

// usbDisk adds a -usbdevice disk:[format=...:]PATH.
func (g *guest) usbDisk(o *option) {
	path := strings.TrimPrefix(o.value.Text, "disk:")
	if strings.HasPrefix(path, "format=") {
		_, path, _ = strings.Cut(path, ":")
	}
	from := len(o.value.Text) - len(path)
	o.set = optstr.Options{Text: o.value.Text, Pairs: []optstr.Pair{
		{Key: "file", Value: path, Start: from, From: from, To: len(o.value.Text), End: len(o.value.Text)},
	}}
	d := &drive{o: o, iface: "usb"}
	d.root = &node{o: o, drive: d}
	g.add(&disk{fixed: o, drive: d, chain: g.chain(d.root), bus: vmconf.Written(vmconf.USB, "-usbdevice", o.at)}, "usb-disk", "disk")
}

// export adds what qemu-storage-daemon serves.
func (g *guest) export(o *option) {
	d := &disk{fixed: o, bus: vmconf.Written(vmconf.OtherBus, o.set.Value("type"), o.at)}
	if o.set.Value("type") == "vhost-user-blk" {
		d.bus.Value = vmconf.VhostUserBlk
	}
	g.attach(d, o.set.Value("node-name"))
	g.add(d, o.set.Value("id"), "disk")
}
