package lvm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// place is a volume group or thin pool of the user's.
type place struct {
	name   string // "vg0", "vg0/pool"
	extent int64  // bytes of the group's extents
	pvs    int64  // physical volumes of the group
	free   int64  // bytes that are left, of the group or of the pool's data
	chunk  int64  // bytes of a pool's chunk
	zero   string // of a pool: "on" or "off"
	spare  int64  // bytes that are left of a pool's metadata
	pool   bool
}

// Check refuses requests whose pool does not exist, has not what their stack asks for, or has not enough room left
// for all of them: every fault at once, before anything is made.
func (d *Driver) Check(ctx context.Context, requests []provision.Request) error {
	var faults errkind.List
	places := map[string]*place{}
	for _, r := range requests {
		if r.Stack.Pool == "" {
			continue
		}
		p, known := places[r.Stack.Pool]
		if !known {
			found, err := d.find(ctx, r.Stack)
			if err != nil {
				faults = append(faults, err)
			} else {
				p = &found
			}
			places[r.Stack.Pool] = p
		}
		if p == nil {
			continue // said already
		}
		if err := p.take(r); err != nil {
			faults = append(faults, fmt.Errorf("volume of %s: %w", r.Stack.Name, err))
		}
	}
	return faults.Err()
}

// findPlace finds room for a volume in a group or pool of the user's, and journals what is to be made there.
func (d *Driver) findPlace(ctx context.Context, j *revert.Journal, r provision.Request, v *volume) error {
	p, err := d.find(ctx, r.Stack)
	if err != nil {
		return err
	}
	if err := p.take(r); err != nil {
		return err
	}
	group, pool, _ := strings.Cut(p.name, "/")
	v.group, v.pool = group, pool
	v.layout = p.layout(r)
	if thin(r.Stack) && pool == "" {
		v.pool, v.ownPool = v.name+"-pool", true
	}
	there, err := d.look(ctx, v)
	if err != nil {
		return err
	}
	parts := v.parts()
	for _, name := range parts {
		if there[name] != nil {
			return taken("logical volume", group+"/"+name)
		}
	}
	for _, name := range slices.Backward(parts) {
		if _, err := j.Add(revert.LogicalVolume(group, name, nil)); err != nil {
			return err
		}
	}
	return nil
}

// find looks the pool of a stack up.
func (d *Driver) find(ctx context.Context, s spec.Stack) (place, error) {
	host := lvm2.Tool{Udev: lvm2.UdevRuns()}
	group, pool, isPool := strings.Cut(s.Pool, "/")
	if isPool && !thin(s) {
		return place{}, errkind.Userf("pool %q: a thick volume lies in a volume group; expected its name alone, such as %q", s.Pool, group)
	}
	rows, err := host.Groups(ctx, d.Run, "", "vg_name", "vg_extent_size", "vg_free", "pv_count")
	if err != nil {
		return place{}, err
	}
	row, err := choose(rows, "vg_name", group, "volume group", "")
	if err != nil {
		return place{}, err
	}
	p := place{name: s.Pool, pool: isPool}
	for field, to := range map[string]*int64{"vg_extent_size": &p.extent, "vg_free": &p.free, "pv_count": &p.pvs} {
		if *to, err = row.Int(field); err != nil {
			return place{}, err
		}
	}
	if !isPool {
		return p, nil
	}
	rows, err = host.Volumes(ctx, d.Run, lvm2.SelectGroup(group)+" && segtype=thin-pool",
		"lv_name", "lv_size", "chunk_size", "zero", "data_percent", "metadata_percent", "lv_metadata_size")
	if err != nil {
		return place{}, err
	}
	if row, err = choose(rows, "lv_name", pool, "thin pool", " in volume group "+group); err != nil {
		return place{}, err
	}
	return p, p.read(row)
}

// read takes what a report says of a thin pool.
func (p *place) read(row lvm2.Row) error {
	var size, metadata int64
	var err error
	for field, to := range map[string]*int64{"lv_size": &size, "chunk_size": &p.chunk, "lv_metadata_size": &metadata} {
		if *to, err = row.Int(field); err != nil {
			return err
		}
	}
	if row["data_percent"] == "" {
		return errkind.WithHint(errkind.Userf("thin pool %s is not active", p.name), "lvchange --activate y %s", p.name)
	}
	data, err := row.Share("data_percent")
	if err != nil {
		return err
	}
	meta, err := row.Share("metadata_percent")
	if err != nil {
		return err
	}
	p.free, p.spare = left(size, data), left(metadata, meta)
	p.zero = map[bool]string{true: "on", false: "off"}[row["zero"] == "zero"]
	return nil
}

func left(size int64, used float64) int64 { return int64(float64(size) * (1 - used)) }

// choose finds a thing by its name, or says which there are.
func choose(rows []lvm2.Row, field, name, what, where string) (lvm2.Row, error) {
	var names []string
	for _, row := range rows {
		if row[field] == name {
			return row, nil
		}
		names = append(names, row[field])
	}
	there := "there is none at all"
	if len(names) > 0 {
		slices.Sort(names)
		there = "there are: " + strings.Join(names, ", ")
	}
	return nil, errkind.Userf("there is no %s named %q%s; %s", what, name, where, there)
}

// layout lays a volume out in the place.
func (p *place) layout(r provision.Request) layout {
	s := r.Stack
	if p.pool {
		s.ChunkSize = p.chunk
	}
	l := layoutOf(s, r.Size, p.extent)
	if p.pool {
		l.pool, l.metadata = 0, 0
	}
	return l
}

// take takes the room for a volume, or says why it cannot be there.
func (p *place) take(r provision.Request) error {
	s := r.Stack
	if s.ExtentSize != 0 && s.ExtentSize != p.extent {
		return errkind.Userf("extent_size %s: volume group %s exists and has extents of %s", unit.ExactBytes(s.ExtentSize), p.name, unit.ExactBytes(p.extent))
	}
	if int64(s.Stripes) > p.pvs {
		return errkind.Userf("stripes %d: volume group %s has only %d physical volumes", s.Stripes, p.name, p.pvs)
	}
	l := p.layout(r)
	need, spare := l.total(), int64(0)
	if p.pool {
		if s.ChunkSize != 0 && s.ChunkSize != p.chunk {
			return errkind.Userf("chunk_size %s: thin pool %s exists and has chunks of %s", unit.ExactBytes(s.ChunkSize), p.name, unit.ExactBytes(p.chunk))
		}
		if s.Zeroing != "" && s.Zeroing != p.zero {
			return errkind.Userf("zeroing %s: thin pool %s exists and has zeroing %s", s.Zeroing, p.name, p.zero)
		}
		need = copies(s) * roundUp(l.volume, p.chunk)
		spare = chunkMetadata * need / p.chunk
	}
	if need > p.free || spare > p.spare {
		what := unit.Bytes(p.free)
		if need <= p.free {
			need, what = spare, unit.Bytes(p.spare)+" for metadata"
		}
		return errkind.WithHint(errkind.Userf("%s has %s left, %s are needed", p.name, what, unit.Bytes(need)),
			"give a smaller size, fewer stacks or a pool with more room")
	}
	p.free -= need
	p.spare -= spare
	return nil
}
