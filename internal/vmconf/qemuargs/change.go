package qemuargs

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// order is that in which changes are made: a disk's device first, then what depends on it.
var order = []string{
	vmconf.SetMachine, vmconf.SetBus, vmconf.SetSource, vmconf.SetCache, vmconf.SetAIO, vmconf.SetDiscard, vmconf.SetDetectZeroes,
	vmconf.SetIOThread, vmconf.SetQueues, vmconf.SetQueueSize, vmconf.SetL2CacheSize, vmconf.SetPhysical, vmconf.SetThrottle,
	vmconf.SetHugepages, vmconf.SetAgent, vmconf.SetBalloon,
}

// step is one change on its way.
type step struct {
	vmconf.Change
	disk int // in VM.Disks, -1 for the machine
}

// Change returns the text with the changes made in one of its machines, and every other byte as it was.
func (d *Document) Change(vm int, changes []vmconf.Change) ([]byte, error) {
	if vm < 0 || vm >= len(d.guests) {
		return nil, errkind.Userf("%s: it has no machine %d", d.name, vm+1)
	}
	var faults errkind.List
	var steps []step
	for _, c := range changes {
		s, err := d.guests[vm].step(c)
		if err != nil {
			faults = append(faults, d.fault(c, err))
			continue
		}
		steps = append(steps, s)
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Compare(slices.Index(order, a.Setting), slices.Index(order, b.Setting))
	})
	if len(steps) == 0 && len(faults) == 0 {
		return d.text.Data, nil
	}
	disks := map[int]bool{}
	for _, s := range steps {
		disks[s.disk] = true
	}
	cur := d.excerpt(vm, disks)
	vm = cur.look.vm
	for i, s := range steps {
		next, err := cur.make(s, steps)
		if err != nil {
			faults = append(faults, d.fault(s.Change, err))
			steps[i].Setting = "" // nothing to check
			continue
		}
		cur = next
	}
	for _, s := range steps {
		if s.Setting != "" {
			if err := cur.guests[vm].check(s); err != nil {
				faults = append(faults, d.fault(s.Change, err))
			}
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return cur.back(d), nil
}

func (d *Document) fault(c vmconf.Change, err error) error {
	what := c.Setting
	if c.Disk != "" {
		what += " of " + c.Disk
	}
	return errkind.Userf("%s: %s cannot be set to %q: %w", d.name, what, c.Value, err)
}

// values are those that a change may have where they are few.
var values = map[string][]string{
	vmconf.SetCache: {"", "none", "writeback", "writethrough", "directsync", "unsafe"}, vmconf.SetAIO: {"", "threads", "native", "io_uring"},
	vmconf.SetDiscard: {"", "unmap", "ignore"}, vmconf.SetDetectZeroes: {"", "off", "on", "unmap"}, vmconf.SetThrottle: {""},
	vmconf.SetHugepages: {"on", "off"}, vmconf.SetAgent: {"on", "off"}, vmconf.SetBalloon: {"on", "off"},
}

// step checks that a change can be meant.
func (g *guest) step(c vmconf.Change) (step, error) {
	s := step{c, slices.IndexFunc(g.disks, func(d *disk) bool { return d.id == c.Disk })}
	i := slices.Index(order, c.Setting)
	machine := i == 0 || i >= slices.Index(order, vmconf.SetHugepages)
	allowed, few := values[c.Setting]
	switch {
	case i < 0:
		return s, errors.New("a command line has no such setting")
	case machine && c.Disk != "":
		return s, errors.New("it is a setting of the machine")
	case machine && g.start.program == daemon:
		return s, errors.New("qemu-storage-daemon has no machine")
	case machine:
		s.disk = -1
	case s.disk < 0:
		return s, errkind.WithHint(errkind.Userf("there is no such disk"), "its disks: %s", g.names())
	}
	if few && !slices.Contains(allowed, c.Value) {
		return s, errors.New("QEMU knows " + strings.TrimPrefix(strings.Join(allowed, ", "), ", "))
	}
	number := c.Setting == vmconf.SetQueues || c.Setting == vmconf.SetQueueSize || c.Setting == vmconf.SetL2CacheSize || c.Setting == vmconf.SetPhysical
	if number && c.Value != "" && strings.Trim(c.Value, "0123456789") != "" {
		return s, errors.New("it is not a number")
	}
	return s, nil
}

func (g *guest) names() string {
	var out []string
	for _, d := range g.disks {
		out = append(out, d.id)
	}
	return strings.Join(out, ", ")
}

// maxRounds is how many times one change may edit and read again.
const maxRounds = 40

// make makes one change. Each round edits the text and reads it again, until nothing is left to do.
func (d *Document) make(s step, all []step) (*Document, error) {
	vm := d.look.vm
	for range maxRounds {
		g := d.guests[vm]
		e := &editor{g: g, all: all}
		err := e.do(s)
		if err == nil {
			err = e.err
		}
		if err != nil {
			return nil, err
		}
		if len(e.splices) == 0 {
			return d, nil
		}
		next, err := read(d.name, words.Apply(d.text.Data, e.splices), d.look)
		if err != nil {
			return nil, err
		}
		if len(next.guests) != len(d.guests) || len(next.guests[vm].disks) != len(g.disks) {
			return nil, errors.New("it would change other disks too; change it by hand")
		}
		d = next
		if !e.again {
			return d, nil
		}
	}
	return nil, errors.New("it takes too many edits; change it by hand")
}

// check compares what is in effect now with what was wished, and with what QEMU refuses.
func (g *guest) check(s step) error {
	if s.disk < 0 {
		got := g.vm.Setting(s.Setting)
		if s.Setting == vmconf.SetHugepages && got.Value != "off" && got.Value != "" {
			got.Value = "on"
		}
		return differs(got, s.Value)
	}
	v := g.vm.Disks[s.disk]
	direct := v.Cache.Value == "none" || v.Cache.Value == "directsync"
	switch {
	case v.AIO.Value == "native" && !direct && v.Cache.Value != "" && (s.Setting == vmconf.SetCache || s.Setting == vmconf.SetAIO):
		return errors.New("aio=native needs cache none or directsync; change both")
	case v.DetectZeroes.Value == "unmap" && v.Discard.Value == "ignore" && (s.Setting == vmconf.SetDiscard || s.Setting == vmconf.SetDetectZeroes):
		return errors.New("detect-zeroes=unmap needs discard=unmap; change both")
	case s.Setting == vmconf.SetThrottle && len(v.Throttle) > 0:
		return errors.New(v.Throttle[0].Written + " is still there")
	case s.Setting == vmconf.SetIOThread && (s.Value == "on" || s.Value == ""):
		if off := v.IOThread.Value == "off"; off == (s.Value == "on") {
			return differs(v.IOThread, cmp.Or(s.Value, "off"))
		}
		return nil
	case s.Value == "":
		return nil
	}
	return differs(v.Setting(s.Setting), s.Value)
}

// differs is a fault where a setting is not what was wished.
func differs(got vmconf.Setting, want string) error {
	if got.Value == want {
		return nil
	}
	why := cmp.Or(got.Why, got.Written, "something else in the command line decides it")
	return errors.New("it stays " + cmp.Or(got.Value, "unknown") + ": " + why)
}
