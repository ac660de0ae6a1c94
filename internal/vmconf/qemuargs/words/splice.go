package words

import (
	"fmt"
	"slices"
	"strings"
)

// Splice replaces the bytes of a text from Start to End.
type Splice struct {
	Start, End int
	Text       string
}

// Apply returns the text with the splices made. Those of one place are made in their order.
func Apply(data []byte, splices []Splice) []byte {
	s := slices.Clone(splices)
	slices.SortStableFunc(s, func(a, b Splice) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for _, p := range s {
		if p.Start < at { // what is already replaced
			p.Start = at
			p.End = max(p.End, at)
		}
		out = append(append(out, data[at:p.Start]...), p.Text...)
		at = p.End
	}
	return append(out, data[at:]...)
}

// Splice returns what replaces the bytes from..to of the word's text with text, written as its surroundings are. It
// fails where those bytes are a part of a variable's value.
func (w Word) Splice(from, to int, text string) ([]Splice, error) {
	if from == to {
		return w.insert(from, text)
	}
	var out []Splice
	at := 0
	for _, p := range w.Pieces {
		a, b := max(from-at, 0), min(to-at, len(p.Text))
		at += len(p.Text)
		if a >= b {
			continue
		}
		whole := a == 0 && b == len(p.Text)
		if p.Known && !whole || p.open && !whole {
			return nil, fmt.Errorf("it is a part of the variable %s", p.Var)
		}
		s := Splice{Start: p.Start, End: p.End}
		if !whole {
			s.Start, s.End = p.Start+a, p.Start+b
		}
		if len(out) == 0 {
			enc, err := Encode(text, p.Mode)
			if err != nil {
				return nil, err
			}
			s.Text = enc
		}
		out = append(out, s)
	}
	return out, nil
}

// insert puts text in front of byte at, in the way of what is before it.
func (w Word) insert(at int, text string) ([]Splice, error) {
	for i, p := range w.Pieces {
		if at > len(p.Text) || at == len(p.Text) && i+1 < len(w.Pieces) && p.Text == "" {
			at -= len(p.Text)
			continue
		}
		enc, err := Encode(text, p.Mode)
		switch {
		case err != nil:
			return nil, err
		case at == len(p.Text):
			return []Splice{{p.End, p.End, enc}}, nil
		case at == 0:
			return []Splice{{p.Start, p.Start, enc}}, nil
		case p.Known || p.open:
			return nil, fmt.Errorf("it is a part of the variable %s", p.Var)
		}
		return []Splice{{p.Start + at, p.Start + at, enc}}, nil
	}
	return nil, fmt.Errorf("the argument is empty")
}

// Encode writes text so that a shell reads it as it is, in the mode of its place.
func Encode(text string, m Mode) (string, error) {
	if strings.ContainsAny(text, "\x00\n\r") {
		return "", fmt.Errorf("%q has a line end or a NUL in it", text)
	}
	switch m {
	case Single:
		return strings.ReplaceAll(text, "'", `'\''`), nil
	case Double:
		return escape(text, func(c byte) bool { return strings.IndexByte("\\\"$`", c) >= 0 }), nil
	case Bare:
		return escape(text, func(c byte) bool {
			return c < 0x80 && !isName(c) && strings.IndexByte("@%+=:,./-", c) < 0
		}), nil
	}
	return text, nil
}

func escape(text string, special func(byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if special(text[i]) {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
