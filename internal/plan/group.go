package plan

import (
	"slices"

	"github.com/iotax/iotax/internal/spec"
)

// What one guest has room for.
const (
	idePerGuest = 4  // two channels of two, of the PIIX3 that machine pc and Xen's HVM domains have
	ahciPorts   = 6  // disks of one AHCI controller
	pciSlots    = 28 // of the 32 of a bus, without the host bridge, the south bridge and the channels to the agent
	xenDisks    = 16 // xvda to xvdp: what a domain's disks can be named without extended numbers (xen-vbd-interface(7))
)

// group puts stacks into the fewest guests, first fit. A guest is a q35 unless a stack in it needs a pc. Stacks
// share a guest only when they need the same one: as many vCPUs, the same memory under it, the same hypervisor.
// Stacks that need a machine are placed first, then those that share a controller, since splitting those
// costs slots; the others fill up what there is. Stacks on the host need none, and go with the first. Inside a group,
// stacks keep the order of the experiment.
func group(e spec.Experiment) []Group {
	var groups []Group
	var beside, hardest []spec.Stack
	order := map[string]int{}
	for i, s := range e.Stacks {
		order[s.Name] = i
		if s.OnHost() {
			beside = append(beside, s)
		} else {
			hardest = append(hardest, s)
		}
	}
	slices.SortStableFunc(hardest, func(a, b spec.Stack) int { return freedom(a) - freedom(b) })
	for _, s := range hardest {
		g := guestOf(e, s)
		i := slices.IndexFunc(groups, func(o Group) bool { return o.Guest == g && o.takes(s) })
		if i < 0 {
			m := machine(s)
			if m == "" {
				m = "q35"
			}
			groups = append(groups, Group{Machine: m, Guest: g})
			i = len(groups) - 1
		}
		groups[i].Stacks = append(groups[i].Stacks, s)
	}
	if len(groups) == 0 {
		groups = []Group{{Machine: NoMachine, Guest: guestOf(e, spec.Stack{})}}
	}
	groups[0].Stacks = append(groups[0].Stacks, beside...)
	for _, g := range groups {
		slices.SortFunc(g.Stacks, func(a, b spec.Stack) int { return order[a.Name] - order[b.Name] })
	}
	return groups
}

// guestOf is the guest that a stack needs, with its defaults spelled out, so that two that are the same are seen to be.
// Memory that is shared with the server of a vhost-user disk is another guest's: how memory is backed is felt by
// every disk, and one stack's need must not change the figures of the others.
func guestOf(e spec.Experiment, s spec.Stack) spec.Guest {
	g := e.GuestOf(s)
	if g.Pinning == "" {
		g.Pinning = "on"
	}
	switch {
	case s.Xen(): // its memory is Xen's to give
		g.Hugepages, g.MemoryBackend = 0, ""
	case g.MemoryBackend != "":
	case s.VhostUser() || g.Hugepages != 0: // QEMU's memory-backend-ram has neither
		g.MemoryBackend = "memfd"
	default:
		g.MemoryBackend = "ram"
	}
	return g
}

// freedom ranks stacks by how little they care where they go.
func freedom(s spec.Stack) int {
	switch {
	case machine(s) != "":
		return 0
	case s.Bus == "sata" || s.Bus == "virtio-scsi":
		return 1
	}
	return 2
}

// machine is the machine type that a stack needs, "" when any will do.
func machine(s spec.Stack) string {
	switch {
	case s.Xen():
		return s.Hypervisor
	case s.Bus == "ide": // a q35 has AHCI in the place of IDE
		return "pc"
	}
	return s.Machine
}

// takes tells whether a guest has the right machine and room for one stack more.
func (g Group) takes(s spec.Stack) bool {
	if m := machine(s); m != "" && m != g.Machine {
		return false
	}
	ide, slots := g.uses(s)
	if s.Xen() { // Linux has either Xen's drivers for all disks of a domain or emulated IDE (xen_emul_unplug)
		return ide <= idePerGuest && len(g.Stacks) < xenDisks && g.Stacks[0].Bus == s.Bus
	}
	return ide <= idePerGuest && slots <= pciSlots
}

// uses counts IDE disks and PCI slots of a group with more stacks. The shared virtio-scsi controller and
// an AHCI controller serve several disks; a q35 has its first AHCI controller inside; a disk of Xen's blkfront or of the
// guest's own kernel is no PCI device.
func (g Group) uses(more ...spec.Stack) (ide, slots int) {
	sata, shared := 0, 0
	for _, s := range append(slices.Clip(g.Stacks), more...) {
		switch s.Bus {
		case "ide":
			ide++
		case "sata":
			sata++
		case "virtio-scsi":
			shared = 1
		case "blkfront", "null_blk":
		default:
			slots++
		}
	}
	ahci := (sata + ahciPorts - 1) / ahciPorts
	if g.Machine == "q35" && ahci > 0 {
		ahci--
	}
	return ide, slots + shared + ahci
}
