package html

import "github.com/iotax/iotax/internal/stat"

// gainView is what the best stack gives over one usual default.
type gainView struct {
	Title, Overall string
	Ticks          []tick
	Rows           []gainRow
}

// gainRow is one workload of it. Mark is nil where there is no ratio.
type gainRow struct {
	Workload, Text, Range string
	Mark                  *whisker
}

// Geometry of the drawing of a gain, in pixels.
const (
	gainWidth  = 190
	gainMargin = 22
)

func gainsOf(x index) []gainView {
	var out []gainView
	if x.Best == nil {
		return nil
	}
	ax := gainAxis(x)
	for _, g := range x.Gains {
		if g.Over == x.Best.Stack {
			continue
		}
		v := gainView{Title: x.Best.Stack + " instead of " + roleName(g.Role, g.Over), Ticks: ax.changes(44)}
		if g.Overall != nil {
			value, interval := gainText(*g.Overall, g.Differs)
			v.Overall = value + " over all workloads (" + interval + ")"
		}
		for _, c := range g.Workloads {
			row := gainRow{Workload: x.workload(c.Workload), Text: none, Range: c.Reason}
			if c.Ratio != nil {
				row.Text, row.Range = gainText(*c.Ratio, c.Differs)
				row.Mark = ax.whisker(*c.Ratio)
			}
			v.Rows = append(v.Rows, row)
		}
		out = append(out, v)
	}
	return out
}

// gainText prints a gain and its interval, "~" for one that is none.
func gainText(e stat.Estimate, differs bool) (value, interval string) {
	value, interval = changeOf(e)
	if !differs {
		value = "~"
	}
	return value, interval
}

// gainAxis spans every interval that will be drawn, so that all gains are drawn alike.
func gainAxis(x index) axis {
	vs := []float64{1}
	for _, g := range x.Gains {
		for _, c := range g.Workloads {
			if c.Ratio != nil {
				vs = append(vs, c.Ratio.Low, c.Ratio.High)
			}
		}
	}
	return newAxis(vs, gainMargin, gainWidth-gainMargin)
}
