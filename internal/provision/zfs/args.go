package zfs

import (
	"fmt"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// ashift is the logarithm of the smallest block that a pool of the run's own writes: 4 KiB, the physical block of any
// disk of today, whatever smaller one it admits to.
const ashift = 12

// How much a pool must have beside what its volumes take. ZFS keeps 128 MiB of a small pool, or half of it, for
// itself, and a 32nd of a large one; and it slows down when more than four fifths are in use.
const (
	poolBase  = 192 << 20
	poolSlack = 4 // one part of so many
)

// poolSize is the size in bytes of the device for a pool with a volume that takes so much space.
func poolSize(space int64) int64 { return space + space/poolSlack + poolBase }

// space is how many bytes of a pool a volume takes at most, written in blocks of one size: no block takes less than
// the pool's smallest one, and each has a pointer of 128 bytes, of which ZFS keeps two copies.
func space(size, block int64) int64 {
	const pointer, copies, dataset = 128, 2, 4 << 20
	blocks := (size + block - 1) / block
	return blocks*(max(block, 1<<ashift)+copies*pointer) + dataset
}

// Block sizes of OpenZFS when none is given: that of zvols was 8 KiB before 2.2.
const (
	oldVolBlock   = 8 << 10
	newVolBlock   = 16 << 10
	defaultRecord = 128 << 10
)

func or(n, otherwise int64) int64 {
	if n != 0 {
		return n
	}
	return otherwise
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// poolArgs makes a pool on a device that the ground gave. It is forced: labels of an earlier pool may be left at
// either end of a part of a disk, and whether anybody uses the part was asked before it was cut off; zpool itself
// refuses a device that is in use now, forced or not. The pool is in no cache file, so that it ends with
// the machine, and its root dataset is not mounted.
func poolArgs(run, pool, device string) []string {
	return []string{
		"zpool", "create", "-f", "-o", fmt.Sprintf("ashift=%d", ashift), "-o", "cachefile=none",
		"-O", "mountpoint=none", "-O", "canmount=off", "-O", revert.ZFSOwner + "=" + run, pool, device,
	}
}

// zvolArgs makes a zvol of at least the size. It is not sparse: the pool keeps its space, so that it cannot fill up
// under the guest. volmode=dev gives it a block device, whose partitions the host does not look for: the guest's
// data is none of its business. A size without a block size is a multiple of whichever default this version has.
func zvolArgs(run, dataset string, r provision.Request) []string {
	size := roundUp(r.Size, or(r.Stack.VolBlockSize, newVolBlock))
	argv := append([]string{"zfs", "create", "-V", fmt.Sprint(size), "-o", "volmode=dev"}, common(run, r.Stack)...)
	if r.Stack.VolBlockSize != 0 {
		argv = append(argv, "-o", fmt.Sprintf("volblocksize=%d", r.Stack.VolBlockSize))
	}
	return append(argv, dataset)
}

// fileArgs makes a dataset that keeps so many bytes of the pool for itself. mountpoint=legacy leaves it to us to mount
// it, and to nobody after a restart of the machine. Access times are not kept, and extended attributes lie in the
// inodes, as for any dataset that holds disks.
func fileArgs(run, dataset string, s spec.Stack, space int64) []string {
	argv := append([]string{"zfs", "create", "-o", "mountpoint=legacy", "-o", "atime=off", "-o", "xattr=sa"}, common(run, s)...)
	return append(argv, "-o", fmt.Sprintf("recordsize=%d", or(s.RecordSize, defaultRecord)), "-o", fmt.Sprintf("refreservation=%d", space), dataset)
}

// common sets what both kinds have, also where it is the default: a pool's datasets may inherit something else.
// Snapshots made by the clock, which would change how blocks are overwritten, are declined.
func common(run string, s spec.Stack) []string {
	var argv []string
	for _, p := range []struct{ name, value, otherwise string }{
		{"compression", s.Compression, "off"},
		{"primarycache", s.PrimaryCache, "all"},
		{"sync", s.Sync, "standard"},
		{"com.sun:auto-snapshot", "false", ""},
		{revert.ZFSOwner, run, ""},
	} {
		value := p.value
		if value == "" {
			value = p.otherwise
		}
		argv = append(argv, "-o", p.name+"="+value)
	}
	return argv
}
