package hostenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/sys"
)

// zpoolPatience bounds one question to ZFS: a pool whose disks are gone does not answer.
const zpoolPatience = 10 * time.Second

// PoolDevices names the files and block devices that a ZFS pool lies on, by their paths: those of its data, its log
// and its cache. Spare disks hold nothing and are left out.
func PoolDevices(ctx context.Context, run sys.Runner, pool string) ([]string, error) {
	out, err := run.Run(ctx, sys.Command{Argv: []string{"zpool", "list", "-v", "-H", "-P", "-L", "-o", "name", pool}})
	if err != nil {
		return nil, err
	}
	paths := parseVdevs(string(out))
	if len(paths) == 0 {
		return nil, fmt.Errorf("zpool list names no device of %s", pool)
	}
	return paths, nil
}

// parseVdevs reads `zpool list -vHPL`: the pool's own line; then, after a tab, a line for each virtual device, of
// which the leaves are absolute paths; and lines without a tab that head the logs, the cache and the spares.
func parseVdevs(text string) (paths []string) {
	spares := false
	for line := range strings.Lines(text) {
		device, isDevice := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
		name, _, _ := strings.Cut(device, "\t")
		switch {
		case !isDevice:
			spares = strings.HasPrefix(name, "spare")
		case !spares && filepath.IsAbs(name):
			paths = appendNew(paths, name)
		}
	}
	return paths
}

// From OpenZFS's sys/fs/zfs.h: _IOR(0x12, 125, char[256]).
const (
	blkZName    = 0x8100127d
	zvolNameMax = 256
)

// ZvolName asks the kernel for the name of the zvol behind a block device: "tank/vm/disk" for "/dev/zd16".
func ZvolName(device string) (string, error) {
	f, err := os.Open(device)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var name [zvolNameMax]byte
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), blkZName, uintptr(unsafe.Pointer(&name[0])))
	if errno != 0 {
		return "", &os.PathError{Op: "BLKZNAME", Path: device, Err: errno}
	}
	return unix.ByteSliceToString(name[:]), nil
}

// resolveDataset goes on from a ZFS dataset to the devices of its pool.
func (h Host) resolveDataset(s *Storage, dataset string, depth int) error {
	pool, _, _ := strings.Cut(dataset, "/")
	s.Layers = append(s.Layers, pool)
	paths, err := h.poolDevices(pool)
	for _, path := range paths {
		if err == nil {
			err = h.resolvePath(s, path, depth-1)
		}
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		s.Reason = fmt.Sprintf("the disks of the ZFS pool %s cannot be told: %s", pool, first)
	}
	return nil
}

// resolveZvol goes on from a zvol to the devices of its pool.
func (h Host) resolveZvol(s *Storage, name string, depth int) error {
	s.Layers = append(s.Layers, name)
	ask := h.zvolName
	if ask == nil {
		ask = ZvolName
	}
	dataset, err := ask("/dev/" + name)
	if err != nil {
		s.Reason = fmt.Sprintf("the zvol behind %s cannot be told: %v", name, err)
		return nil
	}
	return h.resolveDataset(s, dataset, depth)
}

func (h Host) poolDevices(pool string) ([]string, error) {
	if h.vdevs != nil {
		return h.vdevs(pool)
	}
	ctx, cancel := context.WithTimeout(context.Background(), zpoolPatience)
	defer cancel()
	return PoolDevices(ctx, sys.Exec{}, pool)
}
