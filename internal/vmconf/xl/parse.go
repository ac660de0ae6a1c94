package xl

import (
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

// Limits that keep a hostile file from becoming many times its size in memory.
const (
	maxValues  = 100_000
	maxFaults  = 100
	maxUnknown = 1000
	maxText    = 64 << 10 // bytes of a string that += makes
	maxForeign = 100      // tokens of Python between two strings
)

// value is one value of a configuration.
type value struct {
	list   bool
	items  []value // of a list
	text   string  // of a string or number
	tok    token   // the string or number, or the bracket that opens the list
	python bool    // an expression that only Python can compute: text and items are what could be read of it
}

// setting is what one name stands for at the end of the file.
type setting struct {
	value
	line  int
	spans [][2]int // every statement that sets it
}

// parser walks a file statement by statement.
type parser struct {
	lexer
	name     string
	settings map[string]*setting
	unknown  []vmconf.Unknown
	faults   errkind.List
	values   int
	last     int  // where the last token that was taken ends
	oneLine  bool // Python's brackets are no longer followed over lines: one has no end
	stop     bool
}

// parse reads every statement. What is wrong is in faults, what only Python can read in unknown.
func (p *parser) parse() {
	for !p.stop {
		t := p.take(0)
		switch t.kind {
		case endOfFile:
			return
		case newline, ';':
			continue
		}
		if op, _ := p.peek(0); t.kind == word && (op.kind == '=' || op.kind == plusEquals) {
			p.take(0)
			p.assignment(t, op)
		} else {
			p.skip(t)
		}
	}
}

// take consumes the next token; within a list, the ends of lines before it as well.
func (p *parser) take(depth int) token {
	for {
		if t := p.next(); t.kind != newline || depth == 0 {
			p.last = t.end
			return t
		}
	}
}

// peek returns the token that take would, and tells of ends of lines before it.
func (p *parser) peek(depth int) (t token, lines bool) {
	before := p.lexer
	for t = p.next(); t.kind == newline && depth > 0; t = p.next() {
		lines = true
	}
	before.flat = p.flat
	p.lexer = before
	return t, lines
}

// ends reports whether the next token ends an expression: that of the statement or, in a list, of the item. A list
// that is not closed ends where the next statement begins.
func (p *parser) ends(depth int) bool {
	t, lines := p.peek(depth)
	switch {
	case t.kind == endOfFile:
		return true
	case depth == 0:
		return t.kind == newline || t.kind == ';'
	case t.kind == ',' || t.kind == ']':
		return true
	}
	return lines && p.assigns(t)
}

// assigns reports whether a token that was looked at begins a statement.
func (p *parser) assigns(t token) bool {
	ahead := p.lexer
	ahead.pos = t.end
	op := ahead.next().kind
	return t.kind == word && (op == '=' || op == plusEquals)
}

// assignment stores "name = value" or "name += value".
func (p *parser) assignment(name, op token) {
	v := p.expression(0)
	key := string(p.data[name.start:name.end])
	s := &setting{value: v, line: name.line, spans: [][2]int{{name.start, p.last}}}
	old := p.settings[key]
	p.settings[key] = s
	if v.python {
		p.say(name.line, p.data[name.start:p.last])
	}
	if old == nil {
		return
	}
	s.spans = append(old.spans, s.spans...)
	switch {
	case op.kind != plusEquals:
		if len(old.items) > 0 {
			p.say(old.line, []byte(key+" = [...], which a later line sets again"))
		}
	case old.list != v.list && !old.python && !v.python:
		p.fault(name.line, "%s += adds a list to a single value or the other way round; expected the same on both lines", key)
	default:
		s.items = append(old.items, v.items...)
		if s.text = old.text + v.text; len(s.text) > maxText {
			p.fault(name.line, "%s grows beyond %d characters; no domain needs so many", key, maxText)
			p.stop = true
		}
		s.list, s.python = old.list || v.list, old.python || v.python
		s.line = old.line
	}
}

// expression reads one value. depth is how many lists it is in.
func (p *parser) expression(depth int) value {
	t, _ := p.peek(depth)
	v := value{tok: t}
	if p.values++; p.values > maxValues {
		p.fault(t.line, "more than %d values; no domain has so many", maxValues)
		p.stop = true
	}
	switch t.kind {
	case '[':
		p.take(depth)
		v.list = true
		v.items = p.list(t, depth+1)
	case quoted, number:
		p.take(depth)
		v.text = p.textOf(t)
	}
	if v.list || t.kind == quoted || t.kind == number {
		if next, _ := p.peek(depth); p.stop || p.ends(depth) || depth > 0 && next.kind == quoted {
			return v
		}
	}
	return p.python(v, depth)
}

// list reads the items of a list whose bracket is taken.
func (p *parser) list(bracket token, depth int) (items []value) {
	if depth > vmconf.MaxDepth {
		p.fault(bracket.line, "lists are nested more than %d deep; no program writes such a file", vmconf.MaxDepth)
		p.stop = true
	}
	for !p.stop {
		t, lines := p.peek(depth)
		switch {
		case t.kind == ']':
			p.take(depth)
			return items
		case t.kind == endOfFile, lines && p.assigns(t):
			p.fault(bracket.line, "the list that begins here is not closed; expected a ] before line %d", t.line)
			return items
		case t.kind == ',':
			p.take(depth)
			p.fault(t.line, "nothing stands before the comma; expected a value")
			continue
		}
		items = append(items, p.expression(depth))
		switch t, _ = p.peek(depth); t.kind {
		case ',':
			p.take(depth)
		case quoted:
			p.fault(t.line, "no comma stands before %s; expected one", clip(p.data[t.start:t.end]))
		}
	}
	return items
}

// skip takes what is left of a statement that is not of xl's language. Brackets hold its lines together.
func (p *parser) skip(t token) {
	first := t
	begin, last, depth := p.lexer, p.last, 0
	for {
		depth += p.nesting(t)
		t, _ = p.peek(0)
		if t.kind == endOfFile && depth > 0 && !p.oneLine {
			p.oneLine = true
			p.lexer, p.last = begin, last
			continue
		}
		if t.kind == endOfFile || t.kind == newline && (depth <= 0 || p.oneLine) {
			break
		}
		p.take(0)
	}
	p.say(first.line, p.data[first.start:p.last])
}

// nesting is by how much a token opens or closes brackets of any kind.
func (p *parser) nesting(t token) int {
	if t.end != t.start+1 {
		return 0
	}
	switch p.data[t.start] {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	}
	return 0
}

func (p *parser) textOf(t token) string {
	if t.kind == number {
		return string(p.data[t.start:t.end])
	}
	var s []byte
	unquote(p.data, t, func(c byte, _ int) { s = append(s, c) })
	return string(s)
}
