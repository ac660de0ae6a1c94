// Package words reads command lines out of any text that holds them, scripts of a shell, Makefiles, logs, and argument
// vectors as they are, into words that remember where each of their bytes stands, so that a part of one word can be
// changed and all else stays. It is pure, and knows no program.
package words

import (
	"slices"
	"sort"
	"strings"
)

// Mode is how the bytes of a piece are written.
type Mode byte

// Modes of pieces.
const (
	Bare   Mode = iota // outside of quotes
	Single             // between single quotes
	Double             // between double quotes
	Plain              // as it is: nothing is special
)

// Piece is a part of a word that is written in one way.
type Piece struct {
	Text       string
	Start, End int  // what it is in the text; as many bytes as Text, unless it is From a variable or escaped
	Mode       Mode // for a variable, what it stands in
	Var        string
	Known      bool // Var's value is Text; otherwise Text is as it is written
	open       bool // not known, whether or not it has a name
	array      bool // every element of Var
	raw        bool // its text is not cut out of the data yet
	fallback   *Word
}

// Word is one argument.
type Word struct {
	Text       string
	Pieces     []Piece
	Start, End int    // in the text, quotes included
	Of         string // the variable that it is an element of
}

// Command is one command: its words with the variables of the script filled in, without redirections.
type Command struct {
	Env   []Word // NAME=value before it
	Words []Word
	At    int // offset in the text
}

// Variable is what a script assigns to a name: its words, as a shell splits them.
type Variable struct {
	Name  string
	Words []Word
}

// Text is a text that was read.
type Text struct {
	Data      []byte
	Commands  []Command
	Variables []Variable // in the order of their first assignments
	Vector    bool       // an argument vector: no shell reads it
	Batch     bool       // ^ ends a line that goes on
	Words     int        // that were read, at most Max
	Above     int        // lines before Data, where that is a part of a text
	lines     []int
}

// Line returns the line of an offset, from 1; 0 in a vector that has no lines.
func (t *Text) Line(offset int) int {
	if t.Vector && slices.Contains(t.Data, 0) {
		return 0
	}
	if t.lines == nil {
		t.lines = []int{0}
		for i, c := range t.Data {
			if c == '\n' {
				t.lines = append(t.lines, i+1)
			}
		}
	}
	return t.Above + sort.SearchInts(t.lines, offset+1)
}

// Open returns the variables of the word that are not known, as they are written.
func (w Word) Open() []string {
	var out []string
	for _, p := range w.Pieces {
		if p.Unknown() {
			out = append(out, p.Text)
		}
	}
	return out
}

// OpenBytes tells of each byte of the word's text whether it is of something that is not known; nil where nothing is.
func (w Word) OpenBytes() []bool {
	if len(w.Open()) == 0 {
		return nil
	}
	out := make([]bool, 0, len(w.Text))
	for _, p := range w.Pieces {
		for range len(p.Text) {
			out = append(out, p.Unknown())
		}
	}
	return out
}

// Unknown reports whether the piece is of something whose value is not known.
func (p Piece) Unknown() bool { return p.open && !p.Known }

// Sub returns the word from byte from on.
func (w Word) Sub(from int) Word { return w.slice(from, len(w.Text)) }

func (w Word) slice(from, to int) Word {
	out := Word{Text: w.Text[from:to], Start: w.End, End: w.End, Of: w.Of}
	at := 0
	for _, p := range w.Pieces {
		a, b := max(from-at, 0), min(to-at, len(p.Text))
		at += len(p.Text)
		if a > b || a == b && len(p.Text) > 0 {
			continue
		}
		if a > 0 || b < len(p.Text) {
			if p.End-p.Start == len(p.Text) {
				p.Start, p.End = p.Start+a, p.Start+b
			}
			p.Text = p.Text[a:b]
		}
		out.Pieces = append(out.Pieces, p)
	}
	if n := len(out.Pieces); n > 0 {
		out.Start, out.End = out.Pieces[0].Start, out.Pieces[n-1].End
		if to == len(w.Text) {
			out.End = w.End
		}
	}
	return out
}

// Fields splits the word as a shell splits a variable outside of quotes.
func (w Word) Fields() []Word {
	var out []Word
	start := -1
	for i := 0; i <= len(w.Text); i++ {
		blank := i == len(w.Text) || strings.IndexByte(" \t\r\n", w.Text[i]) >= 0
		if blank && start >= 0 {
			f := w.slice(start, i)
			if n := len(f.Pieces); n > 0 {
				f.End = f.Pieces[n-1].End
			}
			out = append(out, f)
			start = -1
		} else if !blank && start < 0 {
			start = i
		}
	}
	return out
}
