package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// deep is a load that keeps a guest busy.
var deep = spec.Workload{Name: "deep", RW: "randread", BS: 4096, IODepth: 16}

func deepTrial(s *session) trial {
	l := trial{session: s, exp: s.Plan.Experiment}
	l.exp.Workloads = []spec.Workload{deep}
	return l
}

// childrenCPU is the CPU time of all processes that this one has started and waited for.
func childrenCPU(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestRealPrice adds up what the threads of a QEMU took, by role, over the life of its guest, and compares the sum with what
// the kernel tells who waits for the process, as /usr/bin/time prints it.
func TestRealPrice(t *testing.T) {
	r := lyingRig(t, "",
		spec.Stack{Name: "iothread", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", IOThread: true},
		spec.Stack{Name: "threads", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"},
	)
	before := childrenCPU(t)
	s := boot(t, r)
	l := deepTrial(s)
	beside := childrenCPU(t) // of fio on the host
	l.window(t, spec.Host, deep)
	beside = childrenCPU(t) - beside
	qemu, err := s.threads(t.Context(), qemuOf(s))
	if err != nil {
		t.Fatal(err)
	}
	watch := meter.Start(meter.Interval, false, qemu)
	from, booted := time.Now(), statCPU(t, qemu.PID)
	for _, stack := range []string{"iothread", "threads", "iothread"} {
		w := l.window(t, stack, deep)
		checkPrice(t, stack, w)
	}
	to := time.Now()
	samples := watch.Stop()
	l.checkWhoWorked(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := childrenCPU(t) - before - beside
	span, ok := samples.Between(from.Add(time.Millisecond), to)
	if !ok {
		t.Fatal("the watch did not reach over the life of the guest")
	}
	roles := booted
	for role, u := range span.ByRole {
		t.Logf("%s: %v, waited %v, %d and %d switches", role, u.CPU, u.Waited, u.Voluntary, u.Involuntary)
		roles += u.CPU
	}
	t.Logf("up to the first window %v, with all roles %v, the process %v, as its parent sees it %v", booted, roles, booted+span.Process, whole)
	for name, got := range map[string]time.Duration{"roles": roles, "process": booted + span.Process} {
		if off := float64(got)/float64(whole) - 1; off > 0.05 || off < -0.05 {
			t.Errorf("%s: %v, but QEMU took %v", name, got, whole)
		}
	}
}

// checkWhoWorked has the same windows judged as what they are, and as what they are not.
func (l *trial) checkWhoWorked(t *testing.T) {
	t.Helper()
	for _, w := range []string{"fell back to threads", "does not serve this disk"} {
		if c := l.cell(t, "iothread", deep); strings.Contains(c.Reason, w) {
			t.Errorf("native aio in an iothread: %s", c.Reason)
		}
	}
	honest := l.exp.Stacks
	for words, lie := range map[string]func(*spec.Stack){
		"aio=native fell back to threads":           func(s *spec.Stack) { s.AIO = "native" },
		"the iothread does not serve this disk: it": func(s *spec.Stack) { s.IOThread = true },
	} {
		l.exp.Stacks = slices.Clone(honest)
		lie(&l.exp.Stacks[1])
		l.withheld(t, "threads", deep, words)
	}
	l.exp.Stacks = honest
}

// statCPU is the CPU time of a process by another counter than the one under test.
func statCPU(t *testing.T, pid int) time.Duration {
	t.Helper()
	p, err := procfs.NewProc(pid)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := p.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// checkPrice looks at the price of a window in a guest: its roles, its span inside the timed part, and its I/Os at the pace that fio tells.
func checkPrice(t *testing.T, stack string, w record.Window) {
	t.Helper()
	p := w.Evidence.Price
	if p == nil {
		t.Fatalf("%s has no price: %+v", stack, w.Evidence)
	}
	pace := p.IOs / time.Duration(p.Span).Seconds() / w.Metrics[record.IOPS]
	if p.Span > w.Timed || p.Span < w.Timed/4 || pace < 0.5 || pace > 2 {
		t.Errorf("%s: %.0f I/Os in %v of %v, at %.2f of fio's pace", stack, p.IOs, time.Duration(p.Span), time.Duration(w.Timed), pace)
	}
	by := map[string]record.ThreadUse{}
	total := int64(0)
	for _, u := range p.Threads {
		by[u.Role] = u
		total += u.CPU
	}
	iothread, worker := by[record.IOThread].CPU, by[record.Worker].CPU
	if by[record.VCPU].CPU <= 0 || by[record.MainLoop].Role == "" || total < p.Process*9/10 || total > p.Process*11/10 {
		t.Errorf("%s: %+v", stack, p)
	}
	if (stack == "iothread") != (iothread > worker) {
		t.Errorf("%s: the iothread took %v, the pool %v", stack, time.Duration(iothread), time.Duration(worker))
	}
	if p.Exits != nil {
		t.Errorf("%s: %v exits to a KVM that is not used", stack, *p.Exits)
	}
}

// background runs a shell script beside the test, as somebody else's process, until the function that is returned is called.
func background(t *testing.T, script string) (stop func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait() // killed
			stopped = true
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestLieOfTheNeighbour has another process read from the disk that is measured, on the host and in a guest: first as much
// as it can, then now and then.
func TestLieOfTheNeighbour(t *testing.T) {
	r := lyingRig(t, "", spec.Stack{Name: "guest", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native"})
	r.Layers = map[string][]string{}
	for stack := range r.Volumes {
		r.Layers[stack] = []string{"ext4"}
	}
	other := filepath.Join(filepath.Dir(r.Volumes[spec.Host].Path), "others")
	if err := os.WriteFile(other, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := boot(t, r)
	both := []string{spec.Host, "guest"}
	quiet := trial{session: s, exp: r.Plan.Experiment}
	for _, stack := range both {
		e := quiet.window(t, stack, reads).Evidence
		if e.ForeignRead == nil || *e.ForeignRead != 0 || *e.ForeignWrite != 0 {
			t.Errorf("%s: others read %v and wrote %v bytes of a disk that nobody else uses", stack, e.ForeignRead, e.ForeignWrite)
		}
	}
	if err := provision.DropCache(r.Volumes["guest"]); err != nil {
		t.Fatal(err)
	}

	hammer := fmt.Sprintf("while :; do dd if=%s of=/dev/null iflag=direct bs=1M; done 2>/dev/null", other)
	stop := background(t, hammer+" & "+hammer)
	hammered := trial{session: s, exp: r.Plan.Experiment}
	for _, stack := range both {
		hammered.window(t, stack, reads)
		hammered.withheld(t, stack, reads, "of the bytes at the device were others'")
	}
	stop()

	// About a tenth of the bytes, in ten pieces. How many it really is depends on how busy this machine is.
	piece := max(quiet.windows[1].Evidence.PathRead/90/4096, 1)
	stop = background(t, fmt.Sprintf("while :; do dd if=%s of=/dev/null iflag=direct bs=4096 count=%d; sleep 0.12; done 2>/dev/null", other, piece))
	disturbed := trial{session: s, exp: r.Plan.Experiment, windows: quiet.windows[:1:1]}
	e := disturbed.window(t, "guest", reads).Evidence
	stop()
	share := float64(*e.ForeignRead) / float64(*e.DeviceRead+*e.DeviceWrite)
	t.Logf("others read %.0f %% of the bytes", 100*share)
	said := strings.Join(disturbed.cell(t, "guest", reads).Warnings, "; ")
	if strings.Contains(said, "of the bytes at the device were others'") != (share >= 0.05 && share <= 0.25) {
		t.Errorf("%.1f %% of the bytes were others', and the footnotes are %q", 100*share, said)
	}
}

// TestLieOfTheBusyHost has others compute on the CPUs of a guest.
func TestLieOfTheBusyHost(t *testing.T) {
	r := lyingRig(t, "", spec.Stack{Name: "guest", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", IOThread: true})
	l := deepTrial(boot(t, r))
	l.busy = true
	l.window(t, spec.Host, deep)
	var stops []func()
	for _, cpu := range l.policy.VCPUs {
		for range 3 {
			stops = append(stops, background(t, fmt.Sprintf("exec taskset -c %d sh -c 'while :; do :; done'", cpu)))
		}
	}
	w := l.window(t, "guest", deep)
	for _, stop := range stops {
		stop()
	}
	t.Logf("%+v", w.Evidence.Price)
	l.withheld(t, "guest", deep, "the host is busy with others")
}
