package load_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision/provisiontest"
)

func TestDiscard(t *testing.T) {
	const size = 4 << 20
	device := provisiontest.Loop(t, size)
	backing, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "loop/backing_file"))
	if err != nil {
		t.Fatal(err)
	}
	file := strings.TrimSpace(string(backing))
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Repeat([]byte("data"), size/4))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if n := taken(t, file); n < size {
		t.Fatalf("written, it takes %d bytes", n)
	}
	if err := (load.Discard{Path: device, Size: size}).Do(); err != nil {
		t.Fatal(err)
	}
	if n := taken(t, file); n != 0 {
		t.Errorf("discarded, it takes %d bytes", n)
	}
	if err := (load.Discard{Path: file, Size: size}).Do(); err == nil {
		t.Error("a file was discarded as a disk")
	}
}

// taken is how many bytes a file takes on its disk.
func taken(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
