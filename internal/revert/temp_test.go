package revert

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTempIsRemovedWhenItsOwnerIsDead(t *testing.T) {
	parent := t.TempDir()
	mine, err := NewTemp(parent, ".work-")
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(parent, ".work-dead")
	for _, dir := range []string{filepath.Join(dead, "deep"), filepath.Join(parent, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(parent, "other"), filepath.Join(parent, ".work-link")); err != nil {
		t.Fatal(err)
	}
	removed, err := Sweep(parent, ".work-")
	if diff := cmp.Diff([]string{dead}, removed); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, path := range []string{mine.Dir, filepath.Join(parent, "other")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := mine.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(mine.Dir); err == nil {
		t.Error("the folder is there after Close")
	}
	if removed, err := Sweep(filepath.Join(parent, "none"), "x"); err != nil || len(removed) > 0 {
		t.Errorf("a folder that does not exist: %v, %v", removed, err)
	}
}
