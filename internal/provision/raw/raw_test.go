package raw_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

func TestConformance(t *testing.T) {
	for _, preallocation := range []string{"", "off", "falloc", "full"} {
		t.Run("preallocation="+preallocation, func(t *testing.T) {
			provisiontest.Run(t, provisiontest.Suite{
				New:   func(*testing.T) provision.Driver { return raw.Driver{} },
				Stack: spec.Stack{Format: "raw", Preallocation: preallocation},
			})
		})
	}
}

func TestPreallocation(t *testing.T) {
	for preallocation, reserved := range map[string]bool{"": true, "off": false, "falloc": true, "full": true} {
		j, err := revert.Open(t.TempDir(), "raw")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := j.Scratch(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		r := provision.Request{Dir: scratch, Stack: spec.Stack{Name: "s", Preallocation: preallocation}, Size: 1 << 20}
		v, err := raw.Driver{}.Create(t.Context(), j, r)
		if err != nil {
			t.Fatal(err)
		}
		taken, err := provision.Taken(v.Path)
		if err != nil || (taken >= r.Size) != reserved {
			t.Errorf("preallocation %q reserves %d bytes, %v", preallocation, taken, err)
		}
		if err := j.Undo(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyTellsHoles(t *testing.T) {
	d := raw.Driver{}
	path := filepath.Join(t.TempDir(), "x")
	v := provision.Volume{Path: path, Size: 1 << 20}
	noise := make([]byte, v.Size)
	provision.Noise(noise, 1, 0)
	for name, damage := range map[string]func(f *os.File) error{
		"a hole in the middle": func(f *os.File) error {
			return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 512<<10, 4096)
		},
		"a hole at the end": func(f *os.File) error {
			return errors.Join(f.Truncate(v.Size-4096), f.Truncate(v.Size))
		},
		"reserved, never written": func(f *os.File) error {
			return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_ZERO_RANGE, 0, 4096)
		},
		"too short":     func(f *os.File) error { return f.Truncate(v.Size - 4096) },
		"written zeros": func(f *os.File) error { _, err := f.WriteAt(make([]byte, v.Size), 0); return err },
	} {
		if err := os.WriteFile(path, noise, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.Verify(t.Context(), v); err != nil {
			t.Fatalf("before: %v", err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = damage(f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if errors.Is(err, unix.EOPNOTSUPP) {
			continue // not on this file system
		} else if err != nil {
			t.Fatal(err)
		}
		if err := d.Verify(t.Context(), v); err == nil || !strings.Contains(err.Error(), "is not filled") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// create makes a volume on a file system that is too small.
func create(t *testing.T, parent string) (provision.Volume, *revert.Journal, error) {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "full")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	v, err := raw.Driver{}.Create(t.Context(), j, provision.Request{
		Dir: scratch, Stack: spec.Stack{Name: "s"}, Size: 8 << 20, Serial: "s",
	})
	return v, j, err
}

func TestFullDisk(t *testing.T) {
	parent := provisiontest.Tmpfs(t, "size=4m")
	_, j, err := create(t, parent)
	if !errors.Is(err, unix.ENOSPC) || errkind.CodeOf(err) != errkind.Usage || strings.Contains(err.Error(), "\n") {
		t.Errorf("a full disk: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(parent, "*/*.raw")); len(left) > 0 {
		t.Errorf("left by Create: %v", left)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	parent := t.TempDir()
	v, j, err := create(t, parent)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Undo(t.Context()) //nolint:errcheck // the folder is the test's own
	_, err = raw.Driver{}.Create(t.Context(), j, provision.Request{
		Dir: filepath.Dir(v.Path), Stack: spec.Stack{Name: "s"}, Size: 4096, Serial: "s",
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second volume of one name: %v", err)
	}
	for _, name := range []string{"", "../x", "a/b", ".x", revert.Marker} {
		_, err := raw.Driver{}.Create(t.Context(), j, provision.Request{
			Dir: filepath.Dir(v.Path), Stack: spec.Stack{Name: name}, Size: 4096, Serial: "s",
		})
		if errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("a stack named %q: %v", name, err)
		}
	}
}
