package proc

import (
	"fmt"
	"strings"
	"syscall"
)

// Exit is how a QEMU, or a daemon that serves a disk to one, ended.
type Exit struct {
	Name   string // of the program: "QEMU" or the daemon's
	Argv   []string
	PID    int
	Status int            // exit status, -1 when a signal ended it
	Signal syscall.Signal // that signal, 0 otherwise
	Asked  bool           // by Stop
	Panic  string         // what the guest's console said, see Process.Panic
	Stderr string         // QEMU's own last words
}

func newExit(p *Process) *Exit {
	e := &Exit{
		Name: p.name, Argv: p.cmd.Args, PID: p.PID(), Status: p.cmd.ProcessState.ExitCode(),
		Asked: p.asked.Load(), Panic: p.Panic(), Stderr: strings.TrimSpace(p.Stderr()),
	}
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

// Error tells the end, then what the guest said, what QEMU said, and the command.
func (e *Exit) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (pid %d) %s", e.Name, e.PID, e.how())
	if e.Panic != "" {
		fmt.Fprintf(&b, "; the guest said: %s", e.Panic)
	}
	if e.Stderr != "" {
		fmt.Fprintf(&b, "\n%s said: %s", e.Name, e.Stderr)
	}
	fmt.Fprintf(&b, "\ncommand: %s", strings.Join(e.Argv, " "))
	return b.String()
}

func (e *Exit) how() string {
	switch {
	case e.Signal == syscall.SIGKILL && !e.Asked:
		return "was killed from outside (SIGKILL; the kernel does so when memory runs out, see dmesg)"
	case e.Signal != 0:
		return fmt.Sprintf("was ended by signal %d (%s)", int(e.Signal), e.Signal)
	case e.Status == 0 && e.Name != "QEMU":
		return "ended by itself with status 0"
	case e.Status == 0:
		return "ended by itself with status 0: the guest powered off or reset"
	default:
		return fmt.Sprintf("failed with status %d", e.Status)
	}
}
