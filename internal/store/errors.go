package store

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/iotax/iotax/internal/errkind"
)

// ErrFull is in the chain of every error that a full disk caused. What was stored before is still there.
var ErrFull = errors.New("no space left for the store")

// NotFoundError says that no stored run has the id, or the prefix of an id; "" means that there is no run at all.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string {
	if e.ID == "" {
		return "no run is stored yet"
	}
	return fmt.Sprintf("no stored run is named %q", e.ID)
}

// AmbiguousError says that several runs, newest first, have the prefix.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d runs: %s", e.Prefix, len(e.IDs), strings.Join(e.IDs, ", "))
}

func notFound(id string) error {
	hint := "`iotax list` shows those that are"
	if id == "" {
		hint = "`iotax run --quick` makes one"
	}
	return &errkind.Error{Code: errkind.Usage, Hint: hint, Err: &NotFoundError{id}}
}

func ambiguous(prefix string, ids []string) error {
	return &errkind.Error{Code: errkind.Usage, Hint: "give more of the name", Err: &AmbiguousError{prefix, ids}}
}

// wrap says which deed on which file failed, and turns SQLite's codes for a full disk and for a file that
// is no database into errors that say what to do. It returns errors that are already for a person as they are.
func (s *Store) wrap(err error, do string) error {
	var known *errkind.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch {
		case isFull(e.Code()):
			return errkind.WithHint(fmt.Errorf("store %s: %s: %w (%w)", s.path, do, ErrFull, err),
				"every window saved before is kept; free space there, then `iotax run --resume`")
		case e.Code()&0xff == sqlite3.SQLITE_NOTADB:
			return errkind.WithHint(errkind.Userf("%s is not a store of iotax: %w", s.path, err), "name another file")
		}
	}
	return fmt.Errorf("store %s: %s: %w", s.path, do, err)
}

// isFull tells a full disk: SQLITE_FULL, and the growing of the shared-memory file, which has a code of its own.
func isFull(code int) bool {
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE
}

// isBusy reports whether others had what a statement needed.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
