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
}

// Driver makes one kind of volume. Its methods are called one after another.
type Driver interface {
	// Need is how many bytes of its folder's file system a volume takes, at most. A fault of the request is the error.
	Need(r Request) (int64, error)
	// Create makes a volume that is not filled. What it makes is journalled first. When it fails, it leaves nothing.
	Create(ctx context.Context, j *revert.Journal, r Request) (Volume, error)
	// Fill writes the whole volume with data that depends on seed. progress, which may be nil, is given the bytes
	// written so far, never by two goroutines at once.
	Fill(ctx context.Context, v Volume, seed uint64, progress func(written int64)) error
	// Verify gives an error that says why unless every byte of the volume lies on the disk.
	Verify(ctx context.Context, v Volume) error
	// Resolve names the file or device whose disks hold the volume.
	Resolve(v Volume) (path string, err error)
	// RealSize is how many bytes the volume takes on the host.
	RealSize(v Volume) (int64, error)
	// Destroy removes the volume. One that is gone already is no error.
	Destroy(ctx context.Context, v Volume) error
}
