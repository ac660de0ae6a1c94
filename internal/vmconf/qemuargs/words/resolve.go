package words

import "strings"

// resolve fills the variables into the commands.
func (s *script) resolve(t *Text) error {
	r := &resolver{script: s, byName: map[string][]assign{}}
	for _, a := range s.assigns {
		if _, seen := r.byName[a.name]; !seen {
			r.names = append(r.names, a.name)
		}
		r.byName[a.name] = append(r.byName[a.name], a)
	}
	for _, c := range s.commands {
		t.Commands = append(t.Commands, Command{Env: c.env, Words: r.expand(c.words, c.at, 0), At: c.at})
		if r.words > Max {
			return errWords
		}
	}
	t.Words = r.words
	for _, name := range r.names {
		if v, ok := r.value(name, len(t.Data), 0); ok {
			t.Variables = append(t.Variables, Variable{Name: name, Words: v.words})
			continue
		}
		for _, a := range r.byName[name] { // which of them counts is decided when the script runs
			var v value
			r.put(&v, a, len(t.Data), 0)
			t.Variables = append(t.Variables, Variable{Name: name, Words: v.words})
		}
	}
	return nil
}

type resolver struct {
	*script
	byName map[string][]assign
	names  []string
	words  int // that expansion made
	bytes  int // that variables put into words
	work   int // assignments that were looked at
}

// Limits of what variables may make of a text.
const (
	maxFilled = 16 << 20
	maxWork   = 1 << 20
)

// value is what a variable holds.
type value struct {
	words []Word // as a shell splits it
	text  string // as it is between double quotes
	array bool
	open  bool // a part of it is not known
}

// expand fills variables into words. A variable that is a whole word becomes the words of its value.
func (r *resolver) expand(ws []Word, at, depth int) []Word {
	out := make([]Word, 0, len(ws))
	for _, w := range ws {
		if len(w.Pieces) == 1 || len(w.Pieces) == 2 && w.Pieces[0].Text == "" {
			p := w.Pieces[len(w.Pieces)-1]
			if p.open && p.Var != "" && depth < maxNested && r.words <= Max {
				if vs, ok := r.whole(p, at, depth); ok {
					r.words += len(vs)
					out = append(out, vs...)
					continue
				}
			}
		}
		out = append(out, r.fill(w, at, depth))
		r.words++
	}
	return out
}

// whole returns the words of a variable that stands alone, where it is one that splits into words.
func (r *resolver) whole(p Piece, at, depth int) ([]Word, bool) {
	v, ok := r.value(p.Var, at, depth)
	if !ok {
		return nil, false
	}
	vs := v.words
	split := p.Mode == Bare || p.array && v.array
	if !split { // a whole command line in quotes is one for eval, sh -c and the like
		split = len(vs) > 1 && !v.array && strings.HasPrefix(vs[1].Text, "-")
	}
	if len(vs) == 1 && !strings.HasPrefix(vs[0].Text, "-") && !v.array {
		split = false // its value is a part of the line, and changed there
	}
	return vs, split
}

// value returns what a variable holds at an offset of the text, where that is known.
func (r *resolver) value(name string, at, depth int) (value, bool) {
	all := r.byName[name]
	if r.work += len(all) + 1; len(all) == 0 || depth >= maxNested || r.words > Max || r.work > maxWork {
		return value{}, false
	}
	base := -1
	for i, a := range all {
		if a.add || a.empty() {
			continue
		}
		switch {
		case base < 0:
			base = i
		case a.text() == all[base].text():
		case a.at > at:
		case a.depth == 0:
			base = i
		default:
			return value{}, false // one of several, and which one is decided when it runs
		}
	}
	var v value
	for i, a := range all {
		if i == base || a.add && i > base {
			r.put(&v, a, at, depth)
		}
	}
	if v.array {
		texts := make([]string, len(v.words))
		for i, w := range v.words {
			texts[i] = w.Text
		}
		v.text = strings.Join(texts, " ")
	}
	return v, r.work <= maxWork
}

// put adds what one assignment gives a variable.
func (r *resolver) put(v *value, a assign, at, depth int) {
	v.array = v.array || a.array
	for _, w := range a.words {
		if r.work += len(v.text) >> 6; r.work > maxWork {
			return
		}
		var ws []Word
		if a.array {
			ws = r.expand([]Word{w}, at, depth+1)
		} else {
			w = r.fill(w, at, depth+1)
			ws = w.Fields()
			v.open = v.open || len(w.Open()) > 0
		}
		for i, f := range ws {
			if f.Of == "" {
				f.Of = a.name
			}
			v.open = v.open || a.array && len(f.Open()) > 0
			if n := len(v.words); i == 0 && n > 0 && !a.array && !blankAt(v.text, len(v.text)-1) && !blankAt(w.Text, 0) {
				v.words[n-1] = v.words[n-1].join(f)
				continue
			}
			v.words = append(v.words, f)
		}
		if !a.array {
			v.text += w.Text
		}
	}
}

func blankAt(s string, i int) bool {
	return i < 0 || i >= len(s) || strings.IndexByte(" \t\r\n", s[i]) >= 0
}

// join makes one word of two that stand apart.
func (w Word) join(next Word) Word {
	w.Pieces = append(w.Pieces, next.Pieces...)
	w.Text += next.Text
	w.End = next.End
	return w
}

func (a assign) empty() bool {
	for _, w := range a.words {
		if w.Text != "" {
			return false
		}
	}
	return true
}

func (a assign) text() string {
	out := make([]string, len(a.words))
	for i, w := range a.words {
		out[i] = w.Text
	}
	return strings.Join(out, " ")
}

// fill puts the values of variables into a word and leaves it one word.
func (r *resolver) fill(w Word, at, depth int) Word {
	changed := false
	pieces := make([]Piece, len(w.Pieces))
	for i, p := range w.Pieces {
		if p.open && !p.Known && p.Var != "" && depth < maxNested {
			if text, ok := r.scalar(p, at, depth); ok && r.bytes+len(text) <= maxFilled {
				r.bytes += len(text)
				p.Text, p.Known, changed = text, true, true
			}
		}
		pieces[i] = p
	}
	if !changed {
		return w
	}
	b := builder{w: Word{Pieces: pieces, Start: w.Start, Of: w.Of}}
	return b.done(w.End)
}

// scalar returns the text of a variable inside a word, or of the fallback beside it.
func (r *resolver) scalar(p Piece, at, depth int) (string, bool) {
	if len(r.byName[p.Var]) == 0 && p.fallback != nil {
		f := r.fill(*p.fallback, at, depth+1)
		return f.Text, len(f.Open()) == 0
	}
	v, ok := r.value(p.Var, at, depth)
	return v.text, ok && !v.open
}
