// Package outcome is all that an audit came to, as plain data for those who render it: what was read, what was found, and for
// each finding the edit of the configuration that mends it. It does no I/O.
package outcome

import (
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/linediff"
	"github.com/iotax/iotax/internal/vmconf"
)

// Source is one configuration that was read.
type Source struct {
	Name string // of the file, or of who was asked
	Kind string // one of vmconf's
	Doc  vmconf.Document
	VMs  []vmconf.VM
}

// Skipped is something in a folder that was not read.
type Skipped struct{ Name, Why string }

// Outcome is an audit as a whole. Names of files are relative where they are below the folder that it was started in.
type Outcome struct {
	Version  string // of iotax
	Sources  []Source
	Storages []string // descriptions of storage that were used
	Skipped  []Skipped
	Unknown  []vmconf.Unknown // what was not understood, in the order of the sources
	Faults   []string         // what could not be read, a line each
	Findings []Finding        // by machine; see audit.Audit
	Run      string           // the run that prices are from, "" = none is stored

	dir  string         // that names are relative to
	work map[string]int // what the changes of each source cost so far, see cost
}

// most is how many bytes of one source are read again to show what is to be done: a machine of thousands of disks is read
// anew for each change, and must not take hours.
const most = 128 << 20

// passing is how many bytes are copied and compared, for the diff, in the time that reading one takes.
const passing = 256

// Finding is a finding with all that a reader needs of it.
type Finding struct {
	audit.Finding
	Of      audit.Rule
	Kind    string       // of the configuration, "" for the host
	Subject vmconf.Place // where the disk, or the machine, stands
	Edits   []linediff.Edit
	Diff    string // of the configuration, unified; "" where it is not to be changed
	QM      string // Proxmox VE: the same as a command
	Refused string // why the configuration cannot say the change
}

// New begins an outcome with what was read. dir is the folder that names become relative to.
func New(dir string, sources []Source) *Outcome {
	o := &Outcome{dir: dir, work: map[string]int{}}
	for _, s := range sources {
		s.VMs = s.Doc.VMs()
		s.Name = Relative(dir, s.Name)
		for _, vm := range s.VMs {
			for _, u := range vm.Unknown {
				u.At.File = Relative(dir, u.At.File)
				o.Unknown = append(o.Unknown, u)
			}
		}
		o.Sources = append(o.Sources, s)
	}
	return o
}

// Relative shortens the name of a file below dir; from the root of all files no name gets shorter.
func Relative(dir, name string) string {
	if below := within(dir); below != "" {
		return strings.TrimPrefix(name, below)
	}
	return name
}

// within is what names below dir begin with, "" for the root.
func within(dir string) string {
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		return ""
	}
	return dir + "/"
}

// Machines are those of all sources, in the order that Finding.Index counts in.
func (o *Outcome) Machines() []vmconf.VM {
	var all []vmconf.VM
	for _, s := range o.Sources {
		all = append(all, s.VMs...)
	}
	return all
}

// Add puts findings in, each with its rule, its place and the edit that mends it.
func (o *Outcome) Add(findings []audit.Finding) {
	for _, f := range findings {
		out := Finding{Finding: f}
		out.Of, _ = audit.Find(f.Rule)
		out.At.File = Relative(o.dir, f.At.File)
		if s, vm, ok := o.machine(f.Index); ok {
			out.Kind, out.Subject = s.Kind, subject(s.VMs[vm], f.Disk)
			out.Subject.File = Relative(o.dir, out.Subject.File)
			if o.work[s.Name] += cost(s.Doc, vm, len(f.Changes)); o.work[s.Name] <= most {
				out.mend(s, vm)
				if below := within(o.dir); below != "" {
					out.Refused = strings.ReplaceAll(out.Refused, below, "")
				}
			} else if len(f.Changes) > 0 {
				out.Refused = "too many changes to show of a configuration of this size; audit this machine's own file"
			}
		}
		o.Findings = append(o.Findings, out)
	}
}

// cost is that of some changes of one machine, in bytes that are read again: all of the text, unless it knows better.
func cost(doc vmconf.Document, vm, changes int) int {
	size := len(doc.Bytes())
	if changes == 0 {
		return 0
	}
	if d, ok := doc.(interface{ Extent(vm int) int }); ok {
		return changes*d.Extent(vm) + size/passing
	}
	return changes * size
}

// machine finds the source of a machine, and its index there.
func (o *Outcome) machine(index int) (Source, int, bool) {
	for _, s := range o.Sources {
		if index >= 0 && index < len(s.VMs) {
			return s, index, true
		}
		index -= len(s.VMs)
	}
	return Source{}, 0, false
}

func subject(vm vmconf.VM, disk string) vmconf.Place {
	if i := slices.IndexFunc(vm.Disks, func(d vmconf.Disk) bool { return d.ID == disk }); i >= 0 && disk != "" {
		return vm.Disks[i].At
	}
	return vm.At
}

// mend carries the change out on the text that was read.
func (f *Finding) mend(s Source, vm int) {
	if len(f.Changes) == 0 {
		return
	}
	old := s.Doc.Bytes()
	text, err := s.Doc.Change(vm, f.Changes)
	if err != nil {
		f.Refused = strings.ReplaceAll(err.Error(), "\n", "; ")
		return
	}
	f.Edits = linediff.Edits(old, text)
	f.Diff = linediff.Unified(s.Name, old, f.Edits)
	if q, ok := s.Doc.(interface {
		QM(vm int, changes []vmconf.Change) (string, error)
	}); ok && f.Part == "" {
		f.QM, _ = q.QM(vm, f.Changes) // Change has said what is wrong
	}
}

// Count is how many findings have each severity.
func (o *Outcome) Count() map[audit.Severity]int {
	counts := map[audit.Severity]int{}
	for _, f := range o.Findings {
		counts[f.Severity]++
	}
	return counts
}

// Disks is how many disks were read, those of snapshots and of what is pending left out.
func (o *Outcome) Disks() (n int) {
	for _, vm := range o.Machines() {
		if Audited(vm) {
			n += len(vm.Disks)
		}
	}
	return n
}

// Audited reports whether a machine is one that runs so, or will.
func Audited(vm vmconf.VM) bool { return vm.Part == "" || vm.Part == "running" }
