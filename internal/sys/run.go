package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/errkind"
)

// Command is another program to run to its end.
type Command struct {
	Argv  []string // program and arguments
	Dir   string   // "" = the current one
	Env   []string // "KEY=value" as os/exec has it; nil = the current environment
	Stdin io.Reader

	Stdout io.Writer // where the output goes; nil = it is returned
}

// Runner runs programs. Exec is the real one; a test gives its own.
type Runner interface {
	// Run runs the command to its end and returns its standard output. A failure is a *CommandError, and the
	// output up to it is returned with it. A cancelled context ends the command and all that it started.
	Run(ctx context.Context, c Command) ([]byte, error)
	// LookPath finds a program as exec.LookPath does.
	LookPath(name string) (string, error)
}

// Run runs a program with arguments and returns its standard output.
func (w World) Run(ctx context.Context, argv ...string) ([]byte, error) {
	return w.Runner.Run(ctx, Command{Argv: argv})
}

// Exec runs programs of this machine.
type Exec struct{}

// LookPath finds a program on PATH.
func (Exec) LookPath(name string) (string, error) { return exec.LookPath(name) }

// Run implements Runner. The program has a process group of its own: Ctrl-C on the terminal reaches iotax
// alone, which then decides what to end in which order. When iotax is killed outright, the kernel ends the program.
func (Exec) Run(ctx context.Context, c Command) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig fires when the thread that forked ends
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // a grandchild that keeps the pipes open does not keep us
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // the latter: it succeeded, and left somebody behind
		return stdout.Bytes(), nil
	}
	failure := &CommandError{Argv: c.Argv, Stderr: stderr.String(), Err: err}
	switch {
	case ctx.Err() != nil:
		failure.Err = errors.Join(ctx.Err(), err)
	case errors.Is(err, exec.ErrNotFound):
		return nil, errkind.Userf("%s is not installed; `iotax doctor` says how to get it", c.Argv[0])
	}
	return stdout.Bytes(), failure
}

// CommandError is a program that failed: what was run, what it said, how it ended.
type CommandError struct {
	Argv   []string
	Stderr string
	Err    error // an *exec.ExitError, or why the program could not be started
}

// stderrShown bounds what is printed of a program that says very much: its last words say what failed.
const stderrShown = 2000

// Error gives the command line as one could type it, how it ended, and what it wrote to standard error.
func (e *CommandError) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if len(said) > stderrShown {
		said = "..." + strings.ToValidUTF8(said[len(said)-stderrShown:], "")
	}
	text := fmt.Sprintf("%s: %v", Quote(e.Argv), e.Err)
	if said != "" {
		text += "\n" + said
	}
	return text
}

// Unwrap returns how the program ended.
func (e *CommandError) Unwrap() error { return e.Err }

// Quote writes a command line that a POSIX shell reads as exactly these arguments.
func Quote(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = quoteOne(arg)
	}
	return strings.Join(quoted, " ")
}

func quoteOne(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+,./:@%", r)
	}
	if arg != "" && strings.TrimLeftFunc(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
