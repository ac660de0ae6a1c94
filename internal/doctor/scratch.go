package doctor

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/unit"
)

// scratch looks at the place of the volumes, and the disk under it.
func (x *exam) scratch() {
	place, err := x.Place()
	if err != nil {
		x.blocked(Scratch, "folder", err)
		return
	}
	x.ok(Scratch, "folder", fmt.Sprintf("%s, on %s, takes O_DIRECT", place.Path, place.Filesystem))
	if caution := experiment.Caution(place.Filesystem); caution != "" {
		x.warn(Scratch, "cache", caution, "give a folder on another file system with --scratch, or a disk with --device")
	}
	x.space(place)
	if reason := place.Storage.Reason; reason != "" {
		x.warn(Scratch, "disk", "it cannot be told: "+reason+". What comes from RAM will not be seen",
			"give a folder on a disk's own file system with --scratch")
		return
	}
	x.ok(Scratch, "disk", disk(place.Device))
}

func (x *exam) space(place experiment.Place) {
	need, err := x.Need(x.Experiment)
	if err != nil {
		x.blocked(Scratch, "space", err)
		return
	}
	free, err := x.Free(place.Existing)
	if err != nil {
		x.blocked(Scratch, "space", err)
		return
	}
	need = provision.WithReserve(need)
	why := fmt.Sprintf("the %s experiment needs %s, %s are free", x.Experiment.Name, unit.Bytes(need), unit.Bytes(free))
	if need > free {
		x.add(Finding{
			Area: Scratch, What: "space", State: Cannot, Why: why, Blocks: true,
			Mend: "give another folder with --scratch, a smaller --size, or fewer stacks with --quick",
		})
		return
	}
	x.ok(Scratch, "space", why)
}

// disk describes the device in one line.
func disk(d record.Device) string {
	kind := "not rotational"
	if d.Rotational {
		kind = "rotational"
	}
	facts := []string{d.Name}
	if d.Model != "" {
		facts[0] += " (" + d.Model + ")"
	}
	facts = append(facts, kind)
	if d.WriteCache != "" {
		facts = append(facts, "cache "+d.WriteCache)
	}
	if d.Scheduler != "" {
		facts = append(facts, "scheduler "+d.Scheduler)
	}
	return strings.Join(facts, ", ")
}
