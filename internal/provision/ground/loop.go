package ground

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/revert"
)

// bindTries is how often another process may take the loop device that was free a moment before.
const bindTries = 64

// bind binds a free loop device to a file, with direct I/O.
func bind(j *revert.Journal, path string) (device string, err error) {
	// The kernel looks at O_DIRECT here when it chooses the device's logical block.
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		return "", noDirect(path)
	} else if err != nil {
		return "", err
	}
	defer file.Close()
	for range bindTries {
		if device, err = free(); err != nil {
			return "", err
		}
		entry, err := j.Add(revert.Loop(device, path))
		if err != nil {
			return "", err
		}
		err = configure(device, file)
		if errors.Is(err, unix.EBUSY) {
			if err := j.Forget(entry); err != nil {
				return "", err
			}
			continue
		}
		if err != nil { // then it is bound to nothing
			return "", err
		}
		if !direct(device) {
			return "", errors.Join(noDirect(path), unbind(device))
		}
		return device, nil
	}
	return "", fmt.Errorf("other programs took %d loop devices before they could be bound to %s", bindTries, path)
}

func noDirect(path string) error {
	return errkind.WithHint(errkind.Userf("a loop device on %s cannot do direct I/O: the file system there does not allow it", path),
		"give a scratch folder on ext4 or XFS, or a device")
}

// free names a loop device that is bound to nothing. The kernel makes one when there is none.
func free() (device string, err error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", errkind.WithHint(errkind.Userf("this kernel has no loop devices: %w", err), "modprobe loop")
	} else if err != nil {
		return "", err
	}
	defer control.Close()
	number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return "", fmt.Errorf("LOOP_CTL_GET_FREE: %w", err)
	}
	return "/dev/loop" + strconv.Itoa(number), nil
}

func configure(device string, file *os.File) error {
	dev, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer dev.Close()
	config := unix.LoopConfig{Fd: uint32(file.Fd()), Size: uint32(logicalBlock(file))}
	config.Info.Flags = unix.LO_FLAGS_DIRECT_IO
	copy(config.Info.File_name[:], file.Name()) // for losetup of old; the kernel tells the whole path in /sys
	if err := unix.IoctlLoopConfigure(int(dev.Fd()), &config); err != nil {
		return fmt.Errorf("LOOP_CONFIGURE of %s (Linux 5.8 and newer have it): %w", device, err)
	}
	return nil
}

func unbind(device string) error {
	dev, err := os.Open(device)
	if err != nil {
		return err
	}
	err = unix.IoctlSetInt(int(dev.Fd()), unix.LOOP_CLR_FD, 0)
	if errors.Is(err, unix.ENXIO) { // bound to nothing
		err = nil
	}
	return errors.Join(err, dev.Close())
}

// direct reports whether a loop device passes the page cache by: asked for where it cannot be, the kernel says nothing.
func direct(device string) bool {
	text, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "loop/dio"))
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// logicalBlock is the logical block in bytes of the disk under a file: direct I/O in smaller pieces is impossible. 0,
// which leaves the choice to the kernel, where the file system is on no single disk.
func logicalBlock(file *os.File) int {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return 0
	}
	dir := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	for _, queue := range []string{"queue", "../queue"} { // of a disk, of a partition's disk
		text, err := os.ReadFile(dir + "/" + queue + "/logical_block_size")
		if err != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return n
		}
	}
	return 0
}
