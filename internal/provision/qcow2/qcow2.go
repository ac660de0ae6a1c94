// Package qcow2 makes volumes that are QEMU images, every cluster of them allocated and written.
package qcow2

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

// Driver makes images with qemu-img.
type Driver struct {
	Run sys.Runner
}

const defaultCluster = 64 << 10 // bytes, qemu-img's own default

// Need implements provision.Driver. Beside the data there are, for each cluster, an entry of 8 bytes in an L2 table
// and a reference count of 2 bytes, both rounded up to clusters, and a few clusters more.
func (Driver) Need(r provision.Request) (int64, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return 0, err
	}
	cluster := clusterSize(r)
	clusters := (r.Size + cluster - 1) / cluster
	return (clusters+8)*cluster + clusters*(8+2) + 1<<20, nil
}

func clusterSize(r provision.Request) int64 {
	if r.Stack.ClusterSize > 0 {
		return r.Stack.ClusterSize
	}
	return defaultCluster
}

// Create implements provision.Driver. A filled image has all its clusters, whatever preallocation was asked; what is
// left of the choice is how the host's file system came to give the space: block by block as it is written (off and
// metadata), or in one piece beforehand (falloc and full).
func (d Driver) Create(ctx context.Context, j *revert.Journal, r provision.Request) (provision.Volume, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return provision.Volume{}, err
	}
	path, err := provision.NewPath(r, "qcow2")
	if err != nil {
		return provision.Volume{}, err
	}
	argv, err := createArgs(path, r)
	if err != nil {
		return provision.Volume{}, err
	}
	if _, err := j.Add(revert.Remove(path)); err != nil {
		return provision.Volume{}, err
	}
	if _, err := d.Run.Run(ctx, sys.Command{Argv: argv}); err != nil {
		return provision.Volume{}, errors.Join(fullDisk(err, path), provision.RemoveFile(path))
	}
	return provision.Volume{Stack: r.Stack.Name, Path: path, Format: "qcow2", Size: r.Size, Serial: r.Serial}, nil
}

// createArgs is the command that makes the image of a request.
func createArgs(path string, r provision.Request) ([]string, error) {
	preallocation := "metadata"
	switch r.Stack.Preallocation {
	case "", "off", "metadata":
	case "falloc", "full":
		preallocation = "falloc"
	default:
		return nil, errkind.Userf("preallocation %q: expected off, metadata, falloc or full", r.Stack.Preallocation)
	}
	options := fmt.Sprintf("cluster_size=%d,preallocation=%s", clusterSize(r), preallocation)
	return []string{"qemu-img", "create", "-q", "-f", "qcow2", "-o", options, path, fmt.Sprint(r.Size)}, nil
}

// fullDisk turns qemu-img's words for a full disk into the kernel's.
func fullDisk(err error, path string) error {
	var failed *sys.CommandError
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "No space left on device") {
		return provision.Full(unix.ENOSPC, path)
	}
	return err
}

// Fill implements provision.Driver. All clusters exist already: their places in the file are asked of qemu-img, and
// written past QEMU with the same stream and speed as any other volume. Writing through qemu-img convert would need a
// filled source, and so twice the space.
func (d Driver) Fill(ctx context.Context, v provision.Volume, seed uint64, progress func(int64)) error {
	extents, err := d.places(ctx, v)
	if err != nil {
		return err
	}
	return provision.Write(ctx, v.Path, extents, seed, progress)
}

// Verify implements provision.Driver. qemu-img map alone does not do: it calls clusters that were only reserved in
// the host's file system (preallocation=falloc) data too. So their places in the file are checked as well.
func (d Driver) Verify(ctx context.Context, v provision.Volume) error {
	entries, err := d.imageMap(ctx, v)
	if err != nil {
		return err
	}
	if err := allData(entries, v.Size); err != nil {
		return fmt.Errorf("%s is not filled: %w", v.Path, err)
	}
	extents, err := places(entries, v.Size)
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	if err := provision.Allocated(v.Path, extents); err != nil {
		return err
	}
	return provision.NotZero(v.Path, extents)
}

// Resolve implements provision.Driver.
func (Driver) Resolve(v provision.Volume) (string, error) { return v.Path, nil }

// RealSize implements provision.Driver.
func (Driver) RealSize(v provision.Volume) (int64, error) { return provision.Taken(v.Path) }

// Destroy implements provision.Driver.
func (Driver) Destroy(_ context.Context, v provision.Volume) error {
	return provision.RemoveFile(v.Path)
}
