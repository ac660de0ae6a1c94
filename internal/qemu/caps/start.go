package caps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/qmp"
)

// find resolves the name of a binary to an absolute path.
func find(binary string) (string, error) {
	path, err := exec.LookPath(binary)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errkind.WithHint(errkind.Userf("no QEMU at %s: %w", binary, err),
			"install qemu-system-x86 (Debian, Ubuntu) or qemu-kvm (Fedora, RHEL), or name another binary")
	}
	return path, nil
}

// patience is how long QEMU may take to say all that it is asked: half a second is usual. Tests have less.
var patience = 20 * time.Second

// withQEMU runs ask against a QEMU without a machine. QEMU inherits its end of the monitor, so there is no socket
// to wait for or to remove, and it is gone when withQEMU returns.
func withQEMU(ctx context.Context, path string, ask func(*qmp.Client) error) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer ours.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %v", patience))
	defer cancel()
	args := []string{
		"-M", "none", "-nodefaults", "-no-user-config", "-display", "none", "-S",
		"-chardev", "socket,id=qmp,fd=3", "-mon", "chardev=qmp,mode=control",
	}
	q := exec.CommandContext(ctx, path, args...)
	var stderr strings.Builder
	q.Stderr = &stderr
	q.ExtraFiles = []*os.File{theirs}
	// A script around QEMU may have children that outlive it and keep its output open: all of them are ended, and
	// none is waited for.
	q.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	q.Cancel = func() error { return syscall.Kill(-q.Process.Pid, syscall.SIGKILL) }
	q.WaitDelay = 200 * time.Millisecond
	runtime.LockOSThread() // Pdeathsig fires when the thread that forked ends
	defer runtime.UnlockOSThread()
	err = q.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	if err = converse(ctx, ours, ask); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel()
	_ = q.Wait() // killed: its exit says nothing
	if errors.Is(err, qmp.ErrClosed) {
		err = fmt.Errorf("%w: %s\n%s", err, strings.Join(q.Args, " "), strings.TrimSpace(stderr.String()))
	}
	return err
}

func converse(ctx context.Context, conn net.Conn, ask func(*qmp.Client) error) error {
	m, err := qmp.New(ctx, conn)
	if err != nil {
		return err
	}
	defer m.Close()
	return ask(m)
}

// socketPair returns two connected sockets, the second as a file to be inherited.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	first, second := os.NewFile(uintptr(fds[0]), "qmp"), os.NewFile(uintptr(fds[1]), "qmp")
	conn, err := net.FileConn(first) // has a descriptor of its own
	first.Close()
	if err != nil {
		second.Close()
	}
	return conn, second, err
}
