// Package zfs makes volumes on ZFS: zvols, and files on datasets. They lie in a pool of the user's, or each in a pool
// of its own: so its state does not depend on what else a run measures.
package zfs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
)

// Storage is what both kinds of volumes share.
type Storage struct {
	Run    sys.Runner
	Ground provision.Ground // where pools of the run's own lie; nil when every stack names a pool

	made map[string]made // by stack
}

// made is a volume that is there.
type made struct {
	dataset string
	blank   int64 // bytes that the dataset held before it was filled
	journal *revert.Journal
	entries []revert.Entry // that undo it
}

func (m made) pool() string {
	pool, _, _ := strings.Cut(m.dataset, "/")
	return pool
}

// add journals how the next act is undone.
func (m *made) add(a revert.Act) error {
	e, err := m.journal.Add(a)
	if err == nil {
		m.entries = append(m.entries, e)
	}
	return err
}

// undo undoes all acts, newest first.
func (m *made) undo(ctx context.Context) error {
	for _, e := range slices.Backward(m.entries) {
		if err := m.journal.UndoEntry(context.WithoutCancel(ctx), e); err != nil {
			return err // what lies under it cannot be undone
		}
		m.entries = m.entries[:len(m.entries)-1]
	}
	return nil
}

// keep remembers a volume that was made, or undoes what was made of it.
func (s *Storage) keep(ctx context.Context, stack string, m *made, err error) error {
	if err == nil {
		m.blank, err = s.number(ctx, m.dataset, "logicalreferenced")
	}
	if err != nil {
		return errors.Join(err, m.undo(ctx))
	}
	if s.made == nil {
		s.made = map[string]made{}
	}
	s.made[stack] = *m
	return nil
}

func (s *Storage) of(v provision.Volume) (made, error) {
	m, ok := s.made[v.Stack]
	if !ok {
		return m, fmt.Errorf("no volume of %s is on ZFS", v.Stack)
	}
	return m, nil
}

// destroy removes a volume that is not gone already.
func (s *Storage) destroy(ctx context.Context, v provision.Volume) error {
	m, ok := s.made[v.Stack]
	if !ok {
		return nil
	}
	err := m.undo(ctx)
	if err == nil {
		delete(s.made, v.Stack)
	} else {
		s.made[v.Stack] = m
	}
	return err
}

// claims is what a volume takes of the ground: a device for its pool, unless it lies in one of the user's.
func (s *Storage) claims(r provision.Request, space int64) ([]int64, error) {
	switch {
	case r.Stack.Pool != "":
		return nil, nil
	case s.Ground == nil:
		return nil, errkind.WithHint(errkind.Userf("%s names no pool, and there is no place for one of its own", r.Stack.Name), "give the stack a pool")
	}
	return []int64{poolSize(space)}, nil
}

func (s *Storage) need(r provision.Request, space int64) (int64, error) {
	sizes, err := s.claims(r, space)
	return ground.Need(s.Ground, sizes...), err
}

// Resolve implements provision.Driver: the devices and files that the pool lies on.
func (s *Storage) Resolve(ctx context.Context, v provision.Volume) ([]string, error) {
	m, err := s.of(v)
	if err != nil {
		return nil, err
	}
	return hostenv.PoolDevices(ctx, s.Run, m.pool())
}

// Drain implements provision.Drainer: ZFS writes in groups, some seconds after the last write or when there is much to
// be written. What was synced until then lies in its log, and has yet to be written to its place.
func (s *Storage) Drain(ctx context.Context, v provision.Volume) error {
	m, err := s.of(v)
	if err != nil {
		return err
	}
	return s.sync(ctx, m)
}

// run runs a command and returns what it printed, without the last line's end.
func (s *Storage) run(ctx context.Context, argv ...string) (string, error) {
	out, err := s.Run.Run(ctx, sys.Command{Argv: argv})
	return strings.TrimSuffix(string(out), "\n"), err
}
