package repotest

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
)

func documents(t *testing.T) (paths []string) {
	for _, p := range files(t) {
		if path.Ext(p) == ".md" && !strings.Contains(p, "testdata/") {
			paths = append(paths, p)
		}
	}
	return paths
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

func TestLinksResolve(t *testing.T) {
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, doc), -1) {
			if regexp.MustCompile(`^[a-z]+:`).MatchString(m[1]) {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			file := doc
			if target != "" {
				file = path.Join(path.Dir(doc), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", doc, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, file)), anchor) {
				t.Errorf("%s: %s has no heading #%s", doc, file, anchor)
			}
		}
	}
}

// anchors are the names that GitHub gives the headings of a document.
func anchors(text string) (names []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := drop.ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// Whoever is told to type `make something` can.
func TestMakeTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	called := regexp.MustCompile("(?m)(?:`|^\\s*(?:\\$ )?)make ([a-z-]+)")
	found := 0
	for _, p := range append(documents(t), ".ci/run") {
		for _, m := range called.FindAllStringSubmatch(read(t, p), -1) {
			found++
			if !targets[m[1]] {
				t.Errorf("%s: make %s is no target of the Makefile", p, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("no document names a target: the search does not work")
	}
}

func TestExitCodesAreDocumented(t *testing.T) {
	var want, got []string
	for _, m := range errkind.Meanings {
		want = append(want, fmt.Sprintf("| %d | %s | %s |", m.Code, m.Name, m.Text))
	}
	for line := range strings.Lines(read(t, "docs/EXITCODES.md")) {
		if regexp.MustCompile(`^\| \d`).MatchString(line) {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/EXITCODES.md against errkind.Meanings:\n%s", diff)
	}
}

// The list of meanings has every constant of type Code.
func TestExitCodesAreComplete(t *testing.T) {
	want := map[string]int{}
	for _, s := range sources(t) {
		if s.path == "internal/errkind/errkind.go" {
			want = codes(s.ast)
		}
	}
	got := map[string]int{}
	for _, m := range errkind.Meanings {
		got[m.Name] = int(m.Code)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("constants of errkind against errkind.Meanings:\n%s", diff)
	}
}

// codes are the constants of type Code of a file.
func codes(f *ast.File) map[string]int {
	found := map[string]int{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			kind, _ := v.Type.(*ast.Ident)
			if kind == nil || kind.Name != "Code" {
				continue
			}
			n, err := strconv.Atoi(v.Values[0].(*ast.BasicLit).Value)
			if err == nil {
				found[v.Names[0].Name] = n
			}
		}
	}
	return found
}
