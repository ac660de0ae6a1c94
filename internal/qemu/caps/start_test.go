package caps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mute is a script in QEMU's place that says nothing, and whose child keeps its output open.
func mute(t *testing.T, first string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "qemu")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+first+"\nsleep 600 &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInterruptedProbe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "started")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("Ctrl-C")
	go func() {
		_, _ = os.ReadFile(fifo) // until the script has begun
		cancel(interrupt)
	}()
	if _, err := Probe(ctx, mute(t, "echo >'"+fifo+"'")); !errors.Is(err, interrupt) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

func TestProbeLosesPatience(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 100 * time.Millisecond
	if _, err := Probe(t.Context(), mute(t, "")); err == nil || !strings.Contains(err.Error(), "no answer within 100ms") {
		t.Errorf("got %v", err)
	}
}

// A cache that cannot be written to costs time, not the run.
func TestCachedWithoutACache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Cached(t.Context(), qemu(t), filepath.Join(file, "caps"))
	if err != nil || len(c.Devices) == 0 {
		t.Errorf("%v, %d devices", err, len(c.Devices))
	}
}
