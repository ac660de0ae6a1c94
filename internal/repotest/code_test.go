package repotest

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFile     = 500 // lines
	maxFunction = 80  // lines; tests may be longer, since their tables are data
)

func TestSizes(t *testing.T) {
	for _, p := range files(t) {
		if !slices.Contains([]string{".go", ".sh", ".tmpl", ".css"}, path.Ext(p)) {
			continue
		}
		if n := strings.Count(read(t, p), "\n"); n > maxFile {
			t.Errorf("%s has %d lines, more than %d: it does more than one thing", p, n, maxFile)
		}
	}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.lines(f) > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", s.path, f.Name.Name, s.lines(f), maxFunction)
			}
		}
	}
}

// A reader finds out what a package is for in one place, and only in one.
func TestOnePackageComment(t *testing.T) {
	where := map[string][]string{}
	for _, s := range sources(t) {
		if _, seen := where[s.pkg]; !seen && !s.test {
			where[s.pkg] = nil
		}
		if s.ast.Doc == nil {
			continue
		}
		where[s.pkg] = append(where[s.pkg], s.path)
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "Command " + path.Base(s.pkg) + " "
		}
		if text := s.ast.Doc.Text(); !strings.HasPrefix(text, want) {
			t.Errorf("%s: the package comment must start with %q, it is %q", s.path, want, text)
		}
	}
	for pkg, comments := range where {
		if len(comments) != 1 {
			t.Errorf("%s has %d package comments, want 1: %v", pkg, len(comments), comments)
		}
	}
}

// forbidden are words that no file may hold. They are spelled so that this file does not hold them.
var forbidden = []struct {
	word    *regexp.Regexp
	why     string
	allowed map[string]int // path -> how many lines may hold it
}{
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`), "unfinished work is an issue, not a comment", nil},
	{regexp.MustCompile(`\.\.` + `/shared`), "a stranger has only the repository", map[string]int{".ci/run": 1}},
	{regexp.MustCompile(`(^|[^\w.-])/` + `work/|\.` + `library`), "a path of one machine", nil},
	{regexp.MustCompile(`GO` + `PROXY|GONO` + `SUMDB|GOIN` + `SECURE`), "where modules come from is the user's choice", nil},
	{regexp.MustCompile(`https?://(\d+\.|[^/\s]*(mir` + `ror|arti` + `factory|ne` + `xus)[^/\s]*)`), "a private source of packages", nil},
}

func TestForbiddenWords(t *testing.T) {
	for _, p := range files(t) {
		if path.Base(p) == "go.sum" {
			continue
		}
		text := read(t, p)
		if strings.ContainsRune(text, 0) {
			continue // a picture
		}
		for _, f := range forbidden {
			left := f.allowed[p]
			for n, line := range strings.Split(text, "\n") {
				if f.word.MatchString(line) {
					if left--; left < 0 {
						t.Errorf("%s:%d: %q: %s", p, n+1, f.word.FindString(line), f.why)
					}
				}
			}
		}
	}
}

func TestModuleStandsAlone(t *testing.T) {
	for n, line := range strings.Split(read(t, "go.mod"), "\n") {
		if regexp.MustCompile(`^\s*(replace|exclude|retract)\b`).MatchString(line) {
			t.Errorf("go.mod:%d: %s", n+1, line)
		}
	}
}
