package repotest

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// imports gives what each package imports of ours, tests left out.
func imports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if _, seen := all[s.pkg]; !seen {
			all[s.pkg] = nil
		}
		for _, i := range s.ast.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if ours, ok := strings.CutPrefix(p, module); ok {
				ours = strings.TrimPrefix(ours, "internal/")
				if !slices.Contains(all[s.pkg], ours) {
					all[s.pkg] = append(all[s.pkg], ours)
				}
			}
		}
	}
	return all
}

var update = flag.Bool("update", false, "write the imports as they are into imports_table_test.go; its rows and their order stay")

func TestImports(t *testing.T) {
	actual := imports(t)
	if *update {
		writeTable(t, actual)
		return
	}
	var above []string
	for _, row := range table {
		allowed := strings.Fields(row.imports)
		for _, i := range allowed {
			if !slices.Contains(above, i) {
				t.Errorf("the table lets %s import %s, which is not above it", row.pkg, i)
			}
			if !slices.Contains(actual[row.pkg], i) {
				t.Errorf("the table lets %s import %s, which it does not: take it out", row.pkg, i)
			}
		}
		for _, i := range actual[row.pkg] {
			if !slices.Contains(allowed, i) {
				t.Errorf("%s imports %s, which the table does not allow", row.pkg, i)
			}
		}
		if _, exists := actual[row.pkg]; !exists {
			t.Errorf("the table has %s, which does not exist", row.pkg)
		}
		if slices.Contains(above, row.pkg) {
			t.Errorf("the table has %s twice", row.pkg)
		}
		above = append(above, row.pkg)
	}
	for pkg := range actual {
		if !slices.Contains(above, pkg) {
			t.Errorf("%s is not in the table: give it a row in imports_table_test.go and in docs/ARCHITECTURE.md", pkg)
		}
	}
}

// writeTable gives each row of the table the imports of its package. What comes of it is for a person to judge.
func writeTable(t *testing.T, actual map[string][]string) {
	const file = "imports_table_test.go"
	row := regexp.MustCompile(`\{"([^"]+)", "[^"]*"\}`)
	text := row.ReplaceAllStringFunc(read(t, "internal/repotest/"+file), func(old string) string {
		pkg := row.FindStringSubmatch(old)[1]
		slices.Sort(actual[pkg])
		return fmt.Sprintf("{%q, %q}", pkg, strings.Join(actual[pkg], " "))
	})
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// never are imports that no later row may bring back: what they keep apart is what lets the tests work alone.
var never = map[string][]string{
	"measure":        {"store", "rig", "guest", "qemu/qmp"}, // it is given a sink and an executor: fake ones in tests
	"rig":            {"store"},                             // measures, and keeps nothing
	"analyse":        {"store", "measure", "sys"},           // it is given records: a stored run and a fake analyse alike
	"plan":           {"sys", "store", "measure"},           // pure
	"store":          {"analyse", "measure"},                // keeps, and does not think
	"provision":      {"qemu/qmp", "guest", "store"},        // makes disks, and knows no machine
	"agent":          {"sys", "qemu/qmp"},                   // it lives in the guest
	"report/text":    {"store", "measure", "sys"},           // they are given a result, and compute nothing
	"report/html":    {"store", "measure", "sys"},
	"report/jsonout": {"store", "measure", "sys"},
	"report/csvout":  {"store", "measure", "sys"},
}

func TestKeptApart(t *testing.T) {
	actual := imports(t)
	for pkg, banned := range never {
		for _, b := range banned {
			if path := way(actual, pkg, b); path != nil {
				t.Errorf("%s reaches %s: %s", pkg, b, strings.Join(path, " -> "))
			}
		}
	}
}

// way is the shortest chain of imports from one package to another, nil when there is none.
func way(imports map[string][]string, from, to string) []string {
	queue, seen := [][]string{{from}}, map[string]bool{from: true}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		for _, next := range imports[path[len(path)-1]] {
			if seen[next] {
				continue
			}
			seen[next] = true
			longer := append(slices.Clone(path), next)
			if next == to {
				return longer
			}
			queue = append(queue, longer)
		}
	}
	return nil
}

// docs/ARCHITECTURE.md lists the same packages in the same order.
func TestArchitectureListsThePackages(t *testing.T) {
	var want, got []string
	for _, row := range table {
		want = append(want, row.pkg)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+)` \\|").FindAllStringSubmatch(read(t, "docs/ARCHITECTURE.md"), -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table against docs/ARCHITECTURE.md:\n%s", diff)
	}
}
