package zfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/unit"
)

// place makes room for a volume: a dataset name in the stack's pool, or in a pool that is made for it. Only the former
// has to be destroyed by itself.
func (s *Storage) place(ctx context.Context, j *revert.Journal, r provision.Request, space int64) (*made, error) {
	m := &made{journal: j}
	if r.Stack.Pool != "" {
		if err := s.room(ctx, r.Stack.Pool, space); err != nil {
			return m, err
		}
		m.dataset = revert.DatasetName(j.Run(), r.Stack.Pool, r.Stack.Name)
		return m, m.add(revert.Dataset(m.dataset))
	}
	sizes, err := s.claims(r, space)
	if err != nil {
		return m, err
	}
	pool := revert.PoolName(j.Run(), r.Stack.Name)
	m.dataset = pool + "/volume"
	device, err := s.Ground.Claim(ctx, j, r.Stack.Name+"-pool", sizes[0])
	if err != nil {
		return m, err
	}
	if err := m.add(revert.Zpool(pool)); err != nil {
		return m, err
	}
	_, err = s.run(ctx, poolArgs(j.Run(), pool, device)...)
	return m, s.explain(ctx, pool, err)
}

// explain makes one clear line of what the user can mend. Other errors stay.
func (s *Storage) explain(ctx context.Context, name string, err error) error {
	var failed *sys.CommandError
	if !errors.As(err, &failed) {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
	pool, _, _ := strings.Cut(name, "/")
	switch {
	case strings.Contains(first, "already exists"):
		return errkind.WithHint(errkind.Userf("%s exists already", name), "look at it, and destroy it when nobody needs it; one of ours goes with: iotax clean")
	case strings.Contains(first, "out of space"), strings.Contains(first, "size is greater than available space"):
		return errkind.WithHint(errkind.Userf("the pool %s has no room left for %s", pool, name), "give a smaller size, fewer stacks or another pool")
	case strings.Contains(first, "no such pool"), strings.Contains(first, "does not exist"):
		return s.absent(ctx, path.Dir(name))
	case strings.Contains(first, "must be"), strings.Contains(first, "invalid"):
		return errkind.Userf("%s: %s", sys.Quote(failed.Argv), first)
	}
	return err
}

// absent says that a pool or dataset is not there, and what is.
func (s *Storage) absent(ctx context.Context, name string) error {
	out, err := s.run(ctx, "zpool", "list", "-H", "-o", "name")
	if err != nil {
		return err
	}
	pools := strings.Fields(out)
	pool, _, below := strings.Cut(name, "/")
	if below && slices.Contains(pools, pool) {
		return errkind.WithHint(errkind.Userf("the ZFS pool %s has no dataset %s", pool, name), "make it with: zfs create -p %s", name)
	}
	there := "there is none"
	if len(pools) > 0 {
		there = "there are: " + strings.Join(pools, ", ")
	}
	return errkind.WithHint(errkind.Userf("there is no ZFS pool %s; %s", pool, there), "import it with: zpool import %s", pool)
}

// spacious is a driver of this package.
type spacious interface {
	storage() *Storage
	space(r provision.Request) (int64, error)
}

// Check gives all faults of the pools that the volumes of ZFS among the jobs name, before anything is made: one that is
// not there, that is no dataset, or that has no room for all that are to lie in it.
func Check(ctx context.Context, jobs []provision.Job) error {
	var faults errkind.List
	wanted := map[string]int64{}
	var s *Storage
	for _, job := range jobs {
		d, ok := job.Driver.(spacious)
		if !ok || job.Request.Stack.Pool == "" {
			continue
		}
		s = d.storage()
		n, err := d.space(job.Request)
		if err != nil {
			return err
		}
		wanted[job.Request.Stack.Pool] += n
	}
	for _, pool := range slices.Sorted(maps.Keys(wanted)) {
		if err := s.room(ctx, pool, wanted[pool]); err != nil {
			faults = append(faults, err)
		}
	}
	return faults.Err()
}

// room checks that a dataset exists and has so many bytes left.
func (s *Storage) room(ctx context.Context, dataset string, need int64) error {
	out, err := s.run(ctx, "zfs", "list", "-H", "-p", "-o", "type,available", dataset)
	var failed *sys.CommandError
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "does not exist") {
		return s.absent(ctx, dataset)
	} else if err != nil {
		return err
	}
	kind, available, _ := strings.Cut(out, "\t")
	if kind != "filesystem" {
		return errkind.Userf("%s is a %s of ZFS; expected a pool or a dataset in which volumes can be made", dataset, kind)
	}
	free, err := strconv.ParseInt(available, 10, 64)
	if err != nil {
		return fmt.Errorf("zfs list %s: %w", dataset, err)
	}
	if need > free {
		return errkind.WithHint(errkind.Userf("%s has %s left, the volumes in it need %s", dataset, unit.Bytes(free), unit.Bytes(need)),
			"give a smaller size, fewer stacks or another pool")
	}
	return nil
}
