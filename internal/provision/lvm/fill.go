package lvm

import (
	"context"

	"github.com/iotax/iotax/internal/provision"
)

// Fill implements provision.Driver. What LVM added to the size so that it is whole extents is filled too, so that the
// volume counts as full. A volume with a snapshot gets it when it is filled, and is written once more if all of it is
// to be copied already.
func (d *Driver) Fill(ctx context.Context, made provision.Volume, c provision.Content, progress func(int64)) error {
	v, err := d.of(made)
	if err != nil {
		return err
	}
	passes := int64(1)
	if v.copied {
		passes = 2
	}
	told := int64(0)
	tell := func(pass, written int64) {
		whole := float64(passes * v.layout.volume)
		if now := int64(float64(made.Size) * (float64(pass*v.layout.volume+written) / whole)); now > told && progress != nil {
			told = now
			progress(now)
		}
	}
	for pass := range passes {
		err := provision.Write(ctx, made.Path, []provision.Extent{{At: 0, Length: v.layout.volume}}, c, func(n int64) { tell(pass, n) })
		if err != nil {
			return d.why(ctx, made, err)
		}
		if pass == 0 && v.snapshot != "" {
			if err := d.run(ctx, v, snapshotArgs(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// why explains a failed write: by what Health says, if it says anything.
func (d *Driver) why(ctx context.Context, made provision.Volume, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if worse := d.Health(ctx, made); worse != nil {
		return worse
	}
	return err
}

// Refresh implements provision.Refresher: a snapshot of which every block is to be copied at its first write is taken
// anew.
func (d *Driver) Refresh(ctx context.Context, made provision.Volume) error {
	v, err := d.of(made)
	if err != nil || v.snapshot == "" || v.copied {
		return err
	}
	there, err := d.look(ctx, v)
	if err != nil {
		return err
	}
	if there[v.snapshot].Tagged("lv_tags", v.tag) {
		if err := d.run(ctx, v, removeArgs(v, v.snapshot)); err != nil {
			return err
		}
	}
	return d.run(ctx, v, snapshotArgs(v))
}
