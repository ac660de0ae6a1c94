package load

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUsage has a generator that writes past the page cache, and asks of storage what it writes.
func TestUsage(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "iotax-test-") // /tmp is in memory on many hosts
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "f")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|unix.O_DIRECT, 0o600)
	if err != nil {
		t.Skip(err)
	}
	f.Close()
	started := 0
	q := request("dd if=/dev/zero of=" + path + " bs=65536 count=16 oflag=direct 2>/dev/null")
	q.Started = func(pid int) { started = pid }
	before := monotonic()
	r, err := Run(context.Background(), q)
	if err != nil || r.Exit != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.WriteBytes < 1<<20 || r.WriteBytes > 2<<20 {
		t.Errorf("1 MiB was written, and %d bytes were counted", r.WriteBytes)
	}
	if started <= 0 || r.Began < before || r.Ended < r.Began || r.Ended > monotonic() {
		t.Errorf("process %d ran from %v to %v, after %v", started, r.Began, r.Ended, before)
	}
}
