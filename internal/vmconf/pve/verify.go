package pve

import (
	"slices"

	"github.com/iotax/iotax/internal/vmconf"
)

// verify reads the edited document and asks for every change whether it takes effect, and for every disk that was not to be
// moved whether it stayed where it was.
func (e *editor) verify(vm int, changes []vmconf.Change) {
	after, err := Parse(e.doc.file, []byte(e.text()), e.doc.storage)
	if err != nil {
		e.fault("the changed configuration cannot be read: %v", err)
		return
	}
	old, now := e.doc.vms[vm], after.vms[vm]
	if len(now.Disks) != len(old.Disks) {
		e.fault("a disk would be lost")
		return
	}
	moving := map[string]bool{}
	for _, c := range changes {
		got := e.setting(now, c)
		moving[c.Disk] = moving[c.Disk] || c.Setting == vmconf.SetBus
		switch {
		case c.Value == "" && got.Set && c.Setting != vmconf.SetBus:
			e.fault("%s: %s cannot be taken out", place(c), c.Setting)
		case c.Value != "" && got.Value != c.Value:
			e.fault("%s: %s would be %q and not %q%s", place(c), c.Setting, got.Value, c.Value, because(got.Why))
		}
	}
	buses := map[string]string{}
	for _, d := range now.Disks {
		buses[d.ID] = d.Bus.Value
	}
	for _, d := range old.Disks {
		if bus, ok := buses[d.ID]; ok && bus != d.Bus.Value && !moving[d.ID] && d.Device != "cdrom" {
			e.fault("%s would move from %s to %s too: scsihw is of all SCSI disks; move it with the others", d.ID, d.Bus.Value, bus)
		}
	}
}

func place(c vmconf.Change) string { return or(c.Disk, "the machine") }

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// setting is what a change sets.
func (e *editor) setting(m vmconf.VM, c vmconf.Change) vmconf.Setting {
	if c.Disk == "" {
		return m.Setting(c.Setting)
	}
	id := or(e.moved[c.Disk], c.Disk)
	i := slices.IndexFunc(m.Disks, func(d vmconf.Disk) bool { return d.ID == id })
	if i < 0 {
		return vmconf.Setting{Why: "the disk is gone"}
	}
	return m.Disks[i].Setting(c.Setting)
}
