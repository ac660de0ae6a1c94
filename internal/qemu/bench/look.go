package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
)

// Effective is how the kernel shows that a running qemu-img bench has the volume open.
type Effective struct {
	Direct *bool    // O_DIRECT on every descriptor of the volume, nil for null-co
	AIO    proc.AIO // of the process, while requests are in flight
}

// lookPatience is how long a run may take until it has the volume open and the aio shows that it was asked for.
const lookPatience = 2 * time.Second

// Look starts a run of reads that would not end, looks at its process, and kills it. env is added to the environment.
// The error holds what the program said.
func Look(ctx context.Context, binary string, d cmdline.Disk, env []string) (e Effective, err error) {
	argv, err := Args(binary, d, Load{BlockSize: 4096, Depth: 1, Count: MaxCount, Step: 4096})
	if err != nil {
		return e, err
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal is not for it
	if err := cmd.Start(); err != nil {
		return e, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e, err = look(ctx, cmd.Process.Pid, d, ended)
	if err == nil || !errors.Is(err, errEnded) {
		return e, errors.Join(err, cmd.Process.Kill(), killed(<-ended))
	}
	return e, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(stderr.String()))
}

var errEnded = errors.New("it ended by itself")

// look polls a process until it shows what it was asked for, or time is up.
func look(ctx context.Context, pid int, d cmdline.Disk, ended chan error) (e Effective, err error) {
	for end := time.Now().Add(lookPatience); ; {
		var seen bool
		if e, seen, err = see(pid, d); err == nil && seen {
			return e, nil
		}
		select {
		case <-ended:
			return e, errEnded
		case <-ctx.Done():
			return e, context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(end) {
			return e, err
		}
	}
}

// see looks once; seen is false while the process may only not have come so far.
func see(pid int, d cmdline.Disk) (e Effective, seen bool, err error) {
	if d.Stack.Ceiling() {
		return e, true, nil
	}
	files, err := proc.Effective(pid, d.Path)
	if err != nil {
		return e, false, err
	}
	direct := true
	for _, f := range files {
		direct = direct && f.Direct
	}
	e.Direct = &direct
	e.AIO, err = proc.AsyncIO(pid)
	return e, e.AIO.Contradicts(d.Stack.AIO) == "", err
}

// killed is nil for the end that we gave the process ourselves.
func killed(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
