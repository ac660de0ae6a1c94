package xl

import "bytes"

// kind is what a token is. Punctuation is its own character.
type kind byte

const (
	endOfFile  kind = 0
	newline    kind = '\n'
	word       kind = 'w' // a name of Python's; those of xl have small letters only
	number     kind = '0'
	quoted     kind = '"' // a string
	unclosed   kind = '!' // a string without its second quote, to the end of the line
	tripled    kind = '3' // Python's string in three quotes
	plusEquals kind = '+'
	other      kind = '?' // what xl's language does not have
)

// token is a piece of the configuration; data[start:end] is its text.
type token struct {
	kind       kind
	start, end int
	line       int
}

// lexer walks a configuration. A copy of it is a place to come back to.
type lexer struct {
	data []byte
	pos  int
	line int
	flat bool // three quotes are no longer looked for: one has no end
}

// next returns the next token. Blanks, carriage returns, comments and ends of lines that a backslash hides are no tokens.
func (l *lexer) next() token {
	l.blanks()
	t := token{start: l.pos, line: l.line}
	if l.pos == len(l.data) {
		t.end = l.pos
		return t
	}
	c := l.data[l.pos]
	l.pos++
	switch {
	case c == '\n':
		t.kind = newline
		l.line++
	case c == '\'' || c == '"':
		t.kind = l.str(c)
	case isDigit(c):
		t.kind = number
		l.while(func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c == 'x' })
	case isLetter(c):
		t.kind = word
		l.while(func(c byte) bool { return isLetter(c) || isDigit(c) })
	case bytes.IndexByte([]byte(",[];"), c) >= 0, c == '=' && !l.follows('='):
		t.kind = kind(c)
	case c == '+' && l.follows('='):
		l.pos++
		t.kind = plusEquals
	default:
		t.kind = other
		if c == '=' { // ==, which only Python has
			l.pos++
		}
	}
	t.end = l.pos
	return t
}

func (l *lexer) blanks() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case c == '\\' && bytes.HasPrefix(l.data[l.pos+1:], []byte("\n")):
			l.pos += 2
			l.line++
		case c == '\\' && bytes.HasPrefix(l.data[l.pos+1:], []byte("\r\n")):
			l.pos += 3
			l.line++
		case c == '#':
			l.toEndOfLine()
		default:
			return
		}
	}
}

// str ends a string of which the first quote is read.
func (l *lexer) str(quote byte) kind {
	three := []byte{quote, quote, quote}
	if !l.flat && bytes.HasPrefix(l.data[l.pos-1:], three) {
		if n := bytes.Index(l.data[l.pos+2:], three); n >= 0 {
			inside := l.data[l.pos+2 : l.pos+2+n]
			l.line += bytes.Count(inside, []byte("\n"))
			l.pos += 2 + n + len(three)
			return tripled
		}
		l.flat = true
	}
	for ; l.pos < len(l.data) && l.data[l.pos] != '\n'; l.pos++ {
		switch l.data[l.pos] {
		case quote:
			l.pos++
			return quoted
		case '\\':
			if l.pos+1 < len(l.data) && l.data[l.pos+1] != '\n' {
				l.pos++
			}
		}
	}
	return unclosed
}

func (l *lexer) while(more func(byte) bool) {
	for l.pos < len(l.data) && more(l.data[l.pos]) {
		l.pos++
	}
}

func (l *lexer) follows(c byte) bool { return l.pos < len(l.data) && l.data[l.pos] == c }

func (l *lexer) toEndOfLine() {
	if n := bytes.IndexByte(l.data[l.pos:], '\n'); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.data)
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// unquote reads a string as xl does, with C's escapes: it gives each byte, and where that stands in data.
func unquote(data []byte, t token, give func(c byte, at int)) {
	for i := t.start + 1; i < t.end-1; i++ {
		c, at := data[i], i
		if c == '\\' && i+1 < t.end-1 {
			i++
			c = escape(data, &i, t.end-1)
		}
		give(c, at)
	}
}

// escape reads what follows a backslash, and leaves i at its last byte.
func escape(data []byte, i *int, limit int) byte {
	const letters, means = "abfnrtv", "\a\b\f\n\r\t\v"
	c := data[*i]
	if n := bytes.IndexByte([]byte(letters), c); n >= 0 {
		return means[n]
	}
	base, digits := byte(0), 0
	switch {
	case c == 'x':
		base, digits = 16, 2
		*i++
	case c >= '0' && c <= '7':
		base, digits = 8, 3
	default:
		return c
	}
	var value byte
	for ; digits > 0 && *i < limit; digits-- {
		d, ok := digit(data[*i], base)
		if !ok {
			break
		}
		value = value*base + d
		*i++
	}
	*i--
	return value
}

func digit(c, base byte) (byte, bool) {
	var d byte
	switch {
	case isDigit(c):
		d = c - '0'
	case c >= 'a' && c <= 'f':
		d = c - 'a' + 10
	case c >= 'A' && c <= 'F':
		d = c - 'A' + 10
	default:
		return 0, false
	}
	return d, d < base
}
