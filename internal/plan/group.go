package plan

import (
	"slices"

	"github.com/iotax/iotax/internal/spec"
)

// What one guest has room for.
const (
	idePerGuest = 4  // two channels of two, of the PIIX3 that machine pc has
	ahciPorts   = 6  // disks of one AHCI controller
	pciSlots    = 28 // of the 32 of a bus, without the host bridge, the south bridge and the channels to the agent
)

// group puts stacks into the fewest guests, first fit. A guest is a q35 unless a stack in it needs a pc.
// Stacks that need a machine are placed first, then those that share a controller, since splitting those
// costs slots; the others fill up what there is. Inside a group, stacks keep the order of the experiment.
func group(stacks []spec.Stack) []Group {
	var groups []Group
	order := map[string]int{}
	for i, s := range stacks {
		order[s.Name] = i
	}
	hardest := slices.Clone(stacks)
	slices.SortStableFunc(hardest, func(a, b spec.Stack) int { return freedom(a) - freedom(b) })
	for _, s := range hardest {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.takes(s) })
		if i < 0 {
			m := machine(s)
			if m == "" {
				m = "q35"
			}
			groups = append(groups, Group{Machine: m})
			i = len(groups) - 1
		}
		groups[i].Stacks = append(groups[i].Stacks, s)
	}
	for _, g := range groups {
		slices.SortFunc(g.Stacks, func(a, b spec.Stack) int { return order[a.Name] - order[b.Name] })
	}
	return groups
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
	if s.Bus == "ide" { // a q35 has AHCI in the place of IDE
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
	return ide <= idePerGuest && slots <= pciSlots
}

// uses counts IDE disks and PCI slots of a group with more stacks. The shared virtio-scsi controller and
// an AHCI controller serve several disks; a q35 has its first AHCI controller inside.
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
