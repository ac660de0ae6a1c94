package libvirt

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of one element that no configuration comes near to.
const (
	maxElements = 50_000  // of one document
	maxAll      = 300_000 // of a whole stream
	maxAttrs    = 256     // of one element
	maxText     = 4096    // bytes of an element's text that are looked at
)

// element is one element and where its parts stand: the document's bytes are the truth, the tree only points into them.
type element struct {
	space, name string // space is a URI, or a prefix that is not bound
	attrs       []attr
	kids        []*element
	parent      *element
	text        string // character data, without the blanks around it
	count       int    // elements, itself included

	start int // '<' of the start tag
	open  int // after the start tag
	shut  int // '<' of the end tag; = open when the element is one empty tag
	end   int // after the end tag
}

// attr is one attribute of an element.
type attr struct {
	space, name, value string
	start, end         int // of NAME='VALUE'
	vstart, vend       int // of VALUE
}

// badXML is a fault of the language, at an offset.
type badXML struct {
	at  int
	why string
}

func (b *badXML) Error() string { return b.why }

// parse reads the element that begins at data[at], for which there is that room, and counts its elements into those of the
// stream. Entities of a DTD are not known to the decoder, so that none grows.
func parse(data []byte, at int, count *int, left room) (*element, error) {
	dec := xml.NewDecoder(bytes.NewReader(data[at:]))
	var cur *element
	most := *count + left.elements
	for depth := 0; ; {
		from := at + int(dec.InputOffset())
		tok, err := dec.Token()
		to := at + int(dec.InputOffset())
		if err != nil {
			return nil, syntax(err, to)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			depth++
			if *count++; *count > most || depth > left.depth {
				return nil, &badXML{from, "too many elements, or too deep in each other, for a configuration"}
			}
			e := &element{space: t.Name.Space, name: t.Name.Local, parent: cur, count: *count, start: from, open: to, shut: to, end: to}
			if e.attrs, err = attributes(data, e, t.Attr); err != nil {
				return nil, err
			}
			if cur != nil {
				cur.kids = append(cur.kids, e)
			}
			cur = e
		case xml.EndElement:
			depth--
			if to > cur.open || data[cur.open-2] != '/' {
				cur.shut, cur.end = from, to
			}
			cur.text = strings.TrimSpace(cur.text)
			cur.count = *count - cur.count + 1
			if depth == 0 {
				return cur, nil
			}
			cur = cur.parent
		case xml.CharData:
			if cur != nil && len(cur.text) < maxText {
				cur.text += string(t[:min(len(t), maxText)])
			}
		}
	}
}

// syntax is a decoder's error in our words.
func syntax(err error, at int) error {
	var s *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.As(err, &s) && s.Msg == "unexpected EOF":
		return &badXML{at, "the XML ends in the middle of an element"}
	case s != nil:
		return &badXML{at, "not XML: " + s.Msg}
	}
	return &badXML{at, "not XML: " + err.Error()}
}

// attributes finds where the attributes of a start tag stand; the decoder has checked its syntax.
func attributes(data []byte, e *element, decoded []xml.Attr) ([]attr, error) {
	if len(decoded) > maxAttrs {
		return nil, &badXML{e.start, fmt.Sprintf("%d attributes in one element", len(decoded))}
	}
	list := make([]attr, 0, len(decoded))
	seen := make(map[xml.Name]bool, len(decoded))
	i := e.start + 1
	for i < e.open && !blank(data[i]) && data[i] != '/' && data[i] != '>' {
		i++
	}
	for _, d := range decoded {
		if seen[d.Name] {
			return nil, &badXML{e.start, "attribute " + d.Name.Local + " stands twice in <" + e.name + ">"}
		}
		seen[d.Name] = true
		for blank(data[i]) {
			i++
		}
		a := attr{space: d.Name.Space, name: d.Name.Local, value: d.Value, start: i}
		for data[i] != '\'' && data[i] != '"' {
			i++
		}
		a.vstart = i + 1
		a.vend = a.vstart + bytes.IndexByte(data[a.vstart:], data[i])
		a.end = a.vend + 1
		i = a.end
		list = append(list, a)
	}
	return list, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// kid is the first child of that name without a namespace; nil when there is none, and for a nil element.
func (e *element) kid(path ...string) *element {
	for _, name := range path {
		if e == nil {
			return nil
		}
		var found *element
		for _, k := range e.kids {
			if k.is(name) {
				found = k
				break
			}
		}
		e = found
	}
	return e
}

// all are the children of that name.
func (e *element) all(name string) []*element {
	var list []*element
	if e != nil {
		for _, k := range e.kids {
			if k.is(name) {
				list = append(list, k)
			}
		}
	}
	return list
}

func (e *element) is(name string) bool { return e.space == "" && e.name == name }

// attr is the attribute of that name, nil when there is none.
func (e *element) attr(name string) *attr {
	if e != nil {
		for i := range e.attrs {
			if e.attrs[i].name == name && e.attrs[i].space == "" {
				return &e.attrs[i]
			}
		}
	}
	return nil
}

// get is the value of an attribute, "" when there is none.
func (e *element) get(name string) string {
	if a := e.attr(name); a != nil {
		return a.value
	}
	return ""
}

// walk visits the element and all below it; a visit that returns false does not go deeper.
func (e *element) walk(visit func(*element) bool) {
	if visit(e) {
		for _, k := range e.kids {
			k.walk(visit)
		}
	}
}
