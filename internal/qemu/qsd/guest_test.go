package qsd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
	"github.com/iotax/iotax/internal/wire"
)

const (
	size    = 16 << 20 // bytes of a disk
	written = 2 << 20  // of them, by the guest
)

// serve starts a daemon for a disk of the guest, and ends it after the guest.
func serve(t *testing.T, c *vm.Config, d cmdline.Disk) *qsd.Daemon {
	t.Helper()
	dir := vmtest.Dir(t) // its own: its sockets outlive the guest
	d.Socket = filepath.Join(dir, "disk")
	daemon, err := qsd.Start(t.Context(), config(t, d, c.CPUs))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := daemon.Close(); err != nil {
			t.Error(err)
		}
		vmtest.CheckGone(t, dir, daemon.Proc.PID())
	})
	c.Disks = append(c.Disks, d)
	return daemon
}

func config(t *testing.T, d cmdline.Disk, cpus int) qsd.Config {
	t.Helper()
	return qsd.Config{Binary: binary(t), Disk: d, CPUs: cpus, QMPSocket: d.Socket + ".qmp"}
}

func binary(t testing.TB) string {
	t.Helper()
	path, err := qsd.Find(os.Getenv("IOTAX_QSD"))
	if err != nil {
		t.Skip(err)
	}
	return path
}

// volume is a file of the guest's folder, full of data, given to the guest in the way of the stack.
func volume(t *testing.T, dir, serial string, s spec.Stack) cmdline.Disk {
	t.Helper()
	d := vmtest.Disk(t, dir, serial, "none")
	d.Stack = s
	return d
}

func vhostUser(cache, aio string) spec.Stack {
	return spec.Stack{Format: "raw", Bus: "vhost-user-blk", Cache: cache, AIO: aio}
}

func overNBD(cache, aio string) spec.Stack {
	return spec.Stack{Format: "raw", Bus: "virtio-blk", Protocol: "nbd", Cache: cache, AIO: aio}
}

