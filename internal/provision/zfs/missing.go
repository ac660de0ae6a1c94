package zfs

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/iotax/iotax/internal/sys"
)

// Lack is why this host can make no volumes on ZFS; the zero value is none.
type Lack struct {
	Reason   string
	Mend     string   // command that mends it, "" when there is none
	Programs []string // what to install, for hostenv.InstallCommand, when that mends it
}

// Missing finds out whether volumes can be made on ZFS here.
func Missing(ctx context.Context, run sys.Runner) Lack { return missing(ctx, run, "/", os.Geteuid()) }

func missing(ctx context.Context, run sys.Runner, root string, user int) Lack {
	var absent []string
	for _, name := range []string{"zpool", "zfs"} {
		if _, err := run.LookPath(name); err != nil {
			absent = append(absent, name)
		}
	}
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err == nil
	}
	switch {
	case len(absent) > 0:
		return Lack{Reason: strings.Join(absent, " and ") + " of OpenZFS cannot be found", Programs: absent[:1]} // one package has both
	case !exists("sys/module/zfs"):
		if _, err := run.Run(ctx, sys.Command{Argv: []string{"modprobe", "--dry-run", "zfs"}}); err != nil {
			return Lack{Reason: "this kernel has no module zfs", Programs: []string{"zfs-dkms"}}
		}
		return Lack{Reason: "the kernel's module zfs is not loaded", Mend: "modprobe zfs"}
	case !exists("dev/zfs"):
		return Lack{Reason: "there is no /dev/zfs here, as in a container that was not given it"}
	case user != 0:
		return Lack{Reason: "only root can make volumes on ZFS", Mend: "run iotax as root"}
	}
	return Lack{}
}
