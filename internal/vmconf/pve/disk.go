package pve

import (
	"regexp"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// board is what the drives of one machine share.
type board struct {
	*conf
	version     vmconf.Version // of the machine's type
	boot        vmconf.Setting // vCPUs by which QEMU counts queues
	controllers []vmconf.Controller
	listed      map[string]bool // IDs of controllers
	template    bool
}

// drive is one line of a drive, and the storage of its volume.
type drive struct {
	slot
	entry
	props  properties
	volume string
	cdrom  bool
	pool   Pool   // without a Name where the volume is of no storage
	known  bool   // storage.cfg has the pool
	access string // vmconf.Disk.Backend
	at     vmconf.Place
}

// disk reads the line of a drive.
func (b *board) disk(e entry, s slot) vmconf.Disk {
	d := b.drive(e, s)
	b.check(d)
	open := vmconf.Setting{At: d.at} // until it is known, and of what is no disk of the guest
	disk := vmconf.Disk{
		Bus: open, Cache: open, AIO: open, IOThread: open, Discard: open, DetectZeroes: open, Queues: open, QueueSize: open,
		LogicalBlock: open, PhysicalBlock: open, L2CacheSize: open,
		ID: e.key, Device: d.device(), At: d.at, Backend: d.access, Pool: d.pool.Name, Storage: d.pool.Type,
		Source: d.source(), Format: d.format(), Backing: b.backing(d),
	}
	if text, ok := d.props.get("size"); ok {
		size, ok := parseSize(text)
		if !ok {
			b.note(e, "size=%s is not a size", text)
		}
		disk.Size = size
	}
	switch s.bus {
	case "unused", "tpmstate": // no disk of the guest: swtpm has the state open
		disk.Backup = s.bus == "tpmstate"
		return disk
	case "efidisk":
		disk.Backup = true
		disk.Bus = vmconf.Written(vmconf.OtherBus, e.key, d.at)
		disk.Bus.Why = "flash memory of the firmware"
		b.flash(d, &disk)
		return disk
	}
	disk.Bus, disk.Controller = b.bus(d), b.controller(d)
	b.block(d, &disk)
	b.front(d, &disk)
	disk.Throttle = b.throttle(d)
	disk.ReadOnly = d.cdrom || d.on("ro") || b.template
	backup, ok := d.props.get("backup")
	included, _ := parseBool(backup)
	disk.Backup = !d.cdrom && (!ok || included)
	return disk
}

var storageVolume = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]):(.+)$`)

func (b *board) drive(e entry, s slot) drive {
	d := drive{slot: s, entry: e, props: parseProperties(e.value, "file"), at: b.doc.at(e.line)}
	d.volume, _ = d.props.get("file")
	media, _ := d.props.get("media")
	d.cdrom = media == "cdrom" || e.key == "cdrom"
	switch m := storageVolume.FindStringSubmatch(d.volume); {
	case d.volume == "none" || d.volume == "":
		d.access = "none"
	case d.volume == "cdrom", strings.HasPrefix(d.volume, "/dev/"):
		d.access = "block"
	case strings.HasPrefix(d.volume, "/"):
		d.access = "file"
	case strings.HasPrefix(d.volume, "nbd:"):
		d.access = "network"
	case m != nil:
		d.pool, d.known = b.doc.storage.pool(m[1])
		d.access = d.pool.backend()
	}
	return d
}

// check says what Proxmox VE does not take in the line.
func (b *board) check(d drive) {
	seen := map[string]bool{}
	for _, p := range d.props {
		switch {
		case strings.TrimSpace(p.text) == "":
		case !allowed(d.bus, p.key):
			b.note(d.entry, "Proxmox VE knows no %q of %s", p.text, d.bus)
		case seen[p.key]:
			b.note(d.entry, "%s stands there twice", p.key)
		}
		seen[p.key] = true
	}
	if d.volume == "" {
		b.note(d.entry, "it names no volume")
	}
	if d.index >= slots[d.bus] {
		b.note(d.entry, "Proxmox VE has %d of %s, from 0", slots[d.bus], d.bus)
	}
	if _, ok := d.props.get("media"); !ok && strings.HasPrefix(d.volume, d.pool.Name+":iso/") {
		b.note(d.entry, "Proxmox VE wants media=cdrom or media=disk beside an ISO image")
	}
	if d.bus == "virtio" && d.cdrom {
		b.note(d.entry, "Proxmox VE has no CD-ROM drive on virtio")
	}
}

// on reports whether a property that is a boolean is set.
func (d drive) on(property string) bool {
	value, _ := d.props.get(property)
	on, _ := parseBool(value)
	return on
}

func (d drive) device() string {
	switch {
	case ownProperties[d.bus]["file"]: // no drive of the guest
		return strings.TrimRight(d.key, "0123456789")
	case d.cdrom:
		return "cdrom"
	case d.bus == "scsi" && d.on("scsiblock") && strings.HasPrefix(d.volume, "/"):
		return "lun"
	}
	return "disk"
}

func (d drive) source() vmconf.Setting {
	source := d.volume
	switch source {
	case "none":
		source = ""
	case "cdrom":
		source = "/dev/cdrom"
	}
	s := vmconf.Written(source, d.volume, d.at)
	if from, ok := d.props.get("import-from"); ok {
		s.Why = "to be made from " + from
	}
	return s
}

var imageSuffix = regexp.MustCompile(`\.(qcow2|qcow|raw|vmdk|qed|cloop)$`)

// format is that of the image: a storage knows it by the volume's name.
func (d drive) format() vmconf.Setting {
	if d.access == "none" || d.volume == "cdrom" {
		return vmconf.Setting{At: d.at}
	}
	if f, ok := d.props.get("format"); ok {
		return vmconf.Written(f, f, d.at)
	}
	if d.pool.Name == "" {
		return vmconf.Default("raw", byDefault+" of a path", d.at)
	}
	if m := imageSuffix.FindStringSubmatch(d.volume); m != nil {
		return vmconf.Default(m[1], "the volume's name", d.at)
	}
	return vmconf.Default("raw", "the volume's name", d.at)
}

// backing are the volumes under an image: the snapshots of a storage that keeps them as a chain of images, nearest first, and
// the image of which it is a linked clone ("local:9000/base-9000-disk-0.qcow2/100/vm-100-disk-0.qcow2").
func (b *board) backing(d drive) []string {
	if d.format().Value != "qcow2" {
		return nil
	}
	var list []string
	if d.pool.On("snapshot-as-volume-chain") || d.pool.Type == "lvm" {
		list = b.chain(d)
	}
	if parts := strings.Split(d.volume, "/"); len(parts) == 4 && strings.HasPrefix(parts[1], "base-") {
		list = append(list, parts[0]+"/"+parts[1])
	}
	return list
}

// chain follows the parents of the machine's snapshots in which the volume is the same.
func (b *board) chain(d drive) []string {
	var list []string
	met := map[string]bool{}
	for name := b.value("parent"); ; {
		s := b.doc.named[name]
		if s == nil || s.kind != snapshotSection || met[name] {
			return list
		}
		met[name], name = true, ""
		for _, e := range s.entries {
			if volume, _ := parseProperties(e.value, "file").get("file"); e.key == d.key && volume == d.volume {
				list = append(list, d.volume+"@"+s.name)
			}
			if e.key == "parent" {
				name = e.value
			}
		}
	}
}
