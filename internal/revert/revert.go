// Package revert is an undo stack whose journal on disk survives a crash.
//
// Whatever changes the host is written to the journal, and is on the disk, before the change is made. A run that
// ends undoes its journal; a run that was killed leaves it behind, and the next start replays it (Dead, Replay).
package revert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Act says how one change to the host is undone. Kind is a key of the table in kinds.go.
type Act struct {
	Kind string            `json:"kind"`
	Args map[string]string `json:"args"`
}

// String writes the act for a person: "umount target=/mnt/x".
func (a Act) String() string {
	var b strings.Builder
	b.WriteString(a.Kind)
	for _, key := range slices.Sorted(maps.Keys(a.Args)) {
		fmt.Fprintf(&b, " %s=%s", key, a.Args[key])
	}
	return b.String()
}

// Entry is an act in a journal.
type Entry struct {
	ID int `json:"id"` // from 1, ascending
	Act
}

// Journal is the undo stack of one run. Its methods may be called from several goroutines.
type Journal struct {
	// After, when not nil, is called as soon as an entry is on the disk and before the act that it undoes can
	// be made. Tests end the process there.
	After func(Entry)

	mu      sync.Mutex
	file    *os.File // locked for the life of the process; nil when closed
	path    string
	origin  origin
	entries []Entry // still to be undone, oldest first
	last    int     // highest ID given
	good    int64   // bytes of whole lines that an adopted journal had
	undone  bool    // Undo was called: nothing may be added
}

// ErrClosed is the error of Add after Undo or Close.
var ErrClosed = errors.New("revert: the journal is closed")

var runName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// Open makes the journal <dir>/<runID>.jsonl and locks it until Undo, Close or the end of the process. The folder
// is made when it does not exist. A journal of that name that exists already is an error: Replay it first.
func Open(dir, runID string) (*Journal, error) {
	if !runName.MatchString(runID) {
		return nil, fmt.Errorf("revert: %q cannot be the name of a journal", runID)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, runID+suffix)
	// Between making and locking the file another process that looks for dead journals can lock it, find it
	// empty and remove it. Then it is made again.
	for range 10 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if !stillAt(f, path) {
			_ = f.Close() // it has no name any more
			continue
		}
		j := &Journal{file: f, path: path, origin: here(runID)}
		if err := j.write(line{Origin: &j.origin}); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return j, syncDir(dir)
	}
	return nil, fmt.Errorf("revert: %s is removed again and again by another process", path)
}

// Run is the name of the run that the journal belongs to.
func (j *Journal) Run() string { return j.origin.Run }

// Add writes how an act is undone, and returns when that is on the disk. The act may be made only when Add returned
// no error.
func (j *Journal) Add(a Act) (Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.undone {
		return Entry{}, ErrClosed
	}
	kind, ok := kinds[a.Kind]
	if !ok {
		return Entry{}, fmt.Errorf("revert: no kind %q", a.Kind)
	}
	if err := kind.check(j.origin.Run, a.Args); err != nil {
		return Entry{}, err
	}
	e := Entry{ID: j.last + 1, Act: a}
	if err := j.write(line{Entry: &e}); err != nil {
		return Entry{}, err
	}
	j.last++
	j.entries = append(j.entries, e)
	if j.After != nil {
		j.After(e)
	}
	return e, nil
}

// Forget takes an entry off the stack: its act was undone otherwise, or never made, or is to stay.
func (j *Journal) Forget(e Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return ErrClosed
	}
	return j.forget(e.ID)
}

// UndoEntry undoes one entry ahead of the others and, when that succeeded, takes it off the stack. After Undo there is
// nothing left to do: no error.
func (j *Journal) UndoEntry(ctx context.Context, e Entry) error {
	if err := undo(ctx, j.origin, e); err != nil {
		return fmt.Errorf("undo %s: %w", e.Act, err)
	}
	if err := j.Forget(e); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

func (j *Journal) forget(id int) error {
	if err := j.write(line{Forget: id}); err != nil {
		return err
	}
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool { return e.ID == id })
	return nil
}

// Undo undoes every entry, newest first, and removes the journal when all succeeded. Every failure is in the
// error; what failed stays in the journal, which stays locked, and Undo may be called again. A context that ends
// cuts short the waiting for processes to end by themselves, never the undoing.
func (j *Journal) Undo(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	j.undone = true
	var failures []error
	for _, e := range slices.Backward(slices.Clone(j.entries)) {
		err := undo(ctx, j.origin, e)
		if err == nil {
			err = j.forget(e.ID)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("undo %s: %w", e.Act, err))
		}
	}
	if len(failures) > 0 {
		return errors.Join(failures...)
	}
	if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return j.close()
}

// Close gives up the journal without undoing it: from now on it counts as dead.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.close()
}

func (j *Journal) close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close() // and with it the lock
	j.file = nil
	return err
}

func (j *Journal) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}
