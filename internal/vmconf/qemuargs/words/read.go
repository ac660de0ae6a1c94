package words

import (
	"bytes"
	"fmt"
	"strings"
)

// Max is how many words one text may have.
const Max = 200_000

// Limits of one text, so that none can exhaust the machine.
const (
	maxNested = 16      // here-documents, substitutions and variables in each other
	maxSpan   = 1 << 16 // bytes of one substitution
	maxTried  = 1 << 26 // bytes of all substitutions
)

var errWords = fmt.Errorf("it has more than %d words", Max)

// Read reads a text of any form. takesValue tells whether a word is an option whose value is the next word: it tells a
// vector with one argument on each line from a script.
func Read(data []byte, takesValue func(string) bool) (*Text, error) {
	t := &Text{Data: data}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return t, t.vector(0, 0, "\x00")
	}
	skip := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		skip = 3
	}
	if onePerLine(string(data[skip:]), takesValue) {
		return t, t.vector(skip, '\n', "\r")
	}
	s := &script{}
	t.Batch = bytes.Contains(data, []byte("^\n")) || bytes.Contains(data, []byte("^\r\n"))
	l := &lexer{data: data, pos: skip, end: len(data), out: s, batch: t.Batch}
	if err := l.run(); err != nil {
		return nil, err
	}
	if err := s.resolve(t); err != nil {
		return nil, err
	}
	t.Words = max(s.words, t.Words)
	return t, nil
}

// vector reads arguments that end in sep, without any of cut at their ends.
func (t *Text) vector(from int, sep byte, cut string) error {
	t.Vector = true
	c := Command{At: from}
	for at := from; at < len(t.Data); {
		end := bytes.IndexByte(t.Data[at:], sep)
		if end < 0 {
			end = len(t.Data) - at
		}
		text := strings.TrimRight(string(t.Data[at:at+end]), cut)
		if text != "" || sep == 0 {
			c.Words = append(c.Words, Word{
				Text: text, Start: at, End: at + len(text),
				Pieces: []Piece{{Text: text, Start: at, End: at + len(text), Mode: Plain}},
			})
		}
		at += end + 1
		if len(c.Words) > Max {
			return errWords
		}
	}
	t.Commands = []Command{c}
	return nil
}

// onePerLine reports whether every line is one argument: options stand alone, their values on the next line.
func onePerLine(text string, takesValue func(string) bool) bool {
	pairs := 0
	option := false // the line before is an option that wants a value
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if strings.HasSuffix(line, `\`) || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			return false
		}
		if name, _, found := strings.Cut(line, " "); found && !option && takesValue(name) {
			return false
		}
		if option && !strings.HasPrefix(line, "-") {
			pairs++
			option = false
			continue
		}
		option = takesValue(line)
	}
	return pairs > 0
}

// script is what a lexer found, in its order.
type script struct {
	commands []rawCommand
	assigns  []assign
	words    int
	tried    int // bytes that were looked through for the end of a substitution
}

// rawCommand is a command before its variables are filled in.
type rawCommand struct {
	env, words []Word
	at         int
}

// assign is one assignment.
type assign struct {
	name  string
	add   bool // to what is there
	array bool
	words []Word // the elements of an array, or the one value
	at    int
	depth int // of the control structures around it
}

// span is how far ahead the end of a substitution is looked for: texts that only open them get nothing in the end.
func (s *script) span() int {
	if s.tried > maxTried {
		return 0
	}
	return maxSpan
}

// count guards against texts that are all words.
func (s *script) count() error {
	s.words++
	if s.words > Max {
		return errWords
	}
	return nil
}
