package revert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// Loop undoes the binding of a loop device ("/dev/loop0") to a file. A device that backs another file by then is
// left alone.
func Loop(device, file string) Act {
	return Act{"loop", map[string]string{"device": device, "file": file}}
}

func undoLoop(ctx context.Context, _ string, args map[string]string) error {
	name := filepath.Base(args["device"])
	bound, err := boundTo(name, args["file"])
	if err != nil || !bound {
		return err
	}
	dev, err := os.OpenFile(filepath.Join("/dev", name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetInt(int(dev.Fd()), unix.LOOP_CLR_FD, 0); err != nil && !errors.Is(err, unix.ENXIO) {
		_ = dev.Close() // nothing was written
		return fmt.Errorf("LOOP_CLR_FD: %w", err)
	}
	if err := dev.Close(); err != nil {
		return err
	}
	// It is bound until the last process that has it open closes it. udev looks at a device that was just written to.
	for deadline := time.Now().Add(deviceWait); ctx.Err() == nil && time.Now().Before(deadline); time.Sleep(poll) {
		if bound, err := boundTo(name, args["file"]); err != nil || !bound {
			return err
		}
	}
	return nil
}

// boundTo reports whether a loop device ("loop0") is bound to a file.
func boundTo(name, file string) (bool, error) {
	text, err := os.ReadFile(filepath.Join("/sys/block", name, "loop/backing_file"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return false, nil // bound to nothing, or just being freed
	} else if err != nil {
		return false, err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)") == file, nil
}

// Sysfs undoes the change of a setting below /sys or /proc/sys by writing the old value back. old is the file's
// text before the change; where it lists the choices with one in brackets, as a scheduler does, the one in brackets.
func Sysfs(path, old string) Act {
	return Act{"sysfs", map[string]string{"path": path, "old": activeValue(old)}}
}

func validSysfs(_ string, args map[string]string) error {
	path := args["path"]
	inside := strings.HasPrefix(path, "/sys/") || strings.HasPrefix(path, "/proc/sys/")
	if !inside || filepath.Clean(path) != path {
		return fmt.Errorf("revert: refused to write %q: not below /sys or /proc/sys", path)
	}
	return nil
}

func undoSysfs(_ context.Context, _ string, args map[string]string) error {
	return writeBack(args["path"], args["old"])
}

func writeBack(path, old string) error {
	now, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the device or module is gone, and its setting with it
	} else if err != nil {
		return err
	}
	if activeValue(string(now)) == old {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(old)
	return errors.Join(err, f.Close())
}

// activeValue is "bfq" for "none mq-deadline [bfq]", and the trimmed text where there are no brackets.
func activeValue(text string) string {
	text = strings.TrimSpace(text)
	if _, rest, found := strings.Cut(text, "["); found {
		if active, _, closed := strings.Cut(rest, "]"); closed {
			return active
		}
	}
	return text
}

// Umount undoes a mount. source is what /proc/self/mountinfo names as the mount's source: whatever else is mounted
// there by then is left alone.
func Umount(target, source string) Act {
	return Act{"umount", map[string]string{"target": target, "source": source}}
}

func undoUmount(ctx context.Context, _ string, args map[string]string) error {
	deadline := time.Now().Add(politeWait)
	for {
		mounted, err := isMounted(args["target"], args["source"])
		if err != nil || !mounted {
			return err
		}
		err = unix.Unmount(args["target"], unix.UMOUNT_NOFOLLOW)
		if err == nil {
			continue // another mount of ours may lie under it
		}
		// A process that was just ended may hold it for a moment.
		if !errors.Is(err, unix.EBUSY) || ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("umount %s: %w", args["target"], err)
		}
		time.Sleep(poll)
	}
}

// isMounted reports whether the topmost mount at target has this source.
func isMounted(target, source string) (bool, error) {
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) { return m.Mountpoint != target, false })
	if err != nil || len(mounts) == 0 {
		return false, err
	}
	return source == "" || mounts[len(mounts)-1].Source == source, nil
}
