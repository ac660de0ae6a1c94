package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/revert"
)

// maxSerial is how many bytes of a serial number a guest sees: virtio-blk, ATA and NVMe all have 20.
const maxSerial = 20

// Job is a volume to make and the driver that makes it.
type Job struct {
	Driver  Driver
	Request Request
}

// Prepare makes, fills and verifies a volume for each job and drops what the host keeps of it in memory. All faults
// of the requests come at once, and the space is checked, before anything is made. When something fails on the way,
// all volumes are destroyed again. progress, which may be nil, is given the bytes written so far of all bytes.
func Prepare(ctx context.Context, j *revert.Journal, jobs []Job, c Content, progress func(done, total int64)) (volumes []Volume, err error) {
	if err := check(jobs); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, destroy(context.WithoutCancel(ctx), jobs, volumes))
			volumes = nil
		}
	}()
	var total, done int64
	for _, job := range jobs {
		v, err := job.Driver.Create(ctx, j, job.Request)
		if err != nil {
			return volumes, fmt.Errorf("volume of %s: %w", job.Request.Stack.Name, err)
		}
		volumes = append(volumes, v)
		if !job.Request.Stack.Empty {
			total += v.Size
		}
	}
	for i, v := range volumes {
		if jobs[i].Request.Stack.Empty { // it is emptied before every window
			continue
		}
		told := func(n int64) {
			if progress != nil {
				progress(done+n, total)
			}
		}
		if err := ready(ctx, jobs[i].Driver, v, Content{seedOf(c.Seed, i), c.Compressible}, told); err != nil {
			return volumes, fmt.Errorf("volume of %s: %w", v.Stack, err)
		}
		done += v.Size
	}
	return volumes, nil
}

func ready(ctx context.Context, d Driver, v Volume, c Content, progress func(int64)) error {
	if err := d.Fill(ctx, v, c, progress); err != nil {
		return err
	}
	if err := d.Verify(ctx, v); err != nil {
		return err
	}
	return cutShort(ctx, func() error { return DropCache(v) })
}

func check(jobs []Job) error {
	var faults errkind.List
	need := map[string]int64{} // by folder
	stacks, serials := map[string]bool{}, map[string]bool{}
	for _, job := range jobs {
		r := job.Request
		n, err := job.Driver.Need(r)
		if err != nil {
			faults = append(faults, fmt.Errorf("volume of %s: %w", r.Stack.Name, err))
		}
		need[r.Dir] += n
		if stacks[r.Stack.Name] {
			faults = append(faults, errkind.Userf("two volumes for one stack, %s", r.Stack.Name))
		}
		if r.Serial == "" || len(r.Serial) > maxSerial || serials[r.Serial] {
			faults = append(faults, errkind.Userf("volume of %s: serial %q must be unique and have 1 to %d bytes", r.Stack.Name, r.Serial, maxSerial))
		}
		stacks[r.Stack.Name], serials[r.Serial] = true, true
	}
	if err := faults.Err(); err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(need)) {
		if need[dir] == 0 {
			continue // nothing is made in the folder
		}
		if err := CheckSpace(dir, need[dir]); err != nil {
			return err
		}
	}
	return nil
}

func destroy(ctx context.Context, jobs []Job, volumes []Volume) error {
	var failures []error
	for i, v := range slices.Backward(volumes) {
		failures = append(failures, jobs[i].Driver.Destroy(ctx, v))
	}
	return errors.Join(failures...)
}
