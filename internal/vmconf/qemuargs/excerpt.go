package qemuargs

import (
	"bytes"
	"slices"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// look is what a text is read for where that is one change: a change costs what its machine does, and not all of the text.
type look struct {
	vm    int
	disks map[int]bool // indices of those of its disks that are told about
	cut   *cut         // nil: the whole text
}

// cut is what the lines of one machine are cut out of.
type cut struct {
	from, to int // where they stand
	lines    int // before them
	rest     int // bytes that are not theirs
	qemu     vmconf.Version
}

// wants reports whether a disk is told about.
func (l *look) wants(vm, disk int) bool { return l == nil || l.vm == vm && l.disks[disk] }

// spare is how many words a text may be short of its limit to be read whole, so that the limit holds.
const spare = 10_000

// excerpt reads the lines of one machine as a text of their own. It returns d where they would not mean the same: where
// variables of the script are filled in, and with more than one machine on a line.
func (d *Document) excerpt(vm int, disks map[int]bool) *Document {
	whole := *d
	whole.look = &look{vm: vm, disks: disks}
	s := d.guests[vm].start
	if len(d.guests) == 1 || d.text.Vector || s.program == "" || d.text.Words > words.Max-spare {
		return &whole
	}
	data := d.text.Data
	c := &cut{from: s.at, to: s.at, qemu: s.qemu}
	for _, w := range slices.Concat(s.before, s.args) {
		c.from, c.to = min(c.from, w.Start), max(c.to, w.End)
	}
	if c.from = bytes.LastIndexByte(data[:c.from], '\n'); c.from > 0 && data[c.from-1] == '\r' {
		c.from--
	}
	c.from = max(c.from, 0)
	if n := bytes.IndexByte(data[c.to:], '\n'); n >= 0 {
		c.to += n + 1
	} else {
		c.to = len(data)
	}
	c.lines, c.rest = d.text.Line(c.from)-1, len(data)-(c.to-c.from)
	part, err := read(d.name, data[c.from:c.to:c.to], &look{disks: disks, cut: c})
	if err != nil || len(part.guests) != 1 || part.text.Batch != d.text.Batch || part.text.Vector || len(part.guests[0].disks) != len(d.guests[vm].disks) {
		return &whole
	}
	p := part.guests[0].start
	if p.program != s.program || !same(p.before, s.before, c.from) || !same(p.args, s.args, c.from) {
		return &whole
	}
	return part
}

// Extent is how many bytes a change of a machine reads again.
func (d *Document) Extent(vm int) int { return len(d.excerpt(vm, nil).text.Data) }

// same reports whether words of an excerpt are those of the text that it was cut out of at that offset, none of them filled
// in.
func same(part, text []words.Word, from int) bool {
	return slices.EqualFunc(part, text, func(a, b words.Word) bool {
		return a.Text == b.Text && a.Start+from == b.Start && a.End+from == b.End && b.Of == "" &&
			slices.EqualFunc(a.Pieces, b.Pieces, func(p, q words.Piece) bool {
				return p.Text == q.Text && p.Start+from == q.Start && p.End+from == q.End && p.Mode == q.Mode && !q.Known
			})
	})
}

// back puts what an excerpt became into the text that it was cut out of.
func (d *Document) back(from *Document) []byte {
	if d.look.cut == nil {
		return d.text.Data
	}
	data, c := from.text.Data, d.look.cut
	return slices.Concat(data[:c.from], d.text.Data, data[c.to:])
}
