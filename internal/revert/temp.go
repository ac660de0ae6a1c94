package revert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Temp is a folder for passing work outside of any run. It is locked for as long as its owner lives, so that what a
// killed owner leaves behind can be told from work in progress, and Sweep can remove it.
type Temp struct {
	Dir  string
	lock *os.File
}

// NewTemp makes a folder in parent whose name begins with prefix. It first removes those that dead owners left there,
// as far as it may.
func NewTemp(parent, prefix string) (*Temp, error) {
	_, _ = Sweep(parent, prefix) // what cannot be removed is in nobody's way; `iotax clean` reports it
	for range 10 {
		dir, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept away by another process before it was locked
		} else if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), lock.Close())
		}
		if stillAt(lock, dir) {
			return &Temp{dir, lock}, nil
		}
		_ = lock.Close() // it has no name any more
	}
	return nil, fmt.Errorf("revert: folders %s* in %s are removed again and again by another process", prefix, parent)
}

// Close removes the folder with all it holds; one that was renamed meanwhile stays. It may be called again.
func (t *Temp) Close() error {
	if t.lock == nil {
		return nil
	}
	err := errors.Join(os.RemoveAll(t.Dir), t.lock.Close())
	t.lock = nil
	return err
}

// Sweep removes the folders in parent whose names begin with prefix and whose owner is dead, and names them. Those of
// another user are passed over. A parent that does not exist holds none.
func Sweep(parent, prefix string) (removed []string, err error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, passable(err)
	}
	var failures []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		gone, err := sweep(dir)
		if gone {
			removed = append(removed, dir)
		}
		failures = append(failures, passable(err))
	}
	return removed, errors.Join(failures...)
}

func sweep(dir string) (gone bool, err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil // its owner lives
	} else if err != nil {
		return false, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return false, err
	}
	return true, nil
}

// passable drops the errors of what is gone already or is another user's.
func passable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
