package guest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
)

func TestCachedLeavesNothingBehind(t *testing.T) {
	cache := t.TempDir()
	b := builder{o: Options{Cache: cache}}
	dead := filepath.Join(cache, "guest", TempPrefix+"dead")
	if err := os.MkdirAll(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	identity := func(w io.Writer) { io.WriteString(w, "x") }
	broken := errors.New("broken")
	if _, err := b.cached("kind", "name", identity, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	path, err := b.cached("kind", "name", identity, func(path string) error { return os.WriteFile(path, []byte("made"), 0o600) })
	if text, readErr := os.ReadFile(path); err != nil || readErr != nil || string(text) != "made" {
		t.Errorf("%s holds %q: %v, %v", path, text, err, readErr)
	}
	again, err := b.cached("kind", "name", identity, func(string) error { return broken })
	if err != nil || again != path {
		t.Errorf("the second time: %s, %v", again, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "guest", "*"))
	if diff := cmp.Diff([]string{filepath.Dir(path)}, left); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The trial of a copy of fio ends at once when the run is interrupted, children that hold its output open included.
func TestInterruptedTrialOfFio(t *testing.T) {
	dir := t.TempDir()
	fio := filepath.Join(dir, "fio")
	if err := os.WriteFile(fio, []byte("#!/bin/sh\ntouch fio.try\nsleep 600 &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(fio + ".try"); err == nil {
				cancel()
			}
		}
	}()
	if err := works(ctx, fio); !errors.Is(err, context.Canceled) || errkind.CodeOf(err) != errkind.Bug {
		t.Errorf("got %v, want the cancellation", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); !cmp.Equal(left, []string{fio}) {
		t.Errorf("left %v", left)
	}
}
