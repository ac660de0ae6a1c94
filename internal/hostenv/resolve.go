package hostenv

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Storage is what lies under a path, down to the physical disks.
type Storage struct {
	Devices []string // kernel names of the physical block devices ("sda", "nvme0n1"), sorted; empty when Reason is set
	Layers  []string // what was passed on the way, from the path down: "ext4" ("ext4 data=journal"), "dm-1", "sda2"
	Reason  string   // why the devices cannot be told; "" when they can
}

// maxDepth bounds how many layers of storage lie on each other: a loop device on a file on a volume on an array and
// so on.
const maxDepth = 16

var tooDeep = fmt.Sprintf("more than %d layers of storage on each other", maxDepth)

// Resolve finds the physical disks under a file, folder or block device: from a partition to its disk, from a loop
// device through its file, from device-mapper and md through their members, from a dataset or zvol of ZFS through the
// devices of its pool. The error is that of a path that cannot be looked at.
func (h Host) Resolve(path string) (Storage, error) {
	var s Storage
	if err := h.resolvePath(&s, path, maxDepth); err != nil {
		return Storage{}, err
	}
	slices.Sort(s.Devices)
	s.Devices = slices.Compact(s.Devices)
	if s.Reason != "" {
		s.Devices = nil // counters of a part of the disks would mislead
	}
	return s, nil
}

func (h Host) resolvePath(s *Storage, path string, depth int) error {
	if depth == 0 {
		s.Reason = tooDeep
		return nil
	}
	n, err := h.number(path)
	if err != nil {
		return err
	}
	if !n.block {
		mount, err := h.Filesystem(path)
		if err != nil {
			return err
		}
		s.Layers = append(s.Layers, mount.layer())
		if mount.Type == "zfs" {
			return h.resolveDataset(s, mount.Source, depth)
		}
		if n.major == 0 {
			s.Reason = withoutDevice(mount.Type)
			return nil
		}
	}
	dir, err := h.blockDir(n)
	if err != nil {
		s.Reason = err.Error()
		return nil
	}
	return h.resolveBlock(s, dir, depth)
}

// blockDir is the folder below /sys of a block device.
func (h Host) blockDir(n number) (string, error) {
	link := fmt.Sprintf("sys/dev/block/%d:%d", n.major, n.minor)
	dir, err := filepath.EvalSymlinks(h.path(link))
	if err != nil {
		return "", fmt.Errorf("the kernel shows no block device %d:%d in /sys", n.major, n.minor)
	}
	return dir, nil
}

func (h Host) resolveBlock(s *Storage, dir string, depth int) error {
	if depth == 0 {
		s.Reason = tooDeep
		return nil
	}
	if exists(filepath.Join(dir, "partition")) {
		s.Layers = append(s.Layers, filepath.Base(dir))
		dir = filepath.Dir(dir)
	}
	name := filepath.Base(dir)
	slaves, err := names(filepath.Join(dir, "slaves"))
	if err != nil {
		return err
	}
	backing := h.backingFile(name)
	switch {
	case len(slaves) > 0:
		s.Layers = append(s.Layers, name)
		for _, slave := range slaves {
			member, err := filepath.EvalSymlinks(filepath.Join(dir, "slaves", slave))
			if err != nil {
				return err
			}
			if err := h.resolveBlock(s, member, depth-1); err != nil {
				return err
			}
		}
	case strings.HasSuffix(backing, deleted):
		s.Reason = fmt.Sprintf("the file under %s was removed", name)
	case backing != "":
		s.Layers = append(s.Layers, name)
		return h.resolvePath(s, backing, depth-1)
	case strings.HasPrefix(name, "zd"):
		return h.resolveZvol(s, name, depth)
	case notPhysical(name) != "":
		s.Reason = notPhysical(name)
	default:
		s.Devices = append(s.Devices, name)
	}
	return nil
}

// deleted is what the kernel appends to the name of a file that was unlinked.
const deleted = " (deleted)"

func (h Host) backingFile(name string) string { return h.read("sys/block", name, "loop/backing_file") }

// notPhysical says why a device without members is no disk either, "" when it may be one.
func notPhysical(name string) string {
	switch {
	case strings.HasPrefix(name, "zram"), strings.HasPrefix(name, "ram"):
		return name + " is kept in memory"
	case strings.HasPrefix(name, "loop"):
		return name + " is bound to no file"
	}
	return ""
}

// withoutDevice says why files of a file system have an anonymous device number (major 0).
func withoutDevice(fstype string) string {
	base, _, _ := strings.Cut(fstype, ".")
	switch base {
	case "btrfs", "bcachefs":
		return fstype + " spreads files over its devices by itself and does not tell which"
	case "overlay", "aufs", "ecryptfs":
		return fstype + " stands on other file systems: give a folder of the one below"
	case "tmpfs", "ramfs", "devtmpfs":
		return fstype + " keeps files in memory"
	case "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "glusterfs", "afs":
		return fstype + " keeps files on another machine"
	case "fuse":
		return fstype + " is served by a program, which does not tell where it keeps files"
	}
	return fstype + " names no block device"
}
