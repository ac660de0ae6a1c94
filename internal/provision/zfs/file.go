package zfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
)

// File makes volumes that are files, each on a dataset of its own that is mounted in the run's scratch folder.
type File struct {
	Storage
	Image provision.Driver // makes the file in a folder: raw.Driver, qcow2.Driver
}

func (d *File) storage() *Storage { return &d.Storage }

func (d *File) space(r provision.Request) (int64, error) {
	n, err := d.Image.Need(r)
	return space(n, or(r.Stack.RecordSize, defaultRecord)), err
}

// Need implements provision.Driver.
func (d *File) Need(r provision.Request) (int64, error) {
	n, err := d.space(r)
	if err != nil {
		return 0, err
	}
	return d.need(r, n)
}

// Claims implements ground.Claimer.
func (d *File) Claims(r provision.Request) ([]int64, error) {
	n, err := d.space(r)
	if err != nil {
		return nil, err
	}
	return d.claims(r, n)
}

// Create implements provision.Driver.
func (d *File) Create(ctx context.Context, j *revert.Journal, r provision.Request) (provision.Volume, error) {
	n, err := d.space(r)
	if err != nil {
		return provision.Volume{}, err
	}
	m, err := d.place(ctx, j, r, n)
	if err == nil {
		_, err = d.run(ctx, fileArgs(j.Run(), m.dataset, r.Stack, n)...)
		err = d.explain(ctx, m.dataset, err)
	}
	if err == nil {
		r.Dir, err = m.mount(r)
	}
	var v provision.Volume
	if err == nil {
		v, err = d.Image.Create(ctx, j, r)
	}
	if err := d.keep(ctx, r.Stack.Name, m, err); err != nil {
		return provision.Volume{}, err
	}
	return v, nil
}

// mount mounts the dataset in the scratch folder, as <stack>.zfs.
func (m *made) mount(r provision.Request) (dir string, err error) {
	dir, err = provision.NewPath(r, "zfs")
	if err != nil {
		return "", err
	}
	if err := m.add(revert.Remove(dir)); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := m.add(revert.Umount(dir, m.dataset)); err != nil {
		return "", err
	}
	if err := unix.Mount(m.dataset, dir, "zfs", unix.MS_NOATIME, ""); err != nil {
		return "", fmt.Errorf("mount %s on %s: %w", m.dataset, dir, err)
	}
	return dir, nil
}

// Fill implements provision.Driver.
func (d *File) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	return d.Image.Fill(ctx, v, c, progress)
}

// Verify implements provision.Driver.
func (d *File) Verify(ctx context.Context, v provision.Volume) error {
	if err := d.written(ctx, v); err != nil {
		return err
	}
	return d.Image.Verify(ctx, v)
}

// Unwritten implements provision.Mapper: what the image does not hold, or ZFS does not, whichever is more.
func (d *File) Unwritten(ctx context.Context, v provision.Volume) (float64, error) {
	share, err := d.Storage.Unwritten(ctx, v)
	image, ok := d.Image.(provision.Mapper)
	if err != nil || !ok {
		return share, err
	}
	inside, err := image.Unwritten(ctx, v)
	return max(share, inside), err
}

// Report implements provision.Driver. What the image has of its own is told beside it.
func (d *File) Report(ctx context.Context, v provision.Volume) (provision.Report, error) {
	r, err := d.report(ctx, v, "recordsize")
	if err != nil {
		return r, err
	}
	image, err := d.Image.Report(ctx, v)
	for name, value := range image.Properties {
		if _, ours := r.Properties[name]; !ours {
			r.Properties[name] = value
		}
	}
	return r, err
}

// Destroy implements provision.Driver.
func (d *File) Destroy(ctx context.Context, v provision.Volume) error {
	if _, ok := d.made[v.Stack]; !ok {
		return nil
	}
	if err := errors.Join(d.Image.Destroy(ctx, v), d.destroy(ctx, v)); err != nil {
		return fmt.Errorf("destroy %s: %w", filepath.Base(v.Path), err)
	}
	return nil
}
