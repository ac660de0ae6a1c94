// Package vmtest gives tests what a real guest needs: QEMU, fio, a kernel, and a folder for its disks. A test on a
// host that lacks one of them is skipped with the reason.
package vmtest

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/guest/kernel"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm"
)

// QEMU returns the path of QEMU; IOTAX_QEMU names another one to test with.
func QEMU(t testing.TB) string {
	t.Helper()
	return program(t, cmp.Or(os.Getenv("IOTAX_QEMU"), "qemu-system-x86_64"))
}

func program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a guest: not with -short")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// CacheDir is the cache of iotax itself, so that all tests and the person who runs them share one kernel.
func CacheDir(t testing.TB) string {
	t.Helper()
	world, err := sys.OS()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := world.CacheDir()
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skip(err)
	}
	return dir
}

// Image builds the guest, or finds it in the cache. Test processes that run at the same time take turns, so that a
// kernel that is missing is downloaded once.
func Image(t testing.TB) *guest.Image {
	t.Helper()
	fio := program(t, "fio")
	cache := CacheDir(t)
	lock, err := os.OpenFile(filepath.Join(cache, "test.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	o := kernel.Options{Root: "/", Cache: cache, Log: func(line string) { t.Log(line) }}
	if _, err := kernel.Find(ctx, o); err != nil {
		t.Skipf("no kernel for a guest: %v", err)
	}
	image, err := guest.Build(ctx, guest.Options{Kernel: o, Fio: fio, Cache: cache, Log: o.Log})
	if errkind.CodeOf(err) == errkind.Usage {
		t.Skip(err) // built without its agent
	}
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// Dir returns a new folder that lies on a real disk's file system where there is one (/tmp is in memory on many
// hosts, /var/tmp must survive a reboot), and whose name is short enough for sockets.
func Dir(t testing.TB) string {
	t.Helper()
	parent := cmp.Or(os.Getenv("TMPDIR"), "/var/tmp")
	dir, err := os.MkdirTemp(parent, "iotax-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := hostenv.DirectIO(dir); err != nil {
		t.Skip(err)
	}
	return dir
}

// Config is a guest under software emulation with these disks, its sockets in a folder of its own.
func Config(t testing.TB, disks ...cmdline.Disk) vm.Config {
	t.Helper()
	return vm.Config{
		Binary: QEMU(t), Accel: "tcg", Machine: "q35", CPUs: 2, Memory: 256 << 20,
		Bios: firmware(t), Image: Image(t), Dir: Dir(t), Name: "guest", Disks: disks,
	}
}

// firmware is what a run would give its guests under emulation.
func firmware(t testing.TB) string {
	t.Helper()
	c, err := caps.Cached(context.Background(), QEMU(t), filepath.Join(CacheDir(t), "caps"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Qboot
}

// Disk is a virtio-blk disk of 16 MiB, full of data, in the folder dir.
func Disk(t testing.TB, dir, serial, cache string) cmdline.Disk {
	t.Helper()
	data := make([]byte, 16<<20)
	for i := range data {
		data[i] = byte(i>>12 | 1)
	}
	d := cmdline.Disk{Serial: serial, Path: filepath.Join(dir, serial), Stack: spec.Stack{
		Name: cache, Format: "raw", Bus: "virtio-blk", Cache: cache, AIO: "threads",
	}}
	if err := os.WriteFile(d.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// Start boots the guest, and ends it with the test.
func Start(t testing.TB, c vm.Config) *vm.VM {
	t.Helper()
	machine, err := vm.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
		CheckGone(t, c.Dir, machine.Proc.PID())
	})
	return machine
}

// CheckGone fails the test when the process is still there, or a socket in the folder.
func CheckGone(t testing.TB, dir string, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if e.Type()&os.ModeSocket != 0 {
			t.Errorf("socket %s is left", e.Name())
		}
	}
}
