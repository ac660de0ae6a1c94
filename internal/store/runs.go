package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// alphabet of ids: digits and letters that nobody takes for each other.
const alphabet = "23456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id that no stored run has: 4 characters, up to 6 once the short ones get scarce.
func (s *Store) NewID() (string, error) {
	for n := 4; n <= 6; n++ {
		for range 16 {
			id := randomID(n)
			var taken bool
			err := s.db.QueryRow("SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)", id).Scan(&taken)
			if err != nil {
				return "", s.wrap(err, "find a free id")
			}
			if !taken {
				return id, nil
			}
		}
	}
	return "", fmt.Errorf("store %s: no free id found in 48 draws", s.path)
}

func randomID(n int) string {
	id := make([]byte, n)
	for i := range id {
		id[i] = alphabet[rand.IntN(len(alphabet))]
	}
	return string(id)
}

// CreateRun stores a new run with the experiment that it carries out. The id must not be taken.
func (s *Store) CreateRun(run record.Run, exp spec.Experiment) error {
	facts, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("store: run %s: %w", run.ID, err)
	}
	experiment, err := json.Marshal(exp)
	if err != nil {
		return fmt.Errorf("store: experiment of run %s: %w", run.ID, err)
	}
	return s.tx("create run "+run.ID, func(t *sql.Tx) error {
		_, err := t.Exec(`INSERT INTO runs (id, started, status, preset, seed, facts, experiment) VALUES (?,?,?,?,?,?,?)`,
			run.ID, nanos(run.Started), run.Status, run.Preset, int64(run.Seed), string(facts), string(experiment))
		return err
	})
}

// UpdateRun replaces the facts of a stored run; the experiment and the windows stay.
func (s *Store) UpdateRun(run record.Run) error {
	facts, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("store: run %s: %w", run.ID, err)
	}
	return s.tx("update run "+run.ID, func(t *sql.Tx) error {
		r, err := t.Exec(`UPDATE runs SET started = ?, status = ?, preset = ?, seed = ?, facts = ? WHERE id = ?`,
			nanos(run.Started), run.Status, run.Preset, int64(run.Seed), string(facts), run.ID)
		return mustChange(r, err, run.ID)
	})
}

// DeleteRun removes a run, by its whole id, and its windows.
func (s *Store) DeleteRun(id string) error {
	return s.tx("delete run "+id, func(t *sql.Tx) error {
		r, err := t.Exec(`DELETE FROM runs WHERE id = ?`, id)
		return mustChange(r, err, id)
	})
}

// Run returns the run whose id is id or, when there is none, the only one whose id starts with it; "" is the
// newest. Errors: NotFoundError and AmbiguousError, both of code Usage.
func (s *Store) Run(id string) (record.Run, error) {
	if id == "" {
		return s.newest()
	}
	prefix := strings.ToLower(id)
	runs, err := s.runs(`WHERE substr(id, 1, length(?1)) = ?1`, prefix)
	if err != nil {
		return record.Run{}, err
	}
	var ids []string
	for _, r := range runs {
		if r.ID == prefix {
			return r, nil
		}
		ids = append(ids, r.ID)
	}
	switch len(runs) {
	case 0:
		return record.Run{}, notFound(id)
	case 1:
		return runs[0], nil
	}
	return record.Run{}, ambiguous(id, ids)
}

// Runs lists all runs, newest first.
func (s *Store) Runs() ([]record.Run, error) { return s.runs("") }

// Experiment returns what the run, named by its whole id, set out to measure.
func (s *Store) Experiment(runID string) (spec.Experiment, error) {
	var text string
	var exp spec.Experiment
	err := s.db.QueryRow(`SELECT experiment FROM runs WHERE id = ?`, runID).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return exp, notFound(runID)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &exp)
	}
	return exp, s.wrap(err, "read the experiment of run "+runID)
}

func (s *Store) newest() (record.Run, error) {
	runs, err := s.runs(`WHERE rowid = (SELECT rowid FROM runs ORDER BY started DESC, rowid DESC LIMIT 1)`)
	if err != nil {
		return record.Run{}, err
	}
	if len(runs) == 0 {
		return record.Run{}, notFound("")
	}
	return runs[0], nil
}

// runs reads the runs that the clause where selects, newest first.
func (s *Store) runs(where string, args ...any) (runs []record.Run, err error) {
	defer func() { err = s.wrap(err, "read runs") }()
	rows, err := s.db.Query(`SELECT facts FROM runs `+where+` ORDER BY started DESC, rowid DESC`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var facts string
		var run record.Run
		if err := rows.Scan(&facts); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(facts), &run); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, rows.Err()
}

// mustChange turns a statement that met no row into a NotFoundError for the run id.
func mustChange(r sql.Result, err error, id string) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return notFound(id)
	}
	return err
}
