package hostenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/sys"
)

// CarriesData gives every reason why a block device must not be written to: it or a part of it is mounted, swapped
// to, held by another device, partitioned, open elsewhere, or it bears a signature of a file system, partition table,
// volume or pool, or anything else than zeros. No reason means that it looks unused. The error is that of a device that could not be looked at.
func (h Host) CarriesData(ctx context.Context, run sys.Runner, device string) ([]string, error) {
	reasons, err := h.inUse(device)
	if err != nil {
		return nil, err
	}
	claimed, err := exclusive(device)
	if err != nil && len(reasons) > 0 {
		return reasons, nil // it is in use: what cannot be opened needs no closer look
	}
	if err != nil {
		return nil, err
	}
	if claimed {
		reasons = append(reasons, heldReason)
	}
	signed, err := signatures(ctx, run, device)
	return append(reasons, signed...), err
}

const heldReason = "the kernel holds it exclusively: a file system, array, volume or pool uses it"

// InUse gives every reason why a block device is in use at this moment. Such a device must not be written to whatever
// anyone says: what is mounted there would be torn to pieces under those who use it.
func (h Host) InUse(device string) ([]string, error) {
	b, err := h.blockOf(device)
	if err != nil {
		return nil, err
	}
	reasons, err := h.users(b)
	if err != nil || len(reasons) > 0 {
		return reasons, err
	}
	if claimed, err := exclusive(device); err != nil || !claimed {
		return nil, err
	}
	return []string{heldReason}, nil
}

// block is a device under question together with its partitions.
type block struct {
	dir     string // its folder below /sys
	parts   []string
	numbers map[number]string // of the device and its partitions -> kernel name
}

// errNotBlock is a path that is no block device.
var errNotBlock = errors.New("it is not a block device")

// blockOf looks a device up in /sys.
func (h Host) blockOf(device string) (block, error) {
	n, err := h.number(device)
	if err != nil {
		return block{}, err
	}
	if !n.block {
		return block{}, errNotBlock
	}
	dir, err := h.blockDir(n)
	if err != nil {
		return block{}, err
	}
	b := block{dir: dir, numbers: map[number]string{n: filepath.Base(dir)}}
	b.parts, err = h.partitions(dir, b.numbers)
	return b, err
}

// inUse asks /proc and /sys.
func (h Host) inUse(device string) ([]string, error) {
	b, err := h.blockOf(device)
	if errors.Is(err, errNotBlock) {
		return []string{err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	var reasons []string
	if len(b.parts) > 0 {
		reasons = append(reasons, "it has partitions: "+strings.Join(b.parts, ", "))
	}
	if h.read("sys/class/block", filepath.Base(b.dir), "ro") == "1" {
		reasons = append(reasons, "it is read-only")
	}
	users, err := h.users(b)
	return append(reasons, users...), err
}

// users asks who uses a device or a part of it now.
func (h Host) users(b block) (reasons []string, err error) {
	for _, ask := range []func(block) ([]string, error){h.mounted, h.swaps, holders, h.loops, h.openIn} {
		found, err := ask(b)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, found...)
	}
	return reasons, nil
}

func (h Host) partitions(dir string, numbers map[number]string) ([]string, error) {
	entries, err := names(dir)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range entries {
		if !exists(filepath.Join(dir, name, "partition")) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name, "dev"))
		if err != nil {
			return nil, err
		}
		var n number
		if _, err := fmt.Sscanf(string(text), "%d:%d", &n.major, &n.minor); err != nil {
			return nil, fmt.Errorf("device number of %s: %w", name, err)
		}
		n.block = true
		numbers[n] = name
		parts = append(parts, name)
	}
	return parts, nil
}

