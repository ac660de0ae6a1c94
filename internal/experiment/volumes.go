package experiment

import (
	"context"
	"strconv"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/spec"
)

// jobs lists the volumes of the experiment: the host's own first, then one for each stack that has a disk
// under it, all of one size on one device.
func (r *Ready) jobs(dir string, serial func(i int) string) []provision.Job {
	stacks := []spec.Stack{{Name: spec.Host, Format: "raw"}}
	for _, s := range r.available().Stacks {
		if !s.Ceiling() {
			stacks = append(stacks, s)
		}
	}
	plain, image := r.drivers()
	var jobs []provision.Job
	for i, s := range stacks {
		job := provision.Job{Driver: plain, Request: provision.Request{Dir: dir, Stack: s, Size: r.Experiment.Size, Serial: serial(i)}}
		if s.Format == "qcow2" {
			job.Driver = image
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// drivers gives the makers of plain volumes and of images.
func (r *Ready) drivers() (plain, image provision.Driver) {
	image = qcow2.Driver{Run: r.world.Runner}
	if r.Device != "" {
		if r.slices == nil {
			r.slices = &slice.Driver{Device: r.Device, Confirmed: r.Erase, InUse: r.host.InUse, Check: func(ctx context.Context, device string) ([]string, error) {
				return r.host.CarriesData(ctx, r.world.Runner, device)
			}}
		}
		return r.slices, image
	}
	return raw.Driver{}, image
}

// release gives the device of a run, when it has one, free again.
func (r *Ready) release() error {
	if r.slices == nil {
		return nil
	}
	return r.slices.Close()
}

// serialOf names the i-th volume: by this the guest tells its disks apart.
func serialOf(i int) string { return "iotax-" + strconv.Itoa(i) }
