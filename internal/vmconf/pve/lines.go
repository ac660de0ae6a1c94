package pve

import (
	"regexp"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Kinds of sections.
type sectionKind int

const (
	currentSection sectionKind = iota
	pendingSection
	snapshotSection
	specialSection // Proxmox VE's own notes: cloudinit, fleecing
	strangeSection
)

// section is a part of a VM's file: what stands before the first "[NAME]", and what stands after each.
type section struct {
	kind       sectionKind
	name       string
	line       int // of its header; 1 for the current section
	start      int // offset of its first line after the header
	entries    []entry
	notes      []vmconf.Unknown
	replacedBy int // line of a later section of the same name, which alone counts; 0 = none
}

// entry is one line "key: value". Offsets are into the document's text.
type entry struct {
	key, value       string
	line             int
	start, end       int // of the line, with the line's end
	keyStart         int
	valStart, valEnd int // without blanks around it, and without a comment after it
}

const maxLines = 20_000 // a VM with hundreds of snapshots has a tenth of it

var (
	header  = regexp.MustCompile(`^\[([^\]]*)\]\s*(#.*)?$`)
	named   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	keyLine = regexp.MustCompile(`^([ \t]*)([a-z][a-z_-]*[0-9]*):[ \t]*`)
	comment = regexp.MustCompile(`\s+#.*$`)
)

// scan splits the document into sections and lines.
func (d *Document) scan() error {
	s := &section{line: 1}
	d.sections, d.named = []*section{s}, map[string]*section{}
	line := 0
	for start := 0; start < len(d.text); {
		if line++; line > maxLines {
			return errkind.Userf("%s: more than %d lines: it is not a configuration of Proxmox VE", d.file, maxLines)
		}
		text, end := d.text[start:], len(d.text)
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text, end = text[:i], start+i+1
		}
		if line == 1 && strings.HasPrefix(text, "\ufeff") {
			text = text[len("\ufeff"):]
		}
		text = strings.TrimRight(text, " \t\r")
		switch m := header.FindStringSubmatch(text); {
		case text == "", text[0] == '#':
		case m != nil:
			s = d.open(m[1], line)
			s.start = end
			if m[2] != "" {
				s.notes = append(s.notes, d.unknown(line, "%s: Proxmox VE takes no comment behind a section's name", text))
			}
		default:
			d.read(s, text, line, start, end)
		}
		start = end
	}
	return nil
}

// open begins the section of a header.
func (d *Document) open(name string, line int) *section {
	s := &section{name: name, line: line, kind: strangeSection}
	lower := strings.ToLower(name)
	switch {
	case lower == "pending":
		s.kind = pendingSection
	case lower == "special:cloudinit", lower == "special:fleecing":
		s.kind = specialSection
	case named.MatchString(name):
		s.kind = snapshotSection
	}
	same := name
	if s.kind != snapshotSection {
		same = lower
	}
	if before := d.named[same]; before != nil {
		before.replacedBy = line
	}
	d.named[same] = s
	d.sections = append(d.sections, s)
	return s
}

// read takes one line of a section, without the blanks at its end.
func (d *Document) read(s *section, text string, line, start, end int) {
	offset := start + strings.Index(d.text[start:end], text) // behind a byte order mark
	m := keyLine.FindStringSubmatch(text)
	if m == nil || len(m[0]) == len(text) {
		s.notes = append(s.notes, d.unknown(line, "%s", text))
		return
	}
	e := entry{
		key: m[2], value: text[len(m[0]):], line: line, start: offset, end: end,
		keyStart: offset + len(m[1]), valStart: offset + len(m[0]), valEnd: offset + len(text),
	}
	if i := comment.FindStringIndex(e.value); i != nil && !freeText[e.key] {
		s.notes = append(s.notes, d.unknown(line, "%s: Proxmox VE takes no comment behind a value, and refuses the line", text))
		e.value, e.valEnd = e.value[:i[0]], e.valStart+i[0]
	}
	if m[1] != "" {
		s.notes = append(s.notes, d.unknown(line, "%s: Proxmox VE wants a key at the start of its line", strings.TrimSpace(text)))
	}
	s.entries = append(s.entries, e)
}
