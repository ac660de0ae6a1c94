package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/rig"
	"github.com/iotax/iotax/internal/spec"
)

// jobs lists the volumes of the experiment: the host's own first, then one for each stack that has a disk
// under it, all of one size.
func (r *Ready) jobs(s *storages, dir string, serial func(i int) string) []provision.Job {
	stacks := []spec.Stack{{Name: spec.Host, Format: "raw", Storage: r.Experiment.HostStorage}}
	for _, stack := range r.available().Stacks {
		if !stack.Ceiling() {
			stacks = append(stacks, stack)
		}
	}
	var jobs []provision.Job
	for i, stack := range stacks {
		q := provision.Request{Dir: dir, Stack: stack, Size: r.Experiment.Size, Serial: serial(i)}
		jobs = append(jobs, provision.Job{Driver: s.driver(stack), Request: q})
	}
	return jobs
}

// outline is the volumes of the experiment before there is a place for them: what they need can be asked of it.
func (r *Ready) outline() (*storages, []provision.Job) {
	s := r.storages("")
	return s, r.jobs(s, "", serialOf)
}

// serialOf names the i-th volume: by this the guest tells its disks apart.
func serialOf(i int) string { return "iotax-" + strconv.Itoa(i) }

// volumes makes, fills and verifies the scratch volumes, and tells the rig of each what it has to know.
func (r *Ready) volumes(ctx context.Context, c *rig.Config, journal *revert.Journal, tell Teller) error {
	dir := c.Dir
	if r.Device == "" {
		if err := journal.MkdirAll(r.Scratch); err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(r.Scratch); err != nil || real != filepath.Dir(c.Dir) {
			if dir, err = journal.Scratch(r.Scratch); err != nil {
				return err
			}
		}
	}
	r.storage = r.storages(dir)
	jobs := r.jobs(r.storage, dir, serialOf)
	if err := r.storage.settle(ctx, journal, dir, jobs); err != nil {
		return err
	}
	name := fmt.Sprintf("filling %d volumes", len(jobs))
	content := provision.Content{Seed: r.Seed, Compressible: r.Experiment.Compressible}
	made, err := provision.Prepare(ctx, journal, jobs, content, func(done, total int64) { tell.Stage(name, done, total) })
	if err != nil {
		return err
	}
	c.Volumes, c.Devices, c.WriteCache = map[string]provision.Volume{}, map[string][]string{}, map[string]string{}
	for _, hooks := range []*map[string]func(context.Context) error{&c.Refresh, &c.Drain, &c.Health} {
		*hooks = map[string]func(context.Context) error{}
	}
	c.Unwritten, c.Layers = map[string]func(context.Context) (float64, error){}, map[string][]string{}
	for i, v := range made {
		r.placed = append(r.placed, placed{jobs[i].Driver, v, jobs[i].Request.Stack.Empty})
		r.introduce(ctx, c, jobs[i], v, tell)
	}
	c.Volumes[spec.Control], c.Devices[spec.Control], c.WriteCache[spec.Control] = c.Volumes[spec.Host], c.Devices[spec.Host], c.WriteCache[spec.Host]
	c.Layers[spec.Control] = c.Layers[spec.Host]
	if told, ok := c.Unwritten[spec.Host]; ok {
		c.Unwritten[spec.Control] = told
	}
	r.compareDisks(*c, tell)
	return nil
}

// placed is a volume and the driver that made it.
type placed struct {
	driver provision.Driver
	volume provision.Volume
	empty  bool // before each window
}

// unwritten is how much of the volume is not on the disk, nil where that means nothing or cannot be told.
func (p placed) unwritten(ctx context.Context) (*float64, error) {
	m, ok := p.driver.(provision.Mapper)
	if !ok || p.empty {
		return nil, nil
	}
	share, err := m.Unwritten(ctx, p.volume)
	if err != nil {
		return nil, err
	}
	return &share, nil
}

