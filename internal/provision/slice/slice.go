// Package slice gives volumes that are parts of a whole block device.
package slice

import (
	"context"
	"errors"
	"io"
	"os"
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
	if err := d.take(ctx); err != nil {
		return provision.Volume{}, err
	}
	size, err := Size(d.Device)
	if err != nil {
		return provision.Volume{}, err
	}
	at := max(d.next, Margin)
	if room := size - Margin - at; r.Size > room {
		return provision.Volume{}, errkind.WithHint(
			errkind.Userf("%s has %s left, the volume of %s needs %s", d.Device, unit.Bytes(max(room, 0)), r.Stack.Name, unit.Bytes(r.Size)),
			"give a smaller size, fewer stacks or a larger device")
	}
	d.next = (at + r.Size + Margin - 1) / Margin * Margin
	return provision.Volume{
		Stack: r.Stack.Name, Path: d.Device, Format: "raw", Block: true, Offset: at, Size: r.Size, Serial: r.Serial,
	}, nil
}

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
		return errkind.Userf("%s is not written to: something took it just now", d.Device)
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
	room, err := Size(device)
	if err != nil {
		return err
	}
	each := (size + Margin - 1) / Margin * Margin
	if need := int64(n)*each + 2*Margin; need > room {
		return errkind.WithHint(errkind.Userf("%s has %s, %d volumes need %s", device, unit.Bytes(room), n, unit.Bytes(need)),
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
func (*Driver) Fill(ctx context.Context, v provision.Volume, seed uint64, progress func(int64)) error {
	return provision.Write(ctx, v.Path, extent(v), seed, progress)
}

// Verify implements provision.Driver. A device does not tell which of its blocks were written: that none reads as
// zeros, as trimmed blocks do, is looked up in samples.
func (*Driver) Verify(_ context.Context, v provision.Volume) error {
	return provision.NotZero(v.Path, extent(v))
}

// Resolve implements provision.Driver.
func (*Driver) Resolve(v provision.Volume) (string, error) { return v.Path, nil }

// RealSize implements provision.Driver.
func (*Driver) RealSize(v provision.Volume) (int64, error) { return v.Size, nil }

// Destroy implements provision.Driver. The device stays as it is: its old data is gone, and trimming it would change
// the state in which the next run finds it.
func (*Driver) Destroy(context.Context, provision.Volume) error { return nil }
