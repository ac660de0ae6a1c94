// Package libvirt reads libvirt's domain XML (https://libvirt.org/formatdomain.html), live status files, snapshots and
// streams of several documents, with the defaults of libvirt and QEMU, and changes them in place.
package libvirt

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Document is a file or stream with at least one domain. It implements vmconf.Document.
type Document struct {
	name  string
	data  []byte
	lines []int // offset of each line's beginning
	count int   // elements
	vms   []*machine
	list  []vmconf.VM

	whole  bool // not a machine that is read alone
	around around
}

var _ vmconf.Document = (*Document)(nil)

// Parse reads every domain in data; name is what messages call it. All faults come at once, as errkind.List of user faults
// with their lines. Text that is no XML, before, between and after the documents, is said as Unknown of the first machine.
func Parse(name string, data []byte) (*Document, error) {
	if len(data) > vmconf.MaxBytes {
		return nil, tooLong(name, len(data))
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errkind.Userf("%s: UTF-16; only UTF-8 is read: iconv -f UTF-16 -t UTF-8 converts it", name)
	}
	d := &Document{name: name, data: data, whole: true}
	d.findLines()
	s := documents(data)
	var faults errkind.List
	for _, f := range s.faults {
		faults = append(faults, d.fault(f))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	d.count = s.count
	d.around = around{room: room{maxAll, vmconf.MaxDepth}, newline: lineEnd(data), step: "  "}
	for _, f := range s.foreign {
		d.around.foreign = append(d.around.foreign, d.fault(f).Error())
	}
	var others []*element
	for _, root := range s.roots {
		before := len(d.vms)
		if d.domains(root); len(d.vms) == before {
			others = append(others, root)
		}
	}
	if len(d.vms) == 0 {
		return nil, errkind.Userf("%s: no domain of libvirt in it", name)
	}
	for _, t := range s.loose {
		d.vms[0].unknown(t.start, data[t.start:t.end])
	}
	for _, root := range others {
		d.vms[0].unknown(root.start, data[root.start:root.open])
	}
	for _, m := range d.vms {
		d.list = append(d.list, m.vm)
	}
	return d, nil
}

func tooLong(name string, n int) error {
	return errkind.Userf("%s: %d bytes are no configuration; at most %d MiB are read", name, n, vmconf.MaxBytes>>20)
}

func (d *Document) fault(b *badXML) error {
	return errkind.Userf("%s:%d: %s", d.name, d.line(b.at), b.why)
}

func (d *Document) findLines() {
	d.lines = []int{0}
	for i, c := range d.data {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
}

// domains reads the domains in one document: the document itself, or inside a status, a snapshot or a list of domains.
func (d *Document) domains(root *element) {
	root.walk(func(e *element) bool {
		named := e.is("domain") || e.is("inactiveDomain")
		if !named || e != root && e.kid("name") == nil && e.kid("devices") == nil && e.kid("os") == nil {
			return e.name != "metadata" // capabilities and networks have other things of that name
		}
		d.vms = append(d.vms, d.read(e))
		return false
	})
}

// VMs are the machines in the order in which they stand; a machine's disks keep their order through a Change.
func (d *Document) VMs() []vmconf.VM { return d.list }

// Bytes is the document as it was given.
func (d *Document) Bytes() []byte { return d.data }

// line is the number of the line that an offset is in.
func (d *Document) line(at int) int {
	return d.around.lines + sort.Search(len(d.lines), func(i int) bool { return d.lines[i] > at })
}

func (d *Document) place(at int) vmconf.Place { return vmconf.Place{File: d.name, Line: d.line(at)} }

// shorten makes one line of a text.
func shorten(text []byte) string {
	const most = 100
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text[:min(len(text), 4*most)]), "?")), " ")
	if r := []rune(line); len(r) > most {
		line = string(r[:most-1]) + "…"
	}
	return line
}

func (m *machine) unknown(at int, text []byte) {
	m.vm.Unknown = append(m.vm.Unknown, vmconf.Unknown{Text: shorten(text), At: m.doc.place(at)})
}

// part says which part of a configuration a domain is, by what it stands in.
func part(dom *element) string {
	for e := dom.parent; e != nil; e = e.parent {
		switch e.name {
		case "domstatus":
			return "running"
		case "domainsnapshot", "domaincheckpoint":
			what := strings.TrimPrefix(e.name, "domain")
			if n := e.kid("name"); n != nil {
				what = fmt.Sprintf("%s %s", what, n.text)
			}
			if dom.name == "inactiveDomain" {
				what += ", next start"
			}
			return what
		}
	}
	if dom.attr("id") != nil { // libvirt gives one to a domain that runs
		return "running"
	}
	return ""
}
