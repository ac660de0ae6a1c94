package qemuargs

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// machine reads everything but the disks.
func (g *guest) machine() {
	g.readType()
	g.readName()
	g.readAccel()
	g.readCPUs()
	g.readMemory()
	g.vm.Balloon = g.absent("off", "no balloon device")
	g.vm.Agent = g.absent("off", "no channel of the guest agent")
	g.vm.Pinning = vmconf.Default("", "a command line does not tell; threads are tied from outside", g.vm.At)
	g.vm.NUMA = g.absent("off", "no memory backend is tied to a node")
	for _, o := range g.all("balloon") {
		g.vm.Balloon = vmconf.Written(map[bool]string{true: "on", false: "off"}[strings.HasPrefix(o.value.Text, "virtio")], o.value.Text, o.at)
	}
	for _, o := range g.all("device") {
		g.machineDevice(o)
	}
	for _, o := range g.all("object") {
		switch kind := o.set.Value("qom-type"); {
		case kind == "iothread":
			g.vm.IOThreads = append(g.vm.IOThreads, vmconf.IOThread{ID: o.set.Value("id"), At: o.at})
		case strings.HasPrefix(kind, "memory-backend-") && (o.set.Value("host-nodes") != "" || o.set.Under("host-nodes")):
			if policy := o.set.Value("policy"); policy == "bind" || policy == "preferred" {
				g.vm.NUMA = vmconf.Written("on", "policy="+policy, o.at)
			}
		}
	}
	for _, w := range g.start.before {
		switch path.Base(w.Text) {
		case "taskset":
			g.vm.Pinning = vmconf.Written("on", "taskset", g.place(w.Start))
		case "numactl":
			g.vm.NUMA = vmconf.Written("on", "numactl", g.place(w.Start))
		}
	}
	g.readGuest()
}

// absent is what a machine has where no option tells: nothing is known where some of the options may stand elsewhere.
func (g *guest) absent(value, why string) vmconf.Setting {
	switch {
	case g.start.program == daemon:
		value, why = "", daemon+" has no machine"
	case g.start.part:
		value, why = "", "the rest of the command line is not here"
	case g.more != "":
		value, why = "", g.more+" may tell, and is not known here"
	}
	return vmconf.Default(value, why, g.vm.At)
}

// readType reads the machine type.
func (g *guest) readType() {
	g.vm.Machine = g.absent(defaultMachines[g.start.program], "the default of "+g.start.program)
	if g.vm.Machine.Value == "" && g.start.program == "" && !g.start.part {
		g.vm.Machine.Why = "the program is not known"
	}
	for _, o := range g.all("machine", "M") {
		if p, ok := o.set.Get("type"); ok {
			g.vm.Machine = g.written(o, p, p.Value)
		}
	}
	g.version = machineVersion(g.vm.Machine.Value)
	if m := g.vm.Machine.Value; !g.version.Known() && m != "" { // the newest of its program
		g.version = g.start.qemu
	}
}

func (g *guest) readName() {
	for _, o := range g.all("name") {
		g.vm.Name = o.set.Value("guest")
	}
	for _, o := range g.all("uuid") {
		g.vm.ID = o.value.Text
	}
	for _, o := range g.all("id") { // Proxmox VE's
		g.vm.ID = o.value.Text
	}
}

// readAccel reads what runs the guest's instructions.
func (g *guest) readAccel() {
	first := ""
	for _, o := range g.all("accel") {
		if first == "" {
			first = o.set.Value("accel")
		}
	}
	for _, o := range g.all("machine", "M") {
		if v := o.set.Value("accel"); v != "" && first == "" {
			first, _, _ = strings.Cut(v, ":")
		}
	}
	switch {
	case first == "" && (g.has("enable-kvm") || strings.HasSuffix(g.start.program, "kvm")):
		first = "kvm"
	case first == "" && g.has("no-kvm"), first == "" && strings.HasPrefix(g.start.program, "qemu-system-"):
		first = "tcg"
	}
	if len(g.all("xen-domid")) > 0 {
		first = "xen"
	}
	if !strings.Contains(first, "$") {
		g.vm.Hypervisor = first
	}
}

// readCPUs reads -smp as QEMU does: what is missing is 1, or what the others leave.
func (g *guest) readCPUs() {
	g.vm.CPUs = g.absent("1", "QEMU's default")
	for _, o := range g.all("smp") {
		if n, err := strconv.ParseInt(o.set.Value("maxcpus"), 10, 32); err == nil && n > 0 {
			g.vm.MaxCPUs = n
		}
		if p, ok := o.set.Get("cpus"); ok {
			g.vm.CPUs = g.written(o, p, p.Value)
			continue
		}
		if p, ok := o.set.Get("maxcpus"); ok {
			g.vm.CPUs = g.written(o, p, p.Value)
			continue
		}
		n := 1
		for _, key := range []string{"drawers", "books", "sockets", "dies", "clusters", "modules", "cores", "threads"} {
			p, ok := o.set.Get(key)
			v, err := strconv.Atoi(p.Value)
			switch {
			case ok && err != nil:
				n = 0
			case ok && v > 0 && v < 1<<20 && n < 1<<20:
				n *= v
			}
		}
		g.vm.CPUs = vmconf.Written(strconv.Itoa(n), o.value.Text, o.at)
		if n == 0 {
			g.vm.CPUs.Value, g.vm.CPUs.Why = "", "a part of it is not known here"
		}
	}
}

