package pve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
)

// line is a line of a machine while it is edited.
type line struct {
	from       *entry // nil: new
	key, value string
	gone       bool
}

// editor changes the lines of one machine.
type editor struct {
	*conf
	lines  map[string]*line // by their present keys, without those that are gone
	all    []*line
	moved  map[string]string // drives that have another key now
	faults errkind.List
}

func newEditor(c *conf) *editor {
	e := &editor{conf: c, lines: map[string]*line{}, moved: map[string]string{}}
	for i := range c.entries {
		from := &c.entries[i]
		l := &line{from: from, key: from.key, value: from.value}
		e.lines[l.key] = l
		e.all = append(e.all, l)
	}
	return e
}

// fault keeps one fault of the changes.
func (e *editor) fault(format string, args ...any) {
	e.faults = append(e.faults, errkind.Userf("%s: "+format, append([]any{e.doc.file}, args...)...))
}

func (e *editor) now(key string) (string, bool) {
	if l := e.lines[key]; l != nil {
		return l.value, true
	}
	return "", false
}

func (e *editor) on(key string) bool {
	value, _ := e.now(key)
	on, _ := parseBool(value)
	return on
}

func (e *editor) set(key, value string) {
	if l := e.lines[key]; l != nil {
		l.value = value
		return
	}
	for _, l := range e.all {
		if l.gone && l.key == key {
			l.gone, l.value, e.lines[key] = false, value, l
			return
		}
	}
	l := &line{key: key, value: value}
	e.lines[key] = l
	e.all = append(e.all, l)
}

func (e *editor) setOrRemove(key, value string) {
	if value != "" {
		e.set(key, value)
		return
	}
	l := e.lines[key]
	if l == nil {
		return
	}
	l.gone = true
	delete(e.lines, key)
	e.all = slices.DeleteFunc(e.all, func(o *line) bool { return o == l && o.from == nil }) // never was
}

// setProperty sets the standard property of a key, or takes it out for "".
func (e *editor) setProperty(key, standard, value string) {
	l := e.lines[key]
	if l == nil {
		e.setOrRemove(key, value)
		return
	}
	props := parseProperties(l.value, standard)
	switch _, set := props.get(standard); {
	case value == "":
		props = props.without(func(key string) bool { return key == standard })
	case set:
		props = props.with(standard, value)
	default:
		props = slices.Insert(props, 0, property{standard, value, value})
	}
	e.setOrRemove(key, props.String())
}

func (e *editor) rename(l *line, key string) {
	delete(e.lines, l.key)
	l.key = key
	e.lines[key] = l
}

// changed reports whether the line is not as it was.
func (l *line) changed() bool {
	return l.from == nil || l.gone || l.key != l.from.key || l.value != l.from.value
}

// undone refuses changes of the current section that pending changes would undo.
func (e *editor) undone() {
	if e.section.kind != currentSection {
		return
	}
	for _, s := range e.doc.sections {
		if s.kind != pendingSection || s.replacedBy != 0 {
			continue
		}
		pending := deleted(s)
		for _, p := range s.entries {
			pending[p.key] = true
		}
		for _, l := range e.all {
			if key := l.key; l.changed() && (pending[key] || l.from != nil && pending[l.from.key]) {
				err := errkind.Userf("%s: %s has a change pending in line %d, which would undo this one", e.doc.file, key, s.line)
				e.faults = append(e.faults, errkind.WithHint(err, "let the VM start with what is pending, or revert that, first"))
			}
		}
	}
}

// splice replaces a part of the document.
type splice struct {
	start, end int
	text       string
}

// text is the document with the edited lines.
func (e *editor) text() string {
	var splices []splice
	for _, l := range e.all {
		switch f := l.from; {
		case f == nil:
			splices = append(splices, e.insert(l))
		case l.gone:
			splices = append(splices, splice{f.start, f.end, ""})
			splices = append(splices, e.shadowed(f)...)
		default:
			if l.key != f.key {
				splices = append(splices, splice{f.keyStart, f.keyStart + len(f.key), l.key})
				splices = append(splices, e.shadowed(f)...)
			}
			if l.value != f.value {
				splices = append(splices, splice{f.valStart, f.valEnd, l.value})
			}
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	var b strings.Builder
	done := 0
	for _, s := range splices {
		b.WriteString(e.doc.text[done:s.start])
		b.WriteString(s.text)
		done = s.end
	}
	return b.String() + e.doc.text[done:]
}

// shadowed takes out the earlier lines of a key whose last line goes: they would count again.
func (e *editor) shadowed(last *entry) []splice {
	var list []splice
	for _, s := range e.doc.sections {
		if slices.ContainsFunc(s.entries, func(o entry) bool { return o.start == last.start }) {
			for _, o := range s.entries {
				if o.key == last.key && o.start != last.start {
					list = append(list, splice{o.start, o.end, ""})
				}
			}
		}
	}
	return list
}

// insert is a new line in the machine's section, where Proxmox VE, which sorts them, would write it.
func (e *editor) insert(l *line) splice {
	end := "\n"
	if strings.Contains(e.doc.text, "\r\n") {
		end = "\r\n"
	}
	text := l.key + ": " + l.value
	at := e.section.start
	for _, o := range e.section.entries {
		if o.key > l.key {
			return splice{o.start, o.start, text + end}
		}
		at = o.end
	}
	if at > 0 && e.doc.text[at-1] != '\n' {
		return splice{at, at, end + text}
	}
	return splice{at, at, text + end}
}