func (h Host) mounted(b block) ([]string, error) {
	mounts, err := h.mounts()
	var reasons []string
	for _, m := range mounts {
		name, ok := b.numbers[number{uint32(m.Major), uint32(m.Minor), true}]
		if !ok { // btrfs mounts have a number of their own, and name one of their devices
			name, ok = h.among(b, m.Source)
		}
		if ok {
			reasons = append(reasons, fmt.Sprintf("%s is mounted on %s", name, m.Mountpoint))
		}
	}
	return reasons, err
}

// among says whether a path is a node of the device or of one of its partitions. Only /dev is looked at: a path on a
// network file system could hang.
func (h Host) among(b block, path string) (string, bool) {
	if !strings.HasPrefix(path, "/dev/") {
		return "", false
	}
	n, err := h.number(path)
	if err != nil || !n.block {
		return "", false
	}
	name, ok := b.numbers[n]
	return name, ok
}

func (h Host) swaps(b block) ([]string, error) {
	proc, err := h.procfs()
	if err != nil {
		return nil, err
	}
	swaps, err := proc.Swaps()
	if errors.Is(err, os.ErrNotExist) { // a kernel without swap
		return nil, nil
	}
	var reasons []string
	for _, s := range swaps {
		if name, ok := h.among(b, s.Filename); ok {
			reasons = append(reasons, name+" is used as swap")
		}
	}
	return reasons, err
}

func holders(b block) ([]string, error) {
	var reasons []string
	for _, part := range append([]string{"."}, b.parts...) {
		dir := filepath.Join(b.dir, part)
		held, err := names(filepath.Join(dir, "holders"))
		if err != nil {
			return nil, err
		}
		for _, by := range held {
			reasons = append(reasons, fmt.Sprintf("%s is a part of %s", filepath.Base(dir), by))
		}
	}
	return reasons, nil
}

func (h Host) loops(b block) ([]string, error) {
	devices, err := names(h.path("sys/block"))
	var reasons []string
	for _, loop := range devices {
		if name, ok := h.among(b, h.backingFile(loop)); ok {
			reasons = append(reasons, fmt.Sprintf("%s is under %s", name, loop))
		}
	}
	return reasons, err
}

// udevPatience is how long udev may look at a device that has just appeared or was just closed by a writer: its
// workers have each such device open for some milliseconds.
const udevPatience = 2 * time.Second

// openIn finds processes that have the device open, and lets udev finish its look. QEMU is one: it opens a whole disk
// for its guest without claiming it.
func (h Host) openIn(b block) ([]string, error) {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		openers, err := h.openers(b)
		if err != nil {
			return nil, err
		}
		lasting := slices.DeleteFunc(slices.Clone(openers), opener.udev)
		if len(lasting) == len(openers) || time.Since(start) > udevPatience {
			var reasons []string
			for _, o := range openers {
				reasons = append(reasons, fmt.Sprintf("%s is open in process %s (%s)", o.device, o.process, o.comm))
			}
			return reasons, nil
		}
	}
}

// opener is a process that has a device open.
type opener struct{ device, process, comm string }

// udev reports whether it is one of udev's: its workers call themselves so, or by its own name before systemd 250.
func (o opener) udev() bool { return strings.Contains(o.comm, "udev") }

func (h Host) openers(b block) ([]opener, error) {
	processes, err := names(h.path("proc"))
	var all []opener
	for _, process := range processes {
		if pid, err := strconv.Atoi(process); err != nil || pid == os.Getpid() {
			continue
		}
		fds, err := names(h.path("proc", process, "fd"))
		if err != nil {
			continue // ended meanwhile, or another user's
		}
		for _, fd := range fds {
			target, err := os.Readlink(h.path("proc", process, "fd", fd))
			if err != nil {
				continue
			}
			if name, ok := h.among(b, target); ok {
				all = append(all, opener{name, process, h.read("proc", process, "comm")})
				break
			}
		}
	}
	return all, err
}

// exclusive reports whether somebody in the kernel claims the device.
func exclusive(device string) (bool, error) {
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return true, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "open", Path: device, Err: err}
	}
	return false, unix.Close(fd)
}
