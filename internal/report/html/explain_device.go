package html

import (
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// maxDevice is how many rows of what reaches the device a page holds.
const maxDevice = 600

// amplifications are what reaches the device for what the load asks, in their order of print.
var amplifications = []string{record.DeviceReadRatio, record.DeviceWriteRatio, record.DeviceRequestRatio, record.FlushRatio}

// deviceView is what reaches the device, a group for each workload.
type deviceView struct {
	Groups  []deviceGroup
	LeftOut string
}

// deviceGroup is what reaches the device under one workload.
type deviceGroup struct {
	Title string
	Open  bool
	Grid  grid
}

// deviceOf has a group for each workload under which something was counted; the first of those with most kinds is open, and on top.
func deviceOf(x index) *deviceView {
	v := &deviceView{}
	open, rows, all := 0, 0, 0
	for _, w := range x.workloads {
		g := deviceGrid(x, w)
		if len(g.Columns) == 0 {
			continue
		}
		if all++; rows+len(g.Rows) > maxDevice {
			continue
		}
		rows += len(g.Rows)
		v.Groups = append(v.Groups, deviceGroup{Title: name(w), Grid: g})
		if len(g.Columns) > len(v.Groups[open].Grid.Columns) {
			open = len(v.Groups) - 1
		}
	}
	if len(v.Groups) == 0 {
		return nil
	}
	first := v.Groups[open]
	first.Open = true
	v.Groups = slices.Insert(slices.Delete(v.Groups, open, open+1), 0, first)
	v.LeftOut = leftOut(x, all, len(v.Groups), "workload")
	return v
}

func deviceGrid(x index, w spec.Workload) grid {
	g := grid{Title: "at the device, " + name(w)}
	var cells []analyse.Cell
	for _, stack := range x.stacks {
		c, ok := x.cell(stack, w.Name)
		if ok && slices.ContainsFunc(amplifications, func(m string) bool { _, has := c.Derived[m]; return has }) {
			cells = append(cells, c)
			g.Rows = append(g.Rows, figureRow{Name: stack})
			if c.Status != record.OK { // what was counted stands, and a reader must know what it was counted with
				g.Rows[len(g.Rows)-1].Name += " (" + c.Status + ")"
				g.Notes = append(g.Notes, stack+", "+c.Status+": "+c.Reason)
			}
		}
	}
	for _, m := range amplifications {
		var es []stat.Estimate
		for _, c := range cells {
			if e, has := c.Derived[m]; has {
				es = append(es, e)
			}
		}
		if len(es) == 0 {
			continue
		}
		s := metrics.Scale(m, es...)
		g.Columns = append(g.Columns, figureColumn{Title: metrics.Title(m), Better: betterWords(m)})
		for i, c := range cells {
			v := figureValue{Text: none}
			if e, has := c.Derived[m]; has {
				v = figureValue{scaled(s, e.Value), scaledRange(s, e)}
			}
			g.Rows[i].Values = append(g.Rows[i].Values, v)
		}
	}
	return g
}
