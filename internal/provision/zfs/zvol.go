package zfs

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
)

// Zvol makes volumes that are block devices of ZFS.
type Zvol struct{ Storage }

func (d *Zvol) storage() *Storage { return &d.Storage }

// space is reckoned with the smallest block, which takes the most.
func (*Zvol) space(r provision.Request) (int64, error) {
	return space(r.Size, or(r.Stack.VolBlockSize, oldVolBlock)), provision.CheckSize(r.Size)
}

// Need implements provision.Driver.
func (d *Zvol) Need(r provision.Request) (int64, error) {
	n, err := d.space(r)
	if err != nil {
		return 0, err
	}
	return d.need(r, n)
}

// Claims implements ground.Claimer.
func (d *Zvol) Claims(r provision.Request) ([]int64, error) {
	n, err := d.space(r)
	if err != nil {
		return nil, err
	}
	return d.claims(r, n)
}

// Create implements provision.Driver. A zvol has a whole number of blocks: where the size is none, the last one is cut
// short for the guest.
func (d *Zvol) Create(ctx context.Context, j *revert.Journal, r provision.Request) (provision.Volume, error) {
	n, err := d.space(r)
	if err != nil {
		return provision.Volume{}, err
	}
	m, err := d.place(ctx, j, r, n)
	if err == nil {
		_, err = d.run(ctx, zvolArgs(j.Run(), m.dataset, r)...)
		err = d.explain(ctx, m.dataset, err)
	}
	var device string
	if err == nil {
		device, err = here.find(ctx, m.dataset)
	}
	if err := d.keep(ctx, r.Stack.Name, m, err); err != nil {
		return provision.Volume{}, err
	}
	return provision.Volume{Stack: r.Stack.Name, Path: device, Format: "raw", Block: true, Size: r.Size, Serial: r.Serial}, nil
}

func extent(v provision.Volume) []provision.Extent {
	return []provision.Extent{{At: v.Offset, Length: v.Size}}
}

// Fill implements provision.Driver.
func (d *Zvol) Fill(ctx context.Context, v provision.Volume, c provision.Content, progress func(int64)) error {
	return provision.Write(ctx, v.Path, extent(v), c, progress)
}

// Verify implements provision.Driver. ZFS counts the bytes that were written, holes and the zeros that compression
// makes holes of not among them; zeros on a zvol without compression are looked for in samples.
func (d *Zvol) Verify(ctx context.Context, v provision.Volume) error {
	if err := d.written(ctx, v); err != nil {
		return err
	}
	return provision.NotZero(v.Path, extent(v))
}

// Report implements provision.Driver.
func (d *Zvol) Report(ctx context.Context, v provision.Volume) (provision.Report, error) {
	return d.report(ctx, v, "volblocksize")
}

// Destroy implements provision.Driver.
func (d *Zvol) Destroy(ctx context.Context, v provision.Volume) error {
	if err := d.destroy(ctx, v); err != nil {
		return fmt.Errorf("destroy the zvol of %s: %w", v.Stack, err)
	}
	return nil
}
