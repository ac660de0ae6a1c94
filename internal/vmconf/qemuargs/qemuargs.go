// Package qemuargs reads QEMU's command lines wherever they stand: argument vectors (/proc/PID/cmdline, one per line),
// scripts of a shell, Makefiles, libvirt's logs and what Proxmox VE shows, and writes changes back into them. It is pure.
// Sources: qemu(1), QEMU's qapi/block-core.json, hw/core/machine.c and blockdev.c.
package qemuargs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// maxArgs is how many arguments one QEMU may have.
const maxArgs = 20_000

// Document is a text with command lines of QEMU.
type Document struct {
	name   string
	text   *words.Text
	guests []*guest
	look   *look // nil: all that is in it
}

var _ vmconf.Document = (*Document)(nil)

// Parse reads a text. name is what faults and places call it. It fails, with a user's fault, where no command line of QEMU
// is in it.
func Parse(name string, data []byte) (*Document, error) { return read(name, data, nil) }

func read(name string, data []byte, l *look) (*Document, error) {
	size := len(data)
	if l != nil && l.cut != nil {
		size += l.cut.rest
	}
	switch {
	case size > vmconf.MaxBytes:
		return nil, errkind.Userf("%s: %d bytes are too many for a command line, the limit is %d", name, size, vmconf.MaxBytes)
	case len(data) > 1 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff):
		return nil, errkind.WithHint(errkind.Userf("%s: it is UTF-16", name), "convert it: iconv -f UTF-16 -t UTF-8")
	}
	t, err := words.Read(data, takesValue)
	if err != nil {
		return nil, errkind.Userf("%s: not a command line: %w", name, err)
	}
	d := &Document{name: name, text: t, look: l}
	starts := pick(t)
	if l != nil && l.cut != nil {
		t.Above = l.cut.lines
		for i := range starts {
			starts[i].qemu = l.cut.qemu
		}
	}
	if len(starts) == 0 {
		return nil, errkind.Userf("%s: no command line of QEMU is in it", name)
	}
	for i, s := range starts {
		if len(s.args) > maxArgs {
			return nil, errkind.Userf("%s: line %d: a command of more than %d words is none of QEMU's", name, t.Line(s.at), maxArgs)
		}
		g := newGuest(d, s)
		if s.when != "" && slices.ContainsFunc(starts[i+1:], func(l start) bool { return l.when != "" }) {
			g.vm.Part = "start of " + s.when
		}
		d.guests = append(d.guests, g)
	}
	return d, nil
}

// Args reads the argument vector of one process. argv[0] is its program.
func Args(name string, argv []string) (vmconf.VM, error) {
	d, err := Parse(name, []byte(strings.Join(argv, "\x00")+"\x00"))
	if err != nil {
		return vmconf.VM{}, err
	}
	return d.guests[0].vm, nil
}

// VMs are the starts of QEMU in the text, in their order; options that no program is seen to get are one of their own.
func (d *Document) VMs() []vmconf.VM {
	out := make([]vmconf.VM, len(d.guests))
	for i, g := range d.guests {
		out[i] = g.vm
	}
	return out
}

// Bytes is the text as it was read.
func (d *Document) Bytes() []byte { return d.text.Data }

// shorten makes one line of at most 200 bytes.
func shorten(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
	const most = 200
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
