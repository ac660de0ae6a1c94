package xl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// splice puts text in the place of data[start:end].
type splice struct {
	start, end int
	text       string
}

// Change returns the configuration with the changes made and every other byte as it was. vm must be 0. A change that is
// in effect already changes nothing.
func (d *Document) Change(vm int, changes []vmconf.Change) ([]byte, error) {
	if vm != 0 {
		return nil, errkind.Userf("%s: machine %d: the file has one", d.name, vm)
	}
	var faults errkind.List
	refuse := func(c vmconf.Change, err error) {
		if err != nil {
			faults = append(faults, errkind.Userf("%s: %s%s: %v", d.name, prefix(c.Disk), c.Setting, err))
		}
	}
	index := map[string]int{"": machineItself}
	for i, disk := range d.vm.Disks {
		index[disk.ID] = i
	}
	order := slices.Clone(changes) // what a disk can do depends on its bus
	slices.SortStableFunc(order, func(a, b vmconf.Change) int {
		return -cmp.Compare(b2i(a.Setting == vmconf.SetBus), b2i(b.Setting == vmconf.SetBus))
	})
	now := d
	for _, c := range order {
		i, ok := index[c.Disk]
		if !ok {
			refuse(c, errkind.Userf("there is no such disk; expected one of %s", strings.Join(d.names(), ", ")))
			continue
		}
		next, err := now.change(i, c)
		if err == nil {
			now = next
		}
		refuse(c, err)
	}
	if len(faults) == 0 {
		for _, c := range changes { // one may have undone another
			if got := now.effective(index[c.Disk], c.Setting); c.Value != "" && got.Value != c.Value {
				refuse(c, errkind.Userf("xl would make it %q, not %q; another of the changes needs that", got.Value, c.Value))
			}
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return now.data, nil
}

// machineItself stands for the machine where the index of a disk is expected.
const machineItself = -1

func prefix(disk string) string {
	if disk == "" {
		return ""
	}
	return "disk " + disk + ": "
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (d *Document) names() []string {
	names := make([]string, len(d.vm.Disks))
	for i, disk := range d.vm.Disks {
		names[i] = disk.ID
	}
	return names
}

// change makes one change and reads the outcome.
func (d *Document) change(i int, c vmconf.Change) (*Document, error) {
	if c.Value != "" && d.effective(i, c.Setting).Value == c.Value {
		return d, nil
	}
	var splices []splice
	var err error
	if i == machineItself {
		splices, err = d.changeMachine(c)
	} else if disk := d.disks[i]; disk.python || disk.tok.kind != quoted {
		err = errkind.Userf("Python puts this disk together; change line %d by hand", disk.tok.line)
	} else if len(disk.problems) > 0 {
		err = errkind.Userf("xl refuses the disk as it stands: %s; mend line %d by hand", disk.problems[0], disk.tok.line)
	} else {
		splices, err = d.changeDisk(i, c)
	}
	if err != nil {
		return nil, err
	}
	return Parse(d.name, apply(d.data, splices))
}

// apply makes the splices. Two that take out neighbours may both take the comma between them.
func apply(data []byte, splices []splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	done := 0
	for _, s := range splices {
		out = append(append(out, data[done:max(s.start, done)]...), s.text...)
		done = max(s.end, done)
	}
	return append(out, data[done:]...)
}

// effective is the setting that a change is about.
func (d *Document) effective(i int, name string) vmconf.Setting {
	if i == machineItself {
		return d.vm.Setting(name)
	}
	return d.vm.Disks[i].Setting(name)
}

// changeMachine takes maxmem out, so that nothing of the memory is in the balloon. xl has words for no other setting.
func (d *Document) changeMachine(c vmconf.Change) (splices []splice, err error) {
	switch {
	case c.Setting == vmconf.SetBalloon && c.Value == "on":
		return nil, errkind.Userf("how far the memory may grow is for you to say; write maxmem = MiB")
	case c.Setting == vmconf.SetBalloon:
		s := d.settings["maxmem"]
		if s == nil {
			return nil, nil
		}
		for _, span := range s.spans {
			splices = append(splices, d.statement(span))
		}
		return splices, nil
	case c.Value == "":
		return nil, nil // there is nothing that could be taken out
	}
	return nil, errkind.Userf("xl has no setting for it; expected one of balloon")
}

// statement removes a statement: with its line, where it has one to itself.
func (d *Document) statement(span [2]int) splice {
	start, end := span[0], span[1]
	for start > 0 && (d.data[start-1] == ' ' || d.data[start-1] == '\t') {
		start--
	}
	for end < len(d.data) && strings.IndexByte(" \t\r", d.data[end]) >= 0 {
		end++
	}
	alone := start == 0 || d.data[start-1] == '\n'
	switch {
	case alone && end < len(d.data) && d.data[end] == '\n':
		return splice{start, end + 1, ""}
	case alone && end == len(d.data):
		return splice{start, end, ""}
	case end < len(d.data) && d.data[end] == ';':
		return splice{span[0], end + 1, ""}
	}
	return splice{span[0], span[1], ""}
}
