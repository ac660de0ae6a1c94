package fio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/golden"
)

// The files in testdata/output are what fio 3.33 printed for small jobs of ours, each format once, and one written by
// hand after 2.x. Names begin with the format; error-* hold no result.
func TestParseGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/output/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	want := map[string]bool{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)) + ".txt"
		golden := filepath.Join("testdata/golden", name)
		want[golden] = true
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Parse(data)
			got := dump(out)
			if err != nil {
				got = "error " + err.Error() + "\n"
			}
			if isError := strings.HasPrefix(name, "error-"); isError != (err != nil) {
				t.Errorf("Parse gives error %v", err)
			}
			compareGolden(t, golden, got)
		})
	}
	goldens, _ := filepath.Glob("testdata/golden/*")
	for _, g := range goldens {
		if !want[g] && !strings.HasSuffix(g, ".fio") {
			t.Errorf("%s belongs to no file in testdata/output", g)
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	golden.Equal(t, path, got)
}
