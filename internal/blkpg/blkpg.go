// Package blkpg tells the kernel of partitions of a disk, and takes them away again, without a partition table: nothing
// is written to the disk, and they end with the machine.
package blkpg

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Partition is a part of a disk as the kernel knows it.
type Partition struct {
	Name          string // kernel name: "sdb1", "nvme0n1p1"
	Number        int    // from 1
	Start, Length int64  // bytes of the disk
}

// Add makes a partition of an open disk. Start and length in bytes must be multiples of the logical block. Its node
// comes up at once where the kernel keeps /dev (devtmpfs).
func Add(disk *os.File, number int, start, length int64) error {
	return control(disk, unix.BLKPG_ADD_PARTITION, unix.BlkpgPartition{Pno: int32(number), Start: start, Length: length})
}

// Delete takes a partition away. One that is not there is ENXIO, one that somebody has open is EBUSY.
func Delete(disk *os.File, number int) error {
	return control(disk, unix.BLKPG_DEL_PARTITION, unix.BlkpgPartition{Pno: int32(number)})
}

func control(disk *os.File, op int32, p unix.BlkpgPartition) error {
	arg := unix.BlkpgIoctlArg{Op: op, Datalen: int32(unsafe.Sizeof(p)), Data: (*byte)(unsafe.Pointer(&p))}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, disk.Fd(), unix.BLKPG, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return fmt.Errorf("BLKPG of partition %d of %s: %w", p.Pno, disk.Name(), errno)
	}
	return nil
}

// Reread makes the kernel read a disk's partition table again. What Add made is gone then, and a partition that
// somebody has open is EBUSY.
func Reread(disk *os.File) error {
	if err := unix.IoctlSetInt(int(disk.Fd()), unix.BLKRRPART, 0); err != nil {
		return fmt.Errorf("BLKRRPART of %s: %w", disk.Name(), err)
	}
	return nil
}

// Name is the kernel's name of a block device: "sdb" for /dev/disk/by-id/...
func Name(device string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		return "", &fs.PathError{Op: "stat", Path: device, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return "", fmt.Errorf("%s is not a block device", device)
	}
	dir, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)))
	return filepath.Base(dir), err
}

// Node is where the kernel (devtmpfs) puts the node of a block device of this name.
func Node(name string) string { return "/dev/" + strings.ReplaceAll(name, "!", "/") }

// List names the partitions of a disk ("sdb"), in order of their numbers; none for a disk that is gone.
func List(disk string) ([]Partition, error) {
	dir := filepath.Join("/sys/block", disk)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var list []Partition
	for _, e := range entries {
		number, isPart := attribute(dir, e.Name(), "partition")
		start, hasStart := attribute(dir, e.Name(), "start")
		size, hasSize := attribute(dir, e.Name(), "size")
		if isPart && hasStart && hasSize {
			const sector = 512 // of sysfs, whatever the disk's block is
			list = append(list, Partition{e.Name(), int(number), start * sector, size * sector})
		}
	}
	slices.SortFunc(list, func(a, b Partition) int { return cmp.Compare(a.Number, b.Number) })
	return list, nil
}

func attribute(parts ...string) (int64, bool) {
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// Sequence tells this disk from another one that has the same name later; "" before Linux 5.15, which counts none.
func Sequence(disk string) string {
	text, err := os.ReadFile(filepath.Join("/sys/block", disk, "diskseq"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
