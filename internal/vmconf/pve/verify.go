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
	switch c.Setting {
	case vmconf.SetHugepages:
		return m.Hugepages
	case vmconf.SetAgent:
		return m.Agent
	case vmconf.SetBalloon:
		return m.Balloon
	case vmconf.SetMachine:
		return m.Machine
	}
	id := or(e.moved[c.Disk], c.Disk)
	i := slices.IndexFunc(m.Disks, func(d vmconf.Disk) bool { return d.ID == id })
	if i < 0 {
		return vmconf.Setting{Why: "the disk is gone"}
	}
	d := m.Disks[i]
	switch c.Setting {
	case vmconf.SetBus:
		return d.Bus
	case vmconf.SetCache:
		return d.Cache
	case vmconf.SetAIO:
		return d.AIO
	case vmconf.SetIOThread:
		return d.IOThread
	case vmconf.SetDiscard:
		return d.Discard
	case vmconf.SetDetectZeroes:
		return d.DetectZeroes
	case vmconf.SetQueues:
		return d.Queues
	case vmconf.SetQueueSize:
		return d.QueueSize
	case vmconf.SetL2CacheSize:
		return d.L2CacheSize
	case vmconf.SetPhysical:
		return d.PhysicalBlock
	case vmconf.SetSource:
		return d.Source
	case vmconf.SetThrottle:
		return vmconf.Setting{Set: len(d.Throttle) > 0}
	}
	return vmconf.Setting{}
}
