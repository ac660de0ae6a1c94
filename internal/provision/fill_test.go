package provision

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteFillsExtentsAndNothingElse(t *testing.T) {
	for name, extents := range map[string][]Extent{
		"aligned":          {{4096, 3 << 20}, {8 << 20, 4096}, {6 << 20, 0}},
		"not aligned":      {{512, 1<<20 + 512}, {8 << 20, 8}},
		"nothing":          nil,
		"only empty ones":  {{0, 0}, {4096, 0}},
		"out of order":     {{8 << 20, 1 << 20}, {0, 1 << 20}},
		"one small extent": {{0, 4096}},
	} {
		path := filepath.Join(t.TempDir(), "x")
		want := make([]byte, 10<<20)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		var total, told int64
		for _, e := range extents {
			Noise(want[e.At:e.At+e.Length], 5, e.At)
			total += e.Length
		}
		if err := Write(t.Context(), path, extents, Content{Seed: 5}, func(n int64) { told = n }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || told != total {
			t.Errorf("%s: other bytes, or progress %d of %d", name, told, total)
		}
	}
}

func TestWriteFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if err := Write(t.Context(), path, []Extent{{0, 4096}}, Content{Seed: 1}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ctx, path, []Extent{{0, 4096}}, Content{Seed: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled fill: %v", err)
	}
	// A file system that is mounted here always: it refuses O_DIRECT in some kernels, and writing in all.
	if err := Write(t.Context(), "/proc/self/maps", []Extent{{0, 4096}}, Content{Seed: 1}, nil); err == nil {
		t.Error("/proc can be filled")
	}
}

func TestFullIsOneLine(t *testing.T) {
	for _, cause := range []error{unix.ENOSPC, &os.PathError{Op: "write", Path: "/x/y", Err: unix.EDQUOT}} {
		err := Full(cause, "/x/y")
		if !errors.Is(err, cause) || bytes.ContainsRune([]byte(err.Error()), '\n') {
			t.Errorf("%v", err)
		}
	}
	if got := Full(unix.ENOSPC, "/x/y").Error(); got != "the disk is full: no room left for /x/y; free some space in /x, or give a smaller size" {
		t.Errorf("%q", got)
	}
	if err := Full(unix.EIO, "/x"); err != unix.EIO {
		t.Errorf("another error became %v", err)
	}
	if err := Full(nil, "/x"); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	const size = 64 << 20
	b.SetBytes(size)
	for b.Loop() {
		if err := Write(b.Context(), path, []Extent{{0, size}}, Content{Seed: 1}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A sync cannot be interrupted, and the wait for it can.
func TestCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	err := cutShort(ctx, func() error {
		cancel()
		<-release
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
	if err := cutShort(t.Context(), func() error { return unix.EIO }); !errors.Is(err, unix.EIO) {
		t.Errorf("got %v, want what went wrong", err)
	}
}
