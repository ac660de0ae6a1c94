package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
)

// CheckSize refuses a size that no driver can make.
func CheckSize(size int64) error {
	if size <= 0 || size%Align != 0 {
		return errkind.Userf("size %d: expected a positive multiple of %d bytes", size, Align)
	}
	return nil
}

// NewPath is where the file of a stack's volume is to be: <folder>/<stack>.<suffix>. Nothing may be there yet.
func NewPath(r Request, suffix string) (string, error) {
	name := r.Stack.Name
	if name == "" || name[0] == '.' || strings.ContainsAny(name, "/\x00") {
		return "", errkind.Userf("a stack named %q cannot have a file of its name", name)
	}
	path := filepath.Join(r.Dir, name+"."+suffix)
	if _, err := os.Lstat(path); err == nil {
		return "", &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return path, nil
}

// RemoveFile removes a file; one that is gone already is no error.
func RemoveFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MakeFile makes a file of so many bytes, which must not be there yet. With reserved its blocks exist from then on, in one
// piece where the file system can; without, they come as they are written.
func MakeFile(path string, size int64, reserved bool) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = unix.EOPNOTSUPP
	if reserved {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if errors.Is(err, unix.EOPNOTSUPP) { // NFS before 4.2, ZFS before 2.1, FUSE
		err = f.Truncate(size)
	}
	if err != nil {
		err = fmt.Errorf("make %s: %w", path, err)
	}
	return errors.Join(err, f.Close())
}
