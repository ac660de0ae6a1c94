package spec

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/unit"
)

// Bounds of an experiment.
const (
	maxStacks    = 256
	maxWorkloads = 64
	maxName      = 100 // names become parts of file names
	maxDepth     = 1024
	minRuntime   = 100 * time.Millisecond
	maxCPUs      = 255
	minMemory    = 256 << 20 // the guest, its agent and fio with 1024 I/Os in flight
)

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// Validate checks an experiment that was made in code, by the rules of Parse. The error is an
// errkind.List of every fault, each led by the path of its field: "stacks[1].cache: ...".
func Validate(e Experiment) error {
	f := newFaults("")
	validate(f, e)
	return f.err()
}

// validate is the one place where an experiment is judged. Paths are those of the expanded experiment.
func validate(f *faults, e Experiment) {
	checkTimes(f, e)
	checkRounds(f, e)
	checkGuest(f, e.Guest)
	checkVolume(f, e)
	checkNames(f, stackKind, e.Stacks, Host, Control)
	checkNames(f, workloadKind, e.Workloads)
	for i, s := range e.Stacks {
		g := e.GuestOf(s)
		checkStack(f, fmt.Sprintf("stacks[%d]", i), s, g)
	}
	checkShared(f, e)
	for i, w := range e.Workloads {
		checkWorkload(f, fmt.Sprintf("workloads[%d]", i), w)
	}
	checkStatements(f, e)
	checkFigures(f, e)
}

// MostBudget is the longest that an experiment may measure.
const MostBudget = 30 * 24 * time.Hour

func checkTimes(f *faults, e Experiment) {
	if e.Runtime < minRuntime {
		f.add("runtime", "%s is too short to measure anything; expected at least %s", unit.Duration(e.Runtime), unit.Duration(minRuntime))
	}
	if e.Ramp < 0 {
		f.add("ramp", "is negative; expected a time such as 0s")
	}
	cells := (len(e.Stacks) + 2) * len(e.Workloads)
	round := float64(cells) * float64(e.Runtime+e.Ramp) // float: a product of the largest times overflows
	open := e.Budget == 0 && e.Detect > 0
	if !open && len(e.Stacks) > 0 && cells > 0 && e.Runtime >= minRuntime && e.Ramp >= 0 && float64(e.Budget) < round {
		f.add("budget", "%s is shorter than one round: %d cells of %s each; expected more time, a shorter runtime or fewer cells",
			unit.Duration(e.Budget), cells, unit.Duration(e.Runtime+e.Ramp))
	}
	if e.Budget > MostBudget {
		f.add("budget", "%s is more than 30 days; expected less", unit.Duration(e.Budget))
	}
}

func checkRounds(f *faults, e Experiment) {
	if !(e.Target > 0 && e.Target <= 0.5) {
		f.add("target", "%v is out of range; expected a share above 0 and at most 0.5, such as 0.05 or 5%%", e.Target)
	}
	if e.MinRounds < 2 {
		f.add("min_rounds", "%d is too few; expected at least 2, since one round has no interval", e.MinRounds)
	}
	if e.MaxRounds < e.MinRounds {
		f.add("max_rounds", "%d is less than min_rounds, %d%s; expected at least as many", e.MaxRounds, e.MinRounds, ref("min_rounds"))
	}
	if !(e.Detect >= 0 && e.Detect <= 0.5) {
		f.add("detect", "%v is out of range; expected a share above 0 and at most 0.5, such as 0.05 or 5%%", e.Detect)
	}
	if e.MaxRounds > mostRounds {
		f.add("max_rounds", "%d is too many; expected at most 10000", e.MaxRounds)
	}
	if e.Boots < 1 || e.Boots > 100 {
		f.add("boots", "%d is out of range; expected 1 to 100", e.Boots)
	}
}

func checkGuest(f *faults, g Guest) {
	if g.CPUs < 1 || g.CPUs > maxCPUs {
		f.add("guest.cpus", "%d is out of range; expected 1 to %d", g.CPUs, maxCPUs)
	}
	if g.Memory < minMemory || g.Memory%(1<<20) != 0 {
		f.add("guest.memory", "%s is not allowed; expected whole MiB, at least %s", unit.ExactBytes(g.Memory), unit.ExactBytes(minMemory))
	}
	if g.Hypervisor != "" {
		f.add("guest.hypervisor", "is a stack's to say; expected it there")
	}
	checkMemory(f, "guest", g)
}

func checkVolume(f *faults, e Experiment) {
	choice(f, "host_storage", "storage", e.HostStorage, Storages[:2])
	if !(e.Compressible >= 0 && e.Compressible <= 0.9) {
		f.add("compressible", "%v is out of range; expected a share from 0 to 0.9", e.Compressible)
	}
	if e.Size < 1<<20 || e.Size%(1<<20) != 0 {
		f.add("size", "%s is not allowed; expected whole MiB, such as 512MiB", unit.ExactBytes(e.Size))
		return
	}
	for i, w := range e.Workloads {
		if path := fmt.Sprintf("workloads[%d].bs", i); w.BS > e.Size {
			f.add(path, "%s is more than a volume holds, %s%s; expected at most that", unit.ExactBytes(w.BS), unit.ExactBytes(e.Size), ref("size"))
		}
	}
}

// checkNames checks that there are items, and that their names are well formed, free and unique.
func checkNames[T comparable](f *faults, k kind[T], items []T, reserved ...string) {
	if len(items) == 0 {
		f.add(k.plural, "there are none; expected at least one %s", k.singular)
	}
	if len(items) > k.most {
		f.add(k.plural, "%d are too many; expected at most %d", len(items), k.most)
	}
	first := map[string]string{}
	for i, item := range items {
		name := *k.name(&item)
		path := fmt.Sprintf("%s[%d].name", k.plural, i)
		other, twice := first[name]
		switch {
		case name == "":
			f.add(path, "is missing; expected a name such as %q", map[string]string{"stack": "my-disk", "workload": "randread-8k-q4"}[k.singular])
			continue
		case !nameForm.MatchString(name):
			f.add(path, "%q is not a name; expected lower-case letters, digits, dot, hyphen and underscore, a letter or digit first", clip(name))
		case len(name) > maxName:
			f.add(path, "%q is too long; expected at most %d letters", clip(name), maxName)
		case slices.Contains(reserved, name):
			f.add(path, "%q is the host itself, which is always measured; expected another name", name)
		case twice:
			f.add(path, "%q names another %s too%s; expected a name of its own", clip(name), k.singular, ref(other))
		}
		if !twice {
			first[name] = path
			if _, ok := f.places[path]; !ok { // an item taken from a preset by its name has its position, not the name's
				first[name] = fmt.Sprintf("%s[%d]", k.plural, i)
			}
		}
	}
}

// choice checks a word against its list; empty stands for the default.
func choice(f *faults, path, what, word string, choices []string) bool {
	if word == "" || slices.Contains(choices, word) {
		return true
	}
	f.add(path, "%s", unknown(what, word, choices))
	return false
}
