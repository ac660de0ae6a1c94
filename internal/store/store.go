// Package store keeps runs and their windows in one SQLite file; all SQL of iotax lives here.
//
// Each window is one transaction and is in the file's write-ahead log when SaveWindow returns: the death
// of the process at any moment loses nothing that was saved. The log is not flushed to the device at each
// window (synchronous=NORMAL), because on ext4 such a flush also waits for the dirty pages that a
// measured load has just left behind, which would put the disk to work between two windows. What a power
// cut can lose is therefore the last windows before it, never the consistency of the file: SQLite flushes
// the log whenever it folds it into the file, every 4 MB of windows or so and at Close.
//
// No method takes a context: a write is short, and Ctrl-C must not tear the window that has just ended.
package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/iotax/iotax/internal/errkind"
)

// maxRaw is the largest raw output that is unpacked, in bytes: a damaged file must not eat the memory.
const maxRaw = 256 << 20

// Store is an open store. Its methods may be called from several goroutines, and several processes may
// have the same file open: readers never wait, writers wait for each other for up to 10 seconds.
type Store struct {
	db   *sql.DB
	path string
	enc  *zstd.Encoder
	dec  *zstd.Decoder
}

// Open opens the store at path, and creates it (0600, its folder 0700) or migrates it where needed. A file
// of a newer iotax, of another program, or that is no database is refused untouched with a Usage error.
func Open(path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	if err := touch(abs); err != nil {
		return nil, errkind.WithHint(errkind.Userf("cannot open the store: %w", err), "name a state folder that you may write to")
	}
	db, err := sql.Open("sqlite", dsn(abs))
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", abs, err)
	}
	db.SetMaxOpenConns(4)
	s := &Store{db: db, path: abs}
	if err := s.prepare(); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// Close folds the log into the file and closes it.
func (s *Store) Close() error {
	s.dec.Close()
	return s.wrap(s.db.Close(), "close")
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

func (s *Store) prepare() (err error) {
	if err := s.migrate(); err != nil {
		return err
	}
	if s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRaw))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// touch makes the folder and an empty file, so that SQLite gives the file and its log the mode 0600.
func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn is a file: URI, since the driver would cut a plain path at a question mark. The journal mode is not
// set here but once the file is known to be ours: it changes the file.
func dsn(abs string) string {
	q := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "synchronous(NORMAL)", "foreign_keys(1)"},
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}
	return u.String()
}

// tx runs f in one transaction that takes the write lock at once. do names the deed for the error.
func (s *Store) tx(do string, f func(*sql.Tx) error) error {
	t, err := s.db.Begin()
	if err != nil {
		return s.wrap(err, do)
	}
	if err := f(t); err != nil {
		_ = t.Rollback()
		return s.wrap(err, do)
	}
	return s.wrap(t.Commit(), do)
}
