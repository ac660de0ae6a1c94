package cmdline

import (
	"regexp"
	"slices"

	"github.com/iotax/iotax/internal/spec"
)

// sector is the unit of offsets and sizes that QEMU's raw driver accepts, in bytes.
const sector = 512

// serialForm fits what every bus can carry (virtio-blk, ATA and NVMe have room for 20 bytes) and what QEMU
// accepts as an identifier.
var serialForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,19}$`)

// Disk is one disk of the guest: a stack on a volume. The guest tells its disks apart by serial alone.
type Disk struct {
	Stack  spec.Stack
	Serial string // unique in the guest; letters, digits and ._- , at most 20, a letter first
	Path   string // image file or block device; unused with null-co
	Base   string // the image behind an overlay, "" for none
	Block  bool   // Path is a block device
	Offset int64  // bytes into Path at which the volume begins
	Size   int64  // bytes of the volume: 0 means to the end of Path, and null-co must have it
	Socket string // Unix socket at which a daemon serves the disk, for a stack that is Served
}

// DeviceID returns the id of the guest's device, for QMP.
func (d Disk) DeviceID() string { return d.Serial }

// Node returns the name of the topmost block node, the one that the device reads and writes.
func (d Disk) Node() string { return d.Serial + "-top" }

// ProtocolNode returns the name of the block node that has the file or device open; null-co has none below Node.
func (d Disk) ProtocolNode() string {
	if d.Stack.Ceiling() {
		return d.Node()
	}
	return d.Serial + "-file"
}

// IOThreadID returns the name of the iothread of a disk that has one for itself: a virtio-blk stack with IOThread. With
// a mapping there are several, which are numbered behind that name from 0.
func (d Disk) IOThreadID() string { return d.Serial + "-iothread" }

// DiskArgs returns the arguments that the disk alone adds to a guest, its controller and iothread included.
func DiskArgs(d Disk) ([]string, error) {
	var b builder
	b.disk(d)
	return b.args(), b.faults.Err()
}

// Need is what QEMU must offer for a stack, in QEMU's own names.
type Need struct {
	Machine string              // "" when any will do
	Drivers []string            // block drivers
	AIO     string              // "" when the stack opens nothing
	Devices map[string][]string // device type -> the properties that are set on it
}

// Needs returns what QEMU must offer for the stack, read off the arguments that the stack becomes.
func Needs(s spec.Stack) (Need, error) {
	var b builder
	d := Disk{Stack: s, Serial: "probe", Path: "probe", Size: mebibyte, Socket: "probe"}
	if s.BackingFile {
		d.Base = "probe"
	}
	b.disk(d)
	n := Need{Machine: s.Machine, Devices: map[string][]string{}}
	if s.Bus == "ide" {
		n.Machine = "pc"
	}
	for _, o := range b.options {
		switch o.flag {
		case "-blockdev":
			n.Drivers = append(n.Drivers, o.get("driver"))
			if aio := o.get("aio"); aio != "" {
				n.AIO = aio
			}
		case "-device":
			for _, p := range o.props {
				if p.key != "id" && p.key != "bus" { // understood by device_add itself
					n.Devices[o.head] = append(n.Devices[o.head], p.key)
				}
			}
			if n.Devices[o.head] == nil {
				n.Devices[o.head] = []string{}
			}
		}
	}
	return n, b.faults.Err()
}

// disk adds one disk, or its faults.
func (b *builder) disk(d Disk) {
	before := len(b.faults)
	b.checkDisk(d)
	b.checkStack(d)
	b.checkServed(d)
	if d.Stack.OnHost() || d.Stack.InsideGuest() {
		b.fault("disk %s: bus %s is no device of QEMU's", d.Serial, d.Stack.Bus)
	}
	if len(b.faults) > before {
		return
	}
	b.serials = append(b.serials, d.Serial)
	b.nodes(d)
	b.attach(d)
}

func (b *builder) checkDisk(d Disk) {
	if !serialForm.MatchString(d.Serial) {
		b.fault("disk %q: a serial has letters, digits and ._- , at most 20, a letter first", d.Serial)
	}
	if slices.Contains(b.serials, d.Serial) {
		b.fault("disk %s: another disk has this serial", d.Serial)
	}
	if d.Path == "" && !d.Stack.Ceiling() {
		b.fault("disk %s: no path", d.Serial)
	}
	if (d.Base != "") != d.Stack.BackingFile || d.Base != "" && d.Stack.Format != "qcow2" {
		b.fault("disk %s: an overlay, and it alone, has an image below it, not %q", d.Serial, d.Base)
	}
	if d.Offset < 0 || d.Size < 0 || d.Offset%sector != 0 || d.Size%sector != 0 {
		b.fault("disk %s: offset %d and size %d must be multiples of %d", d.Serial, d.Offset, d.Size, sector)
	}
	if d.Stack.Ceiling() && d.Size == 0 {
		b.fault("disk %s: null-co needs a size", d.Serial)
	}
}

// checkStack refuses what would not become the stack that was asked for.
func (b *builder) checkStack(d Disk) {
	s := d.Stack
	for _, f := range []struct {
		name, value string
		known       []string
	}{
		{"format", s.Format, spec.Formats},
		{"bus", s.Bus, spec.Buses},
		{"cache", s.Cache, spec.Caches},
		{"aio", s.AIO, spec.AIOs},
		{"discard", s.Discard, append([]string{""}, spec.Discards...)},
		{"detect_zeroes", s.DetectZeroes, append([]string{""}, spec.Detects...)},
	} {
		if !slices.Contains(f.known, f.value) && !(f.name == "aio" && s.Ceiling()) {
			b.fault("disk %s: %s %q: want one of %q", d.Serial, f.name, f.value, f.known)
		}
	}
	if s.AIO == "native" && !s.Ceiling() && !cacheModes[s.Cache].direct {
		b.fault("disk %s: aio native needs cache none or directsync, not %s", d.Serial, s.Cache)
	}
	if s.DetectZeroes == "unmap" && s.Discard != "unmap" {
		b.fault("disk %s: detect_zeroes unmap needs discard unmap", d.Serial)
	}
	if s.Xen() || s.Bus == "blkfront" {
		b.fault("disk %s: is a disk of Xen, not of QEMU", d.Serial)
		return
	}
	bus := buses[s.Bus]
	if s.IOThread && !bus.iothread {
		b.fault("disk %s: bus %s has no iothread", d.Serial, s.Bus)
	}
	if s.VQMapping != 0 && !bus.mapping {
		b.fault("disk %s: bus %s has no mapping of queues to iothreads", d.Serial, s.Bus)
	}
	if s.VQMapping < 0 || s.VQMapping > 0 && s.IOThread {
		b.fault("disk %s: either one iothread or a mapping to some, not iothread %v and %d", d.Serial, s.IOThread, s.VQMapping)
	}
	if s.L2CacheSize < 0 || (s.L2CacheSize != 0 || s.LazyRefcounts) && s.Format != "qcow2" {
		b.fault("disk %s: l2_cache_size and lazy_refcounts are for format qcow2, not %s", d.Serial, s.Format)
	}
	if s.Queues != 0 && bus.queues == "" {
		b.fault("disk %s: bus %s has no choice of queues", d.Serial, s.Bus)
	}
	if s.QueueSize != 0 && bus.queueSize == "" {
		b.fault("disk %s: bus %s has no choice of queue size", d.Serial, s.Bus)
	}
	if s.Machine != "" && b.machine != "" && s.Machine != b.machine {
		b.fault("disk %s: wants machine %s, this guest is %s", d.Serial, s.Machine, b.machine)
	}
	if s.Bus == "ide" && b.machine == "q35" {
		b.fault("disk %s: IDE needs machine pc, this guest is q35", d.Serial)
	}
}
