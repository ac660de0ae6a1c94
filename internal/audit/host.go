package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

const calmSwap = 10 // vm.swappiness of tuned's profiles for hosts of machines

var hostRules = []Rule{{
	ID: "IOT064", Title: "I/O scheduler on a fast disk", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "an NVMe disk of the host under an audited disk with another scheduler than none, or any other disk without moving parts with bfq.",
	Why:     "The guest has sorted its requests, the disk has queues of its own, and the scheduler's lock and accounting cost most where the disk is fastest.",
	Sources: []string{sysfsBlock, "Linux, switching schedulers: https://docs.kernel.org/block/switching-sched.html"},
	host: func(a audited) []Finding {
		var found []Finding
		for _, d := range a.devices() {
			fast := d.Rotational != nil && !*d.Rotational
			nvme := strings.HasPrefix(d.Name, "nvme") && d.Scheduler != "none"
			if d.Scheduler == "" || !fast || !nvme && d.Scheduler != "bfq" {
				continue
			}
			file := "/sys/block/" + d.Name + "/queue/scheduler"
			found = append(found, onHost("scheduler", file, d.Scheduler, "%s under the disks of the machines is scheduled by %s", d.Name, d.Scheduler).
				shell("echo none > "+file))
		}
		return found
	},
}, {
	ID: "IOT065", Title: "CPUs that save power", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a frequency governor other than performance on a host that an audited machine is on.",
	Why:     "At low queue depth the CPUs sleep between requests, and each one begins at a low frequency.",
	Sources: []string{blockbridge, tunedHost, "Linux, CPU frequency: https://docs.kernel.org/admin-guide/pm/cpufreq.html"},
	host: func(a audited) []Finding {
		slow := slices.DeleteFunc(slices.Clone(a.host.Governors), func(g string) bool { return g == "performance" })
		if !a.here() || len(slow) == 0 {
			return nil
		}
		const file = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
		return one(onHost("governor", file, strings.Join(slow, ", "), "the CPUs change their frequency by the load (%s)", strings.Join(slow, ", ")).
			shell("cpupower frequency-set --governor performance"))
	},
}, {
	ID: "IOT066", Title: "no read-ahead under the page cache", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a disk of the host with read-ahead off, under an audited disk that goes through the page cache.",
	Why:     "Reading in order then waits for every single request.",
	Sources: []string{sysfsBlock, tunedHost},
	host: func(a audited) []Finding {
		var found []Finding
		for _, d := range a.devices() {
			if d.ReadAhead == nil || *d.ReadAhead != 0 || !a.cached(d.Name) {
				continue
			}
			file := "/sys/block/" + d.Name + "/queue/read_ahead_kb"
			found = append(found, onHost("read_ahead", file, "0", "%s reads nothing ahead for disks that the page cache serves", d.Name).
				shell(fmt.Sprintf("echo %d > %s", usualAhead>>10, file)))
		}
		return found
	},
}, {
	ID: "IOT067", Title: "memory of guests goes to swap early", Severity: Hygiene, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "vm.swappiness above 10 on a host with swap that an audited machine is on.",
	Why:     "The kernel puts memory of guests out to keep its page cache, and a guest cannot tell such memory from any other: its requests wait for the host's swap.",
	Sources: []string{tunedHost, sysctlVM},
	host: func(a audited) []Finding {
		h := a.host
		if !a.here() || h.Swappiness == nil || *h.Swappiness <= calmSwap || h.Swap == nil || *h.Swap == 0 {
			return nil
		}
		return one(onHost("vm.swappiness", "/proc/sys/vm/swappiness", strconv.Itoa(*h.Swappiness), "the host has swap, and %d lets it put memory of guests there early", *h.Swappiness).
			run("sysctl", "-w", fmt.Sprintf("vm.swappiness=%d", calmSwap)))
	},
}, {
	ID: "IOT068", Title: "one disk of two machines", Severity: DataAtRisk, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a file or device of this host that two machines write, without both calling it shared.",
	Why:     "When both run, each destroys what the other wrote. QEMU's locks prevent that for files of one host, not for devices.",
	Sources: []string{qemuInvocation, libvirtDomain},
	host:    twoMasters,
}}

func onHost(setting, file, effective, why string, args ...any) Finding {
	return Finding{Setting: setting, At: vmconf.Place{File: file}, Effective: effective, Why: fmt.Sprintf(why, args...)}
}

// devices are the host's disks that lie under a disk of a machine.
func (a audited) devices() []Device {
	var used []Device
	for _, d := range a.host.Devices {
		under := func(m *machine) bool {
			return slices.ContainsFunc(m.disks, func(one disk) bool { return slices.Contains(one.volume.Devices, d.Name) })
		}
		if slices.ContainsFunc(a.machines, under) {
			used = append(used, d)
		}
	}
	return used
}

// cached reports whether a disk on the device goes through the page cache.
func (a audited) cached(device string) bool {
	return slices.ContainsFunc(a.machines, func(m *machine) bool {
		return slices.ContainsFunc(m.disks, func(d disk) bool { return d.buffered() && slices.Contains(d.volume.Devices, device) })
	})
}

func twoMasters(a audited) []Finding {
	first := map[string]disk{}
	var found []Finding
	for _, m := range a.machines {
		for _, d := range m.disks {
			path := d.volume.Path
			if path == "" {
				continue
			}
			other, seen := first[path]
			if !seen {
				first[path] = d
				continue
			}
			if d.Shared && other.Shared || same(other.vm, m) {
				continue
			}
			f := d.below("source", d.Source.Value, "%s of %s and %s of %s are the same", other.ID, other.vm.name(), d.ID, m.name())
			found = append(found, f.needs("a disk of its own for each machine, or a cluster file system and shareable in both"))
		}
	}
	return found
}

// same reports whether two configurations are of one machine: what is defined and what runs.
func same(a, b *machine) bool { return a == b || a.name() == b.name() || a.ID != "" && a.ID == b.ID }
