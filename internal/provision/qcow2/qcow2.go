// Package qcow2 makes volumes that are QEMU images, every cluster of them allocated and written.
package qcow2

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Need implements provision.Driver. Beside the data there are, for each cluster, an entry of 8 bytes in an L2 table (16
// with subclusters) and a reference count of 2 bytes, both rounded up to clusters, and a few clusters more. An image that
// comes to hold each cluster twice, since a backing file or a snapshot has the other one, needs twice that.
func (Driver) Need(r provision.Request) (int64, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return 0, err
	}
	cluster := clusterSize(r)
	clusters := (r.Size + cluster - 1) / cluster
	once := (clusters+8)*cluster + clusters*(16+2) + 1<<20
	if r.Stack.BackingFile || r.Stack.Snapshot != "" {
		return 2 * once, nil
	}
	return once, nil
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
func (d Driver) Create(ctx context.Context, j *revert.Journal, r provision.Request) (v provision.Volume, err error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return v, err
	}
	path, err := provision.NewPath(r, "qcow2")
	if err != nil {
		return v, err
	}
	v = provision.Volume{Stack: r.Stack.Name, Path: path, Format: "qcow2", Size: r.Size, Serial: r.Serial, Snapshot: r.Stack.Snapshot}
	if r.Stack.BackingFile {
		v.Base = path + ".base"
	}
	commands, err := createCommands(v, r)
	if err != nil {
		return provision.Volume{}, err
	}
	for _, file := range files(v) {
		if _, err := j.Add(revert.Remove(file)); err != nil {
			return provision.Volume{}, err
		}
	}
	for _, argv := range commands {
		if _, err := d.Run.Run(ctx, sys.Command{Argv: argv}); err != nil {
			return provision.Volume{}, errors.Join(fullDisk(err, path), d.Destroy(ctx, v))
		}
	}
	return v, nil
}

// files are those of a volume, the one that others depend on first.
func files(v provision.Volume) []string {
	if v.Base == "" {
		return []string{v.Path}
	}
	return []string{v.Base, v.Path}
}

// createCommands make the image of a request, and the one behind it where it is an overlay.
func createCommands(v provision.Volume, r provision.Request) ([][]string, error) {
	preallocation := "metadata"
	switch r.Stack.Preallocation {
	case "", "off", "metadata":
	case "falloc", "full":
		preallocation = "falloc"
	default:
		return nil, errkind.Userf("preallocation %q: expected off, metadata, falloc or full", r.Stack.Preallocation)
	}
	options := fmt.Sprintf("cluster_size=%d", clusterSize(r))
	if r.Stack.ExtendedL2 {
		options += ",extended_l2=on"
	}
	if r.Stack.LazyRefcounts {
		options += ",lazy_refcounts=on"
	}
	if r.Stack.Empty {
		preallocation = "off"
	}
	create := func(path, options string, more ...string) []string {
		return slices.Concat([]string{"qemu-img", "create", "-q", "-f", "qcow2", "-o", options}, more, []string{path, fmt.Sprint(r.Size)})
	}
	filled := options + ",preallocation=" + preallocation
	if v.Base == "" {
		return [][]string{create(v.Path, filled)}, nil
	}
	return [][]string{create(v.Base, filled), create(v.Path, options, "-b", v.Base, "-F", "qcow2")}, nil
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
// filled source, and so twice the space. An overlay stays empty: the image behind it is filled.
func (d Driver) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	filled := files(v)[0]
	p, err := d.properties(ctx, filled)
	if err != nil {
		return err
	}
	if p["extended_l2"] == "true" { // preallocation gives clusters whose subclusters all read as zeros
		if err := d.writeAll(ctx, filled, v.Size); err != nil {
			return err
		}
	}
	if err := d.write(ctx, filled, v.Size, c, progress); err != nil {
		return err
	}
	switch v.Snapshot {
	case "fresh":
		return d.snapshot(ctx, v)
	case "copied":
		if err := d.snapshot(ctx, v); err != nil {
			return err
		}
		if err := d.writeAll(ctx, v.Path, v.Size); err != nil {
			return err
		}
		return d.write(ctx, v.Path, v.Size, c, nil)
	}
	return nil
}

func (d Driver) write(ctx context.Context, path string, size int64, c provision.Content, progress func(int64)) error {
	extents, err := d.places(ctx, path, size)
	if err != nil {
		return err
	}
	return provision.Write(ctx, path, extents, c, progress)
}

// Verify implements provision.Driver. qemu-img map alone does not do: it calls clusters that were only reserved in
// the host's file system (preallocation=falloc) data too. So their places in the file are checked as well.
func (d Driver) Verify(ctx context.Context, v provision.Volume) error {
	filled := files(v)[0]
	entries, err := d.imageMap(ctx, filled)
	if err != nil {
		return err
	}
	if err := allData(entries, v.Size); err != nil {
		return fmt.Errorf("%s is not filled: %w", filled, err)
	}
	extents, err := places(entries, v.Size)
	if err != nil {
		return fmt.Errorf("%s: %w", filled, err)
	}
	if err := provision.Allocated(filled, extents); err != nil {
		return err
	}
	return provision.NotZero(filled, extents)
}

// Unwritten implements provision.Mapper: clusters that are not allocated or read as zeros, and those whose place in the
// file was never written. What an overlay does not have counts as it is in the image behind it.
func (d Driver) Unwritten(ctx context.Context, v provision.Volume) (float64, error) {
	entries, err := d.imageMap(ctx, v.Path)
	if err != nil {
		return 0, err
	}
	hollow, held := parts(entries, v.Size)
	for depth, extents := range held {
		path := v.Path
		if depth > 0 {
			path = v.Base
		}
		n, err := provision.Unwritten(path, extents)
		if err != nil {
			return 0, err
		}
		hollow += n
	}
	return float64(hollow) / float64(v.Size), nil
}

// Resolve implements provision.Driver.
func (Driver) Resolve(_ context.Context, v provision.Volume) ([]string, error) {
	return files(v), nil
}

// Report implements provision.Driver.
func (d Driver) Report(ctx context.Context, v provision.Volume) (provision.Report, error) {
	var r provision.Report
	for _, file := range files(v) {
		taken, err := provision.Taken(file)
		if err != nil {
			return r, err
		}
		r.RealSize += taken
	}
	var err error
	r.Properties, err = d.properties(ctx, v.Path)
	return r, err
}

// Destroy implements provision.Driver.
func (Driver) Destroy(_ context.Context, v provision.Volume) error {
	var failures []error
	for _, file := range slices.Backward(files(v)) {
		failures = append(failures, provision.RemoveFile(file))
	}
	return errors.Join(failures...)
}
