package words

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	reName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	reBraced = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)(\[[@*]\])?(:?[-=])?`)
	reMakeV  = regexp.MustCompile(`^\(([A-Za-z_][A-Za-z0-9_.-]*)\)`)
	reJust   = regexp.MustCompile(`^\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\}\}`)
)

// dollar reads what a $, a backtick or {{ begins, in a place of mode m.
func (l *lexer) dollar(b *builder, m Mode) error {
	rest := l.data[l.pos:min(l.end, l.pos+max(l.out.span(), 2))]
	p := Piece{Start: l.pos, Mode: m, open: true}
	n := 0
	switch c := rest[0]; {
	case c == '{':
		if g := reJust.FindSubmatch(rest); g != nil {
			p.Var, n = string(g[1]), len(g[0])
		} else {
			l.bytes(b, m, 1)
			return nil
		}
	case c == '`':
		n = bytes.IndexByte(rest[1:], '`') + 2
		if n < 2 || bytes.IndexByte(rest[:n], '\n') >= 0 {
			l.bytes(b, m, 1)
			return nil
		}
		if err := l.inner(l.pos+1, l.pos+n-1); err != nil {
			return err
		}
	case len(rest) > 1 && rest[1] == '$' && reName.Match(rest[2:]): // a Makefile's
		p.Var = string(reName.Find(rest[2:]))
		n = 2 + len(p.Var)
	case len(rest) > 1 && rest[1] == '\'' && m == Bare:
		l.pos++
		if l.closes('\'') {
			l.single(b)
		}
		return nil
	default:
		return l.named(b, p, rest)
	}
	l.take(b, p, n)
	return nil
}

// named reads $NAME, ${NAME...}, $(NAME) and $(command).
func (l *lexer) named(b *builder, p Piece, rest []byte) error {
	n := 0
	after := rest[1:]
	switch {
	case reName.Match(after):
		p.Var = string(reName.Find(after))
		n = 1 + len(p.Var)
	case bytes.HasPrefix(after, []byte("{")):
		n = l.closing(rest, '{', '}')
		g := reBraced.FindSubmatchIndex(after)
		if n > 0 && g != nil && (after[g[1]] == '}' || g[6] >= 0) {
			p.Var = string(after[g[2]:g[3]])
			p.array = g[4] >= 0
			if g[6] >= 0 {
				p.fallback = l.fallback(p.Start+1+g[1], p.Start+n-1)
			}
		}
	case reMakeV.Match(after):
		g := reMakeV.FindSubmatch(after)
		p.Var, n = string(g[1]), 1+len(g[0])
	case bytes.HasPrefix(after, []byte("(")):
		n = l.closing(rest, '(', ')')
		if n > 0 && !bytes.HasPrefix(after, []byte("((")) {
			if err := l.inner(p.Start+2, p.Start+n-1); err != nil {
				return err
			}
		}
	case len(after) > 0 && strings.IndexByte("@*#?!0123456789", after[0]) >= 0:
		n = 2
	}
	if n <= 0 {
		l.bytes(b, p.Mode, 1)
		return nil
	}
	l.take(b, p, n)
	return nil
}

// take adds the variable that is n bytes long.
func (l *lexer) take(b *builder, p Piece, n int) {
	p.End = p.Start + n
	p.Text = string(l.data[p.Start:p.End])
	b.w.Pieces = append(b.w.Pieces, p)
	l.pos = p.End
}

// fallback reads the value that ${NAME:-value} has where NAME has none.
func (l *lexer) fallback(start, end int) *Word {
	if l.nested >= maxNested {
		return nil
	}
	in := &lexer{data: l.data, pos: start, end: end, out: &script{}, nested: l.nested + 1}
	if start >= end {
		return &Word{Start: start, End: start}
	}
	w, err := in.word()
	if err != nil || in.pos != end {
		return nil
	}
	return &w
}

// closing returns the length of what a bracket after the first byte encloses, with the brackets, 0 when it is not closed.
func (l *lexer) closing(s []byte, open, shut byte) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		l.out.tried++
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
