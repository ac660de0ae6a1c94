package rig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// stacks of the real tests: one for each cache mode that decides a durability class, and one without a disk.
var stacks = []spec.Stack{
	{Name: "none", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads", IOThread: true},
	{Name: "writeback", Format: "raw", Bus: "virtio-blk", Cache: "writeback", AIO: "threads"},
	{Name: "unsafe", Format: "raw", Bus: "virtio-blk", Cache: "unsafe", AIO: "threads"},
	{Name: "writethrough", Format: "raw", Bus: "virtio-blk", Cache: "writethrough", AIO: "threads"},
	{Name: "null-co", Format: "null-co", Bus: "virtio-blk", IOThread: true},
}

// realRig has filled volumes for all stacks and has started nothing yet.
func realRig(t *testing.T, stacks []spec.Stack) *Rig {
	t.Helper()
	image, binary, dir := vmtest.Image(t), vmtest.QEMU(t), vmtest.Dir(t)
	p, err := plan.Make(spec.Experiment{
		Name: "test", Size: 16 << 20, Runtime: 200 * time.Millisecond, Budget: time.Minute, Target: 0.1,
		MinRounds: 2, MaxRounds: 2, Boots: 1, Guest: spec.Guest{CPUs: 2, Memory: 256 << 20}, Stacks: stacks,
		Workloads: []spec.Workload{{Name: "sync", RW: "randwrite", BS: 4096, IODepth: 1, FDataSync: 1}},
	}, 41)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := revert.Open(filepath.Join(dir, "journal"), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := journal.Undo(context.Background()); err != nil {
			t.Error(err)
		}
	})
	storage, err := hostenv.Host{}.Resolve(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Plan: p, Image: image, Binary: binary, Accel: "tcg", Dir: dir, Volumes: volumes(t, journal, dir, p.Experiment),
		Journal: journal, Devices: map[string][]string{}, WriteCache: map[string]string{}, Note: func(s string) { t.Log(s) },
	}
	for stack := range c.Volumes {
		c.Devices[stack], c.WriteCache[stack] = storage.Devices, hostenv.Host{}.Device(storage).WriteCache
	}
	return New(c)
}

// boot boots the first guest of the plan, and checks after the test that nothing is left of it.
func boot(t *testing.T, r *Rig) *session {
	t.Helper()
	booted, err := r.Boot(t.Context(), r.Plan.Boots[0], "because")
	if err != nil {
		t.Fatal(err)
	}
	s := booted.(*session)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s.machine != nil {
			vmtest.CheckGone(t, r.Dir, qemuOf(s).Proc.PID())
		}
	})
	return s
}

func qemuOf(s *session) *emulator { return s.machine.(*emulator) }

