package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// File is how a process has a file or block device open.
type File struct {
	FD       int
	Direct   bool // O_DIRECT: past the host's page cache
	Sync     bool // O_DSYNC or O_SYNC: every write waits for the device
	ReadOnly bool
}

// Effective returns every descriptor with which the process has the path open, an error when there is none. Slices
// of one device have one descriptor each.
func Effective(pid int, path string) ([]File, error) {
	want, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	self, err := procfs.NewProc(pid)
	if err != nil {
		return nil, fmt.Errorf("descriptors of process %d: %w", pid, err)
	}
	fds, err := self.FileDescriptors()
	if err != nil {
		return nil, fmt.Errorf("descriptors of process %d: %w", pid, err)
	}
	var files []File
	for _, fd := range fds {
		// the link leads to the open file itself, whatever has become of its name
		st, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
		if err != nil || !os.SameFile(st, want) {
			continue
		}
		info, err := self.FDInfo(strconv.Itoa(int(fd)))
		if err != nil {
			continue // closed meanwhile
		}
		f, err := openedAs(int(fd), info.Flags)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("process %d does not have %s open", pid, path)
	}
	return files, nil
}

// openedAs reads the flags of open(2) as /proc/PID/fdinfo shows them: an octal number.
func openedAs(fd int, octal string) (File, error) {
	flags, err := strconv.ParseUint(octal, 8, 64)
	if err != nil {
		return File{}, fmt.Errorf("flags of descriptor %d: %w", fd, err)
	}
	return File{
		FD:       fd,
		Direct:   flags&unix.O_DIRECT != 0,
		Sync:     flags&unix.O_DSYNC != 0, // O_SYNC contains O_DSYNC
		ReadOnly: flags&unix.O_ACCMODE == unix.O_RDONLY,
	}, nil
}

// AIO is what the kernel shows of a process's asynchronous I/O. It belongs to the process, not to one disk.
type AIO struct {
	Rings    int // io_uring instances that are open
	Contexts int // contexts of Linux's native aio (io_setup)
}

// AsyncIO returns what the kernel shows of the asynchronous I/O of the process.
func AsyncIO(pid int) (AIO, error) {
	var a AIO
	self, err := procfs.NewProc(pid)
	if err != nil {
		return a, fmt.Errorf("asynchronous I/O of process %d: %w", pid, err)
	}
	targets, err := self.FileDescriptorTargets()
	if err != nil {
		return a, fmt.Errorf("asynchronous I/O of process %d: %w", pid, err)
	}
	for _, target := range targets {
		if target == "anon_inode:[io_uring]" {
			a.Rings++
		}
	}
	maps, err := self.ProcMaps()
	if err != nil {
		return a, fmt.Errorf("asynchronous I/O of process %d: %w", pid, err)
	}
	for _, m := range maps {
		if strings.HasPrefix(m.Pathname, "/[aio]") { // the ring that io_setup maps
			a.Contexts++
		}
	}
	return a, nil
}

// Contradicts returns, in words, what shows that a disk of this process cannot have been served with the aio value
// ("threads", "native", "io_uring"), "" when nothing does. Ask after the disk has done I/O: newer versions of QEMU
// set native aio up at the first request. The reverse is no proof: a ring may be another disk's, and QEMU may use
// one to wait for events.
func (a AIO) Contradicts(aio string) string {
	switch {
	case aio == "io_uring" && a.Rings == 0:
		return "QEMU has no io_uring instance open"
	case aio == "native" && a.Contexts == 0:
		return "QEMU has no context of native aio"
	}
	return ""
}

// Fallbacks returns the lines in which QEMU said that it gave up an aio value for its thread pool, as it does when
// a disk is moved to an iothread or first used and the kernel refuses (fs.aio-max-nr reached, io_uring forbidden).
// QEMU does not say which disk: every one with that aio value is in doubt.
func (p *Process) Fallbacks() []string {
	var lines []string
	for line := range strings.Lines(p.Stderr()) {
		if strings.Contains(line, "falling back to thread pool") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