// introduce tells the rig of a volume: where it lies, on which disks, and how it is brought back into its state.
func (r *Ready) introduce(ctx context.Context, c *rig.Config, job provision.Job, v provision.Volume, tell Teller) {
	c.Volumes[v.Stack] = v
	devices, layers, cache, err := r.disksUnder(ctx, job.Driver, v)
	if err != nil {
		tell.Note(fmt.Sprintf("%s: the disk under its volume cannot be told: %v", v.Stack, err))
	}
	c.Devices[v.Stack], c.Layers[v.Stack], c.WriteCache[v.Stack] = devices, layers, cache
	if f, ok := job.Driver.(provision.Refresher); ok && job.Request.Stack.Snapshot == "fresh" {
		c.Refresh[v.Stack] = func(ctx context.Context) error { return f.Refresh(ctx, v) }
	}
	if h, ok := job.Driver.(provision.Checker); ok && (job.Request.Stack.Snapshot != "" || job.Request.Stack.Storage == "lvm-thin") {
		c.Health[v.Stack] = func(ctx context.Context) error { return h.Health(ctx, v) }
	}
	if m, ok := job.Driver.(provision.Mapper); ok && !job.Request.Stack.Empty {
		c.Unwritten[v.Stack] = func(ctx context.Context) (float64, error) { return m.Unwritten(ctx, v) }
	}
	if d, ok := job.Driver.(provision.Drainer); ok {
		c.Drain[v.Stack] = func(ctx context.Context) error { return d.Drain(ctx, v) }
	}
}

// disksUnder names the physical disks under a volume and what lies between, and says whether they have a write cache.
func (r *Ready) disksUnder(ctx context.Context, d provision.Driver, v provision.Volume) (devices, layers []string, writeCache string, err error) {
	paths, err := d.Resolve(ctx, v)
	if err != nil {
		return nil, nil, "", err
	}
	for _, path := range paths {
		s, err := r.host.Resolve(path)
		if err == nil && s.Reason != "" {
			err = errors.New(s.Reason)
		}
		if err != nil {
			return nil, nil, "", err
		}
		devices, layers = append(devices, s.Devices...), append(layers, s.Layers...)
		if cache := r.host.Device(s).WriteCache; writeCache == "" || cache == "write back" {
			writeCache = cache
		}
	}
	slices.Sort(devices)
	return slices.Compact(devices), layers, writeCache, nil
}

// compareDisks says so when a stack's volume lies on other disks than the baseline's: then disks are compared too.
func (r *Ready) compareDisks(c rig.Config, tell Teller) {
	base := c.Devices[spec.Host]
	for _, p := range r.placed {
		if own := c.Devices[p.volume.Stack]; len(own) > 0 && len(base) > 0 && !slices.Equal(own, base) {
			line := fmt.Sprintf("%s lies on %v, the baseline on %v: what differs may be the disks", p.volume.Stack, own, base)
			r.warnings = append(r.warnings, line)
			tell.Note(line)
		}
	}
}

// report puts into a run what has become of its volumes.
func (r *Ready) report(ctx context.Context, c rig.Config, run *record.Run) error {
	var failures []error
	for _, p := range r.placed {
		found, err := p.driver.Report(ctx, p.volume)
		var unwritten *float64
		if err == nil {
			unwritten, err = p.unwritten(ctx)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("volume of %s: %w", p.volume.Stack, err))
			continue
		}
		v := &record.Volume{
			Path: p.volume.Path, Devices: c.Devices[p.volume.Stack], RealSize: found.RealSize, CompressRatio: found.CompressRatio,
			Unwritten: unwritten, Properties: found.Properties,
		}
		for i := range run.Stacks {
			if name := run.Stacks[i].Name; name == p.volume.Stack || name == spec.Control && p.volume.Stack == spec.Host {
				run.Stacks[i].Volume = v
			}
		}
	}
	return errors.Join(failures...)
}
