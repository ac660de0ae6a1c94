package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/lvm2"
)

// lv asks LVM for the volume with the number of a device. Its read-ahead is the kernel's.
func (s Source) lv(ctx context.Context, e entry, readAhead *int64) *audit.LV {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tool := lvm2.Tool{Udev: lvm2.UdevRuns()}
	ask := func(selection string) []lvm2.Row {
		rows, err := tool.Volumes(ctx, s.Run, selection,
			"vg_name", "lv_name", "lv_attr", "origin", "pool_lv", "chunk_size", "zero", "data_percent", "metadata_percent")
		if err != nil {
			return nil
		}
		return rows
	}
	rows := ask(fmt.Sprintf("lv_kernel_major=%d && lv_kernel_minor=%d", e.major, e.minor))
	if len(rows) == 0 {
		return nil
	}
	row := rows[0]
	v := &audit.LV{Group: row["vg_name"], Name: row["lv_name"], Thin: row["pool_lv"] != "", Pool: row["pool_lv"], ReadAhead: readAhead}
	if !v.Thin {
		v.Origin = row["origin"]
		for _, one := range ask(fmt.Sprintf(`vg_name=%q && origin=%q`, v.Group, v.Name)) {
			if strings.HasPrefix(lower(one["lv_attr"]), "s") { // a thick snapshot (lvs(8)): copies of other kinds have an origin too
				v.Snapshots = append(v.Snapshots, one["lv_name"])
			}
		}
		return v
	}
	if pools := ask(lvm2.Select(v.Group, v.Pool)); len(pools) > 0 {
		fillPool(v, pools[0])
	}
	return v
}

func lower(s string) string { return strings.ToLower(s) }

func fillPool(v *audit.LV, pool lvm2.Row) {
	if n, err := pool.Int("chunk_size"); err == nil {
		v.Chunk = n
	}
	if text, told := pool["zero"]; told && text != "unknown" {
		v.Zero = new(text == "zero" || text == "1")
	}
	if share, err := pool.Share("data_percent"); err == nil {
		v.Data = &share
	}
	if share, err := pool.Share("metadata_percent"); err == nil {
		v.Metadata = &share
	}
}
