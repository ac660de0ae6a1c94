// Package raw makes volumes that are plain files, filled from end to end.
package raw

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
)

// Driver makes raw files.
type Driver struct{}

// Need implements provision.Driver.
func (Driver) Need(r provision.Request) (int64, error) { return r.Size, provision.CheckSize(r.Size) }

// Create implements provision.Driver. The blocks are reserved at once, so that the file lies in one piece.
func (Driver) Create(_ context.Context, j *revert.Journal, r provision.Request) (provision.Volume, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return provision.Volume{}, err
	}
	path, err := provision.NewPath(r, "raw")
	if err != nil {
		return provision.Volume{}, err
	}
	if _, err := j.Add(revert.Remove(path)); err != nil {
		return provision.Volume{}, err
	}
	if err := reserve(path, r.Size); err != nil {
		return provision.Volume{}, errors.Join(provision.Full(err, path), provision.RemoveFile(path))
	}
	return provision.Volume{Stack: r.Stack.Name, Path: path, Format: "raw", Size: r.Size, Serial: r.Serial}, nil
}

func reserve(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) { // NFS before 4.2, ZFS before 2.1, FUSE
		err = f.Truncate(size)
	}
	return errors.Join(err, f.Close())
}

func whole(v provision.Volume) []provision.Extent { return []provision.Extent{{At: 0, Length: v.Size}} }

// Fill implements provision.Driver.
func (Driver) Fill(ctx context.Context, v provision.Volume, seed uint64, progress func(int64)) error {
	return provision.Write(ctx, v.Path, whole(v), seed, progress)
}

// Verify implements provision.Driver.
func (Driver) Verify(_ context.Context, v provision.Volume) error {
	if err := provision.Allocated(v.Path, whole(v)); err != nil {
		return err
	}
	return provision.NotZero(v.Path, whole(v))
}

// Resolve implements provision.Driver.
func (Driver) Resolve(v provision.Volume) (string, error) { return v.Path, nil }

// RealSize implements provision.Driver.
func (Driver) RealSize(v provision.Volume) (int64, error) { return provision.Taken(v.Path) }

// Destroy implements provision.Driver.
func (Driver) Destroy(_ context.Context, v provision.Volume) error {
	return provision.RemoveFile(v.Path)
}
