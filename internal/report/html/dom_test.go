package html

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// node is an element of a parsed page; text holds the character data under it, in order.
type node struct {
	name string
	attr map[string]string
	kids []*node
	text strings.Builder
}

// parse reads a page as XML would: our templates close every tag and quote every attribute, so a page
// that does not parse has an unbalanced tag.
func parse(t testing.TB, page []byte) *node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	root := &node{name: "#root"}
	stack := []*node{root}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top := stack[len(stack)-1]
			top.kids = append(top.kids, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, n := range stack {
				n.text.Write(tok)
			}
		}
	}
}

// all returns the elements of a name under n; "" is any.
func (n *node) all(name string) []*node {
	var out []*node
	for _, k := range n.kids {
		if name == "" || k.name == name {
			out = append(out, k)
		}
		out = append(out, k.all(name)...)
	}
	return out
}

// byID returns the element with an id, nil when there is none.
func (n *node) byID(id string) *node {
	for _, k := range n.all("") {
		if k.attr["id"] == id {
			return k
		}
	}
	return nil
}

// words is the text under n with its blanks made single and plain.
func (n *node) words() string {
	return strings.Join(strings.Fields(strings.NewReplacer(thin, " ", joiner, "").Replace(n.text.String())), " ")
}
