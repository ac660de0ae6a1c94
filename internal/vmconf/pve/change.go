package pve

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Change returns the configuration with the changes made in one of its machines: properties of lines of its section, and
// where a change needs them other lines of it. It fails, with all faults, where Proxmox VE has no words for a change, where
// what is written would have no effect, and for a snapshot, which is a record of what was.
func (d *Document) Change(vm int, changes []vmconf.Change) ([]byte, error) {
	e, err := d.edit(vm, changes)
	if err != nil {
		return nil, err
	}
	return []byte(e.text()), nil
}

// edit makes the changes and makes sure that each takes effect.
func (d *Document) edit(vm int, changes []vmconf.Change) (*editor, error) {
	if vm < 0 || vm >= len(d.confs) {
		return nil, errkind.Userf("%s has no machine %d", d.file, vm)
	}
	c := d.confs[vm]
	if c.section.kind == snapshotSection {
		return nil, errkind.Userf("%s: %s is a record of what was: it cannot be changed", d.file, c.part)
	}
	e := newEditor(c)
	for _, change := range busFirst(changes) {
		e.change(change)
	}
	if e.undone(); len(e.faults) == 0 {
		e.verify(vm, changes)
	}
	return e, e.faults.Err()
}

// busFirst puts changes of buses before all others, which may need the new one.
func busFirst(changes []vmconf.Change) []vmconf.Change {
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b vmconf.Change) int {
		switch {
		case a.Setting == b.Setting || a.Setting != vmconf.SetBus && b.Setting != vmconf.SetBus:
			return 0
		case a.Setting == vmconf.SetBus:
			return -1
		}
		return 1
	})
	return out
}

// change makes one change.
func (e *editor) change(c vmconf.Change) {
	if strings.ContainsAny(c.Value, ",\n\r\x00") || strings.TrimSpace(c.Value) != c.Value || strings.Contains(c.Value, " #") {
		e.fault("%s: %q cannot be written in a configuration of Proxmox VE", c.Setting, c.Value)
		return
	}
	if c.Disk == "" {
		e.changeMachine(c)
		return
	}
	id := or(e.moved[c.Disk], c.Disk)
	l := e.lines[id]
	s, ok := driveKey(id)
	switch {
	case l == nil || !ok:
		e.fault("there is no disk %s", c.Disk)
	case ownProperties[s.bus]["file"]:
		e.fault("%s is no disk of the guest: it cannot be changed", c.Disk)
	default:
		e.changeDrive(l, s, c)
	}
}

// properties of a drive by the setting, and Proxmox VE's words for its values.
var driveSettings = map[string]struct {
	property string
	words    map[string]string
}{
	vmconf.SetCache:        {"cache", cacheModes},
	vmconf.SetAIO:          {"aio", aioModes},
	vmconf.SetIOThread:     {"iothread", map[string]string{"on": "1", "off": ""}},
	vmconf.SetDiscard:      {"discard", map[string]string{"unmap": "on", "ignore": ""}},
	vmconf.SetDetectZeroes: {"detect_zeroes", map[string]string{"off": "0", "on": "", "unmap": ""}},
}

// changeDrive makes one change of a drive. A value that is the default is not written.
func (e *editor) changeDrive(l *line, s slot, c vmconf.Change) {
	switch c.Setting {
	case vmconf.SetBus:
		e.moveDrive(l, s, c.Value)
		return
	case vmconf.SetThrottle:
		if c.Value != "" {
			e.fault("%s: limits can only be lifted", c.Disk)
		}
		l.value = parseProperties(l.value, "file").without(func(key string) bool { return throttles(key) != 0 }).String()
		return
	case vmconf.SetSource:
		e.setDrive(l, "file", c.Value)
		return
	case vmconf.SetQueues:
		e.setDrive(l, "queues", c.Value)
		return
	}
	setting, ok := driveSettings[c.Setting]
	if !ok {
		if c.Value != "" {
			e.fault("%s: Proxmox VE has no setting for %s", c.Disk, c.Setting)
		}
		return
	}
	word, ok := setting.words[c.Value]
	if c.Value != "" && !ok {
		e.fault("%s: %q is not a value of %s", c.Disk, c.Value, c.Setting)
		return
	}
	e.setDrive(l, setting.property, word)
	if hw, _ := e.now("scsihw"); setting.property == "iothread" && word == "1" && hw == "virtio-scsi-pci" && strings.HasPrefix(l.key, "scsi") {
		e.set("scsihw", single)
	}
}

// setDrive sets a property of a drive, or takes it out for "".
func (e *editor) setDrive(l *line, property, value string) {
	s, _ := driveKey(l.key)
	props := parseProperties(l.value, "file")
	switch {
	case value == "" && property == "file":
		e.fault("%s: a disk needs a source", l.key)
	case value == "":
		l.value = props.without(func(key string) bool { return key == property }).String()
	case !allowed(s.bus, property):
		e.fault("%s: Proxmox VE has no %s for a disk on %s", l.key, property, s.bus)
	default:
		l.value = props.with(property, value).String()
	}
}

// changeMachine makes one change of the machine.
func (e *editor) changeMachine(c vmconf.Change) {
	key := map[string]string{
		vmconf.SetHugepages: "hugepages", vmconf.SetAgent: "agent", vmconf.SetBalloon: "balloon", vmconf.SetMachine: "machine",
	}[c.Setting]
	switch {
	case key == "":
		e.fault("%s is not a setting of a machine", c.Setting)
		return
	case key != "machine" && c.Value != "on" && c.Value != "off" && c.Value != "":
		e.fault("%s: %q is neither on nor off", c.Setting, c.Value)
		return
	}
	switch key {
	case "hugepages":
		e.setOrRemove(key, map[string]string{"on": "any"}[c.Value])
		if c.Value == "on" && !e.on("numa") { // Proxmox VE starts no VM with huge pages and without
			e.set("numa", "1")
		}
	case "balloon":
		e.setOrRemove(key, map[string]string{"off": "0"}[c.Value])
	case "agent":
		if c.Value == "" { // its other properties are nothing without
			e.setOrRemove(key, "")
			return
		}
		e.setProperty(key, "enabled", map[string]string{"on": "1", "off": "0"}[c.Value])
	case "machine":
		e.setProperty(key, "type", c.Value)
	}
}
