package libvirt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// rank orders changes of one disk: on another bus other settings are possible, and a change may need an earlier one.
var rank = []string{
	vmconf.SetMachine, vmconf.SetBus, vmconf.SetSource, vmconf.SetCache, vmconf.SetDiscard,
	vmconf.SetAIO, vmconf.SetDetectZeroes, vmconf.SetIOThread, vmconf.SetQueues, vmconf.SetQueueSize, vmconf.SetL2CacheSize,
	vmconf.SetThrottle, vmconf.SetPhysical, vmconf.SetHugepages, vmconf.SetAgent, vmconf.SetBalloon,
}

// Change makes the changes in the machine with that index. A disk that goes to another bus gets a name that fits there; the
// order of the disks stays. A change that asks for what takes effect anyway changes nothing.
func (d *Document) Change(vm int, changes []vmconf.Change) ([]byte, error) {
	if vm < 0 || vm >= len(d.vms) {
		return nil, errkind.Userf("%s: no machine %d in it", d.name, vm)
	}
	m := d.vms[vm]
	var faults errkind.List
	todo := make([]task, 0, len(changes))
	for _, c := range changes {
		t, err := m.task(c)
		if err != nil {
			faults = append(faults, m.fault(c, err))
			continue
		}
		todo = append(todo, t)
	}
	slices.SortStableFunc(todo, func(a, b task) int { return a.rank - b.rank })
	now := m
	for _, t := range todo {
		next, err := now.step(t)
		if err != nil {
			faults = append(faults, m.fault(t.Change, err))
			continue
		}
		now = next
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for _, t := range todo {
		if err := now.check(t); err != nil {
			faults = append(faults, m.fault(t.Change, err))
		}
	}
	if m.boots() != now.boots() {
		faults = append(faults, errkind.Userf("%s: %s: with these changes it would no longer boot from %s first; give that disk a <boot order='1'/>",
			d.name, m.vm.Name, m.disks[m.boots()].is.ID))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if now == m {
		return d.data, nil
	}
	return slices.Concat(d.data[:m.dom.start], now.doc.data[now.dom.start:], d.data[m.dom.end:]), nil
}

// task is a change whose disk was found.
type task struct {
	vmconf.Change
	disk int // index of the disk, -1 for the machine
	rank int
}

func (m *machine) fault(c vmconf.Change, err error) error {
	what := m.vm.Name
	if c.Disk != "" {
		what += " " + c.Disk
	}
	return errkind.Userf("%s: %s: %s %q: %w", m.doc.name, what, c.Setting, c.Value, err)
}

func (m *machine) task(c vmconf.Change) (task, error) {
	t := task{Change: c, disk: -1, rank: slices.Index(rank, c.Setting)}
	if t.rank < 0 {
		return t, errors.New("not a setting that can be changed here")
	}
	if !m.qemu && c.Setting != vmconf.SetSource && c.Setting != vmconf.SetThrottle {
		return t, errors.New(notQEMU)
	}
	ofMachine := slices.Contains([]string{vmconf.SetHugepages, vmconf.SetAgent, vmconf.SetBalloon, vmconf.SetMachine}, c.Setting)
	switch {
	case ofMachine && c.Disk != "":
		return t, errors.New("a setting of the machine, not of a disk")
	case ofMachine:
		return t, nil
	case c.Setting == vmconf.SetThrottle && c.Value != "":
		return t, errors.New("limits can only be lifted")
	case c.Disk == "":
		return t, errors.New("a setting of a disk; none is named")
	}
	for i, d := range m.disks {
		if d.is.ID == c.Disk {
			if t.disk >= 0 {
				return t, errors.New("two disks have that name")
			}
			t.disk = i
		}
	}
	if t.disk < 0 {
		return t, errors.New("the machine has no such disk")
	}
	t.rank = t.rank*len(m.disks) + t.disk // disks in their order, so that names are given out in it
	return t, nil
}

// step makes one change and reads the result, so that the next one sees it.
func (m *machine) step(t task) (*machine, error) {
	if m.check(t) == nil {
		return m, nil // it takes effect already
	}
	ed := m.edits()
	var err error
	if t.disk < 0 {
		err = m.changeMachine(ed, t)
	} else {
		err = m.changeDisk(ed, &m.disks[t.disk], t)
	}
	if err != nil {
		return nil, err
	}
	next, err := m.reread(ed)
	if err != nil {
		return nil, fmt.Errorf("the change would break the document: %w", err)
	}
	return next, nil
}

// setting is what a change sets, as it is now.
func (m *machine) setting(t task) vmconf.Setting {
	if t.disk < 0 {
		return m.vm.Setting(t.Setting)
	}
	return m.disks[t.disk].is.Setting(t.Setting)
}

// check says why a change has not the effect that it asks for.
func (m *machine) check(t task) error {
	s := m.setting(t)
	switch {
	case t.Setting == vmconf.SetAIO && t.Value == "native" && m.disks[t.disk].is.Cache.Value != "none" &&
		m.disks[t.disk].is.Cache.Value != "directsync":
		return fmt.Errorf("libvirt takes native with cache none or directsync alone")
	case t.Setting == vmconf.SetCache && t.Value != "none" && t.Value != "directsync" && m.disks[t.disk].is.AIO.Value == "native" &&
		m.disks[t.disk].is.Cache.Value == t.Value:
		return fmt.Errorf("aio is native, which libvirt takes with cache none or directsync alone")
	case t.Value == "":
		if s.Set {
			return fmt.Errorf("still written: %s", s.Written)
		}
		return nil
	case t.Value == s.Value:
		return nil
	case t.Value == "on" && s.Value != "off" && s.Value != "" && (t.Setting == vmconf.SetIOThread || t.Setting == vmconf.SetHugepages):
		return nil
	}
	if s.Why != "" {
		return fmt.Errorf("%s takes effect: %s", strconv.Quote(s.Value), s.Why)
	}
	return fmt.Errorf("%s takes effect", strconv.Quote(s.Value))
}
