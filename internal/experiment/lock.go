package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
)

// lockFile is the name, inside the state folder, of the file that a run keeps locked.
const lockFile = "lock"

// Lock makes this process the only one that measures with a state folder: two runs at once would measure each
// other. With wait it waits for the other to end, and says so once; else it refuses. Closing the file unlocks.
func Lock(ctx context.Context, stateDir string, wait bool, tell func(string)) (*os.File, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, OfState(err, stateDir)
	}
	path := filepath.Join(stateDir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, OfState(err, stateDir)
	}
	for told := false; ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, errors.Join(f.Truncate(0), sign(f))
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		owner, _ := os.ReadFile(path)
		other := "another iotax run (process " + strings.TrimSpace(string(owner)) + ") is measuring with " + stateDir
		if !wait {
			f.Close()
			return nil, &errkind.Error{Code: errkind.Busy, Err: errors.New(other), Hint: "wait for it with --wait"}
		}
		if !told {
			tell("waiting: " + other)
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// OfState explains that a file of the state folder may not be used, as after a run by root, and how to go on.
func OfState(err error, dir string) error { return foreign(err, "state", dir, "IOTAX_STATE") }

// ofCache is OfState for the cache.
func ofCache(err error, dir string) error { return foreign(err, "cache", dir, "IOTAX_CACHE") }

func foreign(err error, what, dir, variable string) error {
	var path *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &path) || !below(path.Path, dir) {
		return err
	}
	return errkind.WithHint(errkind.Userf("the %s folder %s cannot be used by this user: %w", what, dir, err),
		"give it back with `sudo chown -R`, or name another folder in %s", variable)
}

// below says whether a path is a folder, in it, or one that it lies in: all have to be passed to use it.
func below(path, dir string) bool {
	return strings.HasPrefix(path+"/", dir+"/") || strings.HasPrefix(dir+"/", path+"/")
}

func sign(f *os.File) error {
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}