// readMemory reads the size of the memory and what it is made of.
func (g *guest) readMemory() {
	g.vm.Memory = g.absent(strconv.Itoa(128<<20), "QEMU's default")
	for _, o := range g.all("m") {
		if p, ok := o.set.Get("size"); ok {
			g.vm.Memory = g.written(o, p, bytesOf(p.Value, 'm'))
		}
	}
	g.vm.Hugepages = g.absent("off", "QEMU's default")
	for _, o := range g.all("mem-path") {
		g.vm.Hugepages = vmconf.Written(pageSize(o.value.Text), o.value.Text, o.at)
	}
	used := g.memoryBackends()
	for _, o := range g.all("object") {
		if !used[o.set.Value("id")] {
			continue
		}
		switch o.set.Value("qom-type") {
		case "memory-backend-file":
			if p, ok := o.set.Get("mem-path"); ok {
				g.vm.Hugepages = g.written(o, p, pageSize(p.Value))
			}
		case "memory-backend-memfd":
			if p, ok := o.set.Get("hugetlb"); ok && isOn(p.Value) {
				g.vm.Hugepages = g.written(o, p, "on")
				if size, ok := o.set.Get("hugetlbsize"); ok {
					g.vm.Hugepages = g.written(o, size, bytesOf(size.Value, 'b'))
				}
			}
		}
	}
}

// memoryBackends are the objects that the guest's memory is made of.
func (g *guest) memoryBackends() map[string]bool {
	used := map[string]bool{}
	for _, o := range g.all("machine", "M") {
		used[o.set.Value("memory-backend")] = true
	}
	for _, o := range g.all("numa") {
		used[o.set.Value("memdev")] = true
	}
	for _, o := range g.all("device") {
		if o.set.Value("driver") == "pc-dimm" {
			used[o.set.Value("memdev")] = true
		}
	}
	delete(used, "")
	return used
}

// pageSize returns what a path of memory says of its pages: "off", "on", or their size.
func pageSize(p string) string {
	low := strings.ToLower(p)
	if !strings.Contains(low, "huge") {
		return "off"
	}
	for _, e := range []struct{ word, size string }{
		{"1048576kb", "1073741824"}, {"2048kb", "2097152"}, {"1g", "1073741824"}, {"2m", "2097152"},
	} {
		if strings.Contains(low, e.word) {
			return e.size
		}
	}
	return "on"
}

// bytesOf reads a size with QEMU's suffixes; unit is that of a size without one. "" is for what is no size.
func bytesOf(s string, unit byte) string {
	num, shift := s, 0
	last := unit
	if n := len(s); n > 0 && (s[n-1] < '0' || s[n-1] > '9') {
		last, num = s[n-1]|0x20, s[:n-1]
	}
	switch last {
	case 'b':
	case 'k':
		shift = 10
	case 'm':
		shift = 20
	case 'g':
		shift = 30
	case 't':
		shift = 40
	default:
		return ""
	}
	if v, err := strconv.ParseInt(num, 0, 64); err == nil && v >= 0 && v <= math.MaxInt64>>shift {
		return strconv.FormatInt(v<<shift, 10)
	}
	if f, err := strconv.ParseFloat(num, 64); err == nil && f >= 0 && f < 1<<20 {
		return strconv.FormatInt(int64(f*float64(int64(1)<<shift)), 10)
	}
	return ""
}

// machineDevice reads a device that is no disk.
func (g *guest) machineDevice(o *option) {
	driver := o.set.Value("driver")
	switch b := base(driver); {
	case b == "virtio-balloon":
		g.vm.Balloon = vmconf.Written("on", driver, o.at)
	case o.set.Value("name") == "org.qemu.guest_agent.0":
		g.vm.Agent = vmconf.Written("on", driver, o.at)
	case strings.HasPrefix(driver, "vfio-") || driver == "pci-assign" || b == "vhost-scsi":
		p, ok := firstOf(o, "host", "sysfsdev", "wwpn", "device", "fd")
		if ok {
			s := g.written(o, p, p.Value)
			if s.Value == "" {
				s.Value = p.Value
			}
			g.vm.Passthrough = append(g.vm.Passthrough, s)
		}
	}
}

func firstOf(o *option, names ...string) (optstr.Pair, bool) {
	for _, n := range names {
		if p, ok := o.set.Get(n); ok {
			return p, true
		}
	}
	return optstr.Pair{}, false
}

// readGuest tells the guest's system where the arguments leave no doubt: macOS has the controller of a Mac, Windows
// has Hyper-V's interfaces switched on for it, and Linux a kernel of its own.
func (g *guest) readGuest() {
	for _, o := range g.all("device") {
		if o.set.Value("driver") == "isa-applesmc" {
			g.vm.Guest, g.vm.GuestDetail = vmconf.Other, "macos"
			return
		}
	}
	for _, o := range g.all("cpu") {
		for _, p := range o.set.Pairs {
			hv := strings.HasPrefix(p.Key, "hv_") || strings.HasPrefix(p.Key, "hv-")
			if hv && p.Value != "off" && p.Key != "hv-passthrough" && p.Key != "hv_passthrough" {
				g.vm.Guest, g.vm.GuestDetail = vmconf.Windows, p.Key
				return
			}
		}
	}
	if len(g.all("kernel")) > 0 {
		for _, o := range g.all("append") {
			if strings.Contains(o.value.Text, "root=") {
				g.vm.Guest, g.vm.GuestDetail = vmconf.Linux, "root="
			}
		}
	}
}

// unusual says what is understood and not followed.
func (g *guest) unusual() {
	for _, o := range g.all("readconfig") {
		g.unknown("-readconfig "+o.value.Text+": more of the configuration is in that file", o.word.Start)
	}
	for _, o := range g.all("device") {
		switch base(o.set.Value("driver")) {
		case "virtio-pmem", "nvdimm":
			g.unknown("-device "+o.value.Text+": persistent memory, not audited as a disk", o.word.Start)
		case "vhost-scsi":
			g.unknown("-device "+o.value.Text+": its disks are set up in the host's kernel", o.word.Start)
		}
	}
}
