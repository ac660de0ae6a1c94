package libvirt

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/iotax/iotax/internal/vmconf"
)

// changeMachine changes a setting of the machine.
func (m *machine) changeMachine(ed *edits, t task) error {
	switch t.Setting {
	case vmconf.SetHugepages:
		return m.changeHugepages(ed, t.Value)
	case vmconf.SetAgent:
		return m.changeAgent(ed, t.Value)
	case vmconf.SetBalloon:
		return m.changeBalloon(ed, t.Value)
	}
	return m.changeType(ed, t.Value)
}

var errOnOff = errors.New(`"on" or "off"`)

func (m *machine) changeHugepages(ed *edits, value string) error {
	backing := m.dom.kid("memoryBacking")
	pages := backing.kid("hugepages")
	switch {
	case value == "off" || value == "":
		if pages != nil && ed.alone(pages) {
			pages = backing
		}
		if pages != nil {
			ed.remove(pages)
		}
	case value != "on":
		return errOnOff
	case backing != nil:
		ed.into(backing, "<hugepages/>")
	default:
		m.addToDomain(ed, []string{"currentMemory", "memory", "maxMemory", "uuid", "name"}, "<memoryBacking>", "\t<hugepages/>", "</memoryBacking>")
	}
	return nil
}

// addToDomain puts new XML behind the first of these elements that the domain has.
func (m *machine) addToDomain(ed *edits, behind []string, lines ...string) {
	for _, name := range behind {
		if e := m.dom.kid(name); e != nil {
			ed.after(e, lines...)
			return
		}
	}
	ed.into(m.dom, lines...)
}

// addDevice puts a new device behind the last of its kind, else behind all.
func (m *machine) addDevice(ed *edits, kind string, lines ...string) {
	list := m.all(kind)
	switch {
	case len(m.devices) == 0:
		ed.into(m.dom, append(append([]string{"<devices>"}, deeper(lines)...), "</devices>")...)
	case len(list) > 0:
		ed.after(list[len(list)-1], lines...)
	default:
		ed.into(m.devices[0], lines...)
	}
}

func deeper(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "\t" + l
	}
	return out
}

func (m *machine) changeAgent(ed *edits, value string) error {
	switch value {
	case "on":
		m.addDevice(ed, "channel", "<channel type='unix'>", "\t<target type='virtio' name='"+agentPort+"'/>", "</channel>")
	case "off", "":
		for _, e := range m.all("channel") {
			if isAgent(e) {
				ed.remove(e)
			}
		}
	default:
		return errOnOff
	}
	return nil
}

func (m *machine) changeBalloon(ed *edits, value string) error {
	models := map[string]string{"on": "virtio", "off": "none"}
	list := m.all("memballoon")
	switch {
	case value == "":
		for _, e := range list {
			ed.remove(e)
		}
	case models[value] == "":
		return errOnOff
	case len(list) > 0:
		ed.replace(list[0], "<memballoon model='"+models[value]+"'/>")
	default:
		m.addDevice(ed, "memballoon", "<memballoon model='"+models[value]+"'/>")
	}
	return nil
}

var family = regexp.MustCompile(`(?s)^(.*?)(?:-(?:rhel)?\d+\.\d.*)?$`)

// changeType changes the version of the machine; another kind of machine has other slots, which cannot be moved to in place.
func (m *machine) changeType(ed *edits, value string) error {
	typ := m.dom.kid("os", "type")
	kind := func(machine string) string {
		switch f := family.FindStringSubmatch(machine)[1]; f {
		case "pc":
			return "pc-i440fx"
		case "q35":
			return "pc-q35"
		default:
			return f
		}
	}
	switch {
	case typ == nil:
		return fmt.Errorf("the domain has no <os><type>")
	case value == "":
		return fmt.Errorf("a machine cannot be left open")
	case kind(value) != kind(m.vm.Machine.Value):
		return fmt.Errorf("another kind of machine than %s has other slots; only its version can be changed in place", m.vm.Machine.Value)
	}
	ed.set(typ, "machine", value)
	return nil
}

// thread finds a thread that no disk and no controller uses, or adds one.
func (m *machine) thread(ed *edits) string {
	used := map[string]bool{}
	for _, d := range m.disks {
		used[d.is.IOThread.Value] = true
		for _, t := range d.driver.kid("iothreads").all("iothread") {
			used[t.get("id")] = true
		}
	}
	for _, c := range m.ctls {
		used[c.is.IOThread.Value] = true
		for _, t := range c.el.kid("driver", "iothreads").all("iothread") {
			used[t.get("id")] = true
		}
	}
	taken := map[string]bool{}
	for _, t := range m.vm.IOThreads {
		if !used[t.ID] {
			return t.ID
		}
		taken[t.ID] = true
	}
	n := 1
	for taken[strconv.Itoa(n)] {
		n++
	}
	id := strconv.Itoa(n)
	if ids := m.dom.kid("iothreadids"); ids != nil {
		ed.into(ids, "<iothread id='"+id+"'/>")
	}
	count := strconv.Itoa(len(m.vm.IOThreads) + 1)
	if e := m.dom.kid("iothreads"); e != nil {
		ed.replace(e, "<iothreads>"+count+"</iothreads>")
	} else if m.dom.kid("iothreadids") == nil {
		m.addToDomain(ed, []string{"vcpus", "vcpu", "memoryBacking", "currentMemory", "memory", "name"}, "<iothreads>"+count+"</iothreads>")
	}
	return id
}
