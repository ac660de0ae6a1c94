// Package slice gives volumes that are parts of a whole block device.
package slice

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/unit"
)

// Margin is how much of either end of the device is never written. Signatures of file systems and partition tables
// lie there: pseudo-random bytes cannot be taken for one, and the device is as empty to blkid after a run as before.
const Margin = 1 << 20

// Driver cuts a device into slices, one after another. What was on the device is lost, and no undo brings it back.
type Driver struct {
	Device string // "/dev/sdb"

	// Check gives every reason why the device must not be written to (hostenv's CarriesData). It is asked before the
	// first slice.
	Check func(ctx context.Context, device string) ([]string, error)

	// Confirmed says that a person named this device and said that its data may be lost: InUse alone is asked then.
	Confirmed bool

	// InUse gives every reason why the device is in use at this moment, which nobody can wave away (hostenv's InUse).
	InUse func(device string) ([]string, error)

	claim *os.File // holds the device from the first slice until Close
	next  int64    // bytes of the device that are given away, from the start
}

// Need implements provision.Driver: a slice takes nothing of a file system.
func (*Driver) Need(r provision.Request) (int64, error) { return 0, provision.CheckSize(r.Size) }

// Create implements provision.Driver. There is nothing to journal: nothing is made.
func (d *Driver) Create(ctx context.Context, _ *revert.Journal, r provision.Request) (provision.Volume, error) {
	if err := provision.CheckSize(r.Size); err != nil {
		return provision.Volume{}, err
	}
	at, err := d.Allot(ctx, r.Stack.Name, r.Size)
	if err != nil {
		return provision.Volume{}, err
	}
	return provision.Volume{
		Stack: r.Stack.Name, Path: d.Device, Format: "raw", Block: true, Offset: at, Size: r.Size, Serial: r.Serial,
	}, nil
}

// Allot claims the device and gives the next size bytes of it that are nobody's, from a multiple of Margin on. An error
// says whose they were to be.
func (d *Driver) Allot(ctx context.Context, whose string, size int64) (at int64, err error) {
	if err := d.take(ctx); err != nil {
		return 0, err
	}
	room, err := Size(d.Device)
	if err != nil {
		return 0, err
	}
	at = max(d.next, Margin)
	if left := room - Margin - at; size > left {
		return 0, errkind.WithHint(
			errkind.Userf("%s has %s left, the volume of %s needs %s", d.Device, unit.Bytes(max(left, 0)), whose, unit.Bytes(size)),
			"give a smaller size, fewer stacks or a larger device")
	}
	d.next = at + whole(size)
	return at, nil
}

// whole rounds a size up to what a slice of the device takes.
func whole(size int64) int64 { return (size + Margin - 1) / Margin * Margin }

// take asks once more whether the device may be written to, since hours may lie between the first look and this one
// (a run waits for another, and downloads its kernel), and claims it: until Close nobody can mount it, swap to it or
// make it a part of an array. QEMU and fio open it without a claim.
func (d *Driver) take(ctx context.Context) error {
	if d.claim != nil {
		return nil
	}
	reasons, err := d.reasons(ctx)
	if err != nil {
		return err
	}
	if len(reasons) > 0 {
		return errkind.Userf("%s is not written to: %s", d.Device, strings.Join(reasons, "; "))
	}
	f, err := os.OpenFile(d.Device, os.O_RDONLY|os.O_EXCL, 0)
	if errors.Is(err, unix.EBUSY) {
		return d.taken()
	}
	if err == nil {
		d.claim = f
	}
	return err
}

func (d *Driver) reasons(ctx context.Context) ([]string, error) {
	if d.Confirmed {
		return d.InUse(d.Device)
	}
	return d.Check(ctx, d.Device)
}

// Exchange replaces the claim on the whole device, which lets nobody claim a part of it, by a claim on one of its
// parts, which lets nobody claim the whole. claim makes the new one while nothing is claimed: it fails when somebody was
// quicker.
func (d *Driver) Exchange(claim func() (*os.File, error)) error {
	if err := d.Close(); err != nil {
		return err
	}
	f, err := claim()
	if errors.Is(err, unix.EBUSY) {
		return d.taken()
	}
	if err == nil {
		d.claim = f
	}
	return err
}

func (d *Driver) taken() error {
	return errkind.Userf("%s is not written to: something took it just now", d.Device)
}

// Close gives the device free again, at the end of the run.
func (d *Driver) Close() error {
	if d.claim == nil {
		return nil
	}
	err := d.claim.Close()
	d.claim = nil
	return err
}

// CheckSize refuses a device on which n slices of size bytes do not fit, before anything is written to it.
func CheckSize(device string, n int, size int64) error {
	return CheckSizes(device, slices.Repeat([]int64{size}, n))
}

// CheckSizes refuses a device on which slices of these sizes in bytes do not fit, before anything is written to it.
func CheckSizes(device string, sizes []int64) error {
	room, err := Size(device)
	if err != nil {
		return err
	}
	need := int64(2 * Margin)
	for _, size := range sizes {
		need += whole(size)
	}
	if need > room {
		return errkind.WithHint(errkind.Userf("%s has %s, %d volumes need %s", device, unit.Bytes(room), len(sizes), unit.Bytes(need)),
			"give a smaller size, fewer stacks or a larger device")
	}
	return nil
}

// Size is how many bytes a block device has.
func Size(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
		return 0, errkind.Userf("%s is not a block device", path)
	}
	return f.Seek(0, io.SeekEnd)
}

func extent(v provision.Volume) []provision.Extent {
	return []provision.Extent{{At: v.Offset, Length: v.Size}}
}

// Fill implements provision.Driver.
func (*Driver) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	return provision.Write(ctx, v.Path, extent(v), c, progress)
}

// Verify implements provision.Driver. A device does not tell which of its blocks were written: that none reads as
// zeros, as trimmed blocks do, is looked up in samples.
func (*Driver) Verify(_ context.Context, v provision.Volume) error {
	return provision.NotZero(v.Path, extent(v))
}

// Unwritten implements provision.Mapper, by the same samples.
func (*Driver) Unwritten(_ context.Context, v provision.Volume) (float64, error) {
	return provision.ZeroShare(v.Path, extent(v))
}

// Resolve implements provision.Driver.
func (*Driver) Resolve(_ context.Context, v provision.Volume) ([]string, error) {
	return []string{v.Path}, nil
}

// Report implements provision.Driver.
func (*Driver) Report(_ context.Context, v provision.Volume) (provision.Report, error) {
	return provision.Report{RealSize: v.Size}, nil
}

// Destroy implements provision.Driver. The device stays as it is: its old data is gone, and trimming it would change
// the state in which the next run finds it.
func (*Driver) Destroy(context.Context, provision.Volume) error { return nil }
