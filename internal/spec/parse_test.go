package spec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
)

// TestGolden parses every testdata/*.yaml. What a good one means, or the faults of a bad one, is in the
// .want file beside it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Parse(filepath.Base(file), data)
			if bad := strings.HasPrefix(filepath.Base(file), "bad-"); bad != (err != nil) {
				t.Fatalf("error: %v", err)
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".want", render(t, e, err))
		})
	}
	wants, _ := filepath.Glob("testdata/*.want")
	if len(wants) != len(files) {
		t.Errorf("%d .want files for %d .yaml files: one belongs to nothing", len(wants), len(files))
	}
}

func render(t *testing.T, e Experiment, err error) string {
	t.Helper()
	if err != nil {
		if errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("exit code %d, want that of a user's fault", errkind.CodeOf(err))
		}
		return err.Error() + "\n"
	}
	out, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	golden.Equal(t, file, got)
}

// TestBounds holds what would take the parser minutes, or the stack of a goroutine, to a plain refusal.
func TestBounds(t *testing.T) {
	var keys, bomb strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, "k%06d: 1\n", i)
	}
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 30 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	bomb.WriteString("stacks: *a30\nworkloads: *a30\n")
	for name, c := range map[string]struct{ text, want string }{
		"big":       {strings.Repeat("#", 1<<20+1), "at most 1 MiB"},
		"keys":      {keys.String(), "YAML tokens"},
		"documents": {strings.Repeat("---\na: 1\n", 5000), "bounds.yaml:3:1  a second YAML document"},
		"nested":    {strings.Repeat("[", 1<<17), "YAML tokens"},
		"dashes":    {strings.Repeat("- ", 9_000) + "a", "expected an experiment"},
		"flow":      {strings.Repeat("[", 9_000), "not valid YAML"},
		"bomb":      {bomb.String(), "expected a stack or the name of one in the preset, got a list"},
		"faults":    {"stacks:\n" + strings.Repeat("  - {a: 1}\n", 200), "further faults are not shown"},
	} {
		_, err := Parse("bounds.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v; want %q", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	presets, _ := filepath.Glob("presets/*.yaml")
	for _, file := range append(files, presets...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse("fuzz.yaml", data)
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "fuzz.yaml:") && !strings.HasSuffix(line, "further faults are not shown") {
					t.Errorf("a fault that does not name its file: %q", line)
				}
			}
			return
		}
		if err := Validate(e); err != nil {
			t.Errorf("what Parse lets pass, Validate does not: %v", err)
		}
		if diff := cmp.Diff(e, Complete(e)); diff != "" {
			t.Errorf("Complete is not idempotent:\n%s", diff)
		}
	})
}
