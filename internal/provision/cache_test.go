package provision

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident counts the pages of a file that are in the page cache.
func resident(t *testing.T, path string, size int) (pages int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapping, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapping) //nolint:errcheck // only read
	state := make([]byte, (size+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapping[0])), uintptr(size), uintptr(unsafe.Pointer(&state[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, s := range state {
		pages += int(s & 1)
	}
	return pages
}

func TestDropCacheDropsOursOnly(t *testing.T) {
	const size = 1 << 20
	dir := t.TempDir()
	ours, others := filepath.Join(dir, "ours"), filepath.Join(dir, "others")
	for _, path := range []string{ours, others} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil { // dirty pages
			t.Fatal(err)
		}
	}
	if resident(t, ours, size) == 0 {
		t.Skip("this file system has no page cache")
	}
	if err := DropCache(Volume{Path: ours}); err != nil {
		t.Fatal(err)
	}
	if n := resident(t, ours, size); n != 0 {
		t.Skipf("%d pages are kept: files for tests are in memory", n)
	}
	if resident(t, others, size) == 0 {
		t.Error("the cache of another file was dropped")
	}
	if err := WarmCache(t.Context(), Volume{Path: ours}); err != nil {
		t.Fatal(err)
	}
	if n := resident(t, ours, size); n != size/os.Getpagesize() {
		t.Errorf("warmed, %d pages are cached", n)
	}
	if err := WarmCache(t.Context(), Volume{Path: ours + ".none"}); err == nil {
		t.Error("a volume that is not there was warmed")
	}
	if err := DropCache(Volume{Path: ours + ".none"}); err == nil {
		t.Error("a volume that is not there")
	}
	if err := DropCache(Volume{Path: ours, Block: true}); err == nil {
		t.Error("a file was taken for a block device")
	}
}
