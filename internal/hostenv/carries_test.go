package hostenv

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/sys"
)

func TestInUse(t *testing.T) {
	h := exampleHost(t)
	for device, want := range map[string][]string{
		"/dev/sda": {
			"it has partitions: sda1, sda2", "sda1 is mounted on /", "sda1 is used as swap", "sda2 is a part of dm-0",
		},
		"/dev/sda1":         {"sda1 is mounted on /", "sda1 is used as swap"},
		"/dev/sdb":          {"sdb is mounted on /btrfs", "sdb is a part of md0"},
		"/dev/sdd":          {"it is read-only", "sdd is under loop2", "sdd is open in process 77 (qemu-system-x86)"},
		"/dev/mapper/vg-lv": {"dm-1 is mounted on /lv"},
		"/dev/loop0":        nil,
		"/root-file":        {"it is not a block device"},
	} {
		got, err := h.inUse(device)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", device, diff)
		}
	}
	if _, err := h.inUse("/dev/none"); err == nil {
		t.Error("a device that does not exist passed")
	}
}

// udev looks at every device that has just appeared: its look is waited for, and one that does not end is said.
func TestUdevLooks(t *testing.T) {
	files, nodes := disks()
	files["proc/78/comm"], files["proc/78/fd/3"] = "(udev-worker)\n", "-> /dev/loop0"
	h := tree(t, files, nodes)
	got, err := h.inUse("/dev/loop0")
	if diff := cmp.Diff([]string{"loop0 is open in process 78 ((udev-worker))"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	stat, asked := h.stat, 0
	h.stat = func(path string) (number, error) { // it ends when we have seen it: asked of the device, then of what is open
		if asked++; asked == 2 {
			os.RemoveAll(filepath.Join(h.Root, "proc/78"))
		}
		return stat(path)
	}
	if got, err := h.inUse("/dev/loop0"); err != nil || len(got) != 0 || asked < 2 {
		t.Errorf("after udev's look: %q, %v, asked %d times", got, err, asked)
	}
}

func TestBlkidSays(t *testing.T) {
	tests := []struct {
		name, out string
		code      int
		want      []string
		ok        bool
	}{
		{"nothing found", "", 2, nil, true},
		{"contradiction", "", 8, []string{"it bears several signatures that contradict each other"}, true},
		{"usage: no such option", "", 4, nil, false},
		{"BusyBox", "", 1, nil, false},
		{"could not be run", "", -1, nil, false},
		{
			"file system", "DEVNAME=/dev/sdb\nLABEL=data\nTYPE=ext4\nUSAGE=filesystem\n", 0,
			[]string{"it bears the signature of ext4 labelled data"},
			true,
		},
		{"volume", "DEVNAME=/dev/sdb\nTYPE=LVM2_member\nUSAGE=raid\n", 0, []string{"it bears the signature of LVM2_member"}, true},
		{"table", "DEVNAME=/dev/sdb\nPTUUID=1\nPTTYPE=gpt\n", 0, []string{"it bears a partition table: gpt"}, true},
		{"empty partition", "DEVNAME=/dev/sdb1\nPART_ENTRY_SCHEME=gpt\nPART_ENTRY_NUMBER=1\n", 0, nil, true},
	}
	for _, tt := range tests {
		got, ok := blkidSays(tt.out, tt.code)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s: ok %v, %s", tt.name, ok, diff)
		}
	}
}

// noBlkid is a machine without blkid.
type noBlkid struct{}

func (noBlkid) Run(context.Context, sys.Command) ([]byte, error) {
	return nil, errors.New("nothing can be run here")
}
func (noBlkid) LookPath(string) (string, error) { return "", exec.ErrNotFound }

func TestNotEmptyWithoutBlkid(t *testing.T) {
	for _, tt := range []struct {
		name    string
		size    int64
		at      int64 // of one byte, -1 = none
		reasons int
	}{
		{"empty", 8 << 20, -1, 0},
		{"start", 8 << 20, 0, 1},
		{"end of the first MiB", 8 << 20, 1<<20 - 1, 1},
		{"middle", 8 << 20, 4 << 20, 1},
		{"very end", 8 << 20, 8<<20 - 1, 1},
		{"smaller than a MiB", 4096, 100, 2},
	} {
		path := filepath.Join(t.TempDir(), "device")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(tt.size); err != nil {
			t.Fatal(err)
		}
		if tt.at >= 0 {
			if _, err := f.WriteAt([]byte{1}, tt.at); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := signatures(t.Context(), noBlkid{}, path)
		if err != nil || len(got) != tt.reasons {
			t.Errorf("%s: %q, %v; want %d reasons", tt.name, got, err, tt.reasons)
		}
	}
}

// loopDevice makes a loop device of 16 MiB, unbound at the end.
func loopDevice(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device to be had: %s", out)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", dev).CombinedOutput(); err != nil {
			t.Errorf("losetup -d %s: %s", dev, out)
		}
	})
	return dev
}

func carries(t *testing.T, run sys.Runner, dev string) string {
	t.Helper()
	reasons, err := Host{}.CarriesData(t.Context(), run, dev)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(reasons, "; ")
}

func TestCarriesDataOfRealDevices(t *testing.T) {
	dev := loopDevice(t)
	for name, run := range map[string]sys.Runner{"blkid": sys.Exec{}, "no blkid": noBlkid{}} {
		if got := carries(t, run, dev); got != "" {
			t.Errorf("%s: an empty device carries data: %s", name, got)
		}
	}

	f, err := os.OpenFile(dev, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sleep", "600")
	sleeper.ExtraFiles = []*os.File{f}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := carries(t, sys.Exec{}, dev); !strings.Contains(got, "open in process") || !strings.Contains(got, "(sleep)") {
		t.Errorf("a device that a process has open: %q", got)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = sleeper.Wait() // it was killed

	if out, err := exec.Command("mkfs.ext4", "-q", "-L", "precious", dev).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v %s", err, out)
	}
	if got := carries(t, noBlkid{}, dev); !strings.Contains(got, "first MiB is not all zero") {
		t.Errorf("a file system without blkid: %q", got)
	}
	if got := carries(t, sys.Exec{}, dev); !strings.Contains(got, "signature of ext4 labelled precious") {
		t.Errorf("a file system: %q", got)
	}
	mountpoint := t.TempDir()
	if err := unix.Mount(dev, mountpoint, "ext4", 0, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	defer func() {
		if err := unix.Unmount(mountpoint, 0); err != nil {
			t.Error(err)
		}
	}()
	got := carries(t, sys.Exec{}, dev)
	for _, want := range []string{"is mounted on " + mountpoint, "holds it exclusively", "ext4"} {
		if !strings.Contains(got, want) {
			t.Errorf("a mounted device: %q lacks %q", got, want)
		}
	}
}

func TestResolveRealLoop(t *testing.T) {
	dev := loopDevice(t)
	below, err := Host{}.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Host{}.Resolve(dev)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(below.Devices, got.Devices); diff != "" || got.Reason != below.Reason {
		t.Errorf("a loop device is not on the disk of its file: %+v, %+v", got, below)
	}
}
