package lvm

import (
	"context"
	"fmt"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/unit"
)

// fields are what is asked of LVM about the volumes of a group: all at once, since each of its commands takes a while.
var fields = []string{
	"lv_name", "lv_tags", "lv_size", "segtype", "stripes", "vg_extent_size", "lv_read_ahead", "lv_kernel_read_ahead",
	"pool_lv", "chunk_size", "zero", "data_percent", "metadata_percent", "lv_health_status", "lv_snapshot_invalid",
}

// look reports the logical volumes of a volume's group, by name.
func (d *Driver) look(ctx context.Context, v *volume) (map[string]lvm2.Row, error) {
	rows, err := v.Volumes(ctx, d.Run, lvm2.SelectGroup(v.group), fields...)
	there := map[string]lvm2.Row{}
	for _, row := range rows {
		there[row["lv_name"]] = row
	}
	return there, err
}

// lookFor is look for something that is expected to be there.
func (d *Driver) lookFor(ctx context.Context, made provision.Volume) (*volume, map[string]lvm2.Row, error) {
	v, err := d.of(made)
	if err != nil {
		return nil, nil, err
	}
	there, err := d.look(ctx, v)
	if err == nil && there[v.name] == nil {
		err = fmt.Errorf("logical volume %s/%s is gone", v.group, v.name)
	}
	return v, there, err
}

// Health gives one clear line when what lies under the volume has run out of room while it was used: a snapshot that
// overflowed, a thin pool that is full or damaged. What was measured meanwhile is not what was meant.
func (d *Driver) Health(ctx context.Context, made provision.Volume) error {
	v, there, err := d.lookFor(ctx, made)
	if err != nil {
		return err
	}
	return healthy(v, there)
}

// healthy judges a report of the volume's group.
func healthy(v *volume, there map[string]lvm2.Row) error {
	if state := there[v.name]["lv_health_status"]; state != "" {
		return errkind.Userf("logical volume %s/%s has failed: LVM calls it %q", v.group, v.name, state)
	}
	if v.pool != "" {
		return poolHealthy(v, there[v.pool])
	}
	snapshot := there[v.snapshot]
	if snapshot["lv_snapshot_invalid"] != "snapshot invalid" && !full(snapshot, "data_percent") {
		return nil
	}
	size, _ := snapshot.Int("lv_size") // only told
	return errkind.WithHint(
		errkind.Userf("snapshot %s/%s has overflowed: its room for copies, %s, is used up", v.group, v.snapshot, unit.Bytes(size)),
		"LVM has dropped it, and writes are not copied any more")
}

func poolHealthy(v *volume, pool lvm2.Row) error {
	state := pool["lv_health_status"]
	if state == "" && !full(pool, "data_percent") && !full(pool, "metadata_percent") {
		return nil
	}
	what := fmt.Sprintf("thin pool %s/%s is full", v.group, v.pool)
	if state != "" && state != "out_of_data" {
		what = fmt.Sprintf("thin pool %s/%s has failed: LVM calls it %q", v.group, v.pool, state)
	}
	return errkind.WithHint(errkind.Userf("%s: %s %% of its data and %s %% of its metadata are used", what, pool["data_percent"], pool["metadata_percent"]),
		"give it more room with lvextend, or remove what is not needed")
}

func full(row lvm2.Row, field string) bool {
	used, err := row.Share(field)
	return err == nil && used >= 1
}
