package xl

import "strings"

// pieces is the text of a string that Python would put together. What is not a string is in it in {braces}.
type pieces struct {
	strings.Builder
	foreign []string // tokens since the last string
	over    bool     // what follows are arguments of a % operator
}

func (s *pieces) string(text string) {
	s.flush()
	if !s.over {
		s.WriteString(text)
	}
}

func (s *pieces) token(text string) {
	switch {
	case text == "%":
		s.flush()
		s.over = true
	case text == "+":
		s.flush()
	case len(s.foreign) < maxForeign:
		s.foreign = append(s.foreign, text)
	}
}

func (s *pieces) flush() {
	if !s.over && len(s.foreign) > 0 {
		s.WriteString("{" + strings.Join(s.foreign, "") + "}")
	}
	s.foreign = nil
}

// python reads the rest of an expression that xl's language does not have, v being what was read of it. Lists that are
// added to a list are read, and strings that are put together, so that no disk gets lost.
func (p *parser) python(v value, depth int) value {
	v.python = true
	var s pieces
	s.WriteString(v.text)
	for !p.stop && !p.ends(depth) {
		t, _ := p.peek(depth)
		p.take(depth)
		switch t.kind {
		case unclosed:
			p.fault(t.line, "the string %s is not closed; expected another quote", clip(p.data[t.start:t.end]))
		case quoted:
			if v.tok.kind == word && t.start == v.tok.end { // r"", u"", b""
				s.foreign = nil
			}
			s.string(p.textOf(t))
		case '[':
			v.items = append(v.items, p.list(t, depth+1)...)
		default:
			p.bracket(t)
			s.token(string(p.data[t.start:p.last]))
		}
	}
	s.flush()
	if v.text = s.String(); v.list {
		v.text = ""
	}
	return v
}

// bracket takes all up to the bracket that closes t, if t opens one.
func (p *parser) bracket(t token) {
	begin, last := p.lexer, p.last
	for depth := p.nesting(t); depth > 0; depth += p.nesting(t) {
		if t, _ = p.peek(0); t.kind == endOfFile && !p.oneLine {
			p.oneLine = true
			p.lexer, p.last = begin, last
			return
		}
		if t.kind == endOfFile || t.kind == newline && p.oneLine {
			return
		}
		p.take(0)
	}
}
