package store

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/errkind"
)

// migrations[i] takes a store from version i to i+1. A step is never changed once released; a new one is appended.
var migrations = []string{
	`CREATE TABLE runs (
		id         TEXT PRIMARY KEY,
		started    INTEGER NOT NULL, -- nanoseconds since 1970, UTC
		status     TEXT NOT NULL,    -- running, complete, partial
		preset     TEXT NOT NULL,
		seed       INTEGER NOT NULL, -- of the plan: an unsigned number in a signed column, same 64 bits
		facts      TEXT NOT NULL,    -- JSON: record.Run, whole
		experiment TEXT NOT NULL     -- JSON: spec.Experiment
	) STRICT;
	CREATE INDEX runs_started ON runs (started);
	CREATE TABLE windows (
		run       TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
		boot      INTEGER NOT NULL,
		round     INTEGER NOT NULL,
		seq       INTEGER NOT NULL,
		stack     TEXT NOT NULL,
		workload  TEXT NOT NULL,
		seed      INTEGER NOT NULL,  -- as runs.seed
		discard   INTEGER NOT NULL,  -- 1: of the priming round, never analysed
		status    TEXT NOT NULL,
		reason    TEXT NOT NULL,
		started   INTEGER NOT NULL,  -- nanoseconds since 1970, UTC
		elapsed   INTEGER NOT NULL,  -- nanoseconds
		timed     INTEGER NOT NULL,  -- nanoseconds
		metrics   TEXT,              -- JSON: metric -> value
		evidence  TEXT NOT NULL,     -- JSON: record.Evidence
		histogram BLOB,              -- see packHistogram
		raw       BLOB,              -- zstd: fio's own output; last, so that reading the others skips it
		PRIMARY KEY (run, boot, round, seq)
	) STRICT;`,
}

// migrate brings the file to this program's version, or refuses it before anything in it has changed.
func (s *Store) migrate() error {
	const do = "read its version"
	version, err := s.version(s.db)
	if err != nil {
		return s.wrap(err, do)
	}
	if err := s.logAhead(); err != nil {
		return s.wrap(err, "switch to the write-ahead log")
	}
	if version == len(migrations) {
		return nil
	}
	return s.tx("migrate", func(t *sql.Tx) error {
		version, err := s.version(t) // again: another process may have been faster
		if err != nil {
			return err
		}
		for i := version; i < len(migrations); i++ {
			if _, err := t.Exec(migrations[i]); err != nil {
				return fmt.Errorf("to version %d: %w", i+1, err)
			}
		}
		_, err = t.Exec(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
		return err
	})
}

// logAhead has the file written ahead: writers then never block readers. The mode stays in the file. Of several that switch a new
// file at the same time SQLite refuses all but one at once, without the wait of busy_timeout, since each holds what the
// others need (https://sqlite.org/c3ref/busy_handler.html).
func (s *Store) logAhead() error {
	for wait := time.Millisecond; ; wait *= 2 {
		_, err := s.db.Exec("PRAGMA journal_mode = WAL")
		if !isBusy(err) || wait > 4*time.Second {
			return err
		}
		time.Sleep(wait)
	}
}

// version returns the version of the file, 0 for an empty one, and refuses a newer one and a stranger's.
func (s *Store) version(q interface {
	QueryRow(query string, args ...any) *sql.Row
},
) (int, error) {
	var version, tables int
	// At one moment: between two questions another process may make the tables.
	const question = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"
	if err := q.QueryRow(question).Scan(&version, &tables); err != nil {
		return 0, err
	}
	if version > len(migrations) {
		return 0, errkind.WithHint(errkind.Userf("%s is a store of version %d, and this iotax knows versions up to %d",
			s.path, version, len(migrations)), "use the newer iotax that wrote it, or another state folder")
	}
	if version == 0 && tables > 0 {
		return 0, errkind.WithHint(errkind.Userf("%s is a database of another program, not a store of iotax", s.path),
			"name another file")
	}
	return version, nil
}
