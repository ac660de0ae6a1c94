package facts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/audit"
)

// volume looks at the file or device of a disk of a format; the zero Volume where there is none.
func (s Source) volume(ctx context.Context, path, format string) audit.Volume {
	if path == "" {
		return audit.Volume{}
	}
	e, err := s.entry(path)
	if err != nil || !e.block && !e.file {
		return audit.Volume{}
	}
	v := audit.Volume{Path: path}
	if under, err := s.env().Resolve(path); err == nil {
		v.Devices = under.Devices
	}
	// A raw disk is not looked into: its guest could have written anything there.
	if format != "" && format != "raw" {
		v.Image = s.image(ctx, path, format)
	}
	if e.block {
		s.blockDevice(ctx, &v, e)
	} else {
		s.file(ctx, &v, e)
	}
	return v
}

func (s Source) file(ctx context.Context, v *audit.Volume, e entry) {
	v.Size, v.Allocated = e.size, &e.allocated
	fs, err := s.env().Filesystem(v.Path)
	if err != nil {
		return
	}
	v.Filesystem = fs.Type
	switch fs.Type {
	case "zfs":
		v.Dataset = s.dataset(ctx, fs.Source)
		v.Allocated = nil // ZFS compresses: what is written can take less room than it is long
	case "btrfs":
		if flags, err := s.flags(v.Path); err == nil {
			v.NoCOW = new(flags&noCOW != 0)
		}
	}
}

// noCOW is FS_NOCOW_FL of linux/fs.h: what chattr calls C.
const noCOW = 0x00800000

func (s Source) flags(path string) (int, error) {
	if s.attributes != nil {
		return s.attributes(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
}

const sector = 512 // bytes in which /sys counts, whatever the device's own are

func (s Source) blockDevice(ctx context.Context, v *audit.Volume, e entry) {
	dir, err := filepath.EvalSymlinks(s.path("sys/dev/block", fmt.Sprintf("%d:%d", e.major, e.minor)))
	if err != nil {
		v.Block = &audit.Device{}
		return
	}
	name := filepath.Base(dir)
	inside := strings.TrimPrefix(dir, s.path())
	if n := s.count(inside, "size"); n != nil {
		v.Size = *n * sector
	}
	if s.read(inside, "partition") != "" {
		if start := s.count(inside, "start"); start != nil {
			v.Offset = new(*start * sector)
		}
		dir = filepath.Dir(dir)
	}
	v.Block = new(s.device(name, dir))
	mapper := s.read(inside, "dm/name")
	switch {
	case strings.HasPrefix(s.read(inside, "dm/uuid"), "LVM-"):
		v.LV = s.lv(ctx, e, v.Block.ReadAhead)
	case strings.HasPrefix(name, "zd"):
		if dataset, err := s.zvolName(v.Path); err == nil {
			v.Dataset = s.dataset(ctx, dataset)
			v.Steady = "/dev/zvol/" + dataset
		}
	}
	switch {
	case v.Steady != "":
	case mapper != "":
		v.Steady = "/dev/mapper/" + mapper
	default:
		v.Steady = s.byID(name)
	}
}

// byID finds the name of a device below /dev/disk/by-id: one with its model and serial number, before those of numbers only.
func (s Source) byID(name string) string {
	const folder = "/dev/disk/by-id"
	var named []string
	for _, link := range s.members(folder + "/*") {
		if to, err := os.Readlink(link); err == nil && filepath.Base(to) == name {
			named = append(named, filepath.Base(link))
		}
	}
	if len(named) == 0 {
		return ""
	}
	numbers := func(n string) int {
		for _, prefix := range []string{"wwn-", "nvme-eui.", "nvme-nvme.", "scsi-", "lvm-", "dm-"} {
			if strings.HasPrefix(n, prefix) {
				return 1
			}
		}
		return 0
	}
	slices.SortStableFunc(named, func(a, b string) int { return numbers(a) - numbers(b) })
	return folder + "/" + named[0]
}
