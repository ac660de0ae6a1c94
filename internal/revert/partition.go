package revert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/blkpg"
)

// Partition undoes that the kernel was told of a partition (blkpg.Add). device is the disk's node in /dev, sequence
// what blkpg.Sequence says of it: a partition of other bounds, or of another disk of that name, is left alone. What
// LVM or ZFS wrote at its ends to find it again is wiped.
func Partition(device, sequence string, number int, start, length int64) Act {
	return Act{"partition", map[string]string{
		"device": device, "sequence": sequence, "number": strconv.Itoa(number),
		"start": strconv.FormatInt(start, 10), "length": strconv.FormatInt(length, 10),
	}}
}

// Reread undoes that the kernel was made to forget the partitions of a disk: it reads the disk's table again.
func Reread(device, sequence string) Act {
	return Act{"reread", map[string]string{"device": device, "sequence": sequence}}
}

// deviceWait is how long udev may have a device open that has just come, gone or been written to.
var deviceWait = 30 * time.Second

func undoPartition(ctx context.Context, _ string, args map[string]string) error {
	disk, err := sameDisk(args)
	if err != nil || disk == "" {
		return err
	}
	parts, err := blkpg.List(disk)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if strconv.Itoa(p.Number) == args["number"] && fmt.Sprint(p.Start, p.Length) == args["start"]+" "+args["length"] {
			return deletePartition(ctx, args["device"], p)
		}
	}
	return nil
}

// sameDisk is the kernel's name of the disk of an act, "" when it is gone or another disk has its node by now.
func sameDisk(args map[string]string) (string, error) {
	disk, err := blkpg.Name(args["device"])
	if errors.Is(err, fs.ErrNotExist) || err == nil && blkpg.Sequence(disk) != args["sequence"] {
		return "", nil
	}
	return disk, err
}

func deletePartition(ctx context.Context, device string, p blkpg.Partition) error {
	// Somebody may use the whole disk by now, and see the partition as a part of a file system of theirs: then the
	// partition cannot be claimed, and nothing is written.
	wiped := whileBusy(ctx, func() error { return wipeLabels(blkpg.Node(p.Name)) })
	if errors.Is(wiped, unix.EBUSY) || errors.Is(wiped, fs.ErrNotExist) {
		wiped = nil // deleting it fails too if it is the partition that is in use
	}
	return errors.Join(wiped, onDisk(ctx, device, func(disk *os.File) error {
		if err := blkpg.Delete(disk, p.Number); err != nil && !errors.Is(err, unix.ENXIO) {
			return err
		}
		return dropCache(disk)
	}))
}

func undoReread(ctx context.Context, _ string, args map[string]string) error {
	if disk, err := sameDisk(args); err != nil || disk == "" {
		return err
	}
	return onDisk(ctx, args["device"], func(disk *os.File) error {
		if err := blkpg.Reread(disk); !errors.Is(err, unix.EINVAL) { // a disk on which no table is looked for
			return err
		}
		return nil
	})
}

// onDisk does something with a disk, again and again while something of it is busy. A disk that is gone needs nothing.
func onDisk(ctx context.Context, device string, do func(*os.File) error) error {
	disk, err := os.Open(device)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) {
		return nil
	} else if err != nil {
		return err
	}
	return errors.Join(whileBusy(ctx, func() error { return do(disk) }), disk.Close())
}

// whileBusy does something again as long as it is EBUSY, for a while.
func whileBusy(ctx context.Context, do func() error) error {
	deadline := time.Now().Add(deviceWait)
	for {
		err := do()
		if !errors.Is(err, unix.EBUSY) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(poll)
	}
}

// labelArea is how much of either end of a device LVM and ZFS put their labels into, in bytes.
const labelArea = 1 << 20

// wipeLabels clears both ends of a device when its start bears a label of LVM or ZFS.
func wipeLabels(device string) error {
	f, err := os.OpenFile(device, os.O_RDWR|unix.O_EXCL, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := dropCache(f); err != nil {
		return err
	}
	start := make([]byte, labelArea)
	if _, err := f.ReadAt(start, 0); err != nil || !labelled(start) {
		return err
	}
	size, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	clear(start)
	for _, at := range []int64{0, size - labelArea} {
		if _, err := f.WriteAt(start, max(at, 0)); err != nil {
			return err
		}
	}
	return f.Sync()
}

// dropCache writes back and forgets what the kernel has cached of a block device. A disk and its partitions have caches of
// their own, and ZFS and device-mapper write past both: what udev has read at an earlier moment would be taken for what is there.
func dropCache(f *os.File) error {
	return os.NewSyscallError("ioctl BLKFLSBUF", unix.IoctlSetInt(int(f.Fd()), unix.BLKFLSBUF, 0))
}

// labelled reports whether the first MiB of a device bears a label of LVM (one of the first four sectors begins with
// LABELONE) or of ZFS (the uberblocks in the second half of the first label begin with a magic number of 8 bytes).
func labelled(start []byte) bool {
	for at := 0; at < 4*512; at += 512 {
		if bytes.HasPrefix(start[at:], []byte("LABELONE")) {
			return true
		}
	}
	const magic = 0x00bab10c
	for at := 128 << 10; at < 256<<10; at += 1 << 10 {
		if binary.LittleEndian.Uint64(start[at:]) == magic || binary.BigEndian.Uint64(start[at:]) == magic {
			return true
		}
	}
	return false
}
