package provision

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/unit"
)

// Free is how many bytes of a folder's file system an ordinary user may still take.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// WithReserve adds the 5 % that stay free beside the volumes: a file system that is quite full is slow, and others
// live on it.
func WithReserve(need int64) int64 { return need + need/20 }

// CheckSpace refuses when volumes of need bytes, and the reserve, do not fit into a folder's file system.
func CheckSpace(dir string, need int64) error {
	free, err := Free(dir)
	if err != nil {
		return err
	}
	if all := WithReserve(need); all > free {
		return errkind.WithHint(
			errkind.Userf("%s has %s free, the scratch volumes need %s (5 %% reserve included)", dir, unit.Bytes(free), unit.Bytes(all)),
			"give a smaller size, fewer stacks, or a scratch folder on a larger file system")
	}
	return nil
}

// Full makes one clear line of an error that says that the file system of path is full. Other errors stay.
func Full(err error, path string) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	what := "the disk is full"
	if errors.Is(err, unix.EDQUOT) {
		what = "the disk quota is used up"
	}
	return errkind.WithHint(&errkind.Error{Code: errkind.Usage, Err: fullError{what, path, err}},
		"free some space in %s, or give a smaller size", filepath.Dir(path))
}

// fullError keeps the kernel's error for errors.Is, and says it in words of ours.
type fullError struct {
	what, path string
	err        error
}

func (e fullError) Error() string { return e.what + ": no room left for " + e.path }
func (e fullError) Unwrap() error { return e.err }
