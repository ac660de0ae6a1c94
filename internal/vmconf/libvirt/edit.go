package libvirt

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// edits are changes of a document's bytes; everything between them stays.
type edits struct {
	data   []byte
	list   []splice
	around around
}

func (m *machine) edits() *edits { return &edits{data: m.doc.data, around: m.doc.around} }

// splice puts text in the place of [start,end).
type splice struct {
	start, end int
	text       string
}

func (ed *edits) splice(start, end int, text string) {
	ed.list = append(ed.list, splice{start, end, text})
}

// between is what stands in [start,end), which no edit is outside of, with the edits made.
func (ed *edits) between(start, end int) []byte {
	slices.SortStableFunc(ed.list, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := start
	for _, s := range ed.list {
		out.Write(ed.data[at:s.start])
		out.WriteString(s.text)
		at = s.end
	}
	out.Write(ed.data[at:end])
	return out.Bytes()
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", "'", "&apos;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;", "\r", "&#13;")

// quote is the quotation mark that the element, or the one around it, uses.
func (ed *edits) quote(e *element) string {
	for ; e != nil; e = e.parent {
		if len(e.attrs) > 0 {
			return string(ed.data[e.attrs[0].end-1])
		}
	}
	return "'"
}

// set gives an attribute a value.
func (ed *edits) set(e *element, name, value string) {
	if a := e.attr(name); a != nil {
		if a.value != value {
			ed.splice(a.vstart, a.vend, escape.Replace(value))
		}
		return
	}
	at, q := ed.nameEnd(e), ed.quote(e)
	if n := len(e.attrs); n > 0 {
		at = e.attrs[n-1].end
	}
	ed.splice(at, at, " "+name+"="+q+escape.Replace(value)+q)
}

// nameEnd is where the name in a start tag ends.
func (ed *edits) nameEnd(e *element) int {
	i := e.start + 1
	for !blank(ed.data[i]) && ed.data[i] != '/' && ed.data[i] != '>' {
		i++
	}
	return i
}

// drop takes attributes out.
func (ed *edits) drop(e *element, names ...string) {
	for _, name := range names {
		if a := e.attr(name); a != nil {
			start := a.start
			for blank(ed.data[start-1]) {
				start--
			}
			ed.splice(start, a.end, "")
		}
	}
}

// indent is the line's beginning before an element; ok is false when something else stands there.
func (ed *edits) indent(e *element) (margin string, ok bool) {
	i := ed.margin(e)
	return string(ed.data[i:e.start]), i > 0 && ed.data[i-1] == '\n'
}

// margin is where the blanks before an element begin.
func (ed *edits) margin(e *element) int {
	i := e.start
	for i > 0 && (ed.data[i-1] == ' ' || ed.data[i-1] == '\t') {
		i--
	}
	return i
}

// lineEnd is the end of lines in a document.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// step is how much deeper an element's children stand.
func (ed *edits) step(e *element) string {
	for ; e != nil; e = e.parent {
		for _, k := range e.kids {
			inner, ok := ed.indent(k)
			outer, _ := ed.indent(e)
			if rest, deeper := strings.CutPrefix(inner, outer); ok && deeper && rest != "" {
				return rest
			}
		}
	}
	return ed.around.step
}

// remove takes an element out, with its line when it has one of its own. What held nothing else becomes an empty tag.
func (ed *edits) remove(e *element) {
	if ed.alone(e) {
		ed.splice(e.parent.open-1, e.parent.end, "/>")
		return
	}
	start := e.start
	rest := bytes.TrimLeft(ed.data[e.end:], " \t\r")
	if margin, ok := ed.indent(e); ok && len(rest) > 0 && rest[0] == '\n' {
		if start -= len(margin) + 1; start > 0 && ed.data[start-1] == '\r' {
			start--
		}
	}
	ed.splice(start, e.end, "")
}

// alone reports whether nothing but an element stands in the one around it.
func (ed *edits) alone(e *element) bool {
	return len(bytes.TrimSpace(ed.data[e.parent.open:e.start])) == 0 && len(bytes.TrimSpace(ed.data[e.end:e.parent.shut])) == 0
}

// fragment is new XML: lines that stand deeper by one step for each tab, with ' around values.
func (ed *edits) fragment(around *element, margin string, lines []string) string {
	q, step := ed.quote(around), ed.step(around)
	out := make([]string, len(lines))
	for i, l := range lines {
		l = strings.ReplaceAll(l, "'", q)
		deep := len(l) - len(strings.TrimLeft(l, "\t"))
		out[i] = margin + strings.Repeat(step, deep) + l[deep:]
	}
	return strings.Join(out, ed.around.newline)
}

// replace puts new XML in the place of an element.
func (ed *edits) replace(e *element, lines ...string) {
	margin, _ := ed.indent(e)
	ed.splice(e.start, e.end, strings.TrimPrefix(ed.fragment(e, margin, lines), margin))
}

// after puts new XML behind an element, on lines of its own when the element has one.
func (ed *edits) after(e *element, lines ...string) {
	if margin, ok := ed.indent(e); ok {
		ed.splice(e.end, e.end, ed.around.newline+ed.fragment(e.parent, margin, lines))
		return
	}
	ed.splice(e.end, e.end, inline(ed.fragment(e.parent, "", lines)))
}

// before puts new XML in front of an element.
func (ed *edits) before(e *element, lines ...string) {
	if margin, ok := ed.indent(e); ok {
		ed.splice(e.start, e.start, strings.TrimPrefix(ed.fragment(e.parent, margin, lines), margin)+ed.around.newline+margin)
		return
	}
	ed.splice(e.start, e.start, inline(ed.fragment(e.parent, "", lines)))
}

// into puts new XML at the end of an element.
func (ed *edits) into(e *element, lines ...string) {
	if n := len(e.kids); n > 0 {
		ed.after(e.kids[n-1], lines...)
		return
	}
	margin, own := ed.indent(e)
	body := inline(ed.fragment(e, "", lines))
	if own {
		body = ed.around.newline + ed.fragment(e, margin+ed.step(e), lines) + ed.around.newline + margin
	}
	if e.end > e.shut { // it has an end tag, and maybe a comment inside
		ed.splice(e.open+len(bytes.TrimRight(ed.data[e.open:e.shut], " \t\r\n")), e.shut, body)
		return
	}
	slash := e.open - 2
	start := slash
	for blank(ed.data[start-1]) {
		start--
	}
	ed.splice(start, slash+2, ">"+body+"</"+string(ed.data[e.start+1:ed.nameEnd(e)])+">")
}

// inline makes one line of a fragment.
func inline(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "")
}
