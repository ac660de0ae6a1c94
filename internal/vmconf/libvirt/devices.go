package libvirt

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

const agentPort = "org.qemu.guest_agent.0"

// readDevices reads what belongs to the machine and not to a disk.
func (m *machine) readDevices() {
	m.vm.Balloon = vmconf.Default("", notQEMU, m.vm.At)
	if m.qemu {
		m.vm.Balloon = vmconf.Default("on", byLibvirt, m.vm.At)
	}
	m.vm.Agent = vmconf.Default("off", byLibvirt, m.vm.At)
	for _, e := range m.all("memballoon") {
		m.vm.Balloon = m.element(e, "on")
		if e.get("model") == "none" {
			m.vm.Balloon.Value = "off"
		}
	}
	for _, e := range m.all("channel") {
		if isAgent(e) {
			m.vm.Agent = m.element(e.kid("target"), "on")
		}
	}
	for _, e := range append(m.all("hostdev"), m.all("interface")...) {
		if e.name == "hostdev" || e.get("type") == "hostdev" {
			m.vm.Passthrough = append(m.vm.Passthrough, m.element(e, hostDevice(e)))
		}
	}
}

func isAgent(channel *element) bool {
	return channel.kid("target").get("name") == agentPort
}

// hostDevice is the address of a device of the host: "0000:01:00.0", "usb 046d:c539", "scsi_host0 0:0:0", a mediated
// device's UUID, a path.
func hostDevice(e *element) string {
	source := e.kid("source")
	address := source.kid("address")
	kind := e.get("type")
	if e.name == "interface" {
		kind = address.get("type")
	}
	switch {
	case address.get("uuid") != "":
		return address.get("uuid")
	case kind == "pci":
		return pciAddress(address)
	case source.kid("vendor") != nil:
		return "usb " + hexID(source.kid("vendor")) + ":" + hexID(source.kid("product"))
	case kind == "usb":
		return "usb " + address.get("bus") + "-" + address.get("device")
	case source.kid("adapter") != nil:
		return strings.Join([]string{source.kid("adapter").get("name"), address.get("bus") + ":" + address.get("target") + ":" + address.get("unit")}, " ")
	}
	for _, k := range append([]*element{source}, kidsOf(source)...) { // iSCSI, vhost-scsi, character devices
		for _, name := range []string{"name", "wwpn", "dev"} {
			if v := k.get(name); v != "" {
				return v
			}
		}
		if k != source && k.text != "" {
			return k.text
		}
	}
	return strings.TrimSpace(e.get("mode") + " " + kind)
}

func kidsOf(e *element) []*element {
	if e == nil {
		return nil
	}
	return e.kids
}

func hexID(e *element) string { return strings.TrimPrefix(e.get("id"), "0x") }

// pciAddress writes an address as the kernel does.
func pciAddress(e *element) string {
	part := func(name string, digits int) string {
		n, err := strconv.ParseUint(e.get(name), 0, 32)
		if err != nil {
			n = 0
		}
		s := strconv.FormatUint(n, 16)
		return strings.Repeat("0", max(0, digits-len(s))) + s
	}
	return part("domain", 4) + ":" + part("bus", 2) + ":" + part("slot", 2) + "." + part("function", 1)
}

// maxIOThreads is more than any machine has CPUs for.
const maxIOThreads = 4096

// readIOThreads numbers the threads as libvirt does: those with an ID first, then the lowest free numbers until there are
// as many as <iothreads> says.
func (m *machine) readIOThreads() {
	pinned := map[string]bool{}
	for _, p := range m.dom.kid("cputune").all("iothreadpin") {
		pinned[p.get("iothread")] = true
	}
	taken := map[string]bool{}
	add := func(id string, e *element) {
		taken[id] = true
		m.vm.IOThreads = append(m.vm.IOThreads, vmconf.IOThread{ID: id, Pinned: pinned[id], At: m.at(e)})
	}
	for _, e := range m.dom.kid("iothreadids").all("iothread") {
		if id := e.get("id"); id != "" && !taken[id] {
			add(id, e)
		}
	}
	e := m.dom.kid("iothreads")
	if e == nil {
		return
	}
	for n := 1; len(m.vm.IOThreads) < min(number(e.text), maxIOThreads); n++ {
		if id := strconv.Itoa(n); !taken[id] {
			add(id, e)
		}
	}
}
