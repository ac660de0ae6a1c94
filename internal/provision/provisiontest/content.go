package provisiontest

import (
	"bytes"
	"compress/flate"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/provision"
)

// content reads a raw volume.
func content(t *testing.T, v provision.Volume) []byte {
	t.Helper()
	f, err := os.Open(v.Path)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, v.Size)
	_, err = f.ReadAt(data, v.Offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// incompressible checks that data cannot be compressed and that no two blocks of it are alike.
func incompressible(t *testing.T, data []byte) {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if packed.Len() < len(data) {
		t.Errorf("%d bytes can be compressed to %d", len(data), packed.Len())
	}
	const block = 512
	seen := map[[block]byte]bool{}
	for at := 0; at+block <= len(data); at += block {
		b := [block]byte(data[at:])
		if seen[b] {
			t.Fatalf("the block at %d is there twice", at)
		}
		seen[b] = true
	}
}

// FillUp makes a file that takes all free space of a small file system.
func FillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, provision.Align)
	for err == nil {
		_, err = f.Write(block)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("fill up: %v", err)
	}
}

// Tmpfs mounts a file system of so many bytes in memory, until the test ends. The test is skipped where that cannot be.
func Tmpfs(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("iotax-test", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// wipe makes a volume that was never filled look so: a thick volume on a part of the disk that was used before holds
// what was written there then.
func wipe(t *testing.T, v provision.Volume) {
	t.Helper()
	info, err := os.Stat(v.Path)
	if err != nil || info.Mode()&os.ModeDevice == 0 || provision.NotZero(v.Path, []provision.Extent{{At: v.Offset, Length: v.Size}}) != nil {
		return // no device, or of zeros already: nothing is written, since a thin one would be allocated by it
	}
	f, err := os.OpenFile(v.Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, v.Size), v.Offset)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
