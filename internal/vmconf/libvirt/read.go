package libvirt

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// machine is one domain that is read: the elements beside what they mean.
type machine struct {
	doc     *Document
	dom     *element
	devices []*element // one as a rule; libvirt reads several
	vm      vmconf.VM
	qemu    bool   // QEMU runs it, so that its defaults count
	arch    string // "x86_64"; "" when it is not said
	version vmconf.Version
	ctls    []controller
	disks   []disk
	groups  map[string][]vmconf.Setting // limits of each throttle group
}

const (
	byLibvirt = "libvirt's default"
	byQEMU    = "QEMU's default"
	notQEMU   = "not a machine of QEMU"

	kibibyte = 1 << 10 // libvirt's unit of memory
)

// read makes a machine of a domain.
func (d *Document) read(dom *element) *machine {
	m := &machine{doc: d, dom: dom, devices: dom.all("devices")}
	m.vm = vmconf.VM{
		Kind: vmconf.Libvirt, Name: text(dom.kid("name")), ID: text(dom.kid("uuid")), Part: part(dom), At: m.at(dom),
		Disks: []vmconf.Disk{},
	}
	switch dom.get("type") {
	case "kvm":
		m.vm.Hypervisor, m.qemu = "kvm", true
	case "qemu", "kqemu":
		m.vm.Hypervisor, m.qemu = "tcg", true
	case "hvf":
		m.qemu = true
	case "xen":
		m.vm.Hypervisor = "xen"
	}
	m.readMachine()
	m.vm.Guest, m.vm.GuestDetail = guest(dom)
	if hasSMC(dom) {
		m.vm.Guest, m.vm.GuestDetail = vmconf.Other, "macos"
	}
	m.readCPUs()
	m.readMemory()
	m.readDevices()
	m.readIOThreads()
	m.readControllers()
	m.readDisks()
	m.strangers()
	return m
}

// all are the devices of a kind.
func (m *machine) all(kind string) []*element {
	var list []*element
	for _, e := range m.devices {
		list = append(list, e.all(kind)...)
	}
	return list
}

func (m *machine) emulator() string {
	for _, e := range m.all("emulator") {
		return e.text
	}
	return ""
}

func text(e *element) string {
	if e == nil {
		return ""
	}
	return e.text
}

func (m *machine) at(e *element) vmconf.Place { return m.doc.place(e.start) }

// words are the configuration's own, on one line.
func (m *machine) words(start, end int) string {
	return strings.Join(strings.Fields(string(m.doc.data[start:end])), " ")
}

// attr is a setting that one attribute makes, or its default, which stands where the attribute would.
func (m *machine) attr(e *element, name, unset, why string, at vmconf.Place) vmconf.Setting {
	if a := e.attr(name); a != nil {
		return m.written(a, a.value)
	}
	if e != nil {
		at = m.at(e)
	}
	return vmconf.Default(unset, why, at)
}

// written is a setting that is made by an attribute.
func (m *machine) written(a *attr, value string) vmconf.Setting {
	return vmconf.Written(value, m.words(a.start, a.end), m.doc.place(a.start))
}

// element is a setting that is made by an element that is there.
func (m *machine) element(e *element, value string) vmconf.Setting {
	return vmconf.Written(value, m.words(e.start, e.open), m.at(e))
}

// Machines that libvirt takes where a domain names none.
var machines = map[string]string{
	"x86_64": "pc", "i686": "pc", "aarch64": "virt", "riscv64": "virt", "loongarch64": "virt",
	"ppc64": "pseries", "ppc64le": "pseries", "s390x": "s390-ccw-virtio",
}

func (m *machine) readMachine() {
	os := m.dom.kid("os")
	typ := os.kid("type")
	m.arch = typ.get("arch")
	unset, why := "", notQEMU
	if m.qemu {
		unset, why = machines[m.arch], byLibvirt
	}
	m.vm.Machine = m.attr(typ, "machine", unset, why, m.vm.At)
	m.version = machineVersion(m.vm.Machine.Value)
}

func (m *machine) readCPUs() {
	vcpu := m.dom.kid("vcpu")
	switch {
	case vcpu == nil:
		m.vm.CPUs = vmconf.Default("1", byLibvirt, m.vm.At)
	case vcpu.attr("current") != nil:
		m.vm.CPUs = m.written(vcpu.attr("current"), vcpu.get("current"))
		m.vm.MaxCPUs = int64(number(vcpu.text))
	default:
		m.vm.CPUs = vmconf.Written(vcpu.text, m.words(vcpu.start, vcpu.end), m.at(vcpu))
	}
	if number(m.vm.CPUs.Value) < 1 {
		m.vm.CPUs.Value, m.vm.CPUs.Why = "", "not a number of CPUs"
	}
	m.vm.Pinning = vmconf.Default("off", byLibvirt, m.vm.At)
	tune := m.dom.kid("cputune")
	switch pin := tune.kid("vcpupin"); {
	case pin != nil:
		m.vm.Pinning = m.element(pin, "on")
	case vcpu.attr("cpuset") != nil:
		m.vm.Pinning = m.written(vcpu.attr("cpuset"), "on")
	case vcpu.get("placement") == "auto":
		m.vm.Pinning = m.written(vcpu.attr("placement"), "on")
	}
	m.vm.NUMA = vmconf.Default("off", byLibvirt, m.vm.At)
	if t := m.dom.kid("numatune"); t.kid("memory") != nil || t.kid("memnode") != nil {
		m.vm.NUMA = m.element(t, "on")
	} else if vcpu.get("placement") == "auto" {
		m.vm.NUMA = m.written(vcpu.attr("placement"), "on")
	}
}

func (m *machine) readMemory() {
	m.vm.Memory = vmconf.Default("", "not said", m.vm.At)
	if e := m.dom.kid("memory"); e != nil {
		m.vm.Memory = vmconf.Written("", m.words(e.start, e.end), m.at(e))
		if n, ok := size(e.text, e.get("unit"), kibibyte); ok {
			m.vm.Memory.Value = strconv.FormatInt(n, 10)
		}
	}
	m.vm.Hugepages = vmconf.Default("off", byLibvirt, m.vm.At)
	if e := m.dom.kid("memoryBacking", "hugepages"); e != nil {
		m.vm.Hugepages = m.element(e, "on")
		if page := e.kid("page"); page != nil {
			m.vm.Hugepages = m.element(page, "on")
			if n, ok := size(page.get("size"), page.get("unit"), kibibyte); ok {
				m.vm.Hugepages.Value = strconv.FormatInt(n, 10)
			}
		}
	}
}

// size reads a number with libvirt's unit; without one the number counts bytes.
func size(text, suffix string, without int64) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	factor := without
	if s := strings.ToLower(suffix); s != "" && s != "b" && s != "bytes" {
		power, base := strings.IndexByte("kmgtpe", s[0])+1, int64(1024)
		switch s[1:] {
		case "", "ib":
		case "b":
			base = 1000
		default:
			power = 0
		}
		if power == 0 {
			return 0, false
		}
		for factor = 1; power > 0; power-- {
			factor *= base
		}
	} else if s != "" {
		factor = 1
	}
	if n > (1<<63-1)/factor {
		return 0, false
	}
	return n * factor, true
}
