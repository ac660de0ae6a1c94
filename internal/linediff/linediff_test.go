package linediff

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEdits(t *testing.T) {
	for name, tt := range map[string]struct {
		old, new string
		want     []Edit
	}{
		"same":             {"a\nb\n", "a\nb\n", nil},
		"replaced":         {"a\nb\nc\n", "a\nB\nc\n", []Edit{{2, 2, []string{"b\n"}, []string{"B\n"}}}},
		"inserted":         {"a\nc\n", "a\nb\nc\n", []Edit{{2, 2, nil, []string{"b\n"}}}},
		"removed":          {"a\nb\nc\n", "a\nc\n", []Edit{{2, 2, []string{"b\n"}, nil}}},
		"at the end":       {"a\n", "a\nb\n", []Edit{{2, 2, nil, []string{"b\n"}}}},
		"end of line":      {"a", "a\n", []Edit{{1, 1, []string{"a"}, []string{"a\n"}}}},
		"from nothing":     {"", "a\n", []Edit{{1, 1, nil, []string{"a\n"}}}},
		"to nothing":       {"a\nb", "", []Edit{{1, 1, []string{"a\n", "b"}, nil}}},
		"two apart":        {"a\nb\nc\n", "A\nb\nC\n", []Edit{{1, 1, []string{"a\n"}, []string{"A\n"}}, {3, 3, []string{"c\n"}, []string{"C\n"}}}},
		"one line of many": {"a\na\na\n", "a\na\n", []Edit{{3, 3, []string{"a\n"}, nil}}},
		"shifted": {
			"a\nb\nc\nd\n", "x\na\nc\nd\ny\n",
			[]Edit{{1, 1, nil, []string{"x\n"}}, {2, 3, []string{"b\n"}, nil}, {5, 5, nil, []string{"y\n"}}},
		},
	} {
		if d := cmp.Diff(tt.want, Edits([]byte(tt.old), []byte(tt.new))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestUnified(t *testing.T) {
	lines := make([]string, 20)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d\n", i+1)
	}
	old := strings.Join(lines, "")
	lines[1], lines[9] = "two\n", ""
	lines[19] = "twenty"
	changed := strings.Join(lines, "")
	want := `--- vm.conf
+++ vm.conf
@@ -1,5 +1,5 @@
 1
-2
+two
 3
 4
 5
@@ -7,7 +7,6 @@
 7
 8
 9
-10
 11
 12
 13
@@ -17,4 +16,4 @@
 17
 18
 19
-20
+twenty
\ No newline at end of file
`
	if d := cmp.Diff(want, Unified("vm.conf", []byte(old), Edits([]byte(old), []byte(changed)))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := Unified("x", []byte("a"), nil); got != "" {
		t.Errorf("no edits: %q", got)
	}
}

// What is too long to be compared line by line is still a right diff.
func TestTooLong(t *testing.T) {
	old := strings.Repeat("a\n", most+1)
	changed := strings.Repeat("b\n", most+1)
	edits := Edits([]byte(old), []byte(changed))
	if len(edits) != 1 || apply(old, edits) != changed {
		t.Errorf("%d edits", len(edits))
	}
}

// apply carries edits out.
func apply(old string, edits []Edit) string {
	lines := split([]byte(old))
	for _, e := range slices.Backward(edits) {
		lines = slices.Replace(lines, e.Line-1, e.end()-1, e.New...)
	}
	return strings.Join(lines, "")
}

// patch(1) takes what we write, and comes to the same text as the edits do.
func TestPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("no patch(1) here")
	}
	for i, texts := range [][2]string{
		{"a\nb\nc\n", "a\nB\nc\n"},
		{"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n", "x\na\nc\nd\ne\nf\ng\nh\ni\nj\nK"},
		{"a\n", "a\nb\nc\n"},
		{"<a/>", "<a>\n  <b/>\n</a>"},
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(texts[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "--posix", file)
		cmd.Stdin = strings.NewReader(Unified("f", []byte(texts[0]), Edits([]byte(texts[0]), []byte(texts[1]))))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%d: %v: %s", i, err, out)
			continue
		}
		if got, _ := os.ReadFile(file); string(got) != texts[1] {
			t.Errorf("%d: patch made %q", i, got)
		}
	}
}

func FuzzEdits(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nd"))
	f.Add([]byte(""), []byte("\n"))
	f.Add([]byte("x\nx\nx"), []byte("x\n"))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		edits := Edits(old, new)
		if got := apply(string(old), edits); got != string(new) {
			t.Fatalf("edits of %q make %q, not %q", old, got, new)
		}
		if diff := Unified("f", old, edits); (diff == "") != bytes.Equal(old, new) {
			t.Fatalf("diff %q", diff)
		}
	})
}

// A difference is found wherever it stands among the blocks that are compared at once.
func TestBlocks(t *testing.T) {
	old := bytes.Repeat([]byte("0123456\n"), 3*block/8)
	for _, at := range []int{0, 8, block - 8, block, block + 8, 2 * block, 3*block - 8} {
		changed := bytes.Clone(old)
		changed[at] = 'x'
		edits := Edits(old, changed)
		if len(edits) != 1 || edits[0].Line != at/8+1 || apply(string(old), edits) != string(changed) {
			t.Errorf("at %d: %+v", at, edits)
		}
	}
}
