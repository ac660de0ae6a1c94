package rig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// program runs a program that must succeed, and returns what it printed.
func program(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// ramDisk makes a file system on a loop device whose file lies in memory, and returns where it is mounted and the
// kernel's name of the device: nobody else's I/O is in its counters, and no disk is quicker. The test is skipped where that
// cannot be had.
func ramDisk(t *testing.T) (folder, device string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a disk in memory")
	}
	dir, err := os.MkdirTemp("/dev/shm", "iotax-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "disk")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(512<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device to be had: %v %s", err, out)
	}
	node := strings.TrimSpace(string(out))
	t.Cleanup(func() { program(t, "losetup", "-d", node) })
	program(t, "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", node)
	folder = filepath.Join(dir, "mounted")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(node, folder, "ext4", unix.MS_NOATIME, ""); err != nil {
		t.Skipf("no ext4: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, 0); err != nil {
			t.Errorf("umount %s: %v", folder, err)
		}
	})
	return folder, filepath.Base(node)
}
