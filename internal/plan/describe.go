package plan

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// What time is assumed to go by beside the timed part of a window, from trials under software emulation
// on two cores. Estimates only: the run goes by the clock.
const (
	Overhead = 350 * time.Millisecond // of a window: emptying caches, starting fio, counting around it
	BootTime = 4 * time.Second        // from the start of QEMU until every disk is found and pinned
	FillRate = 200 << 20              // bytes a second that filling the volumes reaches
)

// Description is what a run will do, in figures. Times and bytes are estimates, except the budgets.
type Description struct {
	Preset      string             `json:"preset"`
	Title       string             `json:"title"`
	Seed        uint64             `json:"seed"`
	Stacks      int                `json:"stacks"`    // without the host and its control
	Workloads   int                `json:"workloads"` //
	Cells       int                `json:"cells"`     // each stack, the host and its control under each workload
	Window      time.Duration      `json:"window_ns"` // one window with ramp and overhead
	Groups      []GroupDescription `json:"groups"`
	Boots       []BootDescription  `json:"boots"`
	Rounds      float64            `json:"rounds"`       // counted rounds of the worst-off group, all its boots together
	Windows     int                `json:"windows"`      // priming included
	Volumes     int                `json:"volumes"`      // scratch volumes, the host's own among them
	VolumeSize  int64              `json:"volume_bytes"` // of each
	Disk        int64              `json:"disk_bytes"`   // space that they take
	Fill        int64              `json:"fill_bytes"`   // written before anything is measured
	FillTime    time.Duration      `json:"fill_ns"`      // at FillRate
	Measure     time.Duration      `json:"measure_ns"`   // boots included, at most the budget
	Total       time.Duration      `json:"total_ns"`     // filling and measuring
	Budget      time.Duration      `json:"budget_ns"`    //
	GuestMemory int64              `json:"guest_memory"` // bytes, of the largest guest; 0 where all stacks are on the host
	GuestCPUs   int                `json:"guest_cpus"`   // of the largest guest, and so many that the host's loads use
	Warnings    []string           `json:"warnings"`     // one line each, for a person
}

// GroupDescription is one set of stacks that share a guest.
type GroupDescription struct {
	Machine string        `json:"machine"`
	Guest   spec.Guest    `json:"guest"`
	Stacks  []string      `json:"stacks"`
	Windows int           `json:"windows"`  // of a round
	Round   time.Duration `json:"round_ns"` // one counted round
	Priming time.Duration `json:"priming_ns"`
	Boots   int           `json:"boots"`
	Rounds  float64       `json:"rounds"` // counted rounds over all boots of the group
}

// BootDescription is one start of a guest.
type BootDescription struct {
	Index   int           `json:"index"`
	Group   int           `json:"group"`
	Machine string        `json:"machine"`
	Budget  time.Duration `json:"budget_ns"`
	Rounds  float64       `json:"rounds"` // counted rounds that fit; the last one may end early, after any workload
}

// Describe estimates what the plan will take. It looks at nothing but the plan.
func (p Plan) Describe() Description {
	e := p.Experiment
	d := Description{
		Preset: e.Name, Title: e.Title, Seed: p.Seed, Stacks: len(e.Stacks), Workloads: len(e.Workloads),
		Cells: measured(e), Window: window(e, e.Workloads[0], e.Runtime),
		VolumeSize: e.Size, Budget: e.Budget, Warnings: []string{},
	}
	for g := range p.Groups {
		d.Groups = append(d.Groups, p.describeGroup(g))
		d.GuestCPUs = max(d.GuestCPUs, p.Groups[g].Guest.CPUs)
		if p.Groups[g].Machine != NoMachine {
			d.GuestMemory = max(d.GuestMemory, p.Groups[g].Guest.Memory)
		}
	}
	if e.Scale != "" {
		d.Warnings = append(d.Warnings, strings.TrimSuffix("scale "+e.Scale+": "+e.Note, ": "))
	}
	p.describeBoots(&d)
	p.describeDisk(&d)
	d.Total = d.FillTime + d.Measure
	d.Rounds = d.Groups[0].Rounds
	for _, g := range d.Groups {
		d.Rounds = min(d.Rounds, g.Rounds)
	}
	if d.Rounds < float64(e.MinRounds) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("about %.1f counted rounds fit into the budget of %s, fewer than min_rounds, %d: intervals will be wide",
			d.Rounds, unit.Duration(e.Budget), e.MinRounds))
	}
	return d
}