func volumes(t *testing.T, journal *revert.Journal, dir string, e spec.Experiment) map[string]provision.Volume {
	t.Helper()
	scratch, err := journal.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []provision.Job
	for _, s := range append([]spec.Stack{{Name: spec.Host, Format: "raw"}}, e.Stacks...) {
		if !s.Ceiling() {
			r := provision.Request{Dir: scratch, Stack: s, Size: e.Size, Serial: "disk-" + s.Name}
			job := provision.Job{Driver: raw.Driver{}, Request: r}
			if s.Format == "qcow2" {
				job.Driver = qcow2.Driver{Run: sys.Exec{}}
			}
			jobs = append(jobs, job)
		}
	}
	made, err := provision.Prepare(t.Context(), journal, jobs, provision.Content{Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	byStack := map[string]provision.Volume{}
	for _, v := range made {
		byStack[v.Stack] = v
	}
	byStack[spec.Control] = byStack[spec.Host]
	return byStack
}

func TestRealGuest(t *testing.T) {
	s := boot(t, realRig(t, stacks))
	t.Run("facts", func(t *testing.T) { checkFacts(t, s) })
	t.Run("windows", func(t *testing.T) { checkWindows(t, s) })
	t.Run("cancelled", func(t *testing.T) { checkCancelled(t, s) })
	t.Run("lost", func(t *testing.T) { checkLost(t, s) })
}

func checkFacts(t *testing.T, s *session) {
	boot, found := s.Facts()
	if boot.ReadyNS <= 0 || boot.Args[0] != s.Binary || boot.Reason != "because" {
		t.Errorf("boot %+v", boot)
	}
	want := map[string]string{
		"none": record.Durable, "writeback": record.Durable, "unsafe": record.Unsafe, "writethrough": record.Durable, "null-co": record.Unsafe,
	}
	got := map[string]string{}
	for _, f := range found {
		if f.Name == spec.Host || f.Name == spec.Control {
			continue
		}
		got[f.Name] = f.Durability
		for key, want := range map[string]string{"vCPUs": "2", "memory backend": "ram", "memory page size": "4 KiB", "iothread": onOff(f.Name == "none" || f.Name == "null-co")} {
			if f.Effective[key] != want {
				t.Errorf("%s: %s is %q, want %q", f.Name, key, f.Effective[key], want)
			}
		}
		if !strings.HasPrefix(f.Effective["pinning"], "vCPUs on CPUs 0") {
			t.Errorf("%s: pinning %q", f.Name, f.Effective["pinning"])
		}
		if len(f.Mismatch) > 0 || f.DurabilityWhy == "" || len(f.QEMUArgs) == 0 {
			t.Errorf("%+v: want no mismatch, a reason for the class, and the arguments", f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("durability (-want +got):\n%s\n%+v", diff, found)
	}
}

func checkWindows(t *testing.T, s *session) {
	l := s.Plan.Experiment.Workloads[0]
	for _, stack := range []string{spec.Host, spec.Control, "none", "writethrough", "null-co"} {
		w, err := s.Window(t.Context(), plan.Window{Stack: stack, Workload: l.Name, Seed: 7, Runtime: s.Plan.Experiment.Runtime}, l)
		if err != nil {
			t.Fatalf("%s: %v", stack, err)
		}
		if w.Status != record.OK || w.Metrics[record.IOPS] <= 0 || w.Timed <= 0 || w.Elapsed < w.Timed || len(w.Raw) == 0 || len(w.Histogram) == 0 {
			t.Errorf("%s: window %+v", stack, w)
		}
		e := w.Evidence
		if e.PathWrite <= 0 || stack != "writethrough" && e.PathFlush <= 0 {
			t.Errorf("%s: evidence %+v, want the writes and the flushes of the load", stack, e)
		}
		counted := len(s.Devices[stack]) > 0
		if (e.DeviceWrite != nil) != counted || counted && *e.DeviceWrite < e.PathWrite/2 {
			t.Errorf("%s: %v bytes at the device for %d of the load", stack, e.DeviceWrite, e.PathWrite)
		}
	}
}

func checkCancelled(t *testing.T, s *session) {
	l := s.Plan.Experiment.Workloads[0]
	for _, stack := range []string{spec.Host, "none"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupt := errors.New("Ctrl-C")
		time.AfterFunc(50*time.Millisecond, func() { cancel(interrupt) })
		if _, err := s.Window(ctx, plan.Window{Stack: stack, Workload: l.Name, Runtime: time.Minute}, l); !errors.Is(err, interrupt) {
			t.Errorf("%s: got %v, want the cause of the cancellation", stack, err)
		}
	}
}

func checkLost(t *testing.T, s *session) {
	l := s.Plan.Experiment.Workloads[0]
	time.AfterFunc(300*time.Millisecond, func() { _ = syscall.Kill(qemuOf(s).Proc.PID(), syscall.SIGKILL) })
	_, err := s.Window(t.Context(), plan.Window{Stack: "none", Workload: l.Name, Runtime: time.Minute}, l)
	if !errors.Is(err, measure.ErrGuestLost) {
		t.Errorf("got %v, want ErrGuestLost", err)
	}
	if _, err := s.Window(t.Context(), plan.Window{Stack: spec.Host, Workload: l.Name, Runtime: s.Plan.Experiment.Runtime}, l); err != nil {
		t.Errorf("the host cannot be measured without a guest: %v", err)
	}
}

// A guest that runs other disks than were asked for is found out.
func TestRealMismatch(t *testing.T) {
	dir := vmtest.Dir(t)
	c := vmtest.Config(t)
	for _, cache := range []string{"writeback", "none", "writethrough"} {
		d := vmtest.Disk(t, dir, "is-"+cache, cache)
		d.Stack.IOThread = cache == "none"
		c.Disks = append(c.Disks, d)
	}
	s := sessionOn(t, c)
	for _, tt := range []struct {
		disk   int
		change func(*intended)
		says   []string
	}{
		{0, func(in *intended) { in.stack.Cache = "none" }, []string{"cache.direct false", "O_DIRECT is false"}},
		{0, func(in *intended) { in.stack.Cache = "unsafe" }, []string{"cache.no-flush false"}},
		{0, func(in *intended) { in.stack.AIO = "io_uring" }, []string{"aio io_uring was asked for, but the node has not io_uring"}},
		{0, func(in *intended) { in.stack.IOThread = true }, []string{"an iothread was asked for"}},
		{1, func(in *intended) { in.stack.IOThread = false }, []string{"no iothread was asked for, but one serves this disk"}},
		{0, func(in *intended) { in.stack.Scheduler = "bfq" }, []string{"scheduler bfq was asked for, but the guest's kernel has none"}},
		{0, func(in *intended) { in.stack.ReadAhead = "1MiB" }, []string{"a read-ahead of 1024 KiB was asked for, but the guest's kernel has 128"}},
		{0, func(in *intended) { in.size = 1 << 20 }, []string{"a disk of 16777216 bytes, expected 1048576"}},
		{1, func(in *intended) { in.stack.Cache = "writeback" }, []string{"cache.direct true", "O_DIRECT is true"}},
		{2, func(in *intended) { in.stack.Cache = "writeback" }, []string{"the guest sees no write cache and will not flush"}},
		{2, func(*intended) {}, nil},
	} {
		d := c.Disks[tt.disk]
		in := intended{stack: d.Stack, disk: d, size: 16 << 20}
		tt.change(&in)
		found, err := s.inspect(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(found.Mismatch, "; ")
		if len(tt.says) == 0 && all != "" || len(tt.says) > 0 && all == "" {
			t.Errorf("%s taken for %+v: %q, want %q", d.Serial, in.stack, all, tt.says)
		}
		for _, want := range tt.says {
			if !strings.Contains(all, want) {
				t.Errorf("%s taken for %+v: %q, want %q in it", d.Serial, in.stack, all, want)
			}
		}
	}
}

// sessionOn boots a guest whose disks are as they are, whatever was intended.
func sessionOn(t *testing.T, c vm.Config) *session {
	t.Helper()
	s := New(Config{Image: c.Image, Note: func(s string) { t.Log(s) }}).session(plan.Group{})
	s.machine = &emulator{VM: vmtest.Start(t, c)}
	for _, d := range c.Disks {
		s.intended = append(s.intended, intended{d.Stack, d, 16 << 20})
	}
	if err := s.loadDrivers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.findDisks(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Of a guest with a disk that QEMU refuses the others are measured; the one is unavailable, in QEMU's words.
func TestRealRefusal(t *testing.T) {
	r := realRig(t, stacks)
	v := r.Volumes["unsafe"]
	v.Path = filepath.Join(r.Dir, "gone")
	r.Volumes["unsafe"] = v
	s := boot(t, r)
	_, found := s.Facts()
	for _, f := range found {
		want := ""
		if f.Name == "unsafe" {
			want = "QEMU refuses it: Could not open '" + v.Path + "': No such file or directory"
		}
		if f.Unavailable != want {
			t.Errorf("%s is unavailable: %q, want %q", f.Name, f.Unavailable, want)
		}
	}
	l := s.Plan.Experiment.Workloads[0]
	for stack, want := range map[string]string{"unsafe": record.Failed, "none": record.OK} {
		w, err := s.Window(t.Context(), plan.Window{Stack: stack, Workload: l.Name, Runtime: s.Plan.Experiment.Runtime}, l)
		if err != nil || w.Status != want {
			t.Errorf("%s: %+v, %v; want %s", stack, w, err, want)
		}
	}
}

// A QEMU that complains without naming a disk is asked about each by itself.
func TestRealUnnamedRefusal(t *testing.T) {
	r := realRig(t, stacks[:2])
	lib := filepath.Join(r.Dir, "qemu")
	script := "#!/bin/sh\ncase \"$*\" in *disk-writeback-top*) echo it does not like this >&2; exit 1;; esac\nexec " + r.Binary + " \"$@\"\n"
	if err := os.WriteFile(lib, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Binary = lib
	s := boot(t, r)
	if got := s.absent["writeback"].why; got != "QEMU refuses it: it does not like this" || len(s.absent) != 1 || len(s.intended) != 1 {
		t.Errorf("absent: %+v", s.absent)
	}
}

// A boot that fails whatever its disks are says why and leaves nothing.
func TestRealBootFails(t *testing.T) {
	r := realRig(t, stacks)
	r.Image.Kernel = filepath.Join(r.Dir, "no-kernel")
	_, err := r.Boot(t.Context(), r.Plan.Boots[0], "")
	if err == nil || !strings.Contains(err.Error(), "the guest did not start") || !strings.Contains(err.Error(), "no-kernel") {
		t.Errorf("got %v", err)
	}
	r.Plan.Groups = append(r.Plan.Groups, plan.Group{}) // the run goes on with it
	s, err := r.Boot(t.Context(), r.Plan.Boots[0], "")
	if err != nil {
		t.Fatal(err)
	}
	_, found := s.Facts()
	for _, f := range found {
		onHost := f.Name == spec.Host || f.Name == spec.Control
		if onHost == strings.Contains(f.Unavailable, "QEMU refuses its guest: ") {
			t.Errorf("%s is unavailable: %q", f.Name, f.Unavailable)
		}
	}
	l := r.Plan.Experiment.Workloads[0]
	if w, err := s.Window(t.Context(), plan.Window{Stack: spec.Host, Workload: l.Name, Runtime: r.Plan.Experiment.Runtime}, l); err != nil || w.Status != record.OK {
		t.Errorf("the host beside no guest: %+v, %v", w, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(r.Dir, "guest.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDiskOfASlice(t *testing.T) {
	r := New(Config{
		Plan:    plan.Plan{Experiment: spec.Experiment{Size: 32 << 20}},
		Volumes: map[string]provision.Volume{"slice": {Path: "/dev/sdb", Block: true, Offset: 1 << 20, Size: 32 << 20, Serial: "iotax-1"}, "file": {Path: "/f", Size: 32 << 20, Serial: "iotax-2"}},
	})
	got := []cmdline.Disk{r.disk(0, spec.Stack{Name: "slice"}), r.disk(1, spec.Stack{Name: "file"}), r.disk(2, spec.Stack{Name: "null-co"})}
	want := []cmdline.Disk{
		{Stack: spec.Stack{Name: "slice"}, Serial: "iotax-1", Path: "/dev/sdb", Block: true, Offset: 1 << 20, Size: 32 << 20},
		{Stack: spec.Stack{Name: "file"}, Serial: "iotax-2", Path: "/f"}, // up to the end of the file, which an image grows
		{Stack: spec.Stack{Name: "null-co"}, Serial: "iotax-null-2", Size: 32 << 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
