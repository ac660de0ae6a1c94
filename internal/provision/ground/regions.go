package ground

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/blkpg"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// Regions makes partitions of a device that a run may erase. No partition table is written: the kernel alone knows of
// them, until the run ends or the machine does.
type Regions struct {
	Slices *slice.Driver // says whether the device may be written to, and which parts of it are free
	Dir    string        // scratch folder of the run, for nodes that /dev does not get

	disk, sequence string // the device's name and what tells it from a later one; "" before the first claim
}

// String says what the devices are.
func (g *Regions) String() string { return "partition of " + g.Slices.Device }

// Need is how many bytes of a file system a device takes.
func (*Regions) Need(int64) int64 { return 0 }

// CheckDevice refuses a device of which the kernel makes no partitions.
func CheckDevice(device string) error {
	name, err := blkpg.Name(device)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join("/sys/class/block", name, "partition")); err == nil {
		return errkind.WithHint(errkind.Userf("%s is a partition, which cannot be divided again", device),
			"volumes of LVM and ZFS need a whole disk, or a scratch folder")
	}
	// 1 is what disks show for which the kernel looks for no partitions: device-mapper's, md of old.
	most, err := os.ReadFile(filepath.Join("/sys/class/block", name, "ext_range"))
	if err == nil && strings.TrimSpace(string(most)) == "1" {
		return errkind.WithHint(errkind.Userf("%s cannot be divided: the kernel makes no partitions of it", device),
			"volumes of LVM and ZFS need a plain disk, or a scratch folder")
	}
	return nil
}

// Claim implements provision.Ground.
func (g *Regions) Claim(ctx context.Context, j *revert.Journal, name string, size int64) (device string, err error) {
	size = whole(size)
	at, err := g.Slices.Allot(ctx, name, size)
	if err != nil {
		return "", err
	}
	if g.disk == "" {
		if err := g.open(j); err != nil {
			return "", err
		}
	}
	device, err = g.partition(j, at, size)
	if err != nil {
		return "", err
	}
	return device, clearEnds(device, size)
}

// open makes the device one of which parts can be claimed: the kernel forgets its partitions, which nobody uses, and
// the claim on the whole is exchanged for one on a partition that nobody writes to, at its very end. As long as that is
// open the kernel does not read the partition table again either, as udev makes it do whenever a program has written to
// the whole device.
func (g *Regions) open(j *revert.Journal) error {
	if err := CheckDevice(g.Slices.Device); err != nil {
		return err
	}
	name, err := blkpg.Name(g.Slices.Device)
	if err != nil {
		return err
	}
	g.sequence = blkpg.Sequence(name)
	if err := g.forget(j, name); err != nil {
		return err
	}
	size, err := slice.Size(g.Slices.Device)
	if err != nil {
		return err
	}
	g.disk = name
	guard, err := g.partition(j, size-slice.Margin, slice.Margin)
	if err != nil {
		return err
	}
	return g.Slices.Exchange(func() (*os.File, error) { return os.OpenFile(guard, os.O_RDONLY|unix.O_EXCL, 0) })
}

// forget makes the kernel forget the partitions of a disk until the run ends.
func (g *Regions) forget(j *revert.Journal, disk string) error {
	old, err := blkpg.List(disk)
	if err != nil || len(old) == 0 {
		return err
	}
	if _, err := j.Add(revert.Reread(blkpg.Node(disk), g.sequence)); err != nil {
		return err
	}
	f, err := os.Open(blkpg.Node(disk))
	if err != nil {
		return err
	}
	for _, p := range old {
		err = errors.Join(err, blkpg.Delete(f, p.Number))
	}
	return errors.Join(err, f.Close())
}

// partition makes a partition of the disk and names its node.
func (g *Regions) partition(j *revert.Journal, start, length int64) (node string, err error) {
	there, err := blkpg.List(g.disk)
	if err != nil {
		return "", err
	}
	number := 1
	for slices.ContainsFunc(there, func(p blkpg.Partition) bool { return p.Number == number }) {
		number++
	}
	if _, err := j.Add(revert.Partition(blkpg.Node(g.disk), g.sequence, number, start, length)); err != nil {
		return "", err
	}
	f, err := os.Open(blkpg.Node(g.disk))
	if err != nil {
		return "", err
	}
	if err := errors.Join(blkpg.Add(f, number, start, length), f.Close()); err != nil {
		return "", err
	}
	there, err = blkpg.List(g.disk)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(there, func(p blkpg.Partition) bool { return p.Number == number })
	if i < 0 {
		return "", fmt.Errorf("partition %d of %s is gone again", number, g.Slices.Device)
	}
	return g.node(j, there[i].Name)
}

// node is the node of a partition: the kernel's, or one made in the scratch folder where /dev gets none.
func (g *Regions) node(j *revert.Journal, name string) (string, error) {
	if found, err := blkpg.Name(blkpg.Node(name)); err == nil && found == name {
		return blkpg.Node(name), nil
	}
	text, err := os.ReadFile(filepath.Join("/sys/class/block", name, "dev"))
	if err != nil {
		return "", err
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return "", fmt.Errorf("device number of %s: %w", name, err)
	}
	path, err := provision.NewPath(provision.Request{Dir: g.Dir, Stack: spec.Stack{Name: name}}, "node")
	if err != nil {
		return "", err
	}
	if _, err := j.Add(revert.Remove(path)); err != nil {
		return "", err
	}
	if err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor))); err != nil {
		return "", &fs.PathError{Op: "mknod", Path: path, Err: err}
	}
	return path, nil
}

// clearEnds wipes what an earlier run that was killed left there for LVM and ZFS to find.
func clearEnds(device string, size int64) error {
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	zeros := make([]byte, slice.Margin)
	_, first := f.WriteAt(zeros, 0)
	_, last := f.WriteAt(zeros, size-slice.Margin)
	return errors.Join(first, last, f.Sync(), f.Close())
}
