package spdk_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spdk"
	"github.com/iotax/iotax/internal/spec"
)

func TestMain(m *testing.M) {
	if wrong, ok := os.LookupEnv(fakeEnv); ok {
		playTarget(wrong, os.Args[1:])
	}
	goleak.VerifyTestMain(m)
}

// shortDir is a folder whose name leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "spdk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// config is a target that the test binary plays, with these faults.
func config(t *testing.T, wrong string) spdk.Config {
	t.Helper()
	dir := shortDir(t)
	return spdk.Config{
		Binary: os.Args[0], RPCSocket: filepath.Join(dir, "rpc"), VhostDir: dir, CPUs: []int{0, 1},
		Env: []string{fakeEnv + "=" + wrong},
	}
}

func start(t *testing.T, c spdk.Config) *spdk.Target {
	t.Helper()
	target, err := spdk.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := target.Close(); err != nil {
				t.Error(err)
			}
		}
		if target.Proc != nil {
			checkGone(t, target.Proc.PID())
		}
	})
	return target
}

func checkGone(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

func journal(t *testing.T) *revert.Journal {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return j
}

func stack(bus, aio string) spec.Stack {
	return spec.Stack{Format: "raw", Bus: bus, Daemon: "spdk", Cache: "none", AIO: aio}
}

// disk has a volume of 1 MiB, on a file system with O_DIRECT.
func disk(t *testing.T, s spec.Stack) cmdline.Disk {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "iotax-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := cmdline.Disk{Stack: s, Serial: "disk0", Path: filepath.Join(dir, "volume")}
	if err := os.WriteFile(d.Path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(d.Path, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		t.Skipf("needs O_DIRECT: %v", err)
	}
	f.Close()
	return d
}

func TestServe(t *testing.T) {
	null := spec.Stack{Format: "null-co", Bus: "vhost-user-blk", Daemon: "spdk", Cache: "none"}
	on, off := true, false
	for name, tt := range map[string]struct {
		wrong string
		stack spec.Stack
		want  spdk.Effective
	}{
		"blk, native":    {"", stack("vhost-user-blk", "native"), spdk.Effective{Product: "AIO disk", Flush: true, Direct: &on}},
		"scsi, io_uring": {"", stack("vhost-user-scsi", "io_uring"), spdk.Effective{Product: "URING bdev", Direct: &on}},
		"null":           {"", null, spdk.Effective{Product: "Null disk"}},
		"not direct":     {"buffered", stack("vhost-user-blk", "native"), spdk.Effective{Product: "AIO disk", Flush: true, Direct: &off}},
		"old":            {"without framework_wait_init", stack("vhost-user-blk", "native"), spdk.Effective{Product: "AIO disk", Flush: true, Direct: &on}},
	} {
		t.Run(name, func(t *testing.T) {
			target := start(t, config(t, tt.wrong))
			d := disk(t, tt.stack)
			if tt.stack.Ceiling() {
				d.Size = 1 << 20
			}
			served, err := target.Serve(t.Context(), journal(t), d)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("unix", served.Socket)
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			tt.want.Size, tt.want.BlockSize, tt.want.Cores = 1<<20, 512, "0x2"
			got, err := served.Effective(t.Context())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Effective: %v (-want +got):\n%s", err, diff)
			}
			if err := served.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(served.Socket); !os.IsNotExist(err) {
				t.Errorf("the disk's socket is left: %v", err)
			}
			if _, err := served.Effective(t.Context()); err == nil {
				t.Error("a disk that was closed is still there")
			}
			again, err := target.Serve(t.Context(), journal(t), d) // nothing is in the way
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestJournal: what a run that was killed left in somebody else's target is taken away by the journal alone.
func TestJournal(t *testing.T) {
	owner := start(t, config(t, ""))
	socket := owner.Args[2]
	found, err := spdk.Find(socket)
	if diff := cmp.Diff(spdk.Config{RPCSocket: socket}, found); err != nil || diff != "" {
		t.Fatalf("Find(%s): %v %s", socket, err, diff)
	}
	guest := start(t, found)
	if guest.Proc != nil || guest.PID() != owner.Proc.PID() || guest.Err() != nil {
		t.Errorf("a target that runs: process %v, PID %d, %v", guest.Proc, guest.PID(), guest.Err())
	}
	d := disk(t, stack("vhost-user-scsi", "native"))
	dir := t.TempDir()
	j, err := revert.Open(dir, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guest.Serve(t.Context(), j, d); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "r1.jsonl"))
	if err != nil || strings.Count(string(text), `"kind":"spdk"`) != 3 {
		t.Errorf("journal: %v\n%s", err, text)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	served, err := guest.Serve(t.Context(), journal(t), d)
	if err != nil {
		t.Fatalf("after the undoing: %v", err)
	}
	if err := served.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestServeFails: one line says why, and what was made before it is gone.
func TestServeFails(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong  string
		change func(*cmdline.Disk)
		want   string
		code   errkind.Code
	}{
		"no such file": {
			"", func(d *cmdline.Disk) { d.Path += "-not" },
			"serving disk disk0: bdev_aio_create: SPDK refused (-2): No such file or directory", errkind.Bug,
		},
		"refused target": {
			"refuses targets", func(d *cmdline.Disk) { d.Stack.Bus = "vhost-user-scsi" },
			"serving disk disk0: vhost_scsi_controller_add_target: SPDK refused (-32602): Invalid argument", errkind.Bug,
		},
		"no uring": {
			"without bdev_uring_create", func(d *cmdline.Disk) { d.Stack.AIO = "io_uring" },
			"SPDK v24.01 has no bdev_uring_create; build SPDK 20.01 or newer with ./configure --with-uring, or choose aio native", errkind.Usage,
		},
		"no vhost": {
			"without vhost_create_blk_controller,without vhost_delete_controller", func(*cmdline.Disk) {},
			"SPDK v24.01 has no vhost_delete_controller, vhost_create_blk_controller; build SPDK 20.01 or newer with its vhost target (./configure --with-vhost)", errkind.Usage,
		},
		"a slice": {
			"", func(d *cmdline.Disk) { d.Offset = 4096 },
			"disk disk0: SPDK serves whole files and devices, no part of one; give the stack a volume of its own", errkind.Usage,
		},
		"qcow2": {
			"", func(d *cmdline.Disk) { d.Stack.Format = "qcow2" },
			"disk disk0: SPDK reads no qcow2 images; choose format raw", errkind.Usage,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, tt.wrong)
			target := start(t, c)
			d := disk(t, stack("vhost-user-blk", "native"))
			tt.change(&d)
			_, err := target.Serve(t.Context(), journal(t), d)
			if err == nil || err.Error() != tt.want || errkind.CodeOf(err) != tt.code {
				t.Errorf("err = %v (code %d), want %q", err, errkind.CodeOf(err), tt.want)
			}
			if left, err := filepath.Glob(filepath.Join(c.VhostDir, "r1-*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// TestTargetDies: the end of a target ends what waits for its disks, with itself as the reason.
func TestTargetDies(t *testing.T) {
	target := start(t, config(t, ""))
	if target.Err() != nil {
		t.Errorf("Err of a living target: %v", target.Err())
	}
	ctx, cancel := target.Guard(t.Context())
	defer cancel()
	if err := syscall.Kill(target.Proc.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	for _, err := range []error{context.Cause(ctx), target.Err()} {
		if err == nil || !strings.HasPrefix(err.Error(), "the server of SPDK's disks has ended: spdk_tgt (pid ") {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := target.Serve(t.Context(), journal(t), disk(t, stack("vhost-user-blk", "native"))); err == nil {
		t.Error("a dead target serves a disk")
	}
}

func TestStartFails(t *testing.T) {
	c := config(t, "no-memory")
	_, err := spdk.Start(t.Context(), c)
	var exit *proc.Exit
	if !errors.As(err, &exit) || exit.Status != 1 || !strings.Contains(err.Error(), "spdk_tgt said: EAL: Not enough memory") {
		t.Errorf("err = %v", err)
	} else {
		checkGone(t, exit.PID)
	}
	_, err = spdk.Start(t.Context(), spdk.Config{RPCSocket: c.RPCSocket})
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "no SPDK answers at "+c.RPCSocket) || strings.Contains(err.Error(), "\n") {
		t.Errorf("nobody there: %v", err)
	}
	_, err = spdk.Find("no-such-target")
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "no SPDK: ") || !strings.Contains(err.Error(), "; build SPDK") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Find = %v", err)
	}
}
