package hostenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// Filesystem is a mount.
type Filesystem struct {
	Type       string // as the kernel names it: "ext4", "fuse.sshfs"
	Mountpoint string
	Source     string // "/dev/sda1", "tmpfs", "server:/export"
	Options    string // of the mount and of the file system, by commas
}

// layer is its type, with the option by which it writes all data twice (ext4(5)).
func (f Filesystem) layer() string {
	const journaled = "data=journal"
	if slices.Contains(strings.Split(f.Options, ","), journaled) {
		return f.Type + " " + journaled
	}
	return f.Type
}

// Filesystem finds the mount that a path is on. The path may name what does not exist yet.
func (h Host) Filesystem(path string) (Filesystem, error) {
	mounts, err := h.mounts()
	if err != nil {
		return Filesystem{}, err
	}
	path = realPath(path)
	var best *mountinfo.Info
	for _, m := range mounts {
		// Of two mounts on one folder the later one covers the earlier one.
		if within(path, m.Mountpoint) && (best == nil || len(m.Mountpoint) >= len(best.Mountpoint)) {
			best = m
		}
	}
	if best == nil {
		return Filesystem{}, fmt.Errorf("no mount holds %s", path)
	}
	options := strings.Trim(best.Options+","+best.VFSOptions, ",")
	return Filesystem{best.FSType, best.Mountpoint, best.Source, options}, nil
}

func (h Host) mounts() ([]*mountinfo.Info, error) {
	f, err := os.Open(h.path("proc/self/mountinfo"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mountinfo.GetMountsFromReader(f, nil)
}

// realPath follows links as far as the path exists.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func within(path, folder string) bool {
	return folder == "/" || path == folder || strings.HasPrefix(path, folder+"/")
}

// directBlock is the size and alignment of the test write: at least the logical block of any disk in use.
const directBlock = 4096

// DirectIO writes and reads one block in dir past the page cache (O_DIRECT), as cache=none does, and says why that
// cannot be done there. Nothing is left behind, whatever happens: the file never has a name.
func DirectIO(dir string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		fd, err = openNameless(dir)
	}
	if err != nil {
		return fmt.Errorf("no O_DIRECT in %s: %w", dir, err)
	}
	defer unix.Close(fd)
	block, err := unix.Mmap(-1, 0, directBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(block) }()
	if _, err := unix.Pwrite(fd, block, 0); err != nil {
		return fmt.Errorf("no O_DIRECT in %s: write: %w", dir, err)
	}
	if _, err := unix.Pread(fd, block, 0); err != nil {
		return fmt.Errorf("no O_DIRECT in %s: read: %w", dir, err)
	}
	return nil
}

// openNameless is for file systems without O_TMPFILE (NFS, overlay before 6.3): the name lives for a moment.
func openNameless(dir string) (int, error) {
	f, err := os.CreateTemp(dir, ".iotax-direct-*")
	if err != nil {
		return -1, err
	}
	name := f.Name()
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	return fd, errors.Join(err, f.Close(), os.Remove(name))
}

// IOURing says why io_uring cannot be used by this process; nil when it can.
func (h Host) IOURing() error {
	const sysctl = "proc/sys/kernel/io_uring_disabled"
	switch h.read(sysctl) {
	case "2":
		return errors.New("io_uring is switched off: kernel.io_uring_disabled is 2")
	case "1":
		if os.Geteuid() != 0 {
			return errors.New("io_uring is for privileged users only: kernel.io_uring_disabled is 1")
		}
	}
	var params [120]byte // struct io_uring_params, all zero
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	switch errno {
	case 0:
		return unix.Close(int(fd))
	case unix.ENOSYS:
		return errors.New("this kernel has no io_uring (it came with Linux 5.1)")
	}
	return fmt.Errorf("io_uring_setup: %w", errno)
}
