package vm_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

func TestGuest(t *testing.T) {
	c := vmtest.Config(t)
	none, writeback := vmtest.Disk(t, c.Dir, "none", "none"), vmtest.Disk(t, c.Dir, "writeback", "writeback")
	c.Disks = append(c.Disks, none, writeback)
	leaveSocket(t, filepath.Join(c.Dir, c.Name+".agent")) // as an earlier guest that was killed does
	machine := vmtest.Start(t, c)
	if machine.Hello.CPUs != c.CPUs || machine.Hello.Release != c.Image.Release || machine.Hello.Memory > c.Memory || machine.Ready <= 0 {
		t.Errorf("hello %+v after %v; want %d CPUs, kernel %s, at most %d bytes", machine.Hello, machine.Ready, c.CPUs, c.Image.Release, c.Memory)
	}
	if machine.Args[0] != c.Binary {
		t.Errorf("Args = %q, want the whole command line", machine.Args)
	}
	if lost := machine.Lost(errors.New("no module of that name")); lost != nil {
		t.Errorf("a living guest is taken for lost: %v", lost)
	}
	t.Run("disks", func(t *testing.T) { checkDisks(t, machine, c) })
	t.Run("pin", func(t *testing.T) { checkPin(t, machine) })
	for path, want := range map[string]bool{none.Path: true, writeback.Path: false} {
		if direct, err := machine.OpenDirect(path); err != nil || direct != want {
			t.Errorf("OpenDirect(%s) = %v, %v; want %v", path, direct, err, want)
		}
	}
	if _, err := machine.OpenDirect(c.Dir); err == nil {
		t.Error("OpenDirect of what QEMU does not have open: no error")
	}
	for range 2 {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := machine.Proc.Err(); err != nil {
		t.Errorf("an end that was asked for is told as an error: %v", err)
	}
}

// leaveSocket makes a socket that nobody listens on.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func checkDisks(t *testing.T, machine *vm.VM, c vm.Config) {
	paths, missing := c.Image.Modules(guest.Drivers("virtio-blk")...)
	if len(missing) > 0 {
		t.Fatalf("the kernel lacks %v", missing)
	}
	if err := machine.Agent.Load(t.Context(), paths); err != nil {
		t.Fatal(err)
	}
	disks, err := machine.Agent.Disks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	for _, d := range disks {
		serials = append(serials, d.Serial)
		if d.Size != 16<<20 || d.Name == "" {
			t.Errorf("disk %+v", d)
		}
	}
	slices.Sort(serials)
	if diff := cmp.Diff([]string{"none", "writeback"}, serials); diff != "" {
		t.Errorf("serials (-want +got):\n%s", diff)
	}
}

func checkPin(t *testing.T, machine *vm.VM) {
	policy, err := machine.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(policy.VCPUs) != machine.Hello.CPUs {
		t.Errorf("policy %+v, want %d vCPUs", policy, machine.Hello.CPUs)
	}
	threads, err := proc.Threads(t.Context(), machine.Proc.PID(), machine.QMP)
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		want := policy.Others
		if thread.Role == proc.VCPU {
			want = policy.VCPUs[thread.Index : thread.Index+1]
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(thread.TID, &set); err != nil {
			continue // a worker that has ended
		}
		if set.Count() != len(want) || !set.IsSet(want[0]) {
			t.Errorf("%+v may run on %d CPUs, want %v", thread, set.Count(), want)
		}
	}
}

func TestPanicIsExplained(t *testing.T) {
	machine := vmtest.Start(t, vmtest.Config(t))
	err := machine.Agent.WriteFile(t.Context(), "/proc/sysrq-trigger", "c")
	if err == nil {
		t.Fatal("the guest survived")
	}
	<-machine.Proc.Done()
	lost := machine.Lost(err)
	if lost == nil || !strings.Contains(lost.Error(), "the guest said: ") || !strings.Contains(lost.Error(), "Kernel panic") {
		t.Errorf("Lost = %v; console:\n%s", lost, machine.Proc.Console())
	}
}

