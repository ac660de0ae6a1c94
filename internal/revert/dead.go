package revert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Left is a journal without a living owner.
type Left struct {
	Path    string
	Run     string
	Entries []Entry // still to be undone, oldest first
	Err     error   // why a part of the journal cannot be read; nil when all of it can
}

// errBusy is a journal whose owner lives, or that another process replays at this moment.
var errBusy = errors.New("its owner is alive")

// Dead lists the journals below dir whose owner has ended, in order of name, and changes none of them. A folder that does not exist holds none.
func Dead(dir string) ([]Left, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	var dead []Left
	for _, path := range paths {
		j, damage, err := adopt(path)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return dead, err
		}
		dead = append(dead, Left{Path: path, Run: j.Run(), Entries: j.entries, Err: damage})
		if err := j.close(); err != nil {
			return dead, err
		}
	}
	return dead, nil
}

// Replay undoes a dead run's journal as Undo does, and removes it when all is undone. A journal that is gone was
// replayed by another process: no error. One whose owner lives is an error, and nothing is touched.
func Replay(ctx context.Context, path string) error {
	j, damage, err := adopt(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("replay %s: %w", path, err)
	case damage == nil:
		// A torn last line would run into the next one.
		if err := j.file.Truncate(j.good); err != nil {
			return errors.Join(err, j.close())
		}
	default:
		// What can be read is undone; the journal stays, for a person to look at.
		for i := range j.entries {
			e := j.entries[len(j.entries)-1-i]
			damage = errors.Join(damage, undo(ctx, j.origin, e))
		}
		return errors.Join(fmt.Errorf("replay %s: %w", path, damage), j.close())
	}
	return errors.Join(j.Undo(ctx), j.Close())
}

// adopt locks and reads a dead journal, and changes nothing. damage is what parse could not read.
func adopt(path string) (j *Journal, damage, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // nothing was written
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil, errBusy
	} else if err != nil {
		return nil, nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !stillAt(f, path) {
		return nil, nil, fs.ErrNotExist
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, err
	}
	c, damage := parse(data)
	if c.origin.Run == "" {
		c.origin.Run = strings.TrimSuffix(filepath.Base(path), suffix)
	}
	return &Journal{file: f, path: path, origin: c.origin, entries: c.entries, last: c.last, good: c.good}, damage, nil
}
