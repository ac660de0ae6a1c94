package load

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Discard tells a disk that nothing on it is needed any more. What was on it is lost.
type Discard struct {
	Path string `json:"path"` // block device
	Size int64  `json:"size"` // bytes, from the start
}

// discardPart is the largest range given away at once, in bytes: controllers split more, and some forget a part of it.
const discardPart = 1 << 30

// Do carries the discard out and returns when the disk has it.
func (q Discard) Do() error {
	f, err := os.OpenFile(q.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for at := int64(0); at < q.Size; at += discardPart {
		span := [2]uint64{uint64(at), uint64(min(discardPart, q.Size-at))}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.BLKDISCARD, uintptr(unsafe.Pointer(&span)))
		if errors.Is(errno, unix.EOPNOTSUPP) {
			return fmt.Errorf("%s takes no discard", q.Path)
		}
		if errno != 0 {
			return fmt.Errorf("discard of %s: %w", q.Path, os.NewSyscallError("BLKDISCARD", errno))
		}
	}
	return f.Sync()
}
