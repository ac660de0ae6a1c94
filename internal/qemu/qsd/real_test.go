package qsd_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRealDaemon gives the daemons of the golden files whose volumes can be made here to a real one.
func TestRealDaemon(t *testing.T) {
	for name := range configs("") {
		if strings.Contains(name, "device") {
			continue // package cmdline has one for its tests, and the nodes are the same
		}
		t.Run(name, func(t *testing.T) {
			c := configs(vmtest.Dir(t))[name]
			c.Binary = binary(t)
			makeVolume(t, c.Disk)
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.Disk.Socket}) // left by one that was killed
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			d, err := qsd.Start(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			e, err := d.Effective(t.Context())
			if err != nil || e.Top.Driver != c.Disk.Stack.Format || (e.Direct == nil) != c.Disk.Stack.Ceiling() {
				t.Errorf("Effective = %+v, %v", e, err)
			}
			if _, err := net.Dial("unix", c.Disk.Socket); err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
			if d.Err() != nil {
				t.Errorf("an end that was asked for is told as an error: %v", d.Err())
			}
			vmtest.CheckGone(t, filepath.Dir(c.Disk.Path), d.Proc.PID())
		})
	}
}

// makeVolume makes the file of a disk of 1 MiB, where the disk has an offset behind nothing.
func makeVolume(t *testing.T, d cmdline.Disk) {
	t.Helper()
	data := make([]byte, 1<<20)
	if d.Stack.Format == "qcow2" {
		image := d.Path + ".qcow2"
		if out, err := exec.Command("qemu-img", "create", "-f", "qcow2", image, "1M").CombinedOutput(); err != nil {
			t.Skipf("needs qemu-img: %v: %s", err, out)
		}
		var err error
		if data, err = os.ReadFile(image); err != nil {
			t.Fatal(err)
		}
	}
	file := make([]byte, d.Offset+1<<20)
	copy(file[d.Offset:], data)
	if err := os.WriteFile(d.Path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStartFails: what the daemon says about its volume comes with its command, and nothing of it is left.
func TestStartFails(t *testing.T) {
	c := configs(vmtest.Dir(t))["vhost-user"]
	c.Binary = binary(t)
	_, err := qsd.Start(t.Context(), c)
	var exit *proc.Exit
	if !errors.As(err, &exit) || exit.Status != 1 {
		t.Fatalf("err = %v, want status 1", err)
	}
	for _, want := range []string{"serving disk disk0: qemu-storage-daemon (pid ", "disk.img': No such file", "\ncommand: " + c.Binary + " --chardev"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q has no %q", err, want)
		}
	}
	vmtest.CheckGone(t, filepath.Dir(c.Disk.Path), exit.PID)
	c.Binary = filepath.Join(filepath.Dir(c.Disk.Path), "no-such-program")
	if _, err := qsd.Start(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a binary that is not there: %v", err)
	}
}

// TestDaemonDiesIdle: the end of a daemon between two windows is known before the next.
func TestDaemonDiesIdle(t *testing.T) {
	c := configs(vmtest.Dir(t))["nbd"]
	c.Binary = binary(t)
	if err := os.WriteFile(c.Disk.Path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := qsd.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if d.Err() != nil {
		t.Errorf("Err of a living daemon: %v", d.Err())
	}
	if err := syscall.Kill(d.Proc.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-d.Proc.Done()
	if err := d.Err(); err == nil || !strings.HasPrefix(err.Error(), "the server of disk disk0 has ended") {
		t.Errorf("Err = %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	vmtest.CheckGone(t, filepath.Dir(c.Disk.Path), d.Proc.PID())
}

func TestFind(t *testing.T) {
	_, err := qsd.Find("no-such-daemon")
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "install qemu-storage-daemon") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Find = %v", err)
	}
}

func TestSupports(t *testing.T) {
	real := binary(t)
	dir := vmtest.Dir(t)
	fake := filepath.Join(dir, "fake") // a build without vhost-user-blk; the text is QEMU's
	script := "#!/bin/sh\necho \"$0: Invalid parameter 'vhost-user-blk'\" >&2\nexit 1\n"
	if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(dir, "memory") // the daemon on a file system without O_DIRECT
	script = "#!/bin/sh\necho \"$0: Could not open 'file': The filesystem does not support O_DIRECT\" >&2\nexit 1\n"
	if err := os.WriteFile(memory, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	qcow2 := vhostUser("none", "io_uring")
	qcow2.Format = "qcow2"
	for name, tt := range map[string]struct {
		binary string
		stack  spec.Stack
		reason string
		mend   string
	}{
		"vhost-user":   {real, qcow2, "", ""},
		"nbd":          {real, overNBD("directsync", "native"), "", ""},
		"null":         {real, spec.Stack{Format: "null-co", Bus: "vhost-user-blk", Cache: "none"}, "", ""},
		"poor build":   {fake, qcow2, "qemu-storage-daemon refuses: Invalid parameter 'vhost-user-blk'", "install"},
		"no O_DIRECT":  {memory, vhostUser("none", "native"), "", ""},
		"faulty stack": {real, vhostUser("writeback", "native"), "disk probe: aio native needs cache none or directsync, not writeback", "change the stack"},
	} {
		t.Run(name, func(t *testing.T) {
			reason, mend, err := qsd.Supports(t.Context(), tt.binary, tt.stack, dir)
			if err != nil || reason != tt.reason || !strings.HasPrefix(mend, tt.mend) || (mend == "") != (tt.mend == "") {
				t.Errorf("Supports = %q, %q, %v; want %q, %q", reason, mend, err, tt.reason, tt.mend)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(dir, qsd.TempPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
