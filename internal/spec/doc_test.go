package spec

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is docs/SPEC.md, cut into its sections by heading.
func page(t *testing.T) (whole string, sections map[string]string) {
	text, err := os.ReadFile("../../docs/SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	sections = map[string]string{}
	for _, s := range regexp.MustCompile(`(?m)^#+ `).Split(string(text), -1) {
		heading, body, _ := strings.Cut(s, "\n")
		sections[heading] = body
	}
	return string(text), sections
}

var docRow = regexp.MustCompile("(?m)^\\| `([a-z0-9_, `]+)` \\|([^|]*)\\|")

// TestDocumentedKeys compares the tables of docs/SPEC.md with the schema: both ways.
func TestDocumentedKeys(t *testing.T) {
	_, sections := page(t)
	for heading, want := range map[string][]string{
		"The experiment": experimentSchema.keys("extends", "guest", "stacks", "workloads", "statements", "figures", "scales"),
		"guest":          guestSchema.keys(),
		"Stacks":         stackSchema.keys("matrix", "exclude"),
		"Workloads":      workloadSchema.keys("matrix", "exclude"),
		"Statements":     statementSchema.keys(),
		"Figures":        figureSchema.keys(),
	} {
		var got []string
		for _, m := range docRow.FindAllStringSubmatch(sections[heading], -1) {
			got = append(got, strings.Split(m[1], "`, `")...)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -schema +documented:\n%s", heading, diff)
		}
	}
}

// TestDocumentedWords checks that each enumeration stands in the row of its key, in its order.
func TestDocumentedWords(t *testing.T) {
	_, sections := page(t)
	cells := map[string]string{}
	for _, heading := range []string{"Stacks", "Workloads", "Figures"} {
		for _, m := range docRow.FindAllStringSubmatch(sections[heading], -1) {
			cells[m[1]] = strings.TrimSpace(m[2])
		}
	}
	for key, words := range map[string][]string{
		"role": roles, "format": Formats, "preallocation": preallocations, "bus": Buses, "cache": Caches, "aio": AIOs,
		"discard": Discards, "detect_zeroes": Detects, "machine": Machines, "rw": Rws, "storage": Storages, "protocol": Protocols,
		"daemon": Daemons, "snapshot": Snapshots, "scheduler": Schedulers, "memory_backend": Memories, "hypervisor": Hypervisors,
		"backend": Backends, "generator": Generators, "kind": FigureKinds,
	} {
		if diff := cmp.Diff("`"+strings.Join(words, "`, `")+"`", cells[key]); diff != "" {
			t.Errorf("%s:\n%s", key, diff)
		}
	}
}

// TestDocumentedExamples parses each example; the one that is bad has the faults that are printed under it.
func TestDocumentedExamples(t *testing.T) {
	whole, _ := page(t)
	good := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(whole, -1)
	if len(good) < 2 {
		t.Fatalf("%d examples: the search does not work", len(good))
	}
	for _, m := range good {
		e, err := Parse("lab.yaml", []byte(m[1]))
		if err != nil {
			t.Errorf("%s\n%v", m[1], err)
		}
		if strings.Contains(m[1], "exclude") && (len(e.Stacks) != 6 || len(e.Workloads) != 3) {
			t.Errorf("%d stacks and %d workloads, the page says 6 and 3", len(e.Stacks), len(e.Workloads))
		}
	}
	bad := regexp.MustCompile("(?s)```yaml bad\n(.*?)```.*?```text\n(.*?)\n```").FindStringSubmatch(whole)
	if bad == nil {
		t.Fatal("no example of faults")
	}
	_, err := Parse("lab.yaml", []byte(bad[1]))
	if err == nil {
		t.Fatal("the bad example is good")
	}
	if diff := cmp.Diff(bad[2], err.Error()); diff != "" {
		t.Errorf("-documented +said:\n%s", diff)
	}
}
