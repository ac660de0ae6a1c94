package agent

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/wire"
)

// pciAddress is how Linux writes the place of a PCI device.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// address returns where the PCI device is that the disk of a /sys/block folder is or hangs on, "" when there is none.
func address(dir string) string {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	found := ""
	for part := range strings.SplitSeq(path, "/") { // behind bridges there are several, the disk's is the last
		if pciAddress.MatchString(part) {
			found = part
		}
	}
	return found
}

// disks lists the disks below a /sys/block folder. Names change from boot to boot with the order in which
// drivers find things, so a disk is known by its serial or, where its server shows none of its own, by its address.
func disks(root string) ([]wire.Disk, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var out []wire.Disk
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		serial, place := cmp.Or(load.Serial(dir), vdev(dir), nullBlk(dir)), address(dir)
		if serial == "" && place == "" {
			continue
		}
		sectors, err := strconv.ParseInt(read(filepath.Join(dir, "size")), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("size of %s: %w", e.Name(), err)
		}
		queues, _ := filepath.Glob(filepath.Join(dir, "mq", "[0-9]*"))
		queue := func(name string) string { return read(filepath.Join(dir, "queue", name)) }
		out = append(out, wire.Disk{
			Serial: serial, Address: place, Name: e.Name(), Size: sectors * 512, Queues: len(queues),
			WriteCache: queue("write_cache"), Scheduler: chosen(queue("scheduler")), Rotational: queue("rotational"),
			Logical: queue("logical_block_size"), Physical: queue("physical_block_size"),
			ReadAhead: queue("read_ahead_kb"), Requests: queue("nr_requests"),
		})
	}
	return out, nil
}

// chosen returns the scheduler in brackets: "[none] mq-deadline" is none.
func chosen(list string) string {
	_, rest, ok := strings.Cut(list, "[")
	name, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return list
	}
	return name
}

// dropCache puts the guest's cache of one disk into a known state: written back, then forgotten.
func dropCache(disk string) error {
	if disk == "" {
		return nil
	}
	f, err := os.OpenFile("/dev/"+disk, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync of %s: %w", disk, err)
	}
	return unix.IoctlSetInt(int(f.Fd()), unix.BLKFLSBUF, 0)
}

// vdev is the name of a disk of Xen's blkfront, "" for any other: such a disk has no serial, but always the name that
// the host gave it (xvda).
func vdev(dir string) string {
	if read(filepath.Join(dir, "device", "devtype")) != "vbd" {
		return ""
	}
	return filepath.Base(dir)
}

// nullBlk is the name of a disk of the module null_blk, "" for any other: it has no serial, and no hardware that could have one.
func nullBlk(dir string) string {
	if name := filepath.Base(dir); strings.HasPrefix(name, wire.NullBlk) {
		return name
	}
	return ""
}
