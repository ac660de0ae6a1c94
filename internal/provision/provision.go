// Package provision makes scratch volumes, fills them, proves that they are filled, and destroys them.
//
// A volume is read before it is believed: blocks that were never written, or hold zeros, are answered from memory by
// file systems, image formats and disks alike. So each volume is filled with incompressible data and checked.
package provision

import (
	"context"

	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// Align is what sizes and offsets of volumes are multiples of, in bytes: O_DIRECT needs the disk's logical block.
const Align = 4096

// Request asks for a volume.
type Request struct {
	Dir    string     // scratch folder of the run (revert.Journal.Scratch); for drivers that make files
	Stack  spec.Stack // name, format and its options
	Size   int64      // bytes that the guest sees
	Serial string     // by which the guest tells its disks apart: at most 20 bytes, unique in the run
}

// Volume is a disk for one stack.
type Volume struct {
	Stack  string // name of the stack
	Path   string // file or block device on the host
	Format string // QEMU's name of the format: "raw" or "qcow2"
	Block  bool   // Path is a block device
	Offset int64  // bytes of Path before the volume
	Size   int64  // bytes that the guest sees
	Serial string

	Base     string // the image behind an overlay, "" for none
	Snapshot string // one of spec.Snapshots, "" for none
}

// Driver makes one kind of volume. Its methods are called one after another.
type Driver interface {
	// Need is how many bytes of its folder's file system a volume takes, at most. A fault of the request is the error.
	Need(r Request) (int64, error)
	// Create makes a volume that is not filled. What it makes is journalled first. When it fails, it leaves nothing.
	Create(ctx context.Context, j *revert.Journal, r Request) (Volume, error)
	// Fill writes the whole volume with content. progress, which may be nil, is given the bytes written so far, never
	// by two goroutines at once.
	Fill(ctx context.Context, v Volume, c Content, progress func(written int64)) error
	// Verify gives an error that says why unless every byte of the volume lies on the disk.
	Verify(ctx context.Context, v Volume) error
	// Resolve names the files or devices whose disks hold the volume: more than one for a pool of several.
	Resolve(ctx context.Context, v Volume) (paths []string, err error)
	// Report says what has become of the volume.
	Report(ctx context.Context, v Volume) (Report, error)
	// Destroy removes the volume. One that is gone already is no error.
	Destroy(ctx context.Context, v Volume) error
}

// Report is what the storage under a volume tells of it.
type Report struct {
	RealSize      int64             // bytes that it takes on the host
	CompressRatio *float64          // nil where the storage does not compress
	Properties    map[string]string // effective settings, named as the storage names them
}

// Refresher is a driver some of whose volumes change as they are written to, such as one with a snapshot: it brings
// them back into the state in which each window is to find them.
type Refresher interface {
	// Refresh does so while a guest has the volume open and idle. A volume that does not change is left alone.
	Refresh(ctx context.Context, v Volume) error
}

// Checker is a driver whose storage can run out of room under a volume that is in use, as a thin pool or a snapshot does.
type Checker interface {
	// Health says so in one line, and nil when nothing of the kind has happened.
	Health(ctx context.Context, v Volume) error
}

// Ground gives block devices to drivers that need some: parts of the disk on which a run measures.
type Ground interface {
	// Claim makes a block device of at least so many bytes, which is nobody else's until the run ends. name is unique
	// in the run. What it makes is journalled first.
	Claim(ctx context.Context, j *revert.Journal, name string, size int64) (device string, err error)
}
