package meter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process whose threads are counted by what they do.
type Process struct {
	PID   int
	Roles map[int]string // thread id -> role
	Rest  string         // role of all its other threads, those that have ended among them
}

// Use is what threads took: since they started, or over a span.
type Use struct {
	CPU         time.Duration
	Waited      time.Duration // ready to run, without a processor
	Voluntary   int64         // context switches: there was nothing to do
	Involuntary int64         // context switches: others took the processor
}

func (u Use) plus(v Use) Use {
	return Use{u.CPU + v.CPU, u.Waited + v.Waited, u.Voluntary + v.Voluntary, u.Involuntary + v.Involuntary}
}

// between is the use at a share of the way from u to a later one.
func (u Use) between(later Use, share float64) Use {
	at := func(a, b int64) int64 { return a + int64(share*float64(b-a)+0.5) }
	return Use{
		CPU: time.Duration(at(int64(u.CPU), int64(later.CPU))), Waited: time.Duration(at(int64(u.Waited), int64(later.Waited))),
		Voluntary: at(u.Voluntary, later.Voluntary), Involuntary: at(u.Involuntary, later.Involuntary),
	}
}

// minus is what was used since an earlier moment.
func (u Use) minus(earlier Use) Use {
	return Use{
		max(u.CPU-earlier.CPU, 0), max(u.Waited-earlier.Waited, 0),
		max(u.Voluntary-earlier.Voluntary, 0), max(u.Involuntary-earlier.Involuntary, 0),
	}
}

// process follows the threads of a Process. Its files stay open: reading one again costs a third of opening it.
type process struct {
	Process
	threads map[int]*thread
	live    int            // threads that have not ended
	total   time.Duration  // CPU time of the whole, ended threads included
	rest    time.Duration  // the part of it that no thread has that was seen
	buffer  [16 << 10]byte // a status has 1,400 bytes, and 600 more with a thousand CPUs
}

type thread struct {
	role              string
	schedstat, status *os.File // nil when it has ended
	last              Use
	text              string // of schedstat, when it was last read
}

// tasks is the folder of its threads. Its count of links is that of the threads and two more (proc_task_getattr in
// the kernel's fs/proc/base.c), so that a look at it tells whether there are new ones.
func (p *process) tasks() string { return filepath.Join("/proc", strconv.Itoa(p.PID), "task") }

// look reads all counters anew. A thread, or the process, that has ended keeps what was seen last. The process is read first:
// what its threads took between the two readings then makes the rest smaller for the moment, and never larger for good.
func (p *process) look() {
	if total, err := processCPU(p.PID); err == nil {
		p.total = total
	}
	p.find()
	if p.read() { // another one may have begun in its place, and must not be taken for the rest until the next look
		p.find()
		p.read()
	}
	var seen time.Duration
	for _, t := range p.threads {
		seen += t.last.CPU
	}
	p.rest = max(p.rest, p.total-seen)
}

// read reads every thread that was found, and reports whether one has ended.
func (p *process) read() (ended bool) {
	for _, t := range p.threads {
		if t.status != nil && !t.read(p.buffer[:]) {
			t.close()
			p.live--
			ended = true
		}
	}
	return ended
}

// find opens the threads that are new.
func (p *process) find() {
	var st unix.Stat_t
	if unix.Stat(p.tasks(), &st) != nil || int(st.Nlink)-2 == p.live {
		return
	}
	entries, err := os.ReadDir(p.tasks())
	if err != nil {
		return
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || p.threads[tid] != nil {
			continue
		}
		if t, err := openThread(filepath.Join(p.tasks(), e.Name())); err == nil { // else it has just ended
			t.role = p.role(tid, t.status)
			p.threads[tid] = t
			p.live++
		}
	}
}