// measured counts the cells of an experiment: each stack, the host and its control under each workload, without those
// that a stack skips.
func measured(e spec.Experiment) int {
	n := 2 * len(e.Workloads)
	for _, s := range e.Stacks {
		for _, w := range e.Workloads {
			if s.Skips(w) == "" {
				n++
			}
		}
	}
	return n
}

func (p Plan) describeGroup(g int) GroupDescription {
	d := GroupDescription{Machine: p.Groups[g].Machine, Guest: p.Groups[g].Guest, Windows: p.cells(g)}
	for _, s := range p.Groups[g].Stacks {
		d.Stacks = append(d.Stacks, s.Name)
	}
	e := p.Experiment
	priming := min(e.Runtime, max(minPriming, e.Runtime/primingShare))
	for _, w := range e.Workloads {
		n := time.Duration(len(p.Visits(g, w)))
		d.Round += n * window(e, w, e.Runtime)
		d.Priming += n * window(e, w, priming)
	}
	return d
}

// window is how long one window of a workload takes with all that belongs to it. fio is given a time, ioping a number
// of requests.
func window(e spec.Experiment, w spec.Workload, runtime time.Duration) time.Duration {
	if w.Ioping() {
		return time.Duration(w.Requests)*w.Interval + Overhead
	}
	return runtime + e.Ramp + Overhead
}

// describeBoots says how many rounds fit into each boot. A boot ends at max_rounds even if time is left.
func (p Plan) describeBoots(d *Description) {
	stopping := p.Experiment.Stopping()
	for _, b := range p.Boots {
		g := &d.Groups[b.Group]
		start := BootTime
		if g.Machine == NoMachine {
			start = 0
		}
		fit := max(float64(b.Budget-start-g.Priming)/float64(g.Round), 0)
		fit = min(math.Round(fit*100)/100, float64(stopping.Most))
		d.Boots = append(d.Boots, BootDescription{Index: b.Index, Group: b.Group, Machine: g.Machine, Budget: b.Budget, Rounds: fit})
		g.Boots++
		g.Rounds += fit
		d.Windows += g.Windows + int(fit*float64(g.Windows))
		d.Measure += min(b.Budget, start+g.Priming+time.Duration(fit*float64(g.Round)))
	}
}

// describeDisk counts volumes: one for each stack that has a disk, and one for the host and its control.
func (p Plan) describeDisk(d *Description) {
	for _, s := range append([]spec.Stack{{Format: "raw"}}, p.Experiment.Stacks...) {
		if s.Ceiling() {
			continue
		}
		d.Volumes++
		d.Disk += d.VolumeSize
		d.Fill += d.VolumeSize
		if s.Format == "qcow2" {
			d.Disk += qcow2Tables(d.VolumeSize, s.ClusterSize)
		}
		if s.BackingFile || s.Snapshot != "" { // what is written comes beside what is kept
			d.Disk += d.VolumeSize
		}
	}
	d.FillTime = time.Duration(float64(d.Fill) / FillRate * float64(time.Second))
}

// qcow2Tables is about what a qcow2 image takes beside its data: 8 bytes of L2 table and 2 of refcount for
// each cluster (with room to spare), and the header, the L1 table and the clusters that are only begun.
func qcow2Tables(size, cluster int64) int64 {
	if cluster == 0 {
		cluster = 64 << 10
	}
	return size/cluster*16 + 1<<20
}
