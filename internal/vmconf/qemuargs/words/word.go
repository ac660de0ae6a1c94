package words

import (
	"bytes"
	"strings"
)

// builder collects the pieces of one word.
type builder struct {
	data []byte
	w    Word
}

// add appends bytes that are written as they are, to the last piece where they go on from it.
func (b *builder) add(start, end int, m Mode) {
	if n := len(b.w.Pieces); n > 0 {
		if p := &b.w.Pieces[n-1]; p.Mode == m && p.End == start && p.raw {
			p.End = end
			return
		}
	}
	b.w.Pieces = append(b.w.Pieces, Piece{Start: start, End: end, Mode: m, raw: true})
}

// escaped appends the byte that the position's two are for.
func (l *lexer) escaped(b *builder, m Mode) {
	b.w.Pieces = append(b.w.Pieces, Piece{Text: string(l.data[l.pos+1 : l.pos+2]), Start: l.pos, End: l.pos + 2, Mode: m})
	l.pos += 2
}

// word reads one word. The position is on its first byte.
func (l *lexer) word() (Word, error) {
	b := &builder{data: l.data, w: Word{Start: l.pos}}
	if c := l.at(0); (c == '{' || c == '[') && l.at(1) == '"' && l.json(b) {
		return b.done(l.pos), nil
	}
	parens := 0
	for l.pos < l.end {
		if len(b.w.Pieces) > Max {
			return Word{}, errWords
		}
		c := l.data[l.pos]
		switch {
		case strings.IndexByte(" \t\r\n;|&<>", c) >= 0:
			return b.done(l.pos), nil
		case c == '(':
			if l.at(1) == ')' || l.pos == b.w.Start || l.data[l.pos-1] == '=' {
				return b.done(max(l.pos, b.w.Start)), l.stuck(b)
			}
			parens++
			l.bytes(b, Bare, 1)
		case c == ')':
			if parens == 0 {
				return b.done(l.pos), l.stuck(b)
			}
			parens--
			l.bytes(b, Bare, 1)
		case l.goesOn() > 0:
			l.pos += l.goesOn()
		case c == '\\' && !l.batch && l.pos+1 < l.end:
			l.escaped(b, Bare)
		case c == '\'' && !l.batch && l.closes('\''):
			l.single(b)
		case c == '"' && l.closes('"'):
			if err := l.double(b); err != nil {
				return Word{}, err
			}
		case c == '$' || c == '`' || c == '{' && l.at(1) == '{':
			if err := l.dollar(b, Bare); err != nil {
				return Word{}, err
			}
		default:
			l.bytes(b, Bare, l.run1())
		}
	}
	return b.done(l.pos), nil
}

// stuck steps over a parenthesis that begins a word, which no command does.
func (l *lexer) stuck(b *builder) error {
	if l.pos == b.w.Start {
		l.pos++
	}
	return nil
}

// run1 returns how many bytes from the position on have no meaning.
func (l *lexer) run1() int {
	n := 1
	for l.pos+n < l.end && strings.IndexByte(" \t\r\n;|&<>()\\'\"$`{^", l.data[l.pos+n]) < 0 {
		n++
	}
	return n
}

func (l *lexer) bytes(b *builder, m Mode, n int) {
	b.add(l.pos, l.pos+n, m)
	l.pos += n
}

// done ends the word.
func (b *builder) done(end int) Word {
	var t strings.Builder
	for i := range b.w.Pieces {
		p := &b.w.Pieces[i]
		if p.raw {
			p.Text, p.raw = string(b.data[p.Start:p.End]), false
		}
		t.WriteString(p.Text)
	}
	b.w.Text, b.w.End = t.String(), end
	return b.w
}

// closes reports whether the quote at the position has a partner. The apostrophe of a sentence, in a log or in the text
// that a script shows, has none on its line.
func (l *lexer) closes(q byte) bool {
	n := bytes.IndexByte(l.data[l.pos+1:l.end], q)
	if n < 0 || q != '\'' || l.pos == 0 {
		return n >= 0
	}
	sentence := isLetter(l.data[l.pos-1]) && isLetter(l.at(1))
	return !sentence || bytes.IndexByte(l.data[l.pos+1:l.pos+1+n], '\n') < 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (l *lexer) single(b *builder) {
	n := bytes.IndexByte(l.data[l.pos+1:l.end], '\'')
	l.pos++
	b.w.Pieces = append(b.w.Pieces, Piece{Text: string(l.data[l.pos : l.pos+n]), Start: l.pos, End: l.pos + n, Mode: Single})
	l.pos += n + 1
}

func (l *lexer) double(b *builder) error {
	l.pos++
	b.w.Pieces = append(b.w.Pieces, Piece{Start: l.pos, End: l.pos, Mode: Double, raw: true})
	for l.pos < l.end {
		c := l.data[l.pos]
		switch {
		case c == '"':
			l.pos++
			return nil
		case c == '\\' && !l.batch && l.goesOn() > 0:
			l.pos += l.goesOn()
		case c == '\\' && !l.batch && strings.IndexByte("\\\"$`", l.at(1)) >= 0 && l.at(1) != 0:
			l.escaped(b, Double)
		case c == '$' || c == '`' || c == '{' && l.at(1) == '{':
			if err := l.dollar(b, Double); err != nil {
				return err
			}
		default:
			n := 1
			for l.pos+n < l.end && strings.IndexByte("\"\\$`{", l.data[l.pos+n]) < 0 {
				n++
			}
			l.bytes(b, Double, n)
		}
	}
	return nil
}

// json reads an object as it is: a copy of a process list has no quotes around it.
func (l *lexer) json(b *builder) bool {
	depth, quoted := 0, false
	for i := l.pos; i < min(l.end, l.pos+l.out.span()); i++ {
		l.out.tried++
		switch c := l.data[i]; {
		case c == '\n':
			return false
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				l.bytes(b, Plain, i+1-l.pos)
				return true
			}
		}
	}
	return false
}
