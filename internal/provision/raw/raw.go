// Package raw makes volumes that are plain files, filled from end to end.
package raw

import (
	"context"
	"errors"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
)

// Driver makes raw files.
type Driver struct{}

// Need implements provision.Driver.
func (Driver) Need(r provision.Request) (int64, error) { return r.Size, provision.CheckSize(r.Size) }

// Create implements provision.Driver. The blocks are reserved at once, so that the file lies in one piece, unless
// preallocation is off: then the file system gives them as they are written. Filling it is what makes it "full".
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
	if err := provision.MakeFile(path, r.Size, r.Stack.Preallocation != "off"); err != nil {
		return provision.Volume{}, errors.Join(provision.Full(err, path), provision.RemoveFile(path))
	}
	return provision.Volume{Stack: r.Stack.Name, Path: path, Format: "raw", Size: r.Size, Serial: r.Serial}, nil
}

func whole(v provision.Volume) []provision.Extent { return []provision.Extent{{At: 0, Length: v.Size}} }

// Fill implements provision.Driver.
func (Driver) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	return provision.Write(ctx, v.Path, whole(v), c, progress)
}

// Verify implements provision.Driver.
func (Driver) Verify(_ context.Context, v provision.Volume) error {
	if err := provision.Allocated(v.Path, whole(v)); err != nil {
		return err
	}
	return provision.NotZero(v.Path, whole(v))
}

// Unwritten implements provision.Mapper.
func (Driver) Unwritten(_ context.Context, v provision.Volume) (float64, error) {
	n, err := provision.Unwritten(v.Path, whole(v))
	return float64(n) / float64(v.Size), err
}

// Resolve implements provision.Driver.
func (Driver) Resolve(_ context.Context, v provision.Volume) ([]string, error) {
	return []string{v.Path}, nil
}

// Report implements provision.Driver.
func (Driver) Report(_ context.Context, v provision.Volume) (provision.Report, error) {
	taken, err := provision.Taken(v.Path)
	return provision.Report{RealSize: taken}, err
}

// Destroy implements provision.Driver.
func (Driver) Destroy(_ context.Context, v provision.Volume) error {
	return provision.RemoveFile(v.Path)
}
