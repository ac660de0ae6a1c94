package qsd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

const install = "install qemu-storage-daemon (package qemu-system-common on Debian and Ubuntu, qemu-img on Fedora, qemu-kvm on RHEL), or name its binary"

// Find resolves the daemon's name, "" meaning the one on PATH, to an absolute path.
func Find(binary string) (string, error) {
	if binary == "" {
		binary = "qemu-storage-daemon"
	}
	path, err := exec.LookPath(binary)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errkind.WithHint(errkind.Userf("no qemu-storage-daemon: %w", err), install)
	}
	return path, nil
}

// TempPrefix begins the names of the folders for the file that Supports serves.
const TempPrefix = "iotax-qsd-"

// Supports returns why this daemon cannot serve the stack and what would change that, both empty when it can. It
// is tried on a small raw file in the folder scratch, with the stack's cache, aio and export: builds differ in what
// was compiled in, and none says so. An error says that it could not be tried.
func Supports(ctx context.Context, binary string, s spec.Stack, scratch string) (reason, mend string, err error) {
	t, err := revert.NewTemp(scratch, TempPrefix)
	if err != nil {
		return "", "", err
	}
	defer t.Close() //nolint:errcheck // a folder that cannot be removed is left for Sweep
	if !s.Ceiling() {
		s.Format = "raw"
	}
	const size = 1 << 20
	d := cmdline.Disk{Stack: s, Serial: "probe", Path: filepath.Join(t.Dir, "file"), Size: size, Socket: filepath.Join(t.Dir, "served")}
	if err := os.WriteFile(d.Path, make([]byte, size), 0o600); err != nil {
		return "", "", err
	}
	daemon, err := Start(ctx, Config{Binary: binary, Disk: d, CPUs: 1, QMPSocket: filepath.Join(t.Dir, "qmp")})
	if err == nil {
		return "", "", daemon.Close()
	}
	var exit *proc.Exit
	var faults errkind.List
	switch {
	case errors.As(err, &faults):
		return err.Error(), "change the stack", nil
	case errors.As(err, &exit) && strings.Contains(exit.Stderr, "O_DIRECT"):
		return "", "", nil // the folder's file system has none: it cannot be tried there
	case errors.As(err, &exit):
		said, _, _ := strings.Cut(strings.TrimPrefix(exit.Stderr, exit.Argv[0]+": "), "\n")
		return "qemu-storage-daemon refuses: " + said, caps.MendRefusal(said, install), nil
	}
	return "", "", err
}
