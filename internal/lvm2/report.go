package lvm2

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/sys"
)

// Row is one line of a report: values by the names of LVM's fields (lvs -o help), sizes in bytes.
type Row map[string]string

// Volumes reports logical volumes that a selection (lvmreport(7)) picks: "vg_name=vg0". One that picks none is no
// error.
func (t Tool) Volumes(ctx context.Context, run sys.Runner, selection string, fields ...string) ([]Row, error) {
	return t.report(ctx, run, "lvs", "lv", selection, fields)
}

// Groups reports volume groups that a selection picks, all for "".
func (t Tool) Groups(ctx context.Context, run sys.Runner, selection string, fields ...string) ([]Row, error) {
	return t.report(ctx, run, "vgs", "vg", selection, fields)
}

func (t Tool) report(ctx context.Context, run sys.Runner, command, section, selection string, fields []string) ([]Row, error) {
	args := []string{"--reportformat", "json", "--units", "b", "--nosuffix", "--options", strings.Join(fields, ",")}
	if selection != "" {
		args = append(args, "--select", selection)
	}
	out, err := t.Run(ctx, run, command, args...)
	if err != nil {
		return nil, err
	}
	return Parse(out, section)
}

// Parse reads a report in LVM's JSON: the rows of one section, "lv" or "vg".
func Parse(text []byte, section string) ([]Row, error) {
	var document struct {
		Report []map[string]json.RawMessage `json:"report"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("report of LVM: %w", err)
	}
	var rows []Row
	found := false
	for _, part := range document.Report {
		list, ok := part[section]
		if !ok {
			continue
		}
		found = true
		var some []Row
		if err := json.Unmarshal(list, &some); err != nil {
			return nil, fmt.Errorf("report of LVM, %q: %w", section, err)
		}
		rows = append(rows, some...)
	}
	if !found {
		return nil, fmt.Errorf("report of LVM: it has no section %q", section)
	}
	return rows, nil
}

// Int reads a whole number that is not negative, such as a size in bytes.
func (r Row) Int(field string) (int64, error) {
	n, err := strconv.ParseInt(r[field], 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("report of LVM: %s=%q, expected a number", field, r[field])
	}
	return n, nil
}

// Share reads a percentage as a share of 1.
func (r Row) Share(field string) (float64, error) {
	n, err := strconv.ParseFloat(r[field], 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 100 {
		return 0, fmt.Errorf("report of LVM: %s=%q, expected a percentage", field, r[field])
	}
	return n / 100, nil
}

// Tagged reports whether a comma-separated list of tags, in a field, has this one.
func (r Row) Tagged(field, tag string) bool {
	for t := range strings.SplitSeq(r[field], ",") {
		if t == tag {
			return true
		}
	}
	return false
}

// Select is the selection of one logical volume.
func Select(group, volume string) string {
	return fmt.Sprintf(`vg_name="%s" && lv_name="%s"`, group, volume)
}

// SelectGroup is the selection of one volume group, or of the volumes in it.
func SelectGroup(group string) string { return fmt.Sprintf(`vg_name="%s"`, group) }