// find waits until the guest has every disk, and returns them by the id of their device: a disk whose server shows
// the guest a serial of its own is found by the PCI address that QEMU tells.
func find(t *testing.T, machine *vm.VM, c vm.Config) map[string]wire.Disk {
	t.Helper()
	paths, missing := c.Image.Modules(guest.Drivers("vhost-user-blk")...)
	if len(missing) > 0 {
		t.Fatalf("the kernel lacks %v", missing)
	}
	if err := machine.Agent.Load(t.Context(), paths); err != nil {
		t.Fatal(err)
	}
	addresses, err := machine.QMP.PCIAddresses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		disks, err := machine.Agent.Disks(ctx)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]wire.Disk{}
		for _, d := range disks {
			for id, address := range addresses {
				if d.Address == address {
					found[id] = d
				}
			}
		}
		if len(found) == len(c.Disks) {
			return found
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// write lets fio write a pattern to the beginning of a disk in the guest.
func write(ctx context.Context, machine *vm.VM, disk, pattern string) (load.Result, error) {
	job := fmt.Sprintf("[w]\nfilename=/dev/%s\nrw=write\nbs=64k\nsize=%d\nioengine=libaio\niodepth=4\ndirect=1\nend_fsync=1\nbuffer_pattern=\"%s\"\n", disk, written, pattern)
	return machine.Agent.Window(ctx, load.Request{Argv: []string{guest.FioPath, "-"}, Input: job, Disk: disk, Timeout: time.Minute})
}

// TestGuest serves disks of every cache mode in both ways to one guest, beside a disk that QEMU has open itself.
func TestGuest(t *testing.T) {
	c := vmtest.Config(t)
	c.Disks = append(c.Disks, vmtest.Disk(t, c.Dir, "plain", "none"))
	daemons := map[string]*qsd.Daemon{}
	for _, cache := range spec.Caches {
		aio := "threads"
		if cache == "none" {
			aio = "io_uring"
		}
		vu, nbd := vhostUser(cache, aio), overNBD(cache, aio)
		vu.IOThread, nbd.IOThread = cache == "none", cache == "none"
		if cache == "directsync" {
			vu.Queues = 1
		}
		for name, s := range map[string]spec.Stack{"vu-" + cache: vu, "nbd-" + cache: nbd} {
			daemons[name] = serve(t, &c, volume(t, c.Dir, name, s))
		}
	}
	machine := vmtest.Start(t, c)
	found := find(t, machine, c)
	for i, d := range c.Disks {
		t.Run(d.Serial, func(t *testing.T) {
			seen := found[d.Serial]
			checkSeen(t, d, seen)
			pattern := "iotax" + string(rune('a'+i)) + "+-"
			r, err := write(t.Context(), machine, seen.Name, pattern)
			if err != nil || r.Exit != 0 {
				t.Fatalf("fio: exit %d, %v: %s%s", r.Exit, err, r.Output, r.Stderr)
			}
			got, err := os.ReadFile(d.Path)
			if err != nil || !bytes.HasPrefix(got, bytes.Repeat([]byte(pattern), written/len(pattern))) {
				t.Errorf("what the guest wrote is not in %s: %v", d.Path, err)
			}
			if daemon := daemons[d.Serial]; daemon != nil {
				checkEffective(t, d, daemon)
			}
		})
	}
	checkThreads(t, daemons["vu-none"])
}

func checkSeen(t *testing.T, d cmdline.Disk, seen wire.Disk) {
	t.Helper()
	cache := "write back"
	if d.Stack.Cache == "writethrough" || d.Stack.Cache == "directsync" {
		cache = "write through"
	}
	queues := 2
	if d.Stack.Queues != 0 {
		queues = d.Stack.Queues
	}
	got := fmt.Sprintf("%d bytes, %s, %d queues", seen.Size, seen.WriteCache, seen.Queues)
	if want := fmt.Sprintf("%d bytes, %s, %d queues", size, cache, queues); got != want {
		t.Errorf("the guest sees %s, want %s", got, want)
	}
}

func checkEffective(t *testing.T, d cmdline.Disk, daemon *qsd.Daemon) {
	t.Helper()
	e, err := daemon.Effective(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	direct, noFlush, _ := cmdline.CacheFlags(d.Stack.Cache)
	if e.Protocol.Driver != "file" || e.Top.Driver != "raw" || e.Protocol.Cache.Direct != direct || e.Protocol.Cache.NoFlush != noFlush || *e.Direct != direct {
		t.Errorf("%s is open as %+v", d.Stack.Cache, e)
	}
	kind := "nbd"
	if d.Stack.VhostUser() {
		kind = "vhost-user-blk"
	}
	if e.Export != kind || e.IOThread != (d.Stack.IOThread && d.Stack.VhostUser()) {
		t.Errorf("export %q, iothread %v of %+v", e.Export, e.IOThread, d.Stack)
	}
	if why := e.AIO.Contradicts(d.Stack.AIO); why != "" {
		t.Error(why)
	}
}

func checkThreads(t *testing.T, daemon *qsd.Daemon) {
	t.Helper()
	allowed, err := proc.Allowed()
	if err != nil {
		t.Fatal(err)
	}
	last := proc.Policy{Others: allowed[len(allowed)-1:]}
	if err := daemon.Pin(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	threads, err := daemon.Threads(t.Context())
	if err != nil || len(threads) < 2 {
		t.Fatalf("threads %+v, %v; want at least main and the iothread", threads, err)
	}
	for _, th := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", daemon.Proc.PID(), th.TID))
		want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", last.Others[0])
		if err == nil && !strings.HasPrefix(th.Name, "iou-") /* the kernel's own */ && !strings.Contains(string(text), want) {
			t.Errorf("thread %+v is not pinned to %v", th, last.Others)
		}
	}
}

// TestDaemonDies ends the servers while the guest writes to their disks: each window ends with its own server as
// the reason, and the guest and its other disk go on.
func TestDaemonDies(t *testing.T) {
	c := vmtest.Config(t)
	c.Disks = append(c.Disks, vmtest.Disk(t, c.Dir, "plain", "none"))
	daemons := map[string]*qsd.Daemon{
		"nbd": serve(t, &c, volume(t, c.Dir, "nbd", overNBD("none", "threads"))),
		"vu":  serve(t, &c, volume(t, c.Dir, "vu", vhostUser("none", "threads"))),
	}
	machine := vmtest.Start(t, c)
	found := find(t, machine, c)
	for _, name := range []string{"nbd", "vu"} {
		daemon := daemons[name]
		ctx, cancel := daemon.Guard(t.Context())
		defer cancel()
		if err := daemon.Err(); err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			time.Sleep(200 * time.Millisecond) // the load is under way, or about to begin: both must be noticed
			_ = syscall.Kill(daemon.Proc.PID(), syscall.SIGKILL)
		}()
		job := fmt.Sprintf("[r]\nfilename=/dev/%s\nrw=randread\nbs=4k\nioengine=libaio\niodepth=4\ndirect=1\ntime_based\nruntime=60\n", found[name].Name)
		r, err := machine.Agent.Window(ctx, load.Request{Argv: []string{guest.FioPath, "-"}, Input: job, Disk: found[name].Name, Timeout: time.Minute, StallAfter: time.Second, Step: 100 * time.Millisecond})
		<-stopped
		<-daemon.Proc.Done()
		t.Logf("%s: exit %d, stuck %v, %v", name, r.Exit, r.Stuck, err)
		if err == nil && r.Exit == 0 {
			t.Errorf("%s: a load on a disk without server ended well", name)
		}
		for _, why := range []error{daemon.Err(), context.Cause(ctx)} {
			want := "the server of disk " + name + " has ended: qemu-storage-daemon (pid "
			if why == nil || !strings.Contains(why.Error(), want) || !strings.Contains(why.Error(), "SIGKILL") {
				t.Errorf("%s: %v, want %q", name, why, want)
			}
		}
		if diff := cmp.Diff(error(nil), machine.Lost(err)); diff != "" {
			t.Errorf("%s: the guest is lost with its disk: %s", name, diff)
		}
		if r, err := write(t.Context(), machine, found["plain"].Name, "goes on!"); err != nil || r.Exit != 0 {
			t.Errorf("%s: the other disk: %v, %+v", name, err, r)
		}
	}
}
