package experiment

import (
	"fmt"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/unit"
)

// Announce says, before anything starts, what the run will take and who else is on this host.
func (r *Ready) Announce() []string {
	d := r.Plan.Describe()
	place := r.Scratch
	if r.Device != "" {
		place = r.Device
	}
	guest := "no guest"
	if d.GuestMemory > 0 {
		guest = unit.Bytes(d.GuestMemory) + " of guest memory"
	}
	lines := []string{fmt.Sprintf("%s: %d stacks x %d workloads, about %s; %s of scratch in %s, %s, %d CPUs",
		r.Experiment.Name, d.Stacks, d.Workloads, unit.Duration(d.Total), unit.Bytes(r.space(d.Disk)), place, guest, d.GuestCPUs)}
	lines = append(lines, fmt.Sprintf("the disk will be written to: %s to fill the volumes, and what it takes in %s of write loads",
		unit.Bytes(d.Fill), unit.Duration(r.writing(d.Windows))))
	if r.Resume != nil {
		lines[0] = fmt.Sprintf("resuming run %s with %d windows stored; %s", r.Resume.ID, len(r.Done), lines[0])
	}
	if r.Storage.Reason != "" {
		lines = append(lines, "the disk under "+place+" cannot be told ("+r.Storage.Reason+"): what comes from RAM will not be seen")
	}
	if r.Device != "" {
		lines = append(lines, fmt.Sprintf("all that %s holds will be lost: %s", r.Device, r.disk()))
	}
	if caution := Caution(r.Facts.Filesystem); caution != "" {
		lines = append(lines, caution)
	}
	lines = append(lines, r.unavailable()...)
	for _, n := range r.Neighbours {
		lines = append(lines, "another virtual machine is running: "+n.String())
	}
	return append(lines, d.Warnings...)
}

// unavailable names the stacks that this host cannot offer, those with one reason in one line.
func (r *Ready) unavailable() (lines []string) {
	type lack struct{ reason, mend string }
	var lacks []lack
	titles := map[lack][]string{}
	for _, s := range r.Stacks {
		if s.Unavailable == "" {
			continue
		}
		l := lack{s.Unavailable, s.Mend}
		if titles[l] == nil {
			lacks = append(lacks, l)
		}
		titles[l] = append(titles[l], s.Title)
	}
	for _, l := range lacks {
		verb := "is"
		if len(titles[l]) > 1 {
			verb = "are"
		}
		lines = append(lines, fmt.Sprintf("%s %s unavailable: %s (%s)", strings.Join(titles[l], "; "), verb, l.reason, l.mend))
	}
	return lines
}

// space is what the volumes take: of the folder's file system, or of the device. estimate is the plan's, which does not know what
// pools and file systems take for themselves.
func (r *Ready) space(estimate int64) int64 {
	var total int64
	if r.Device == "" {
		if need, err := r.need(); err == nil {
			total = need
		}
	} else {
		s, jobs := r.outline()
		if sizes, err := s.parts(jobs); err == nil {
			for _, size := range sizes {
				total += size
			}
		}
	}
	return max(total, estimate)
}

// disk names the disk under the device, so that a person sees whether it is the one that was meant.
func (r *Ready) disk() string {
	name := first(r.Facts.Device.Model, "a disk that gives no model")
	if size, err := slice.Size(r.Device); err == nil {
		name += ", " + unit.Bytes(size)
	}
	for _, device := range r.Storage.Devices {
		name += ", " + device
		if serial := load.Serial("/sys/block/" + device); serial != "" {
			name += " serial " + serial
		}
	}
	return name
}

// writing is for how long write loads will run, out of so many windows.
func (r *Ready) writing(windows int) time.Duration {
	writes := 0
	for _, w := range r.Experiment.Workloads {
		if w.Writes() {
			writes++
		}
	}
	return time.Duration(windows*writes/max(len(r.Experiment.Workloads), 1)) * r.Experiment.Runtime
}
