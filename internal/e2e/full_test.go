package e2e

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/record"
)

// asRoot skips a test that changes the host where it may not.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounts and loop devices need root")
	}
}

// command runs a program of the host; a test on a host without it is skipped.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// loop makes a loop device over a sparse file of so many bytes. It goes past the host's page cache, as a disk does:
// else reads would come from there, and be withheld for that.
func (h *host) loop(size int64) (device string) {
	h.t.Helper()
	asRoot(h.t)
	file, err := os.CreateTemp(h.dir, "disk-*")
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		h.t.Fatal(err)
	}
	if out, err := exec.Command("losetup", "-f").CombinedOutput(); err != nil {
		h.t.Skipf("no loop device can be had: %v %s", err, out)
	}
	device = command(h.t, "losetup", "-f", "--show", "--direct-io=on", file.Name())
	h.t.Cleanup(func() { command(h.t, "losetup", "-d", device) })
	return device
}

// mount makes a file system of so many bytes and mounts it.
func (h *host) mount(name string, size int64) (dir string) {
	h.t.Helper()
	device := h.loop(size)
	command(h.t, "mkfs.ext4", "-q", "-m", "0", device)
	dir = filepath.Join(h.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	command(h.t, "mount", device, dir)
	h.t.Cleanup(func() { command(h.t, "umount", dir) })
	return dir
}

// fill takes the space of a file system but for so many bytes, and returns how to give it back.
func fill(t *testing.T, dir string, leave int64) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "somebody-else")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-leave)
	if leave == 0 { // the file system counts only roughly: what is left is taken block by block
		_, err = f.Seek(0, io.SeekEnd)
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		err = errors.Join(err, f.Sync())
	}
	if err != nil && !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

func TestScratchIsTooSmall(t *testing.T) {
	h := newHost(t)
	h.scratch = h.mount("small", 64<<20)
	r := h.measure("small", "--scratch", h.scratch) // 3 volumes of 32 MiB
	r.wait(2)
	says(t, r.stderr.String(), h.scratch+" has ", "the scratch volumes need ", "(5 % reserve included)", "give a smaller size")
	if lines := strings.Count(strings.TrimSpace(r.stderr.String()), "\n"); lines > 0 {
		t.Errorf("more than a line: %s", r.stderr.String())
	}
	if _, err := os.Stat(h.state); err == nil {
		t.Error("a run that was refused made a state folder")
	}
}

// Somebody else takes the space while the volumes are being filled.
func TestScratchFillsUp(t *testing.T) {
	h := newHost(t)
	h.scratch = h.mount("filling", 512<<20)
	r := h.measure("small", "--scratch", h.scratch, "--size", "128MiB")
	image := filepath.Join(h.scratch, "iotax-*", "*.qcow2") // it takes its space as it is filled, as the last one
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if found, _ := filepath.Glob(image); len(found) > 0 {
			break
		}
	}
	defer fill(t, h.scratch, 8<<20)()
	r.wait(5)
	says(t, r.stderr.String(), "volume of image: the disk is full: no room left for "+h.scratch, "free some space in ")
	run, windows := h.stored()
	if run.Status != record.Partial || len(windows) > 0 || !strings.Contains(run.Reason, "the disk is full") {
		t.Errorf("the run is stored as %s (%s) with %d windows", run.Status, run.Reason, len(windows))
	}
	entries, err := os.ReadDir(h.scratch)
	if err != nil || len(entries) != 2 { // lost+found, and what somebody else has
		t.Errorf("the file system holds %v, %v", entries, err)
	}
}

// The disk of the store fills up while windows are being measured.
func TestStoreFillsUp(t *testing.T) {
	h := newHost(t)
	h.state = h.mount("state", 16<<20)
	h.scratch = filepath.Join(h.dir, "scratch")
	r := h.measure("tiny", "--scratch", h.scratch)
	r.untilCounted(2)
	free := fill(t, h.state, 0)
	r.wait(5)
	says(t, r.stderr.String(), "no space left for the store", "every window saved before is kept")
	free()
	h.checkUndone()
	run, stored := h.stored()
	if len(stored) < 10 {
		t.Errorf("%d windows are kept, want those of the priming round and two", len(stored))
	}
	says(t, h.iotax(0, "report").stdout.String(), run.ID, "PARTIAL RESULT")
	h.iotax(0, "clean")
}
