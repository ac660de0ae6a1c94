package experiment

import (
	"context"
	"errors"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/device"
	"github.com/iotax/iotax/internal/provision/filesystem"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/lvm"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/provision/zfs"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// storages gives the driver of each kind of storage, one of each for the whole run.
type storages struct {
	run    sys.Runner
	ground provision.Ground
	slices *slice.Driver // of the device that the run may erase, nil where it works in a folder
	bare   bool          // plain files are slices of that device: it has no file system
	made   map[string]provision.Driver
}

// storages prepares drivers that work in a folder, or on the device of the run.
func (r *Ready) storages(dir string) *storages {
	s := &storages{run: r.world.Runner, ground: ground.Files{Dir: dir}, made: map[string]provision.Driver{}}
	if r.Device != "" {
		s.slices = &slice.Driver{Device: r.Device, Confirmed: r.Erase, InUse: r.host.InUse, Check: func(ctx context.Context, device string) ([]string, error) {
			return r.host.CarriesData(ctx, r.world.Runner, device)
		}}
		s.ground = &ground.Regions{Slices: s.slices, Dir: dir}
		s.bare = !layered(r.Experiment)
	}
	return s
}

// layered reports whether an experiment compares a bare disk with what is built on it: then a stack's file lies on a
// file system of that disk, and not on the bare disk itself.
func layered(e spec.Experiment) bool { return e.HostStorage == "device" }

// driver is the one for a stack's volume.
func (s *storages) driver(stack spec.Stack) provision.Driver {
	kind := stack.Storage
	if kind == "" {
		kind = "file"
	}
	key := kind + " " + stack.Format
	if s.made[key] == nil {
		s.made[key] = s.newDriver(kind, stack.Format)
	}
	return s.made[key]
}

func (s *storages) newDriver(kind, format string) provision.Driver {
	var file provision.Driver = raw.Driver{}
	if format == "qcow2" {
		file = qcow2.Driver{Run: s.run}
	}
	switch kind {
	case "device":
		return device.Driver{Ground: s.ground}
	case "lvm", "lvm-thin":
		return &lvm.Driver{Run: s.run, Ground: s.ground}
	case "zfs-file":
		return &zfs.File{Storage: zfs.Storage{Run: s.run, Ground: s.ground}, Image: file}
	case "zvol":
		return &zfs.Zvol{Storage: zfs.Storage{Run: s.run, Ground: s.ground}}
	}
	if s.bare && format != "qcow2" {
		return s.slices
	}
	return file
}

// close gives the device of a run, when it has one, free again.
func (s *storages) close() error {
	if s == nil || s.slices == nil {
		return nil
	}
	return s.slices.Close()
}

// onFilesystem reports whether a job's volume is a file of the run's folder.
func (s *storages) onFilesystem(j provision.Job) bool {
	stack := j.Request.Stack
	return stack.PlainFile() && (!s.bare || stack.Format == "qcow2")
}

// files is how many bytes the volumes take that are files.
func (s *storages) files(jobs []provision.Job) (total int64, err error) {
	for _, j := range jobs {
		if s.onFilesystem(j) {
			n, fault := j.Driver.Need(j.Request)
			total, err = total+n, errors.Join(err, fault)
		}
	}
	return total, err
}

// parts are the sizes of all devices that the volumes take from the ground, a file system of the run's own among them.
func (s *storages) parts(jobs []provision.Job) ([]int64, error) {
	var sizes []int64
	var faults errkind.List
	for _, j := range jobs {
		c, ok := j.Driver.(ground.Claimer)
		switch {
		case ok:
			n, err := c.Claims(j.Request)
			if err != nil {
				faults = append(faults, err)
			}
			sizes = append(sizes, n...)
		case !s.onFilesystem(j): // a slice
			sizes = append(sizes, j.Request.Size)
		}
	}
	files, err := s.files(jobs)
	if err != nil {
		faults = append(faults, err)
	}
	if files > 0 {
		sizes = append(sizes, filesystem.Size(files))
	}
	return sizes, faults.Err()
}

// settle makes a file system on the run's device where volumes are files, and gives every job its folder.
func (s *storages) settle(ctx context.Context, j *revert.Journal, dir string, jobs []provision.Job) error {
	files, err := s.files(jobs)
	if err != nil || s.slices == nil || files == 0 {
		return err
	}
	folder, err := filesystem.Make(ctx, s.run, j, s.ground, dir, files)
	if err != nil {
		return err
	}
	for i := range jobs {
		if s.onFilesystem(jobs[i]) {
			jobs[i].Request.Dir = folder
		}
	}
	return nil
}
