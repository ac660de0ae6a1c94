// Package pve reads configurations of Proxmox VE: a VM's file (qm.conf(5)) with its snapshots and pending changes, and the
// storages of a node (storage.cfg), and writes changes back. What is not written takes the value that qemu-server gives it
// on the command line of QEMU. It is pure.
package pve

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Document is the configuration of one VM. It implements vmconf.Document.
type Document struct {
	file     string
	text     string
	storage  Storage
	sections []*section          // the current one first
	named    map[string]*section // the others, the last of a name
	confs    []*conf             // what each of vms was made of
	vms      []vmconf.VM
}

// VMs are the current section, the same with the pending changes made where there are any (part "pending"), and the
// snapshots (part "snapshot NAME"), in this order.
func (d *Document) VMs() []vmconf.VM { return d.vms }

// Bytes is the configuration as it was read.
func (d *Document) Bytes() []byte { return []byte(d.text) }

// Parse reads the configuration of a VM. name is its file, of which the VM's number is taken ("/etc/pve/qemu-server/100.conf")
// and which every place names. storage tells the kind of each volume's storage: without it some defaults are not certain,
// and say so. A line that cannot be read is kept and is among the first VM's Unknown; what is no configuration at all is a
// user's fault.
func Parse(name string, data []byte, storage Storage) (*Document, error) {
	if err := plausible(name, data); err != nil {
		return nil, err
	}
	d := &Document{file: name, text: string(data), storage: storage}
	if err := d.scan(); err != nil {
		return nil, err
	}
	if !d.understood() {
		return nil, errkind.Userf("%s: no line of it is an option of a VM: it is not a configuration of Proxmox VE", name)
	}
	d.confs = d.resolve()
	for _, c := range d.confs {
		d.vms = append(d.vms, c.vm())
	}
	d.vms[0].Unknown = append(d.vms[0].Unknown, d.ignored()...)
	for i := range d.vms {
		d.vms[i].Unknown = shortened(d.vms[i].Unknown)
	}
	return d, nil
}

// maxBytes is how large a file of Proxmox VE's configuration can be: its cluster file system, pmxcfs, takes no larger one.
const maxBytes = 1 << 20

// plausible refuses what no configuration of Proxmox VE can be.
func plausible(name string, data []byte) error {
	switch {
	case len(data) > maxBytes:
		return errkind.Userf("%s: larger than %d MiB: it is not a configuration of Proxmox VE", name, maxBytes>>20)
	case len(strings.TrimSpace(string(data))) == 0:
		return errkind.Userf("%s: it is empty", name)
	}
	if i := strings.IndexByte(string(data), 0); i >= 0 {
		line := 1 + strings.Count(string(data[:i]), "\n")
		return errkind.Userf("%s: line %d holds a NUL byte: Proxmox VE's configurations are UTF-8 text", name, line)
	}
	return nil
}

// understood reports whether a line of any section is an option of a VM.
func (d *Document) understood() bool {
	for _, s := range d.sections {
		for _, e := range s.entries {
			if option(e.key) {
				return true
			}
		}
	}
	return false
}

// resolve returns what takes effect in each machine that the document describes.
func (d *Document) resolve() []*conf {
	current := newConf(d, d.sections[0], nil)
	confs := []*conf{current}
	var snapshots []*conf
	for _, s := range d.sections[1:] {
		switch {
		case s.replacedBy != 0:
		case s.kind == pendingSection:
			confs = append(confs, newConf(d, s, current))
		case s.kind == snapshotSection:
			snapshots = append(snapshots, newConf(d, s, nil))
		}
	}
	return append(confs, snapshots...)
}

// ignored says which sections have no effect, and which disks are in them.
func (d *Document) ignored() []vmconf.Unknown {
	var list []vmconf.Unknown
	for _, s := range d.sections[1:] {
		var why string
		switch {
		case s.kind == strangeSection:
			why = "a section that Proxmox VE does not know and skips"
		case s.replacedBy != 0:
			why = fmt.Sprintf("replaced by the section of the same name in line %d", s.replacedBy)
		case s.kind == specialSection:
			list = append(list, s.notes...)
			continue
		default:
			continue
		}
		list = append(list, d.unknown(s.line, "[%s]: %s", s.name, why))
		list = append(list, s.notes...)
		for _, e := range s.entries {
			if _, ok := driveKey(e.key); ok {
				list = append(list, d.unknown(e.line, "[%s] %s: %s: has no effect there", s.name, e.key, e.value))
			}
		}
	}
	return list
}

func (d *Document) at(line int) vmconf.Place { return vmconf.Place{File: d.file, Line: line} }

// unknown is something that was not understood in a line.
func (d *Document) unknown(line int, format string, args ...any) vmconf.Unknown {
	return vmconf.Unknown{Text: oneLine(fmt.Sprintf(format, args...)), At: d.at(line)}
}

// oneLine shortens text for a person.
func oneLine(text string) string {
	const most = 160 // runes
	text = text[:min(len(text), 8*most)]
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// mostUnknown keeps garbage from filling the memory of everyone after us.
const mostUnknown = 1000

func shortened(list []vmconf.Unknown) []vmconf.Unknown {
	if len(list) <= mostUnknown {
		return list
	}
	rest := vmconf.Unknown{Text: "and more, from here on", At: list[mostUnknown].At}
	return append(list[:mostUnknown:mostUnknown], rest)
}

// vmid is the number of a VM at the end of its file's name: "100.conf", "node1_100.conf".
var vmid = regexp.MustCompile(`(?:^|[/_-])([1-9][0-9]{2,8})\.conf$`)

func vmID(file string) string {
	if m := vmid.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return ""
}
