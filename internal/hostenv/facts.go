package hostenv

import (
	"bufio"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/record"
)

// Facts fills CPU, CPUs (those that this process may use), Memory, Kernel and Virtualised of a host; the rest is
// left as it is. What cannot be read stays empty.
func (h Host) Facts(into *record.Host) {
	cpu := h.cpuinfo()
	into.CPU = cpu.model
	into.CPUs = allowedCPUs()
	into.Kernel = h.read("proc/sys/kernel/osrelease")
	into.Virtualised = h.hypervisor(cpu.flags)
	if proc, err := h.procfs(); err == nil {
		if memory, err := proc.Meminfo(); err == nil && memory.MemTotalBytes != nil {
			into.Memory = int64(*memory.MemTotalBytes)
		}
	}
}

// Load is the load average of the last minute, 0 when it cannot be read.
func (h Host) Load() float64 {
	proc, err := h.procfs()
	if err != nil {
		return 0
	}
	load, err := proc.LoadAvg()
	if err != nil {
		return 0
	}
	return load.Load1
}

func allowedCPUs() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0
	}
	return set.Count()
}

type cpu struct {
	model string
	flags []string
}

// cpuinfo reads the first processor. Its keys differ by architecture: x86 has "model name" and "flags", s390
// "processor 0", POWER "cpu"; ARM names no model at all, only numbers of its implementer and part.
func (h Host) cpuinfo() cpu {
	f, err := os.Open(h.path("proc/cpuinfo"))
	if err != nil {
		return cpu{}
	}
	defer f.Close()
	found := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if key = strings.TrimSpace(key); ok && found[key] == "" {
			found[key] = strings.TrimSpace(value)
		}
	}
	c := cpu{model: found["model name"], flags: strings.Fields(found["flags"])}
	if c.model == "" {
		c.model = found["cpu"]
	}
	if part := found["CPU part"]; c.model == "" && part != "" {
		c.model = "ARM implementer " + found["CPU implementer"] + " part " + part
	}
	return c
}

// hypervisorVendors are DMI vendors and products of virtual machines.
var hypervisorVendors = []string{
	"QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Bochs", "Virtual Machine", "Parallels", "OpenStack",
	"Google Compute Engine", "DigitalOcean", "Hetzner", "Nutanix", "RHEV", "oVirt", "Apple Virtualization",
}

// hypervisor names what this host itself runs on: "" on bare metal, "unidentified" when only the processor's flag
// tells. Dom0 of Xen is the host, although it is a guest to its processor.
func (h Host) hypervisor(cpuFlags []string) string {
	if h.read("sys/hypervisor/type") == "xen" {
		if strings.Contains(h.read("proc/xen/capabilities"), "control_d") {
			return ""
		}
		return "Xen"
	}
	flagged := slices.Contains(cpuFlags, "hypervisor")
	vendor, product := h.read("sys/class/dmi/id/sys_vendor"), h.read("sys/class/dmi/id/product_name")
	name := strings.TrimSpace(vendor + " " + product)
	for _, known := range hypervisorVendors {
		if strings.Contains(name, known) {
			return name
		}
	}
	switch {
	case flagged && name != "":
		return name
	case flagged:
		return "unidentified"
	}
	return ""
}
