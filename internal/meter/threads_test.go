package meter

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const status = "Name:\tiou-wrk-12\nUmask:\t0022\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n"

func TestParseThread(t *testing.T) {
	u, err := parseSchedstat("80728 2212647 3\n")
	if diff := cmp.Diff(Use{CPU: 80728, Waited: 2212647}, u); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
	for _, bad := range []string{"", "1 2", "1 2 3 4", "x 2 3", "1 x 3"} {
		if u, err := parseSchedstat(bad); err == nil {
			t.Errorf("took %q: %+v", bad, u)
		}
	}
	for text, want := range map[string][2]int64{status: {150, 545}, strings.TrimSpace(status): {150, 545}} {
		if v, i, err := parseSwitches(text); err != nil || v != want[0] || i != want[1] {
			t.Errorf("%q: %d and %d, %v", text, v, i, err)
		}
	}
	for _, bad := range []string{"", "Name:\tx\n", strings.Replace(status, "150", "many", 1), strings.Replace(status, "\nnonvol", "\nvol", 1)} {
		if v, i, err := parseSwitches(bad); err == nil {
			t.Errorf("took %q: %d, %d", bad, v, i)
		}
	}
}

func TestParseIO(t *testing.T) {
	const text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 512\n"
	io, err := parseIO(text)
	if err != nil || io != (IO{4096, 8192}) {
		t.Errorf("%+v, %v", io, err)
	}
	for _, bad := range []string{"", "read_bytes: 1\n", "read_bytes: x\nwrite_bytes: 1\n", "cancelled_write_bytes: 9\nread_bytes: 1\n"} {
		if io, err := parseIO(bad); err == nil {
			t.Errorf("took %q: %+v", bad, io)
		}
	}
	if sum := io.Plus(IO{1, 2}); sum != (IO{4097, 8194}) {
		t.Errorf("sum %+v", sum)
	}
}

func TestRoles(t *testing.T) {
	p := process{Process: Process{Roles: map[int]string{7: "vcpu", 12: "iothread"}, Rest: "worker"}}
	for _, tt := range []struct {
		tid        int
		name, role string
	}{
		{7, "CPU 0/KVM", "vcpu"},
		{12, "IO io0", "iothread"},
		{8, "worker", "worker"},
		{9, "iou-wrk-12", "iothread"},
		{9, "iou-sqp-7", "vcpu"},
		{9, "iou-wrk-8", "worker"},
		{9, "iou-wrk-", "worker"},
	} {
		if got := p.role(tt.tid, strings.NewReader("Name:\t"+tt.name+"\nState:\tS\n")); got != tt.role {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.role)
		}
	}
}

// noPID is more than any process has (PID_MAX_LIMIT).
const noPID = 1 << 23

// burn starts a process that computes without end in its main thread.
func burn(t testing.TB) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	return cmd
}

// used waits until a process has used some CPU time.
func used(t testing.TB, pid int, least time.Duration) {
	t.Helper()
	for range 3000 {
		cpu, err := processCPU(pid)
		if err != nil {
			t.Fatal(err)
		}
		if cpu >= least {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("process %d did not use %v", pid, least)
}

// TestWatchAgreesWithRusage: what a process took from its start to its end is what the kernel tells who waits for it.
func TestWatchAgreesWithRusage(t *testing.T) {
	cmd := burn(t)
	pid := cmd.Process.Pid
	w := Start(5*time.Millisecond, false, Process{PID: pid, Roles: map[int]string{pid: "main"}, Rest: "worker"})
	used(t, pid, 300*time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("stopping it: %v, %v", ws, err)
	}
	s := w.Stop()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	whole := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	last := s[len(s)-1]
	main := last.use["main"]
	for name, got := range map[string]time.Duration{"process": last.process, "roles": main.CPU + last.use["worker"].CPU, "main thread": main.CPU} {
		if got < whole*95/100 || got > whole*105/100 {
			t.Errorf("%s: %v, but it took %v", name, got, whole)
		}
	}
	span, ok := s.Between(s[0].at, last.at)
	if want := last.process - s[0].process; !ok || span.Process != want || span.ByRole["main"].CPU > want {
		t.Errorf("span %+v, %v; want %v", span, ok, want)
	}
}

// TestEndedThreads: the time of threads that have ended, seen or not, is that of the rest.
func TestEndedThreads(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read line; kill -STOP $$; exit 0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := &process{Process: Process{PID: cmd.Process.Pid, Roles: map[int]string{cmd.Process.Pid: "main", 1 << 30: "gone"}, Rest: "worker"}, threads: map[int]*thread{}}
	p.look()
	// A thread that was seen and then ended, of which the process knows more than was seen.
	p.threads[1<<30] = &thread{role: "gone", last: Use{CPU: time.Second, Voluntary: 5}}
	p.total = 0
	p.rest = 2 * time.Second
	by := map[string]Use{}
	p.use(by)
	if by["gone"] != (Use{CPU: time.Second, Voluntary: 5}) || by["worker"].CPU != 2*time.Second {
		t.Errorf("%+v", by)
	}
	in.Close()
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	last := p.threads[cmd.Process.Pid].last
	p.look()
	if p.threads[cmd.Process.Pid].status != nil || p.threads[cmd.Process.Pid].last != last {
		t.Error("a thread that has ended is not known as such, or has lost its counters")
	}
	p.close()
}

// TestThreadsOfThisTest finds threads that start later, and only then looks through the folder again.
func TestThreadsOfThisTest(t *testing.T) {
	p := &process{Process: Process{PID: os.Getpid(), Rest: "rest"}, threads: map[int]*thread{}}
	defer p.close()
	p.look()
	before := len(p.threads)
	if before == 0 || p.total <= 0 {
		t.Fatalf("%d threads, %v", before, p.total)
	}
	release := make(chan struct{})
	started := make(chan struct{})
	for range before + 4 { // each holds a thread of the kernel
		go func() {
			var pipe [2]int
			_ = unix.Pipe(pipe[:])
			go func() { <-release; unix.Close(pipe[1]) }()
			started <- struct{}{}
			_, _ = syscall.Read(pipe[0], make([]byte, 1))
			unix.Close(pipe[0])
		}()
	}
	for range before + 4 {
		<-started
	}
	for range 100 {
		if p.look(); len(p.threads) > before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(release)
	if len(p.threads) <= before {
		t.Errorf("%d threads, as before", len(p.threads))
	}
	gone := &process{Process: Process{PID: noPID}, threads: map[int]*thread{}}
	if gone.look(); gone.total != 0 || len(gone.threads) != 0 {
		t.Errorf("a process that is not there: %+v", gone)
	}
	if _, err := ProcessIO(noPID); err == nil {
		t.Error("a process that is not there has I/O")
	}
	if _, err := ProcessIO(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func FuzzThread(f *testing.F) {
	f.Add("80728 2212647 3\n", status, "read_bytes: 4096\nwrite_bytes: 1\n")
	f.Fuzz(func(_ *testing.T, sched, status, io string) {
		_, _ = parseSchedstat(sched)
		_, _, _ = parseSwitches(status)
		_, _ = parseIO(io)
	})
}

// BenchmarkLook is one look at this process and its threads, of which a Watch makes 20 a second: ns/op times 20 is what it
// takes of a CPU.
func BenchmarkLook(b *testing.B) {
	w := &Watch{}
	w.Add(Process{PID: os.Getpid(), Rest: "rest"})
	for b.Loop() {
		w.look()
		w.samples = w.samples[:0]
	}
	b.ReportMetric(float64(len(w.processes[0].threads)), "threads")
}
