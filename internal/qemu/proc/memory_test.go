package proc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPageSize(t *testing.T) {
	mapping := func(size, page int) string {
		return fmt.Sprintf("7f0000000000-7f0040000000 rw-p 00000000 00:00 0 \nSize: %15d kB\nKernelPageSize: %8d kB\nMMUPageSize: %11d kB\nVmFlags: rd wr mr\n", size, page, page)
	}
	smaps := mapping(1<<20, 4) + mapping(512<<10, 2048) + mapping(4, 4)
	for memory, want := range map[int64]int64{512 << 20: 2 << 20, 256 << 20: 2 << 20, 1 << 30: 4096, 2 << 30: 0} {
		if got, err := pageSize(strings.NewReader(smaps), memory); err != nil || got != want {
			t.Errorf("memory of %d bytes: pages of %d, %v; want %d", memory, got, err, want)
		}
	}
	for _, bad := range []string{"", "Size: x kB\nKernelPageSize: 4 kB\n", "Size: 99999\nKernelPageSize: 4"} {
		if got, err := pageSize(strings.NewReader(bad), 1); err != nil || got != 0 {
			t.Errorf("%q: %d, %v", bad, got, err)
		}
	}
}

// TestRealPageSize looks at a mapping of this test's own.
func TestRealPageSize(t *testing.T) {
	const size = 48 << 20
	data, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data) //nolint:errcheck // the process ends
	if got, err := PageSize(os.Getpid(), size); err != nil || got != int64(os.Getpagesize()) {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := PageSize(-1, 1); err == nil {
		t.Error("a process that is not there: no error")
	}
}

func FuzzPageSize(f *testing.F) {
	f.Add("Size: 4096 kB\nKernelPageSize: 4 kB\n", int64(1<<20))
	f.Add("KernelPageSize: 4 kB\nSize: -1 kB\n", int64(0))
	f.Fuzz(func(t *testing.T, smaps string, memory int64) {
		if page, err := pageSize(strings.NewReader(smaps), memory); err == nil && page != 0 && !strings.Contains(smaps, "KernelPageSize") {
			t.Errorf("pages of %d bytes in %q", page, smaps)
		}
	})
}
