package qemuargs

import (
	"errors"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// doMachine makes the edits of one round of a change of the machine.
func (e *editor) doMachine(s step) error {
	if len(e.g.opts) == 0 {
		return errors.New("it has no options")
	}
	switch s.Setting {
	case vmconf.SetMachine:
		return e.machineType(s.Value)
	case vmconf.SetHugepages:
		return e.hugepages(s.Value == "on")
	case vmconf.SetBalloon:
		if s.Value == "off" {
			return e.removeDevices(func(o *option) bool { return o.name == "balloon" || base(o.set.Value("driver")) == "virtio-balloon" })
		}
		if e.g.vm.Balloon.Value != "on" {
			e.after(e.last(), [2]string{"device", "virtio-balloon-" + e.g.board().plug})
		}
	case vmconf.SetAgent:
		e.agent(s.Value == "on")
	}
	return nil
}

// last is the last option that makes a device, or the last one.
func (e *editor) last() *option {
	for i := len(e.g.opts) - 1; i >= 0; i-- {
		if diskOptions[e.g.opts[i].name] {
			return e.g.opts[i]
		}
	}
	return e.g.opts[len(e.g.opts)-1]
}

func (e *editor) machineType(value string) error {
	if value == "" {
		return errors.New("name a machine type")
	}
	var last *option
	for _, o := range e.g.all("machine", "M") {
		if _, ok := o.set.Get("type"); ok || last == nil {
			last = o
		}
	}
	if last == nil {
		e.before(e.g.opts[0], [2]string{"machine", value})
		return nil
	}
	e.set(last, "type", value, optstr.String)
	return nil
}

// removeDevices takes out one option that matches at each round.
func (e *editor) removeDevices(match func(*option) bool) error {
	for _, o := range e.g.opts {
		if (o.name == "device" || o.name == "balloon" || o.name == "mem-path") && match(o) {
			e.remove(o)
			e.again = true
			return nil
		}
	}
	return nil
}

// agent adds or takes out the channel of the guest agent.
func (e *editor) agent(on bool) {
	if !on {
		e.err = e.removeDevices(func(o *option) bool { return o.set.Value("name") == "org.qemu.guest_agent.0" })
		return
	}
	if e.g.vm.Agent.Value == "on" {
		return
	}
	id := e.g.unique("", "qga0")
	name := strings.TrimPrefix(e.g.unique("-", e.g.vm.Name), "-")
	if name == "" {
		name = "guest"
	}
	added := [][2]string{{"chardev", "socket,id=" + id + ",path=/run/" + name + "-qga.sock,server=on,wait=off"}}
	serial := false
	for _, o := range e.g.all("device") {
		serial = serial || base(o.set.Value("driver")) == "virtio-serial"
	}
	if !serial {
		added = append(added, [2]string{"device", "virtio-serial-" + e.g.board().plug})
	}
	e.after(e.last(), append(added, [2]string{"device", "virtserialport,chardev=" + id + ",name=org.qemu.guest_agent.0"})...)
}

// hugepages changes what the memory is made of: its backends, or all of it.
func (e *editor) hugepages(on bool) error {
	if (e.g.vm.Hugepages.Value != "off") == on {
		return nil
	}
	used := e.g.memoryBackends()
	changed := false
	for _, o := range e.g.all("object") {
		kind := o.set.Value("qom-type")
		if !used[o.set.Value("id")] || !strings.HasPrefix(kind, "memory-backend-") {
			continue
		}
		changed = true
		switch {
		case on:
			e.drop(o, "mem-path")
			e.set(o, "qom-type", "memory-backend-memfd", optstr.String)
			e.set(o, "hugetlb", "on", optstr.Bool)
		case kind == "memory-backend-memfd":
			e.drop(o, "hugetlb", "hugetlbsize")
		default:
			e.drop(o, "mem-path")
			e.set(o, "qom-type", "memory-backend-memfd", optstr.String)
		}
	}
	switch {
	case changed:
	case len(used) > 0:
		return errors.New("the memory's backend is not among these arguments")
	case on && len(e.g.all("mem-path")) == 0:
		e.before(e.g.opts[0], [2]string{"mem-path", "/dev/hugepages"})
	default:
		return e.removeDevices(func(o *option) bool { return o.name == "mem-path" })
	}
	return nil
}
