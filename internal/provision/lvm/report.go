package lvm

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/unit"
)

// Verify implements provision.Driver. A thick volume has its extents from the start; a thin one has a chunk when LVM
// counts it, and none is left out only at 100 %, to which LVM does not round up. That none reads as zeros is looked up
// in samples.
func (d *Driver) Verify(ctx context.Context, made provision.Volume) error {
	v, there, err := d.lookFor(ctx, made)
	if err != nil {
		return err
	}
	row := there[v.name]
	size, err := row.Int("lv_size")
	if err != nil {
		return err
	}
	if size < made.Size {
		return fmt.Errorf("%s has %d bytes, %d were asked for", made.Path, size, made.Size)
	}
	if v.pool == "" && !slices.Contains([]string{"linear", "striped"}, row["segtype"]) {
		return fmt.Errorf("%s is no thick volume: LVM calls it %q", made.Path, row["segtype"])
	}
	if v.pool != "" && !full(row, "data_percent") {
		return fmt.Errorf("%s is not filled: its thin pool holds %s %% of it", made.Path, row["data_percent"])
	}
	if err := healthy(v, there); err != nil {
		return err
	}
	return provision.NotZero(made.Path, []provision.Extent{{At: 0, Length: made.Size}})
}

// Unwritten implements provision.Mapper: by what LVM counts of a thin volume, and by samples of a thick one.
func (d *Driver) Unwritten(ctx context.Context, made provision.Volume) (float64, error) {
	v, err := d.of(made)
	if err != nil {
		return 0, err
	}
	if v.pool == "" {
		return provision.ZeroShare(made.Path, []provision.Extent{{At: 0, Length: made.Size}})
	}
	_, there, err := d.lookFor(ctx, made)
	if err != nil {
		return 0, err
	}
	used, err := there[v.name].Share("data_percent")
	return max(1-used, 0), err
}

// Resolve implements provision.Driver: device-mapper tells of every disk under the volume.
func (d *Driver) Resolve(_ context.Context, made provision.Volume) ([]string, error) {
	return []string{made.Path}, nil
}

// Report implements provision.Driver. The properties are fields of LVM (lvs -o help), those of the pool among them;
// snap_percent is how full a thick snapshot is.
func (d *Driver) Report(ctx context.Context, made provision.Volume) (provision.Report, error) {
	v, there, err := d.lookFor(ctx, made)
	if err != nil {
		return provision.Report{}, err
	}
	row := there[v.name]
	size, err := row.Int("lv_size")
	if err != nil {
		return provision.Report{}, err
	}
	found := map[string]string{}
	properties(found, row, "segtype", "stripes", "lv_size", "vg_extent_size", "lv_read_ahead", "lv_kernel_read_ahead", "pool_lv")
	if v.pool == "" {
		if snapshot := there[v.snapshot]; snapshot != nil {
			found["snap_percent"] = snapshot["data_percent"]
		}
		return provision.Report{RealSize: size + v.layout.snapshot, Properties: found}, nil
	}
	pool := there[v.pool]
	properties(found, pool, "chunk_size", "data_percent", "metadata_percent")
	found["zero"] = map[bool]string{true: "y", false: "n"}[pool["zero"] == "zero"]
	share, err := row.Share("data_percent")
	return provision.Report{RealSize: int64(share * float64(size)), Properties: found}, err
}

// properties writes fields of a report for a person.
func properties(into map[string]string, row lvm2.Row, fields ...string) {
	for _, field := range fields {
		value := row[field]
		sized := slices.Contains([]string{"lv_size", "vg_extent_size", "lv_read_ahead", "lv_kernel_read_ahead", "chunk_size"}, field)
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && sized {
			value = unit.ExactBytes(n)
		}
		into[field] = value
	}
}
