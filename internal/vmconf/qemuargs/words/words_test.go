package words_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

func option(s string) bool { return s == "-a" || s == "-b" }

// read returns the words of each command, joined with "|".
func read(t *testing.T, text string) ([]string, *words.Text) {
	t.Helper()
	x, err := words.Read([]byte(text), option)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range x.Commands {
		var ws []string
		for _, w := range c.Words {
			ws = append(ws, w.Text)
		}
		out = append(out, strings.Join(ws, "|"))
	}
	return out, x
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"quotes":          {`p 'a b' "c d"e\ f ''`, []string{"p|a b|c de f|"}},
		"escapes":         {`p "a\"b\$c\d" \'`, []string{`p|a"b$c\d|'`}},
		"continued":       {"p a \\\n  b\\\r\n c", []string{"p|a|b|c"}},
		"comments":        {"p a#b # c 'd\nq", []string{"p|a#b", "q"}},
		"separators":      {"a; b && c | d & (e)", []string{"a", "b", "c", "d", "e"}},
		"redirections":    {"p 2>&1 >f <g a >> h &", []string{"p|a"}},
		"environment":     {"X=1 Y='2 3' p $X", []string{"p|$X"}},
		"variable":        {"X=1\np $X ${X} \"a$X\" '$X' $Y", []string{"p|1|1|a1|$X|$Y"}},
		"splits":          {"X='-a  b'\np $X \"$X\"", []string{"p|-a|b|-a  b"}},
		"one value":       {"X='a b'\np \"$X\"", []string{"p|a b"}},
		"fallback":        {"p ${X:-a} ${Y-b}c\nY=d", []string{"p|a|dc"}},
		"array":           {"X=(-a 'b c' # d\n e)\nX+=(f)\np \"${X[@]}\"", []string{"p|-a|b c|e|f"}},
		"adds":            {"X=a\nX+=b\nX=\"$X c\"\nX+=\" d\"\np $X", []string{"p|ab|c|d"}},
		"set again":       {"X=a\np $X\nX=b\np $X", []string{"p|a", "p|b"}},
		"one of two":      {"if t; then X=a; else X=b; fi\np $X", []string{"t", "p|$X"}},
		"set in one case": {"X=\nif t; then X='-a b'; fi\np $X", []string{"t", "p|-a|b"}},
		"function":        {"f() { local X=1; p $X \"$@\"; }", []string{"f", "p|1|$@"}},
		"make":            {"X = a \\\n b\nr: $(Y)\n\t@p $(X) $$X\n", []string{"r:|$(Y)", "@p|a|b|a|b"}},
		"just":            {"x := \"a b\"\nr:\n  p {{x}} {{ y }}", []string{"r:", "p|a|b|{{ y }}"}},
		"here-document":   {"cat <<E\np it's $X\nE\nq", []string{"cat", "p|it's|$X", "q"}},
		"substitution":    {"X=$(p a)\nq `r b`", []string{"p|a", "r|b", "q|`r b`"}},
		"batch":           {"p C:\\a ^\r\n \"D:\\b c\"", []string{`p|C:\a|D:\b c`}},
		"json as it is":   {`p -a {"x":"y z","w":[1]} b`, []string{`p|-a|{"x":"y z","w":[1]}|b`}},
		"parentheses":     {"p disk(1).img", []string{"p|disk(1).img"}},
		"sentence":        {"it's here\np 'a'", []string{"it's|here", "p|a"}},
		"vector":          {"p\x00a b\x00\x00$X\x00", []string{"p|a b||$X"}},
		"lines":           {"p\n-a\nb c\n{\"x\":1}\n", []string{`p|-a|b c|{"x":1}`}},
		"open quote":      {"p 'a\nq", []string{"p|'a", "q"}},
		"endless":         {"A=$B\nB=$A\np $A", []string{"p|$A"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := read(t, tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every byte of a word is changed where it stands, written as its place needs it.
func TestSplice(t *testing.T) {
	for name, tt := range map[string]struct{ text, old, with, want string }{
		"bare":       {"p a=b,c", "b", "x y", `p a=x\ y,c`},
		"single":     {"p 'a=b,c' d", "b", "it's", `p 'a=it'\''s,c' d`},
		"double":     {`p "a=b,c"`, "b", `$x"`, `p "a=\$x\",c"`},
		"mixed":      {`p a="b"'c',d`, "bc", "x", `p a="x"'',d`},
		"variable":   {"X=b\np a=$X,c", "b", "x", "X=b\np a=x,c"},
		"not known":  {"p a=$X,c", "$X", "x", "p a=x,c"},
		"element":    {"X=(-a b)\np ${X[@]}", "b", "x", "X=(-a x)\np ${X[@]}"},
		"a string's": {"X='-a b'\np $X", "b", "x", "X='-a x'\np $X"},
		"vector":     {"p\x00a=b\x00", "b", "$ '", "p\x00a=$ '\x00"},
		"append":     {`p "a"b`, "", ",c d", `p "a"b,c\ d`},
	} {
		t.Run(name, func(t *testing.T) {
			_, x := read(t, tt.text)
			c := x.Commands[len(x.Commands)-1].Words
			w := c[len(c)-1]
			for _, other := range c {
				if strings.Contains(other.Text, tt.old) {
					w = other
					break
				}
			}
			from := strings.Index(w.Text, tt.old)
			if tt.old == "" {
				w = c[len(c)-1]
				from = len(w.Text)
			}
			s, err := w.Splice(from, from+len(tt.old), tt.with)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(words.Apply(x.Data, s)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	_, x := read(t, "X=abc\np d$X")
	if s, err := x.Commands[0].Words[1].Splice(2, 3, "x"); err == nil {
		t.Errorf("a part of a variable's value is replaced by %v", s)
	}
	if _, err := words.Encode("a\nb", words.Plain); err == nil {
		t.Error("a line end is written into a vector")
	}
}

func TestLine(t *testing.T) {
	_, x := read(t, "a\nb \\\n  c\n")
	w := x.Commands[1].Words
	if got := []int{x.Line(w[0].Start), x.Line(w[1].Start)}; got[0] != 2 || got[1] != 3 {
		t.Errorf("lines %v, want 2 and 3", got)
	}
}
