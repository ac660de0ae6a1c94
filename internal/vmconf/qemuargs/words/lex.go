package words

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// lexer reads commands as a POSIX shell and bash do, and what Makefiles, justfiles and batch files do otherwise.
type lexer struct {
	data     []byte
	pos, end int
	out      *script
	batch    bool // ^ ends a line that goes on, a backslash is nothing special
	nested   int
	depth    int // of control structures
	docs     []hereDoc
}

// hereDoc is a here-document that begins after this line.
type hereDoc struct {
	delim string
	tabs  bool
}

var (
	reAssign = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\n]*\])?(\+)?=`)
	reMake   = regexp.MustCompile(`^(?:export[ \t]+|override[ \t]+)*([A-Za-z_][A-Za-z0-9_.-]*)(?:[ \t]*(\+|\?|::?)=|[ \t]+=)(?:[ \t]|\\\r?\n|\r?\n|$)`)
)

func (l *lexer) run() error {
	for l.pos < l.end {
		if err := l.command(); err != nil {
			return err
		}
	}
	return nil
}

// command reads one command and what ends it.
func (l *lexer) command() error {
	l.blanks()
	if ok, err := l.makeAssign(); ok || err != nil {
		return err
	}
	var ws []Word
	for {
		l.blanks()
		if l.pos >= l.end {
			l.flush(ws)
			return nil
		}
		switch c := l.data[l.pos]; {
		case c == '\n':
			l.pos++
			l.flush(ws)
			return l.hereDocs()
		case c == '#' && !l.batch:
			l.skipLine()
		case c == '&' && l.at(1) == '>':
			l.pos++
			l.redirect()
		case strings.IndexByte(";|&()", c) >= 0:
			l.pos++
			l.flush(ws)
			return nil
		case c == '<' || c == '>':
			l.redirect()
		default:
			w, err := l.word()
			if err != nil {
				return err
			}
			if next := l.at(0); (next == '<' || next == '>') && isNumber(w.Text) {
				continue // the descriptor of a redirection
			}
			if err := l.out.count(); err != nil {
				return err
			}
			if values, add, ok, err := l.array(w); err != nil {
				return err
			} else if ok {
				name, _, _ := strings.Cut(strings.TrimSuffix(w.Text, "="), "[")
				l.assign(assign{name: strings.TrimSuffix(name, "+"), add: add, array: true, words: values, at: w.Start})
				continue
			}
			ws = append(ws, w)
		}
	}
}

// array reads the elements of NAME=( ... ) when the word just read is its beginning.
func (l *lexer) array(w Word) (values []Word, add, ok bool, err error) {
	if l.at(0) != '(' {
		return nil, false, false, nil
	}
	m := reAssign.FindStringSubmatch(w.Text)
	if m == nil || len(m[0]) != len(w.Text) {
		return nil, false, false, nil
	}
	l.pos++
	for {
		l.blanks()
		if l.pos >= l.end {
			return values, m[2] != "", true, nil
		}
		switch c := l.data[l.pos]; {
		case c == ')':
			l.pos++
			return values, m[2] != "", true, nil
		case c == '\n' || strings.IndexByte(";|&(<>", c) >= 0:
			l.pos++
		case c == '#':
			l.skipLine()
		default:
			v, err := l.word()
			if err == nil {
				err = l.out.count()
			}
			if err != nil {
				return nil, false, false, err
			}
			values = append(values, v)
		}
	}
}

// makeAssign reads "NAME := words" of a Makefile or a justfile.
func (l *lexer) makeAssign() (bool, error) {
	if !isLetter(l.at(0)) && l.at(0) != '_' {
		return false, nil
	}
	line := l.data[l.pos:min(l.end, l.pos+maxSpan)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	m := reMake.FindSubmatch(line)
	if m == nil {
		return false, nil
	}
	a := assign{name: string(m[1]), add: string(m[2]) == "+", array: true, at: l.pos}
	l.pos += len(m[0])
	if last := m[0][len(m[0])-1]; last == '\n' {
		l.pos--
		if bytes.Contains(m[0], []byte{'\\'}) {
			l.pos++
		}
	}
	for {
		l.blanks()
		if l.pos >= l.end || l.data[l.pos] == '\n' {
			break
		}
		if l.data[l.pos] == '#' {
			l.skipLine()
			break
		}
		if strings.IndexByte(";|&()<>", l.data[l.pos]) >= 0 {
			l.pos++
			continue
		}
		w, err := l.word()
		if err == nil {
			err = l.out.count()
		}
		if err != nil {
			return true, err
		}
		a.words = append(a.words, w)
	}
	if len(a.words) == 1 && strings.ContainsAny(a.words[0].Text, " \t") { // a justfile's string
		a.array = false
	}
	l.assign(a)
	return true, nil
}

var (
	opens  = []string{"if", "for", "while", "until", "case", "select"}
	closes = []string{"fi", "done", "esac"}
	skips  = []string{"then", "else", "elif", "do", "!", "{", "}", "time", "ifeq", "ifneq", "ifdef", "endif"}
)

// flush takes what was read as a command or as assignments.
func (l *lexer) flush(ws []Word) {
	for len(ws) > 0 {
		switch w := ws[0].Text; {
		case slices.Contains(opens, w):
			l.depth++
			if w == "for" || w == "case" || w == "select" {
				return
			}
		case slices.Contains(closes, w):
			l.depth = max(l.depth-1, 0)
		case slices.Contains(skips, w):
		case slices.Contains([]string{"export", "local", "declare", "readonly", "typeset"}, w):
			l.assigns(ws[1:])
			return
		default:
			env := l.assigns(ws)
			if rest := ws[env:]; len(rest) > 0 {
				l.out.commands = append(l.out.commands, rawCommand{env: ws[:env], words: rest, at: ws[0].Start})
			}
			return
		}
		ws = ws[1:]
	}
}

// assigns takes the leading NAME=value words and returns how many they are. With a command after them they hold for that
// alone, and are no assignments of the script.
func (l *lexer) assigns(ws []Word) int {
	n := 0
	var found []assign
	for _, w := range ws {
		m := reAssign.FindStringSubmatch(w.Text)
		if m == nil {
			if strings.HasPrefix(w.Text, "-") && n == 0 && len(ws) > 1 { // declare -a
				continue
			}
			break
		}
		n++
		found = append(found, assign{name: m[1], add: m[2] != "", words: []Word{w.Sub(len(m[0]))}, at: w.Start})
	}
	if n == len(ws) || n > 0 && strings.HasPrefix(ws[0].Text, "-") {
		for _, a := range found {
			l.assign(a)
		}
	}
	if n > 0 && strings.HasPrefix(ws[0].Text, "-") {
		return 0
	}
	return n
}

// assign notes an assignment. NAME="$NAME more" adds.
func (l *lexer) assign(a assign) {
	a.depth = l.depth
	if len(a.words) > 0 {
		first := a.words[0]
		ps := first.Pieces
		if len(ps) > 1 && ps[0].Text == "" { // the opening quote
			ps = ps[1:]
		}
		if len(ps) > 0 && ps[0].Var == a.name {
			a.add = true
			rest := append([]Word{first.Sub(len(ps[0].Text))}, a.words[1:]...)
			if a.array && len(ps) == 1 {
				rest = a.words[1:]
			}
			a.words = rest
		}
	}
	l.out.assigns = append(l.out.assigns, a)
}

// redirect skips a redirection and notes a here-document.
func (l *lexer) redirect() {
	start := l.pos
	for l.pos < l.end && strings.IndexByte("<>&|", l.data[l.pos]) >= 0 {
		l.pos++
	}
	op := string(l.data[start:l.pos])
	tabs := op == "<<" && l.at(0) == '-'
	if tabs {
		l.pos++
	}
	l.blanks()
	if l.pos >= l.end || strings.IndexByte("\n;|&()#", l.data[l.pos]) >= 0 {
		return
	}
	w, err := l.word()
	if err == nil && op == "<<" && w.Text != "" {
		l.docs = append(l.docs, hereDoc{delim: w.Text, tabs: tabs})
	}
}

// hereDocs reads the bodies of here-documents as texts of their own: what they hold may be a script.
func (l *lexer) hereDocs() error {
	docs := l.docs
	l.docs = nil
	for _, d := range docs {
		start := l.pos
		end := start
		for end < l.end {
			next := l.end
			if i := bytes.IndexByte(l.data[end:l.end], '\n'); i >= 0 {
				next = end + i + 1
			}
			line := strings.TrimRight(string(l.data[end:next]), "\r\n")
			if d.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == d.delim {
				l.pos = next
				break
			}
			end = next
			l.pos = next
		}
		if err := l.inner(start, end); err != nil {
			return err
		}
	}
	return nil
}

// inner reads a part of the text as a text of its own.
func (l *lexer) inner(start, end int) error {
	if l.nested >= maxNested {
		return nil
	}
	in := &lexer{data: l.data, pos: start, end: end, out: l.out, batch: l.batch, nested: l.nested + 1, depth: l.depth}
	return in.run()
}

// at returns the byte n after the position, 0 after the end.
func (l *lexer) at(n int) byte {
	if l.pos+n >= l.end {
		return 0
	}
	return l.data[l.pos+n]
}

// goesOn returns the length of a line end that does not end the command, 0 for anything else.
func (l *lexer) goesOn() int {
	c := l.at(0)
	if c != '\\' && !(c == '^' && l.batch) && c != '`' {
		return 0
	}
	n := 1
	if l.at(1) == '\r' {
		n = 2
	}
	if l.at(n) == '\n' {
		return n + 1
	}
	if c == '\\' && l.pos+n >= l.end {
		return n
	}
	return 0
}

// blanks skips what separates words on one line.
func (l *lexer) blanks() {
	for l.pos < l.end {
		if c := l.data[l.pos]; c == ' ' || c == '\t' || c == '\r' {
			l.pos++
		} else if n := l.goesOn(); n > 0 {
			l.pos += n
		} else {
			return
		}
	}
}

func (l *lexer) skipLine() {
	for l.pos < l.end && l.data[l.pos] != '\n' {
		l.pos++
	}
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
