// Package xl reads the configurations of Xen domains: those of xl (xl.cfg(5), xl-disk-configuration(5)) and the older
// ones of xm, which were Python. It reads all of xl's language; what only Python can compute is said in VM.Unknown. It is
// pure. Defaults are those of Xen 4.20 on x86.
package xl

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Document is the configuration of one domain.
type Document struct {
	name     string
	data     []byte
	settings map[string]*setting
	vm       vmconf.VM
	disks    []diskOf // of the same index as vm.Disks
}

var _ vmconf.Document = (*Document)(nil)

// Parse reads a configuration; name is the file's, for messages. The error is an errkind.List of every fault that xl
// would refuse as well, one line each: "web.cfg:12  the list that begins here is not closed; ...".
func Parse(name string, data []byte) (*Document, error) {
	switch {
	case len(data) > vmconf.MaxBytes:
		return nil, errkind.Userf("%s: the file has %d bytes; expected a configuration of at most %d MiB", name, len(data), vmconf.MaxBytes>>20)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errkind.Userf("%s: the file is not plain text; expected ASCII or UTF-8", name)
	}
	p := parser{name: name, settings: map[string]*setting{}, lexer: lexer{data: data, line: 1}}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		p.pos = 3
	}
	p.parse()
	if !p.known() && len(p.faults) == 0 {
		return nil, errkind.Userf("%s: no setting of a Xen domain is in it; expected the likes of name, memory and disk", name)
	}
	if err := p.faults.Err(); err != nil {
		return nil, err
	}
	d := &Document{name: name, data: data, settings: p.settings}
	d.domain(p.unknown)
	return d, nil
}

// VMs is the domain.
func (d *Document) VMs() []vmconf.VM { return []vmconf.VM{d.vm} }

// Bytes is the configuration as it was read.
func (d *Document) Bytes() []byte { return d.data }

func (p *parser) fault(line int, format string, args ...any) {
	switch {
	case len(p.faults) < maxFaults:
		p.faults = append(p.faults, errkind.Userf("%s:%d  "+format, append([]any{p.name, line}, args...)...))
	case len(p.faults) == maxFaults:
		p.faults = append(p.faults, errkind.Userf("%s: further faults are not shown", p.name))
	}
}

// say tells of something that was not understood.
func (p *parser) say(line int, text []byte) {
	switch at := (vmconf.Place{File: p.name, Line: line}); {
	case len(p.unknown) < maxUnknown:
		p.unknown = append(p.unknown, vmconf.Unknown{Text: clip(text), At: at})
	case len(p.unknown) == maxUnknown:
		p.unknown = append(p.unknown, vmconf.Unknown{Text: "more, from here on", At: at})
	}
}

// clip makes a piece of the input fit one line.
func clip(text []byte) string {
	const most = 80
	if len(text) > 8*most {
		text = text[:8*most]
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
