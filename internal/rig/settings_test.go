package rig

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qsd"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/wire"
)

// stack is a raw disk with direct I/O, with a change.
func stack(name, bus string, change func(*spec.Stack)) spec.Stack {
	s := spec.Stack{Name: name, Format: "raw", Bus: bus, Cache: "none", AIO: "threads"}
	change(&s)
	return s
}

// byName are the stacks that a boot found.
func byName(s *session) map[string]record.Stack {
	_, found := s.Facts()
	all := map[string]record.Stack{}
	for _, f := range found {
		all[f.Name] = f
	}
	return all
}

// TestRealGuestSettings has a guest of three vCPUs that are not pinned, whose disks have queues set in the guest.
func TestRealGuestSettings(t *testing.T) {
	of := func(change func(*spec.Stack)) func(*spec.Stack) {
		return func(s *spec.Stack) { s.CPUs, s.Pinning = 3, "off"; change(s) }
	}
	s := boot(t, realRig(t, []spec.Stack{
		stack("as-it-comes", "virtio-blk", of(func(*spec.Stack) {})),
		stack("bfq", "virtio-blk", of(func(s *spec.Stack) { s.Scheduler, s.ReadAhead = "bfq", "none" })),
		stack("kyber", "virtio-scsi", of(func(s *spec.Stack) { s.Scheduler = "kyber" })),
		stack("deadline", "nvme", of(func(s *spec.Stack) { s.Scheduler, s.ReadAhead = "mq-deadline", "4MiB" })),
		stack("one-queue", "virtio-blk", of(func(s *spec.Stack) { s.Scheduler, s.Queues = "none", 1 })),
	}))
	found := byName(s)
	for name, want := range map[string]string{
		"as-it-comes": "none, 128, 3", "bfq": "bfq, 0, 3", "kyber": "kyber, 128, 3", "deadline": "mq-deadline, 4096, 3", "one-queue": "none, 128, 1",
	} {
		f := found[name]
		got := strings.Join([]string{f.Effective["guest scheduler"], f.Effective["guest read-ahead (KiB)"], f.Effective["guest queues"]}, ", ")
		if name == "as-it-comes" || name == "one-queue" { // the kernel's own choice of a scheduler is its own
			got = strings.Replace(got, "mq-deadline", "none", 1)
		}
		if got != want || f.Effective["vCPUs"] != "3" || f.Effective["pinning"] != "off" || len(f.Mismatch) > 0 || f.Unavailable != "" {
			t.Errorf("%s: %q, want %q; %+v", name, got, want, f)
		}
	}
	threads, err := proc.Threads(t.Context(), qemuOf(s).Proc.PID(), qemuOf(s).QMP)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := proc.Allowed()
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		var set unix.CPUSet
		if unix.SchedGetaffinity(thread.TID, &set) == nil && set.Count() != len(allowed) && thread.Role != proc.Worker {
			t.Errorf("%+v may run on %d CPUs, want all %d", thread, set.Count(), len(allowed))
		}
	}
	err = s.agent().Tune(t.Context(), wire.Tune{Disk: s.disks["bfq"].Name, Scheduler: "elevator"})
	if err == nil || !strings.Contains(err.Error(), "the guest's kernel has no scheduler elevator for "+s.disks["bfq"].Name+", only ") {
		t.Errorf("a scheduler that does not exist: %v", err)
	}
}

// TestRealMapping spreads queues over iothreads, where QEMU can.
func TestRealMapping(t *testing.T) {
	two := func(s *spec.Stack) { s.VQMapping = 2 }
	all := []spec.Stack{
		stack("blk", "virtio-blk", two), stack("scsi-single", "virtio-scsi-single", two), stack("scsi-a", "virtio-scsi", two), stack("scsi-b", "virtio-scsi", two),
		stack("plain", "virtio-blk", func(*spec.Stack) {}),
	}
	r := realRig(t, all)
	can, err := caps.Probe(t.Context(), r.Binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if reason, _ := can.SupportsIn(s, r.Plan.Groups[0].Guest); reason != "" {
			t.Skip(reason)
		}
	}
	s := boot(t, r)
	for name, f := range byName(s) {
		want := "2"
		if name == "plain" || name == spec.Host || name == spec.Control {
			want = ""
		}
		if f.Effective["iothreads"] != want || len(f.Mismatch) > 0 {
			t.Errorf("%s: %q iothreads, want %q; mismatch %q", name, f.Effective["iothreads"], want, f.Mismatch)
		}
	}
	in := s.intended[0]
	in.stack.VQMapping = 1
	if f, err := s.inspect(t.Context(), in); err != nil || !strings.Contains(strings.Join(f.Mismatch, ";"), "over 1 iothreads were asked for, but 2 serve this disk") {
		t.Errorf("mismatch %q, %v", f.Mismatch, err)
	}
}

// daemon is a qemu-storage-daemon as a Server.
type daemon struct{ *qsd.Daemon }

