package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

const newer = "install a newer QEMU (package qemu-utils on Debian and Ubuntu, qemu-img on Fedora and RHEL)"

// TempPrefix begins the names of the folders for the file that Supports reads.
const TempPrefix = "iotax-bench-"

// Supports returns why this qemu-img cannot make the stack's load and what would change that, both empty when it can. A few
// requests are tried on a small raw file in the folder scratch, with the stack's cache and aio: builds differ in what was
// compiled in, and versions in what the command takes. An error says that it could not be tried.
func Supports(ctx context.Context, run sys.Runner, binary string, s spec.Stack, scratch string) (reason, mend string, err error) {
	t, err := revert.NewTemp(scratch, TempPrefix)
	if err != nil {
		return "", "", err
	}
	defer t.Close() //nolint:errcheck // a folder that cannot be removed is left for Sweep
	const size = 1 << 20
	d := cmdline.Disk{Stack: s, Serial: "probe", Path: filepath.Join(t.Dir, "file"), Size: size}
	if !s.Ceiling() {
		d.Stack.Format, d.Stack.BackingFile, d.Stack.L2CacheSize, d.Stack.LazyRefcounts = "raw", false, 0, false
	}
	if err := os.WriteFile(d.Path, make([]byte, size), 0o600); err != nil {
		return "", "", err
	}
	argv, err := Args(binary, d, Load{BlockSize: 4096, Depth: 1, Count: 4, Step: 4096})
	if err != nil {
		return err.Error(), "change the stack", nil
	}
	out, err := run.Run(ctx, sys.Command{Argv: argv})
	if err == nil {
		_, err := Parse(out)
		return "", "", err
	}
	var failed *sys.CommandError
	switch {
	case !errors.As(err, &failed) || ctx.Err() != nil:
		return "", "", err
	case strings.Contains(failed.Stderr, "O_DIRECT"):
		return "", "", nil // the folder's file system has none: it cannot be tried there
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(failed.Stderr), filepath.Base(binary)+": "), "\n")
	return "qemu-img refuses: " + said, caps.MendRefusal(said, newer), nil
}
