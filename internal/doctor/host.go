package doctor

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/unit"
)

// host looks at what makes figures of this host wander.
func (x *exam) host() {
	facts := x.Facts()
	if facts.Virtualised != "" {
		x.warn(Host, "hardware", "virtual itself ("+facts.Virtualised+"): shares are of a virtual disk, and who else uses the real one cannot be seen", "")
	} else {
		x.ok(Host, "hardware", "not virtual")
	}
	if err := experiment.CheckMemory(facts.Memory, x.Experiment.Guest); err != nil {
		x.blocked(Host, "memory", err)
	}
	x.cpus(facts.CPUs)
	x.neighbours()
	x.governor()
	x.turbo()
	x.libvirt()
}

func (x *exam) cpus(n int) {
	load := x.Load()
	why := fmt.Sprintf("%s, load average %.2f", unit.Count(n, "CPU"), load)
	if load > float64(n)/2 {
		x.warn(Host, "load", why+": other work takes CPU time from the guest and the host's own load alike", "end the other work, or wait for it")
		return
	}
	x.ok(Host, "load", why)
}

func (x *exam) neighbours() {
	names, err := x.Neighbours()
	switch {
	case err != nil:
		x.warn(Host, "neighbours", "the processes of this host cannot be seen: "+err.Error(), "")
	case len(names) > 0:
		x.warn(Host, "neighbours", unit.Count(len(names), "other virtual machine")+": "+strings.Join(names, "; "), "iotax run --polite lowers its own priority")
	default:
		x.ok(Host, "neighbours", "no other virtual machine runs")
	}
}

// governor looks at how the kernel chooses the clock. Where it has no say, as in most virtual machines, there is
// nothing to tell.
func (x *exam) governor() {
	files, _ := fs.Glob(x.Root, "sys/devices/system/cpu/cpufreq/policy*/scaling_governor")
	var others []string
	for _, f := range files {
		if g := x.read(f); g != "performance" && g != "" && !slices.Contains(others, g) {
			others = append(others, g)
		}
	}
	switch {
	case len(files) == 0:
	case len(others) > 0:
		x.warn(Host, "CPU governor", strings.Join(others, ", ")+": the clock follows the load, and latencies follow the clock",
			"cpupower frequency-set -g performance, if you want that; iotax never changes it")
	default:
		x.ok(Host, "CPU governor", "performance")
	}
}

// turbo looks for a clock that depends on heat: Intel's own driver has a switch to turn it off, the others one to
// turn it on.
func (x *exam) turbo() {
	off, on := "sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost"
	mend := ""
	switch {
	case x.read(off) == "0":
		mend = "echo 1 >/" + off
	case x.read(on) == "1":
		mend = "echo 0 >/" + on
	default:
		return
	}
	x.warn(Host, "CPU turbo", "on: the clock depends on heat and on how many CPUs are busy", mend+", if you want that; iotax never changes it")
}

// read returns the trimmed text of a file of the host, "" when it cannot be read.
func (x *exam) read(path string) string {
	text, err := fs.ReadFile(x.Root, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
