// Package load runs one load generator to its end and watches the disk under it. The same code runs
// it on the host and inside the guest, so that the two sides of a comparison differ in the disk alone.
package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Request is one execution. Durations are nanoseconds in JSON.
type Request struct {
	Argv       []string      `json:"argv"`
	Env        []string      `json:"env,omitempty"`   // beside what the caller's own environment has
	Input      string        `json:"input"`           // standard input: fio's job file
	Disk       string        `json:"disk"`            // kernel name of the disk to watch, "" for none
	CPUs       string        `json:"cpus,omitempty"`  // that it may use, such as "0,2-3", "" for all: for generators that cannot pin themselves
	Timeout    time.Duration `json:"timeout"`         // after which the generator is killed
	Paced      bool          `json:"paced,omitempty"` // it waits between its I/Os to keep a rate: its timers are to be exact
	StallAfter time.Duration `json:"stall_after"`     // no I/O ends for so long while some is in flight: stalled; 0 = never
	Step       time.Duration `json:"step"`            // interval of the series

	Started func(pid int) `json:"-"` // called when the generator runs, nil for nobody
}

// Result is what came of it.
type Result struct {
	Output  []byte        `json:"output"`
	Stderr  string        `json:"stderr"`
	Exit    int           `json:"exit"` // exit status, -1 when killed
	Elapsed time.Duration `json:"elapsed"`
	Before  Stat          `json:"before"`
	After   Stat          `json:"after"`
	Busy    time.Duration `json:"busy"`    // of all processors of this side together, from Before to After
	Series  []int64       `json:"series"`  // I/Os that ended in each interval
	Stalled string        `json:"stalled"` // why the generator was killed, "" when it ended by itself
	Stuck   bool          `json:"stuck"`   // it did not go when it was killed: its I/O hangs in the kernel

	Began      time.Duration `json:"began"`       // CLOCK_MONOTONIC of this side when the first interval of the series began: the generator had started
	Ended      time.Duration `json:"ended"`       // the same when the generator had ended
	ReadBytes  int64         `json:"read_bytes"`  // that the generator asked of storage, all its processes together, as /proc/PID/io counts
	WriteBytes int64         `json:"write_bytes"` //
}

// Run executes the request. An error means that the generator could not be run at all;
// what it did wrong by itself stands in the result.
func Run(ctx context.Context, q Request) (Result, error) {
	var r Result
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	cmd := exec.Command(q.Argv[0], q.Argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Env = append(os.Environ(), q.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(q.Input), &stdout, &stderr
	// fio forks: the whole group must go when it is killed, and the pipes must not outlive it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second

	busy, err := processorsBusy()
	if err != nil {
		return r, err
	}
	if r.Before, err = ReadStat(q.Disk); err != nil {
		return r, err
	}
	began := time.Now()
	if err := start(cmd, q.Paced); err != nil {
		return r, fmt.Errorf("%s: %w", strings.Join(q.Argv, " "), err)
	}
	if err := pin(cmd.Process.Pid, q.CPUs); err != nil {
		return r, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	if q.Started != nil {
		q.Started(cmd.Process.Pid)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	r.Began = monotonic()
	w := watch{q: q, last: r.Before, moved: began}
	waitErr := w.until(ctx, ended, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	r.Elapsed, r.Ended = time.Since(began), monotonic()
	r.Series, r.Stalled, r.Stuck = w.series, w.stalled, errors.Is(waitErr, errStuck)
	if r.Stalled == "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Stalled = fmt.Sprintf("%s did not end within %v", q.Argv[0], q.Timeout)
	}
	if r.After, err = ReadStat(q.Disk); err != nil {
		return r, err
	}
	after, err := processorsBusy()
	if err != nil {
		return r, err
	}
	r.Busy = after - busy
	if r.Stuck {
		return r, nil // what it wrote belongs to the goroutine that still waits for it
	}
	r.Output, r.Stderr, r.Exit = stdout.Bytes(), stderr.String(), cmd.ProcessState.ExitCode()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.ReadBytes, r.WriteBytes = usage.Inblock*usageBlock, usage.Oublock*usageBlock
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) && ctx.Err() == nil {
		return r, fmt.Errorf("%s: %w: %s", strings.Join(q.Argv, " "), waitErr, r.Stderr)
	}
	return r, nil
}

// usageBlock is the unit in which getrusage(2) tells the bytes of /proc/PID/io (task_io_get_inblock in the kernel).
const usageBlock = 512

// monotonic is the clock that does not jump, of which Go shows only differences.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// reapPatience is how long a killed generator may take to go. One with direct I/O in flight goes only when its I/O
// ends, which on a disk that hangs is never.
const reapPatience = time.Second

var errStuck = errors.New("killed, and still there")

// watch follows the disk while a generator runs.
type watch struct {
	q       Request
	last    Stat
	moved   time.Time // when an I/O last ended
	series  []int64
	stalled string
}

// until waits for the generator's end, or kills it: when ctx ends, and when the disk stalls.
func (w *watch) until(ctx context.Context, ended <-chan error, kill func()) error {
	var tick <-chan time.Time
	if w.q.Disk != "" && w.q.Step > 0 {
		ticker := time.NewTicker(w.q.Step)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return reap(ended, kill)
		case now := <-tick:
			if w.look(now); w.stalled != "" {
				return reap(ended, kill)
			}
		}
	}
}

func reap(ended <-chan error, kill func()) error {
	kill()
	select {
	case err := <-ended:
		return err
	case <-time.After(reapPatience):
		return errStuck
	}
}

func (w *watch) look(now time.Time) {
	s, err := ReadStat(w.q.Disk)
	if err != nil {
		return // the disk went away: the generator will say so
	}
	done := s.Done() - w.last.Done()
	w.series = append(w.series, done)
	w.last = s
	if done > 0 || s.InFlight == 0 {
		w.moved = now
		return
	}
	if still := now.Sub(w.moved); w.q.StallAfter > 0 && still >= w.q.StallAfter {
		w.stalled = fmt.Sprintf("%d I/Os in flight and none ended for %.1f s", s.InFlight, still.Seconds())
	}
}