func (d daemon) Serving(ctx context.Context) (Serving, error) {
	e, err := d.Effective(ctx)
	s := Serving{Args: d.Args, Protocol: e.Protocol, Top: e.Top, Direct: e.Direct, AIO: &e.AIO, Settings: map[string]string{"export": e.Export}}
	if e.IOThread {
		s.IOThreads = 1
	}
	return s, err
}

// TestRealServed has disks that a daemon has open in QEMU's place, one of which does not start and one of which dies.
func TestRealServed(t *testing.T) {
	binary, err := qsd.Find("")
	if err != nil {
		t.Skip(err)
	}
	memfd := func(s *spec.Stack) { s.MemoryBackend = "memfd" } // so that all share a guest
	over := func(s *spec.Stack) { memfd(s); s.Protocol = "nbd" }
	r := realRig(t, []spec.Stack{
		stack("plain", "virtio-blk", memfd), stack("vhost", "vhost-user-blk", func(s *spec.Stack) { memfd(s); s.IOThread = true }),
		stack("nbd", "virtio-blk", over), stack("doomed", "virtio-blk", over), stack("unserved", "virtio-blk", over),
	})
	if len(r.Plan.Groups) != 1 {
		t.Fatalf("groups %+v", r.Plan.Groups)
	}
	r.Serve = func(ctx context.Context, d cmdline.Disk, g spec.Guest) (Server, error) {
		if d.Stack.Name == "unserved" {
			d.Path += ".gone"
		}
		made, err := qsd.Start(ctx, qsd.Config{Binary: binary, Disk: d, CPUs: g.CPUs, QMPSocket: d.Socket + ".qmp"})
		return daemon{made}, err
	}
	s := boot(t, r)
	found := byName(s)
	for name, want := range map[string]string{"plain": "", "vhost": "vhost-user-blk", "nbd": "nbd", "doomed": "nbd"} {
		f := found[name]
		if f.Effective["export"] != want || f.Effective["O_DIRECT"] != "on" || f.Effective["memory backend"] != "memfd" || len(f.Mismatch) > 0 || f.Durability != record.Durable || f.Unavailable != "" {
			t.Errorf("%s: want export %q in %+v", name, want, f)
		}
	}
	if f := found["unserved"]; !strings.HasPrefix(f.Unavailable, "qemu-storage-daemon refuses it: ") || !strings.Contains(f.Unavailable, "No such file") {
		t.Errorf("a daemon that does not start: %+v", f)
	}
	if err := syscall.Kill(s.servers["doomed"].(daemon).Proc.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.servers["doomed"].(daemon).Proc.Done()
	l := s.Plan.Experiment.Workloads[0]
	for name, want := range map[string]string{"doomed": record.Failed, "nbd": record.OK, "vhost": record.OK, "plain": record.OK} {
		w, err := s.Window(t.Context(), plan.Window{Stack: name, Workload: l.Name, Seed: 3, Runtime: s.Plan.Experiment.Runtime}, l)
		if err != nil || w.Status != want || want == record.Failed && !strings.Contains(w.Reason, "the server of disk disk-doomed has ended") {
			t.Errorf("%s: %+v, %v; want %s", name, w, err, want)
		}
	}
}

// A server that dies during a window is its reason, whatever the guest's load said.
func TestRealServerDies(t *testing.T) {
	binary, err := qsd.Find("")
	if err != nil {
		t.Skip(err)
	}
	r := realRig(t, []spec.Stack{stack("nbd", "virtio-blk", func(s *spec.Stack) { s.Protocol = "nbd" }), stack("plain", "virtio-blk", func(*spec.Stack) {})})
	r.Serve = func(ctx context.Context, d cmdline.Disk, g spec.Guest) (Server, error) {
		made, err := qsd.Start(ctx, qsd.Config{Binary: binary, Disk: d, CPUs: g.CPUs, QMPSocket: d.Socket + ".qmp"})
		return daemon{made}, err
	}
	s := boot(t, r)
	l := spec.Workload{Name: "read", RW: "randread", BS: 4096, IODepth: 4}
	r.Refresh = map[string]func(context.Context) error{"nbd": func(context.Context) error { // the window has begun
		return syscall.Kill(s.servers["nbd"].(daemon).Proc.PID(), syscall.SIGKILL)
	}}
	w, err := s.Window(t.Context(), plan.Window{Stack: "nbd", Workload: l.Name, Runtime: 2 * s.Plan.Experiment.Runtime}, l)
	if err != nil || w.Status != record.Failed || !strings.Contains(w.Reason, "the server of disk disk-nbd has ended") {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := s.Window(t.Context(), plan.Window{Stack: "plain", Workload: l.Name, Runtime: s.Plan.Experiment.Runtime}, l); err != nil || w.Status != record.OK {
		t.Errorf("the other disk: %+v, %v", w, err)
	}
}