func TestKilledFromOutside(t *testing.T) {
	machine := vmtest.Start(t, vmtest.Config(t))
	if err := syscall.Kill(machine.Proc.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, err := machine.Agent.Disks(t.Context())
	if err == nil {
		t.Fatal("a dead guest answered")
	}
	<-machine.Proc.Done() // on a busy host that may take longer than Lost waits
	lost := machine.Lost(err)
	var exit *proc.Exit
	if !errors.As(lost, &exit) || exit.Signal != syscall.SIGKILL || !strings.Contains(lost.Error(), "killed from outside") {
		t.Errorf("Lost = %v", lost)
	}
	if again := machine.Explain(lost); again.Error() != lost.Error() {
		t.Errorf("explained twice: %v", again)
	}
}

// A stopped QEMU is a guest that went silent: its sockets are open and nothing comes. It must end all the same.
func TestSilence(t *testing.T) {
	machine := vmtest.Start(t, vmtest.Config(t))
	if err := syscall.Kill(machine.Proc.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := machine.Agent.Clock(t.Context())
	if !errors.Is(err, guest.ErrSilent) {
		t.Errorf("got %v, want ErrSilent", err)
	}
	if lost := machine.Lost(err); !errors.Is(lost, guest.ErrSilent) {
		t.Errorf("Lost = %v, want ErrSilent", lost)
	}
}

// Of a guest that does not come up, nothing may be left.
func TestFailedStarts(t *testing.T) {
	good := vmtest.Config(t)
	for name, tt := range map[string]struct {
		change func(*vm.Config)
		says   []string
		code   errkind.Code
	}{
		"no such machine": {func(c *vm.Config) { c.Machine = "vax" }, []string{`machine "vax"`}, errkind.Usage},
		"no such QEMU":    {func(c *vm.Config) { c.Binary = filepath.Join(c.Dir, "qemu") }, []string{"no such file"}, errkind.Bug},
		"QEMU refuses": {
			func(c *vm.Config) {
				c.Disks = append(c.Disks, vmtest.Disk(t, c.Dir, "gone", "none"))
				os.Remove(c.Disks[0].Path)
			},
			[]string{"failed with status 1", "No such file or directory", "command: "},
			errkind.Bug,
		},
		"kernel without a root": {func(c *vm.Config) { c.Image.Initrd = "" }, []string{"the guest said: ", "Kernel panic"}, errkind.Bug},
	} {
		t.Run(name, func(t *testing.T) {
			c, image := good, *good.Image
			c.Image, c.Name = &image, "failed"
			tt.change(&c)
			machine, err := vm.Start(t.Context(), c)
			if err == nil {
				machine.Close()
				t.Fatal("the guest came up")
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %q in it", err, want)
				}
			}
			if errkind.CodeOf(err) != tt.code {
				t.Errorf("exit code %d, want %d", errkind.CodeOf(err), tt.code)
			}
			checkNothingLeft(t, c)
		})
	}
}

// TestTry asks QEMU whether it takes a guest, without a boot.
func TestTry(t *testing.T) {
	c := vmtest.Config(t)
	c.Disks = append(c.Disks, vmtest.Disk(t, c.Dir, "good", "none"))
	if err := vm.Try(t.Context(), c); err != nil {
		t.Error(err)
	}
	checkNothingLeft(t, c)
	os.Remove(c.Disks[0].Path)
	var exit *proc.Exit
	if err := vm.Try(t.Context(), c); !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "node-name=good-file") {
		t.Errorf("got %v, want QEMU's end, and the node in its words", err)
	}
	checkNothingLeft(t, c)
}

// TestMemory boots guests whose memory is backed in each way that needs no preparation of the host.
func TestMemory(t *testing.T) {
	for backend, kind := range map[string]string{"": "ram", "ram": "ram", "memfd": "memfd", "file": "file"} {
		c := vmtest.Config(t)
		c.MemoryBackend, c.MemoryFolder = backend, c.Dir
		machine := vmtest.Start(t, c)
		var objects []struct{ Type string }
		if err := machine.QMP.Call(t.Context(), "qom-list", map[string]string{"path": "/objects"}, &objects); err != nil {
			t.Fatal(err)
		}
		if want := "child<memory-backend-" + kind + ">"; !slices.ContainsFunc(objects, func(o struct{ Type string }) bool { return o.Type == want }) {
			t.Errorf("backend %q: objects %+v, want %s", backend, objects, want)
		}
		if size, err := proc.PageSize(machine.Proc.PID(), c.Memory); err != nil || size != int64(os.Getpagesize()) {
			t.Errorf("backend %q: pages of %d bytes, %v", backend, size, err)
		}
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInterruptedBoot(t *testing.T) {
	c := vmtest.Config(t)
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond} {
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupt := errors.New("Ctrl-C")
		time.AfterFunc(after, func() { cancel(interrupt) })
		if _, err := vm.Start(ctx, c); !errors.Is(err, interrupt) {
			t.Errorf("after %v: got %v, want the cause of the cancellation", after, err)
		}
		checkNothingLeft(t, c)
	}
}

// checkNothingLeft looks for processes that were started with the guest's sockets, and for these.
func checkNothingLeft(t *testing.T, c vm.Config) {
	t.Helper()
	for _, kind := range []string{"qmp", "agent"} {
		path := filepath.Join(c.Dir, c.Name+"."+kind)
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if text, err := os.ReadFile(line); err == nil && strings.Contains(string(text), c.Dir) {
			t.Errorf("a process is left: %s: %s", line, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

// A guest with a disk that takes writes and does not end them is stuck, and its kernel tells who waits for what.
func TestStuckGuestTells(t *testing.T) {
	c := vmtest.Config(t)
	disk := vmtest.Disk(t, c.Dir, "stuck", "none")
	c.Disks = append(c.Disks, disk)
	machine := vmtest.Start(t, c)
	paths, _ := c.Image.Modules(guest.Drivers("virtio-blk")...)
	if err := machine.Agent.Load(t.Context(), paths); err != nil {
		t.Fatal(err)
	}
	disks, err := machine.Agent.Disks(t.Context())
	if err != nil || len(disks) != 1 {
		t.Fatalf("%+v, %v", disks, err)
	}
	name := disks[0].Name
	var stats []struct {
		QDev string `json:"qdev"`
	}
	if err := machine.QMP.Call(t.Context(), "query-blockstats", nil, &stats); err != nil || len(stats) != 1 {
		t.Fatalf("%+v, %v", stats, err)
	}
	limits := map[string]any{"id": stats[0].QDev, "bps": 1, "bps_rd": 0, "bps_wr": 0, "iops": 0, "iops_rd": 0, "iops_wr": 0}
	if err := machine.QMP.Call(t.Context(), "block_set_io_throttle", limits, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := machine.Agent.Probe(ctx, load.Probe{Path: "/dev/" + name, Disk: name, Size: 1 << 20, Count: 16}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a disk of a byte a second: %v", err)
	}
	err = machine.Explain(fmt.Errorf("guest: probe: %w", guest.ErrStuck))
	if !errors.Is(err, guest.ErrStuck) || !strings.Contains(err.Error(), "its kernel shows what waits:") || !strings.Contains(err.Error(), "blk") {
		t.Errorf("%v\nconsole:\n%s", err, machine.Proc.Console())
	}
}
