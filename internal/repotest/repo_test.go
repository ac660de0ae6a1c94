package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/iotax/iotax/"

// root is the repository's folder as seen from this package's.
const root = "../.."

// built are the places where builds and runs leave files, by path from the root. They are no part of the repository.
var built = []string{".git", "bin", "out"}

// files lists all files of the repository by their slash-separated paths from its root, sorted.
func files(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".git" && !d.IsDir(): // of a work tree beside its repository
			return nil
		case d.IsDir() && slices.Contains(built, rel):
			return fs.SkipDir
		case d.IsDir(), strings.HasPrefix(rel, "internal/guest/embedded/agent-"):
			return nil
		}
		paths = append(paths, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 20 {
		t.Fatalf("only %d files: the walk does not see the repository", len(paths))
	}
	return paths
}

func read(t *testing.T, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// source is one parsed file of Go.
type source struct {
	path string // from the root
	pkg  string // folder, without "internal/"
	test bool
	fset *token.FileSet
	ast  *ast.File
}

func sources(t *testing.T) (all []source) {
	t.Helper()
	fset := token.NewFileSet()
	for _, p := range files(t) {
		if path.Ext(p) != ".go" || strings.Contains(p, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(root, p), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(path.Dir(p), "internal/")
		all = append(all, source{p, pkg, strings.HasSuffix(p, "_test.go"), fset, f})
	}
	return all
}

// lines is how many lines a node of the file takes.
func (s source) lines(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}
