package cmdline

import (
	"fmt"
	"strconv"

	"github.com/iotax/iotax/internal/spec"
)

// bus is how a disk of one spec bus is attached.
type bus struct {
	device     string // type of the disk's device
	controller string // type of the controller in front of it, "" when the disk is its own
	ports      bool   // the controller has one bus for each disk, instead of one for all
	capacity   int    // disks of one controller
	iothread   bool   // QEMU can serve it from an iothread
	mapping    bool   // QEMU can spread its queues over several iothreads
	queues     string // property that sets the number of queues, "" when there is none
	queueSize  string // property that sets their length
}

// The capacities are QEMU's own: LSI_MAX_DEVS, MFI_MAX_LD, PVSCSI_MAX_DEVS, the ports of ich9-ahci, and for
// virtio-scsi the targets that a guest can address.
var buses = map[string]bus{
	"virtio-blk":         {device: "virtio-blk-pci", iothread: true, mapping: true, queues: "num-queues", queueSize: "queue-size"},
	"vhost-user-blk":     {device: "vhost-user-blk-pci", iothread: true, queues: "num-queues", queueSize: "queue-size"},
	"vhost-user-scsi":    {device: "vhost-user-scsi-pci", queues: "num_queues", queueSize: "virtqueue_size"},
	"virtio-scsi":        virtioSCSI(255),
	"virtio-scsi-single": virtioSCSI(1),
	"sata":               {device: "ide-hd", controller: "ich9-ahci", ports: true, capacity: 6},
	"ide":                {device: "ide-hd"},
	"nvme":               {device: "nvme", queues: "max_ioqpairs"},
	"lsi53c895a":         {device: "scsi-hd", controller: "lsi53c895a", capacity: 7},
	"megasas":            {device: "scsi-hd", controller: "megasas", capacity: 64},
	"pvscsi":             {device: "scsi-hd", controller: "pvscsi", capacity: 64},
}

func virtioSCSI(capacity int) bus {
	return bus{
		device: "scsi-hd", controller: "virtio-scsi-pci", capacity: capacity,
		iothread: true, mapping: true, queues: "num_queues", queueSize: "virtqueue_size",
	}
}

// ideDisks is what the two channels of the pc machine's PIIX3 take.
const ideDisks = 4

// controller is one controller of the guest and how many disks it has.
type controller struct {
	id    string
	kind  controllerKind
	disks int
}

// controllerKind is what disks must have in common to share a controller.
type controllerKind struct {
	bus               string
	iothread          bool
	mapping           int
	queues, queueSize int
}

// attach adds the device of the disk and, where none with room is there, its controller.
func (b *builder) attach(d Disk) {
	if d.Stack.VhostUser() {
		b.attachVhostUser(d)
		return
	}
	bus := buses[d.Stack.Bus]
	o := option{flag: "-device", head: bus.device}
	o.set("id", d.DeviceID())
	switch {
	case d.Stack.Bus == "ide":
		b.placeIDE(&o, d)
	case bus.controller == "":
		b.slots++
		b.tune(&o, d.Stack, d.IOThreadID())
	default:
		b.place(&o, d.Stack)
	}
	o.set("drive", d.Node())
	o.set("serial", d.Serial)
	o.set("write-cache", onOff(cacheModes[d.Stack.Cache].writeCache))
	b.add(o)
}

// placeIDE puts the disk on the next free place of the IDE channels.
func (b *builder) placeIDE(o *option, d Disk) {
	if b.ideDisks == ideDisks {
		b.fault("disk %s: the IDE controller takes %d disks", d.Serial, ideDisks)
	}
	o.set("bus", "ide."+strconv.Itoa(b.ideDisks/2))
	o.set("unit", strconv.Itoa(b.ideDisks%2))
	b.ideDisks++
}

// place puts the disk on a controller.
func (b *builder) place(o *option, s spec.Stack) {
	c := b.controller(s)
	port := 0
	if buses[s.Bus].ports {
		port = c.disks
	}
	o.set("bus", fmt.Sprintf("%s.%d", c.id, port))
	o.json = c.kind.mapping != 0 // QEMU makes devices in the JSON form after all others, so that theirs must be too
	c.disks++
}

// tune sets iothreads and queues on the device that takes the guest's requests; iothread is the name of the
// iothread to make when the stack asks for one, and begins the names of several.
func (b *builder) tune(o *option, s spec.Stack, iothread string) {
	if s.IOThread {
		b.iothread(iothread)
		o.set("iothread", iothread)
	}
	if s.VQMapping != 0 { // without a choice of queues, QEMU deals them out in turn
		var mapping []map[string]string
		for i := range s.VQMapping {
			id := iothread + strconv.Itoa(i)
			b.iothread(id)
			mapping = append(mapping, map[string]string{"iothread": id})
		}
		o.setNested("iothread-vq-mapping", mapping)
	}
	if s.Queues != 0 {
		o.setNumber(buses[s.Bus].queues, s.Queues)
	}
	if s.QueueSize != 0 {
		o.setNumber(buses[s.Bus].queueSize, s.QueueSize)
	}
}

func (b *builder) iothread(id string) {
	o := option{flag: "-object", head: "iothread"}
	o.set("id", id)
	b.add(o)
}

// controller returns a controller with room for a disk of the stack.
func (b *builder) controller(s spec.Stack) *controller {
	kind := controllerKind{s.Bus, s.IOThread, s.VQMapping, s.Queues, s.QueueSize}
	same := 0
	for _, c := range b.controllers {
		if c.kind == kind && c.disks < buses[s.Bus].capacity {
			return c
		}
		if c.kind.bus == s.Bus {
			same++
		}
	}
	c := &controller{id: fmt.Sprintf("ctl-%s%d", s.Bus, same), kind: kind}
	b.controllers = append(b.controllers, c)
	b.slots++
	o := option{flag: "-device", head: buses[s.Bus].controller}
	o.set("id", c.id)
	b.tune(&o, s, c.id+"-iothread")
	b.add(o)
	return c
}
