package html

import (
	"math"
	"strconv"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// barGroup is one workload, with a bar for each stack.
type barGroup struct {
	Title, Unit string
	Rows        []barRow
	Notes       []string
}

// barRow is one stack. Mark is nil where there is no figure.
type barRow struct {
	Name, Class, Text, Sub, Best string
	Mark                         *barMark
}

// barMark is a bar and its whisker, in pixels from the left.
type barMark struct {
	Value, Low, High float64
	Whisker          bool
}

// barWidth is the room of a bar, in pixels.
const barWidth = 220

// barsOf makes a group of each column.
func barsOf(x index, p analyse.Panel) []barGroup {
	out := make([]barGroup, len(p.Columns))
	for i, c := range p.Columns {
		one := analyse.Panel{Columns: p.Columns[i : i+1]}
		top := 0.0
		var all []stat.Estimate
		for _, r := range p.Rows {
			one.Rows = append(one.Rows, analyse.PanelRow{Stack: r.Stack, Values: r.Values[i : i+1]})
			if e := r.Values[i].Estimate; e != nil {
				all = append(all, *e)
				if finite(e.Value) {
					top = max(top, e.Value)
				}
				if e.Known() && finite(e.High) {
					top = max(top, min(e.High, 1.5*e.Value)) // a wide interval may not press all others flat
				}
			}
		}
		s := metrics.Scale(c.Metric, all...)
		g := barGroup{Title: x.workload(c.Workload), Unit: metrics.Title(c.Metric), Notes: reasons(one)}
		if u := unitOf(c.Metric, s); u != "" {
			g.Unit += ", " + u
		}
		if b := betterWords(c.Metric); b != "" {
			g.Unit += "; " + b
		}
		for _, r := range one.Rows {
			row := barRowOf(r.Values[0], s, top)
			row.Name, row.Class = r.Stack, colourClass(x.colour(r.Stack))
			g.Rows = append(g.Rows, row)
		}
		out[i] = g
	}
	return out
}

func barRowOf(v analyse.PanelValue, s unit.Scale, top float64) barRow {
	row := barRow{Text: noFigure(v)}
	e := v.Estimate
	if e == nil {
		return row
	}
	row.Text, row.Sub = scaled(s, e.Value), scaledRange(s, *e)
	if b := v.BestOfN; b != nil {
		row.Best = "best of " + strconv.Itoa(b.N) + ": " + scaled(s, b.Headline)
	}
	at := func(v float64) float64 { return math.Round(10*barWidth*min(max(v/top, 0), 1)) / 10 }
	if top > 0 && finite(e.Value) {
		row.Mark = &barMark{Value: at(e.Value)}
		if e.Known() && finite(e.Low) && finite(e.High) {
			row.Mark.Low, row.Mark.High, row.Mark.Whisker = at(e.Low), at(e.High), true
		}
	}
	return row
}
