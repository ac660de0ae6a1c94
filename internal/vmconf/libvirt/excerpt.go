package libvirt

import (
	"fmt"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// around is what the text of a Document stands in, as far as reading it and writing into it depend on that: of a machine that
// is read alone the rest of its document, of a whole document nothing.
type around struct {
	lines   int      // before it
	bytes   int      // of everything else
	room    room     // for its elements
	foreign []string // faults as soon as something in it is not ASCII

	newline, step string // of new XML where nothing in it gives an example
}

// room is what is left of the limits of a document.
type room struct{ elements, depth int }

// alone is what stands around a machine of a document.
func (d *Document) alone(m *machine, from int) around {
	ed := m.edits()
	a := around{
		lines: d.line(from) - 1, bytes: len(d.data) - (m.dom.end - from), foreign: d.around.foreign,
		newline: d.around.newline, step: ed.step(m.dom.parent),
	}
	root, depth := m.dom, 0
	for root.parent != nil {
		root, depth = root.parent, depth+1
	}
	a.room = room{min(d.around.room.elements-d.count, maxElements-root.count) + m.dom.count, d.around.room.depth - depth}
	return a
}

// Extent is how many bytes a change of a machine reads again.
func (d *Document) Extent(vm int) int { return d.vms[vm].dom.end - d.vms[vm].dom.start }

// reread reads a machine with edits made in it, and nothing else of its document, so that a change costs what the machine
// does. What it is a part of is not known then.
func (m *machine) reread(ed *edits) (*machine, error) {
	d := m.doc
	from := max(0, ed.margin(m.dom)-1) // with what shows whether the domain begins a line
	next := &Document{name: d.name, data: ed.between(from, m.dom.end), around: d.around}
	if d.whole {
		next.around = d.alone(m, from)
	}
	next.findLines()
	var faults errkind.List
	if n := next.around.bytes + len(next.data); n > vmconf.MaxBytes {
		faults = append(faults, tooLong(d.name, n))
	} else if !isASCII(next.data) {
		for _, f := range next.around.foreign {
			faults = append(faults, errkind.Userf("%s", f))
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	dom, err := parse(next.data, m.dom.start-from, &next.count, next.around.room)
	switch {
	case err != nil:
		return nil, next.fault(err.(*badXML)) //nolint:errorlint // parse returns no other
	case dom.end != len(next.data):
		return nil, fmt.Errorf("%s: the domain ends too early", d.name)
	}
	return next.read(dom), nil
}
