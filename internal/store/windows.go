package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
)

// SaveWindow stores one ended window of a stored run in one transaction: it is there whole when SaveWindow
// returns nil, and not at all when it returns an error (ErrFull in its chain when the disk is full). A
// second window of the same boot, round and seq is an error: what was measured is never overwritten.
func (s *Store) SaveWindow(runID string, w record.Window) error {
	do := fmt.Sprintf("save window boot %d round %d seq %d (%s, %s) of run %s", w.Boot, w.Round, w.Seq, w.Stack, w.Workload, runID)
	metrics, err := json.Marshal(w.Metrics)
	if err != nil {
		return fmt.Errorf("store: %s: metrics: %w", do, err)
	}
	evidence, err := json.Marshal(w.Evidence)
	if err != nil {
		return fmt.Errorf("store: %s: evidence: %w", do, err)
	}
	var raw []byte
	if len(w.Raw) > 0 {
		raw = s.enc.EncodeAll(w.Raw, nil)
	}
	return s.tx(do, func(t *sql.Tx) error {
		_, err := t.Exec(`INSERT INTO windows (run, boot, round, seq, stack, workload, seed, discard, status, reason,
			started, elapsed, timed, metrics, evidence, histogram, raw) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			runID, w.Boot, w.Round, w.Seq, w.Stack, w.Workload, int64(w.Seed), w.Discard, w.Status, w.Reason,
			nanos(w.Started), w.Elapsed, w.Timed, string(metrics), string(evidence), packHistogram(w.Histogram), raw)
		return err
	})
}

// Windows returns the windows of a run, named by its whole id, by boot, round and seq; none for an unknown
// run. Raw is filled only when withRaw is set.
func (s *Store) Windows(runID string, withRaw bool) (windows []record.Window, err error) {
	defer func() { err = s.wrap(err, "read the windows of run "+runID) }()
	raw := "NULL"
	if withRaw {
		raw = "raw"
	}
	rows, err := s.db.Query(`SELECT boot, round, seq, stack, workload, seed, discard, status, reason,
		started, elapsed, timed, metrics, evidence, histogram, `+raw+`
		FROM windows WHERE run = ? ORDER BY boot, round, seq`, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		w, err := s.scan(rows)
		if err != nil {
			return nil, fmt.Errorf("after %d windows: %w", len(windows), err)
		}
		windows = append(windows, w)
	}
	return windows, rows.Err()
}

// Raw returns fio's own output of one window, nil when it left none.
func (s *Store) Raw(runID string, boot, round, seq int) ([]byte, error) {
	var packed []byte
	err := s.db.QueryRow(`SELECT raw FROM windows WHERE run = ? AND boot = ? AND round = ? AND seq = ?`,
		runID, boot, round, seq).Scan(&packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errkind.Userf("run %s has no window of boot %d, round %d, seq %d", runID, boot, round, seq)
	}
	var raw []byte
	if err == nil {
		raw, err = s.unpackRaw(packed)
	}
	return raw, s.wrap(err, "read raw output of run "+runID)
}

func (s *Store) scan(rows *sql.Rows) (w record.Window, err error) {
	var seed, started int64
	var metrics, evidence sql.RawBytes
	var histogram, raw sql.RawBytes
	err = rows.Scan(&w.Boot, &w.Round, &w.Seq, &w.Stack, &w.Workload, &seed, &w.Discard, &w.Status, &w.Reason,
		&started, &w.Elapsed, &w.Timed, &metrics, &evidence, &histogram, &raw)
	if err != nil {
		return w, err
	}
	w.Seed, w.Started = uint64(seed), fromNanos(started)
	if err := json.Unmarshal(metrics, &w.Metrics); err != nil {
		return w, fmt.Errorf("metrics: %w", err)
	}
	if err := json.Unmarshal(evidence, &w.Evidence); err != nil {
		return w, fmt.Errorf("evidence: %w", err)
	}
	if w.Histogram, err = unpackHistogram(histogram); err != nil {
		return w, err
	}
	w.Raw, err = s.unpackRaw(raw)
	return w, err
}

func (s *Store) unpackRaw(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	raw, err := s.dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("raw output: %w", err)
	}
	return raw, nil
}

// nanos gives a time as nanoseconds since 1970; the zero time, which has no such number, is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
