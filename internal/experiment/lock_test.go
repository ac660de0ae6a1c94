package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
)

func TestLock(t *testing.T) {
	state := filepath.Join(t.TempDir(), "not", "there", "yet")
	quiet := func(line string) { t.Errorf("said %q", line) }
	if who, err := Running(state); err != nil || who != "" {
		t.Errorf("Running = %q, %v; want nobody", who, err)
	}
	first, err := Lock(t.Context(), state, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	me := "process " + strconv.Itoa(os.Getpid())
	if who, err := Running(state); err != nil || who != me {
		t.Errorf("Running = %q, %v; want %q", who, err, me)
	}
	_, err = Lock(t.Context(), state, false, quiet)
	if errkind.CodeOf(err) != errkind.Busy {
		t.Errorf("got %v (exit code %d), want a refusal with code %d", err, errkind.CodeOf(err), errkind.Busy)
	}
	for _, want := range []string{me, state, "--wait"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if who, err := Running(state); err != nil || who != "" {
		t.Errorf("Running = %q, %v; want nobody any more", who, err)
	}
	again, err := Lock(t.Context(), state, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestLockWaits(t *testing.T) {
	state := t.TempDir()
	first, err := Lock(t.Context(), state, true, func(line string) { t.Errorf("said %q", line) })
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	second, err := Lock(t.Context(), state, true, func(line string) {
		said = append(said, line)
		first.Close() // the other run ends while this one waits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if len(said) != 1 || !strings.HasPrefix(said[0], "waiting: another iotax run") {
		t.Errorf("said %q, want one line", said)
	}
}

func TestLockWaitIsInterrupted(t *testing.T) {
	state := t.TempDir()
	first, err := Lock(t.Context(), state, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("Ctrl-C")
	if _, err := Lock(ctx, state, true, func(string) { cancel(interrupt) }); !errors.Is(err, interrupt) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

func TestLockCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(t.Context(), filepath.Join(file, "state"), false, nil); err == nil {
		t.Error("a lock below a file")
	}
}

// After `sudo make run` the folders are root's: that is nobody's bug, and there is a way on.
func TestForeignFolders(t *testing.T) {
	denied := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission} }
	for name, tt := range map[string]struct {
		err   error
		ours  bool
		wants string
	}{
		"inside":     {fmt.Errorf("lock: %w", denied("/home/x/iotax/lock")), true, "IOTAX_STATE"},
		"above":      {denied("/home/x"), true, "IOTAX_STATE"},
		"elsewhere":  {denied("/boot/vmlinuz"), false, ""},
		"other evil": {&fs.PathError{Op: "open", Path: "/home/x/iotax/lock", Err: fs.ErrClosed}, false, ""},
	} {
		err := OfState(tt.err, "/home/x/iotax")
		if (errkind.CodeOf(err) == errkind.Usage) != tt.ours || !strings.Contains(err.Error(), tt.wants) || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := OfState(nil, "/home/x/iotax"); err != nil {
		t.Error(err)
	}
}

func TestSocketParent(t *testing.T) {
	long := "/" + strings.Repeat("d", 90)
	for temp, want := range map[string]string{"/tmp/x": "/tmp/x", long: "/tmp"} {
		if got := socketParent(temp, "7k2f"); got != want {
			t.Errorf("%s: %s, want %s", temp, got, want)
		}
	}
}

func TestOtherProcessorsAreRefused(t *testing.T) {
	if err := checkArch("amd64"); err != nil {
		t.Error(err)
	}
	if err := checkArch("arm64"); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "arm64") {
		t.Errorf("got %v", err)
	}
}
