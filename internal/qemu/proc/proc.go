// Package proc runs one QEMU as a child process: its life and end, its console, its threads and where they may
// run, and what the kernel shows of how it really does I/O.
package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/iotax/iotax/internal/qemu/qmp"
)

// How long Stop waits after each of its three ways to end QEMU; together below 1.5 s.
const (
	quitWait = 500 * time.Millisecond
	termWait = 400 * time.Millisecond
	killWait = 500 * time.Millisecond
)

// Config is what to run and what the caller wants to hear of it. Only Args is needed.
type Config struct {
	Name string   // of the program for a person, "" = QEMU
	Args []string // argv, binary included
	Env  []string // "name=value", added to the environment of iotax

	// OnStart is called with the process id and its start time in clock ticks since boot (field 22 of
	// /proc/PID/stat), which together name the process for good. When it fails, the process is killed.
	OnStart func(pid int, startTime uint64) error
	// OnConsole is called with every line of QEMU's standard output, without its end. It must not block.
	OnConsole func(line string)
}

// Process is a running or ended QEMU.
type Process struct {
	name      string
	cmd       *exec.Cmd
	startTime uint64
	console   console
	stderr    tail
	asked     atomic.Bool // its end was asked for
	done      chan struct{}
	exit      *Exit // set before done is closed
}

// Start runs QEMU in a process group of its own, so that Ctrl-C does not reach it. It lives until Stop; when iotax
// itself dies, the kernel kills it. Its standard output is taken for the guest's console.
func Start(c Config) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no command to start")
	}
	p := &Process{name: cmp.Or(c.Name, "QEMU"), cmd: exec.Command(c.Args[0], c.Args[1:]...), done: make(chan struct{})}
	p.console.onLine = c.OnConsole
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.console, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.WaitDelay = 200 * time.Millisecond // a stranger who holds the pipes does not keep us
	started := make(chan error)
	go p.live(started)
	err := <-started
	if p.cmd.Process == nil {
		return nil, err
	}
	if err == nil && c.OnStart != nil {
		err = c.OnStart(p.PID(), p.startTime)
	}
	if err != nil {
		p.kill()
		<-p.done
		return nil, err
	}
	return p, nil
}

// live forks and waits on one thread that does nothing else and is never given back: Pdeathsig fires when the
// thread that forked ends (prctl(2), PR_SET_PDEATHSIG), and Go ends threads as it likes.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	err := p.cmd.Start()
	if err != nil {
		started <- err
		return
	}
	p.startTime, err = startTime(p.PID()) // before Wait, until which even an ended process has its entry
	started <- err
	_ = p.cmd.Wait() // its error says less than ProcessState
	p.console.flush()
	p.exit = newExit(p)
	close(p.done)
}

func startTime(pid int) (uint64, error) {
	self, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("start time of QEMU (pid %d): %w", pid, err)
	}
	stat, err := self.Stat()
	if err != nil {
		return 0, fmt.Errorf("start time of QEMU (pid %d): %w", pid, err)
	}
	return stat.Starttime, nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// StartTime returns when the process started, in clock ticks since boot.
func (p *Process) StartTime() uint64 { return p.startTime }

// Done is closed when the process has ended and its output is complete.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the process ended, as an *Exit. It is nil while the process lives, and when its end was asked for.
func (p *Process) Err() error {
	select {
	case <-p.done:
		if p.exit.Asked {
			return nil
		}
		return p.exit
	default:
		return nil
	}
}

// Console returns the last 64 KiB of the guest's console.
func (p *Process) Console() string { return p.console.text() }

// Panic returns the first line of the console that says that the guest's kernel cannot go on as it should: a panic,
// the end of its memory, an oops. "" when there was none.
func (p *Process) Panic() string { return p.console.firstTrouble() }

// Stderr returns the last 64 KiB of what QEMU itself said.
func (p *Process) Stderr() string { return p.stderr.text() }

// Stop ends the process within 1.5 s: by QMP's quit where there is a monitor, then SIGTERM, then SIGKILL. It may be
// called again, and after the end. The error says that the process is still there, stuck in the kernel.
func (p *Process) Stop(monitor *qmp.Client) error {
	p.asked.Store(true)
	if monitor != nil && p.quit(monitor) {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err == nil && p.gone(termWait) {
		return nil
	}
	p.kill()
	if !p.gone(killWait) {
		return fmt.Errorf("%s (pid %d) does not end, it is stuck in the kernel", p.name, p.PID())
	}
	return nil
}

// quit asks through the monitor and reports whether that sufficed.
func (p *Process) quit(monitor *qmp.Client) bool {
	ctx, cancel := context.WithTimeout(context.Background(), quitWait)
	defer cancel()
	if err := monitor.Quit(ctx); err != nil {
		return false
	}
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Process) gone(within time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(within):
		return false
	}
}

func (p *Process) kill() {
	p.asked.Store(true)
	_ = p.cmd.Process.Kill() // the only fault that a child of ours can give is that it has ended
}
