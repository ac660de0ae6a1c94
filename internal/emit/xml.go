package emit

import (
	"encoding/xml"
	"strings"
)

// xmlText is XML as libvirt prints it: two blanks for each depth, attributes in single quotes. Attributes are given as
// pairs, and one without a value is left out.
type xmlText struct {
	b     strings.Builder
	depth int
}

func (x *xmlText) String() string { return x.b.String() }

func (x *xmlText) open(name string, attrs ...string) {
	x.line("<" + name + attributes(attrs) + ">")
	x.depth++
}

func (x *xmlText) close(name string) {
	x.depth--
	x.line("</" + name + ">")
}

// leaf writes an element that holds text or nothing.
func (x *xmlText) leaf(name, text string, attrs ...string) {
	if text == "" {
		x.line("<" + name + attributes(attrs) + "/>")
		return
	}
	x.line("<" + name + attributes(attrs) + ">" + escape(text) + "</" + name + ">")
}

// parent writes an element with what children write, and none that would hold nothing and say nothing.
func (x *xmlText) parent(name string, children func(*xmlText), attrs ...string) {
	inner := xmlText{depth: x.depth + 1}
	children(&inner)
	switch {
	case inner.b.Len() > 0:
		x.open(name, attrs...)
		x.b.WriteString(inner.b.String())
		x.close(name)
	case attributes(attrs) != "":
		x.leaf(name, "", attrs...)
	}
}

func (x *xmlText) line(s string) {
	x.b.WriteString(strings.Repeat("  ", x.depth) + s + "\n")
}

func attributes(pairs []string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(" " + pairs[i] + "='" + escape(pairs[i+1]) + "'")
		}
	}
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
