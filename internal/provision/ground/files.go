package ground

import (
	"context"
	"errors"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// Files makes loop devices on files of a folder. They do direct I/O: what is written to one is not kept a second time
// in the host's memory, and what is read from it comes from the disk.
type Files struct {
	Dir string // scratch folder of the run
}

// String says what the devices are.
func (Files) String() string { return "loop device with direct I/O on a file" }

// Need is how many bytes of the folder's file system a device takes.
func (Files) Need(size int64) int64 { return whole(size) }

// Claim implements provision.Ground. The file is <folder>/<name>.img, its blocks reserved at once.
func (g Files) Claim(_ context.Context, j *revert.Journal, name string, size int64) (device string, err error) {
	path, err := provision.NewPath(provision.Request{Dir: g.Dir, Stack: spec.Stack{Name: name}}, "img")
	if err != nil {
		return "", err
	}
	if _, err := j.Add(revert.Remove(path)); err != nil {
		return "", err
	}
	if err := provision.MakeFile(path, whole(size), true); err != nil {
		return "", errors.Join(provision.Full(err, path), provision.RemoveFile(path))
	}
	device, err = bind(j, path)
	if err != nil {
		err = errors.Join(err, provision.RemoveFile(path))
	}
	return device, err
}
