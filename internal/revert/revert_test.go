package revert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func open(t *testing.T, dir, run string) *Journal {
	t.Helper()
	j, err := Open(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func add(t *testing.T, j *Journal, a Act) Entry {
	t.Helper()
	e, err := j.Add(a)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// recorded replaces the kinds by one that notes in which order acts are undone, and fails for those in bad.
func recorded(t *testing.T, bad ...string) *[]string {
	t.Helper()
	var order []string
	old := kinds
	t.Cleanup(func() { kinds = old })
	kinds = map[string]kind{"note": {undo: func(_ context.Context, _ string, args map[string]string) error {
		order = append(order, args["name"])
		for _, name := range bad {
			if name == args["name"] {
				return errors.New(name + " does not go")
			}
		}
		return nil
	}}, "gone": {volatile: true, undo: func(context.Context, string, map[string]string) error {
		order = append(order, "volatile")
		return nil
	}}}
	return &order
}

func note(name string) Act { return Act{"note", map[string]string{"name": name}} }

func TestUndoRunsBackwards(t *testing.T) {
	order := recorded(t)
	dir := t.TempDir()
	j := open(t, dir, "r")
	add(t, j, note("a"))
	b := add(t, j, note("b"))
	add(t, j, note("c"))
	if err := j.Forget(b); err != nil {
		t.Fatal(err)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c", "a"}, *order); diff != "" {
		t.Error(diff)
	}
	checkEmpty(t, dir)
	if _, err := j.Add(note("d")); !errors.Is(err, ErrClosed) {
		t.Errorf("Add after Undo: %v", err)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Errorf("second Undo: %v", err)
	}
}

func TestUndoEntry(t *testing.T) {
	order := recorded(t, "b")
	dir := t.TempDir()
	j := open(t, dir, "r")
	a, b := add(t, j, note("a")), add(t, j, note("b"))
	if err := j.UndoEntry(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := j.UndoEntry(t.Context(), b); err == nil || !strings.Contains(err.Error(), "b does not go") {
		t.Errorf("a failure is hidden: %v", err)
	}
	if err := j.Undo(t.Context()); err == nil {
		t.Error("what failed was taken off the stack")
	}
	if diff := cmp.Diff([]string{"a", "b", "b"}, *order); diff != "" {
		t.Error(diff)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.UndoEntry(t.Context(), a); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestUndoCollectsFailuresAndKeepsThem(t *testing.T) {
	order := recorded(t, "b", "d")
	dir := t.TempDir()
	j := open(t, dir, "r")
	for _, name := range []string{"a", "b", "c", "d"} {
		add(t, j, note(name))
	}
	err := j.Undo(t.Context())
	if err == nil || !strings.Contains(err.Error(), "b does not go") || !strings.Contains(err.Error(), "d does not go") {
		t.Errorf("error %v does not name b and d", err)
	}
	if diff := cmp.Diff([]string{"d", "c", "b", "a"}, *order); diff != "" {
		t.Error(diff)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	// The next start finds what is left, and only that.
	*order = nil
	dead, err := Dead(dir)
	if err != nil || len(dead) != 1 || len(dead[0].Entries) != 2 {
		t.Fatalf("Dead = %+v, %v; want b and d", dead, err)
	}
	if got := dead[0].Entries[0].String(); got != "note name=b" {
		t.Errorf("entry reads %q", got)
	}
	if err := Replay(t.Context(), dead[0].Path); err == nil {
		t.Error("Replay hides failures")
	}
	if diff := cmp.Diff([]string{"d", "b"}, *order); diff != "" {
		t.Error(diff)
	}
}

func TestEntryIsOnDiskBeforeTheAct(t *testing.T) {
	recorded(t)
	dir := t.TempDir()
	j := open(t, dir, "r")
	seen := ""
	j.After = func(Entry) {
		text, err := os.ReadFile(filepath.Join(dir, "r.jsonl"))
		if err != nil {
			t.Error(err)
		}
		seen = string(text)
	}
	add(t, j, note("a"))
	if !strings.Contains(seen, `"name":"a"`) {
		t.Errorf("journal before the act: %q", seen)
	}
}

func TestBadJournalNames(t *testing.T) {
	for _, run := range []string{"", ".", "..", "../x", "a/b", ".hidden", "a b"} {
		if j, err := Open(t.TempDir(), run); err == nil {
			_ = j.Close()
			t.Errorf("Open took %q", run)
		}
	}
	dir := t.TempDir()
	open(t, dir, "same")
	if _, err := Open(dir, "same"); err == nil {
		t.Error("two journals of one name")
	}
}

func TestRebootEndsWhatIsVolatile(t *testing.T) {
	order := recorded(t)
	dir := t.TempDir()
	writeJournal(t, dir, `{"origin":{"run":"r","boot":"another","pid":1}}
{"entry":{"id":1,"kind":"note","args":{"name":"a"}}}
{"entry":{"id":2,"kind":"gone","args":null}}
`)
	if err := Replay(t.Context(), filepath.Join(dir, "r.jsonl")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, *order); diff != "" {
		t.Error(diff)
	}
	checkEmpty(t, dir)
}

func writeJournal(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "r.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedJournals(t *testing.T) {
	const origin = `{"origin":{"run":"r","boot":"","pid":1}}` + "\n"
	entry := func(id, name string) string {
		return `{"entry":{"id":` + id + `,"kind":"note","args":{"name":"` + name + `"}}}` + "\n"
	}
	tests := []struct {
		name, text string
		undone     []string
		damaged    bool
	}{
		{"empty", "", nil, false},
		{"only the origin", origin, nil, false},
		{"torn origin", origin[:20], nil, false},
		{"torn last line", origin + entry("1", "a") + entry("2", "b")[:30], []string{"a"}, false},
		{"last line without its end", origin + entry("1", "a") + strings.TrimSpace(entry("2", "b")), []string{"a"}, false},
		{"zeros after a power cut", origin + entry("1", "a") + strings.Repeat("\x00", 100), []string{"a"}, false},
		{"torn, then zeros", origin + entry("1", "a") + `{"ent` + "\n\x00\x00", []string{"a"}, false},
		{"forgotten", origin + entry("1", "a") + entry("2", "b") + `{"forget":1}` + "\n", []string{"b"}, false},
		{"garbage in the middle", origin + entry("1", "a") + "garbage\n" + entry("2", "b"), []string{"b", "a"}, true},
		{"unknown kind", origin + entry("1", "a") + `{"entry":{"id":2,"kind":"new","args":{}}}` + "\n", []string{"a"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			order := recorded(t)
			dir := t.TempDir()
			writeJournal(t, dir, tt.text)
			err := Replay(t.Context(), filepath.Join(dir, "r.jsonl"))
			if (err != nil) != tt.damaged {
				t.Errorf("Replay: %v, want an error: %v", err, tt.damaged)
			}
			if diff := cmp.Diff(tt.undone, *order); diff != "" {
				t.Error(diff)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); (len(left) > 0) != tt.damaged {
				t.Errorf("left %v, want the journal to stay: %v", left, tt.damaged)
			}
		})
	}
}

func TestTornLineDoesNotSpoilTheNext(t *testing.T) {
	recorded(t, "a")
	dir := t.TempDir()
	writeJournal(t, dir, `{"origin":{"run":"r","boot":"","pid":1}}
{"entry":{"id":1,"kind":"note","args":{"name":"a"}}}
{"entry":{"id":2,"kind":"note","args":{"name":"b"}}}
{"entry":{"id":3,"ki`)
	if err := Replay(t.Context(), filepath.Join(dir, "r.jsonl")); err == nil {
		t.Error("a does not go, and Replay says nothing")
	}
	dead, err := Dead(dir)
	if err != nil || len(dead) != 1 || dead[0].Err != nil || len(dead[0].Entries) != 1 {
		t.Errorf("Dead = %+v, %v; want a readable journal with a alone", dead, err)
	}
}

// To look is not to change: doctor lists dead journals too.
func TestDeadChangesNothing(t *testing.T) {
	recorded(t)
	dir := t.TempDir()
	text := `{"origin":{"run":"r","boot":"","pid":1}}
{"entry":{"id":1,"kind":"note","args":{"name":"a"}}}
{"entry":{"id":2,"ki`
	writeJournal(t, dir, text)
	if dead, err := Dead(dir); err != nil || len(dead) != 1 || len(dead[0].Entries) != 1 {
		t.Errorf("Dead = %+v, %v", dead, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "r.jsonl")); err != nil || string(got) != text {
		t.Errorf("the journal is now %q, %v", got, err)
	}
}

func TestMkdirAllRemovesWhatItMade(t *testing.T) {
	parent := t.TempDir()
	j := open(t, t.TempDir(), "r")
	if err := j.MkdirAll(filepath.Join(parent, "a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	if err := j.MkdirAll(filepath.Join(parent, "a", "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "a", "theirs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(parent, "a", "*")); !cmp.Equal(left, []string{filepath.Join(parent, "a", "theirs")}) {
		t.Errorf("left %v, want what another put there", left)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"origin":{"run":"r"}}` + "\n" + `{"entry":{"id":1,"kind":"remove","args":{"path":"/"}}}` + "\n" + `{"forget":1}` + "\n"))
	f.Add([]byte("{\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _ := parse(data)
		if c.good > int64(len(data)) {
			t.Errorf("%d good bytes of %d", c.good, len(data))
		}
		again, err := parse(data[:c.good])
		if err == nil && !cmp.Equal(c.entries, again.entries, cmpopts.EquateEmpty()) {
			t.Errorf("the whole lines alone read differently: %v, %v", c.entries, again.entries)
		}
	})
}
