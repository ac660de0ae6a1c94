// Package filesystem makes a file system of the run's own on a part of the disk that it measures on, for the volumes
// that are files.
package filesystem

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

// Type is the file system that is made: the one of the published experiments, and of most hosts.
const Type = "ext4"

// Size is how large a device must be to hold so many bytes of files: the journal, tables and the like take a part.
func Size(files int64) int64 { return files + files/16 + 160<<20 }

// Make makes a file system on a device of the ground, large enough for so many bytes of files, and mounts it on a new
// folder inside dir, which is the run's scratch folder. It returns that folder.
func Make(ctx context.Context, run sys.Runner, j *revert.Journal, g provision.Ground, dir string, files int64) (folder string, err error) {
	device, err := g.Claim(ctx, j, "filesystem", Size(files))
	if err != nil {
		return "", err
	}
	// Nothing is left to be done in the background, which would be measured too; and no block is kept for root.
	argv := []string{"mkfs." + Type, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", device}
	if _, err := run.Run(ctx, sys.Command{Argv: argv}); err != nil {
		return "", err
	}
	folder = filepath.Join(dir, "filesystem")
	if _, err := j.Add(revert.Remove(folder)); err != nil {
		return "", err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	if _, err := j.Add(revert.Umount(folder, device)); err != nil {
		return "", errors.Join(err, os.Remove(folder))
	}
	if err := unix.Mount(device, folder, Type, unix.MS_NOATIME, ""); err != nil {
		return "", errors.Join(&os.PathError{Op: "mount", Path: device, Err: err}, os.Remove(folder))
	}
	return folder, nil
}