// role is what a thread does. The kernel's helpers of io_uring, which are threads of the process, are named after the
// one whose ring they serve (io_uring/io-wq.c), and do its work.
func (p *process) role(tid int, status io.ReaderAt) string {
	if role, ok := p.Roles[tid]; ok {
		return role
	}
	text, _ := readAgain(status, p.buffer[:])
	name, _, _ := strings.Cut(strings.TrimPrefix(string(text), "Name:\t"), "\n")
	for _, helper := range []string{"iou-wrk-", "iou-sqp-"} {
		if of, ok := strings.CutPrefix(name, helper); ok {
			tid, _ = strconv.Atoi(of)
			if role, ok := p.Roles[tid]; ok {
				return role
			}
		}
	}
	return p.Rest
}

// use adds what every role took to by.
func (p *process) use(by map[string]Use) {
	for _, t := range p.threads {
		by[t.role] = by[t.role].plus(t.last)
	}
	by[p.Rest] = by[p.Rest].plus(Use{CPU: p.rest})
}

func (p *process) close() {
	for _, t := range p.threads {
		t.close()
	}
}

func openThread(dir string) (t *thread, err error) {
	t = &thread{}
	if t.schedstat, err = os.Open(filepath.Join(dir, "schedstat")); err != nil {
		return nil, err
	}
	if t.status, err = os.Open(filepath.Join(dir, "status")); err != nil {
		t.schedstat.Close()
		return nil, err
	}
	return t, nil
}

// read reports whether the thread is still there.
func (t *thread) read(buffer []byte) bool {
	sched, err := readAgain(t.schedstat, buffer)
	if err != nil {
		return false
	}
	if t.text == string(sched) {
		return true // it has not run since, and most threads of a guest never do: its status costs five times as much
	}
	text := string(sched)
	u, err := parseSchedstat(text)
	if err != nil {
		return false
	}
	status, err := readAgain(t.status, buffer)
	if err == nil {
		u.Voluntary, u.Involuntary, err = parseSwitches(string(status))
	}
	if err == nil {
		t.last, t.text = u, text
	}
	return err == nil
}

func (t *thread) close() {
	if t.status != nil {
		t.schedstat.Close()
		t.status.Close()
		t.schedstat, t.status = nil, nil
	}
}

// readAgain reads a small file of /proc from its beginning: each such read shows the counters of its moment.
func readAgain(f io.ReaderAt, buffer []byte) ([]byte, error) {
	n, err := f.ReadAt(buffer, 0)
	if errors.Is(err, io.EOF) && n > 0 {
		err = nil
	}
	return buffer[:n], err
}

// parseSchedstat reads a thread's time on a processor and its wait for one, in nanoseconds, and the number of times that
// it ran (Documentation/scheduler/sched-stats.rst of Linux). A kernel built without these counters has no such file, or zeros in it.
func parseSchedstat(text string) (Use, error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return Use{}, fmt.Errorf("%q: expected 3 numbers", text)
	}
	ran, err := strconv.ParseInt(words[0], 10, 64)
	waited, err2 := strconv.ParseInt(words[1], 10, 64)
	if err = errors.Join(err, err2); err != nil {
		return Use{}, err
	}
	return Use{CPU: time.Duration(ran), Waited: time.Duration(waited)}, nil
}

// parseSwitches reads the context switches of a thread, the last two lines of its status (proc_pid_status(5)).
func parseSwitches(text string) (voluntary, involuntary int64, err error) {
	number := func(name string) (n int64) {
		_, rest, found := strings.Cut(text, "\n"+name+":")
		if line, _, _ := strings.Cut(rest, "\n"); found && err == nil {
			n, err = strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		} else if err == nil {
			err = fmt.Errorf("there is no line %s", name)
		}
		return n
	}
	return number("voluntary_ctxt_switches"), number("nonvoluntary_ctxt_switches"), err
}

// processCPU is the CPU time of all threads that a process has or had, to the nanosecond: its CPU clock, whose number
// clock_getcpuclockid(3) makes of the process id. The times in /proc/PID/stat are the same, in steps of 10 ms.
func processCPU(pid int) (time.Duration, error) {
	const sched = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &ts); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(ts.Nano()), nil
}
