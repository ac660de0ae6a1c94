package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/unit"
)

// chart is lines over iodepth.
type chart struct {
	ID, Title, Axis, Summary string
	Scale                    string // "linear" or "log"
	XTicks, YTicks           []tick // of an YTick, X is where it lies from the top
	Lines                    []chartLine
	Notes                    []string
	Grid                     grid
}

// chartLine is one stack, as path data. Key is its marker for the legend.
type chartLine struct {
	Name, Class, Line, Whiskers, Markers, Missing, Key string
	Absent                                             string // why it has no point at all, in a few words
}

// Geometry of a chart, in units of its view box.
const (
	chartLeft   = 52
	chartRight  = 470
	chartTop    = 10
	chartBottom = 240
	chartGone   = 249 // where points without a figure are marked, below the axis
)

// logFrom is the ratio of the largest to the smallest value from which a chart has a log scale; below it starts at 0.
const logFrom = 20

// plane places points.
type plane struct {
	x  axis
	up ruler
}

// planeOf spans the points and intervals of a panel. A ceiling far above all else would press the others flat: it is left out.
func (x index) planeOf(p analyse.Panel) plane {
	var depths, values []float64
	for _, c := range p.Columns {
		depths = append(depths, float64(c.IODepth))
	}
	above := x.above(p)
	for i, r := range p.Rows {
		if above[i] {
			continue
		}
		for _, v := range r.Values {
			if e := v.Estimate; e != nil && e.Value > 0 && finite(e.Value) {
				values = append(values, e.Value)
				if e.Known() && finite(e.High) && e.Low > 0 { // a wide interval leaves the drawing rather than press all others flat
					values = append(values, max(e.Low, e.Value/1.5), min(e.High, 1.5*e.Value))
				}
			}
		}
	}
	y := newAxis(values, 0, 1)
	up := ruler{low: y.low, high: y.high, from: chartBottom, to: chartTop}
	if up.isLog = y.high/y.low > logFrom; !up.isLog {
		up.low, up.high = 0, 1.04*y.high
	}
	return plane{x: newAxis(depths, chartLeft+12, chartRight-12), up: up}
}

// above tells of each row whether it is a ceiling of which a point lies far above all that other stacks have.
func (x index) above(p analyse.Panel) []bool {
	return x.farAbove(len(p.Rows), func(i int) (stack string, most float64) {
		for _, v := range p.Rows[i].Values {
			if v.Estimate != nil && finite(v.Estimate.Value) {
				most = max(most, v.Estimate.Value)
			}
		}
		return p.Rows[i].Stack, most
	})
}

// farAbove tells of each of n stacks whether it is a ceiling that lies so far above all that others have that it would press
// those flat.
func (x index) farAbove(n int, of func(i int) (stack string, most float64)) []bool {
	const far = 1.6
	others := 0.0
	for i := range n {
		if stack, most := of(i); !x.ceiling(stack) {
			others = max(others, most)
		}
	}
	out := make([]bool, n)
	for i := range n {
		stack, most := of(i)
		out[i] = x.ceiling(stack) && others > 0 && most > far*others
	}
	return out
}

func chartOf(x index, p analyse.Panel, id, title string) chart {
	if p.Title != "" {
		title += ": " + p.Title
	}
	c := chart{ID: id, Title: title, Scale: "linear", Notes: reasons(p), Grid: gridOf(p, depthColumn)}
	c.Grid.Notes = nil // the chart has them
	if len(p.Columns) == 0 {
		return c
	}
	metric := p.Columns[0].Metric
	pl := x.planeOf(p)
	if pl.up.isLog {
		c.Scale = "log"
	}
	scale := metrics.Scale(metric)
	switch pick := pl.up.high; metrics.Unit(metric) {
	case metrics.Unit(record.IOPS):
		scale = unit.IOPSScale(pick)
	case metrics.Unit(record.Bandwidth):
		scale = unit.BandwidthScale(pick)
	case metrics.Unit(record.ClatMean):
		scale = unit.LatencyScale(pick)
	}
	c.Axis = strings.TrimSuffix(metrics.Title(metric)+", "+unitOf(metric, scale), ", ")
	if b := betterWords(metric); b != "" {
		c.Axis += "; " + b
	}
	c.XTicks, c.YTicks = pl.depths(p.Columns), pl.ticks(scale)
	var words []string
	gone := make([]int, len(p.Columns))
	above := x.above(p)
	for i, r := range p.Rows {
		said := describeLine(r, p, scale)
		words = append(words, said)
		if above[i] {
			c.Notes = append(c.Notes, "not drawn, since it lies far above: the ceiling "+said)
			continue
		}
		c.Lines = append(c.Lines, lineOf(x, r, p, pl, gone))
	}
	c.Summary = c.Axis + ", over iodepth. " + strings.Join(words, "; ") + "."
	return c
}

// depths are the ticks of the iodepths, as many as have room.
func (p plane) depths(columns []analyse.Column) []tick {
	var out []tick
	for _, c := range columns {
		if at := p.x.at(float64(c.IODepth)); len(out) == 0 || at-out[len(out)-1].X >= 26 {
			out = append(out, tick{at, strconv.Itoa(c.IODepth)})
		}
	}
	return out
}

// ticks are round values from the bottom up; of a linear scale six steps at most.
func (p plane) ticks(s unit.Scale) []tick {
	const gap = 22
	if p.up.isLog {
		return p.up.ticks(s.Div, gap)
	}
	step := math.Pow(10, math.Floor(math.Log10(p.up.high/4)))
	for _, k := range []float64{1, 2, 5, 10} {
		if p.up.high/(k*step) <= 6 {
			step *= k
			break
		}
	}
	return p.up.multiples(step, s.Div, gap)
}

// lineOf draws a stack; gone counts by column the points without a figure, which stand side by side.
func lineOf(x index, r analyse.PanelRow, p analyse.Panel, pl plane, gone []int) chartLine {
	n := x.colour(r.Stack)
	l := chartLine{Name: r.Stack, Class: colourClass(n), Absent: "no figure", Key: marker(n, 17, 8)}
	var line, whiskers, markers, missing strings.Builder
	joined := false
	for i, v := range r.Values {
		at := pl.x.at(float64(p.Columns[i].IODepth))
		y := math.NaN()
		if v.Estimate != nil {
			y = pl.up.at(v.Estimate.Value)
		}
		if !finite(y) || !finite(at) {
			if joined = false; v.Status == record.Unavailable {
				l.Absent = "not available here"
			} else if finite(at) {
				fmt.Fprintf(&missing, "M%s %dl7 7m0-7l-7 7", number(at-3.5+8*float64(gone[i])), chartGone-3)
				gone[i]++
			}
			continue
		}
		l.Absent = ""
		verb := "M"
		if joined {
			verb = "L"
		}
		joined = true
		line.WriteString(verb + number(at) + " " + number(y))
		markers.WriteString(marker(n, at, y))
		if low, high := pl.up.at(v.Estimate.Low), pl.up.at(v.Estimate.High); v.Estimate.Known() && finite(low) && finite(high) {
			fmt.Fprintf(&whiskers, "M%s %sV%s", number(at), number(low), number(high))
		}
	}
	l.Line, l.Whiskers, l.Markers, l.Missing = line.String(), whiskers.String(), markers.String(), missing.String()
	return l
}

// marker is the path of the n-th shape around a point: no two of eight are alike.
func marker(n int, x, y float64) string {
	shapes := [colours]string{
		"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", // disc
		"m-3.2-3.2h6.4v6.4h-6.4z",                      // square
		"m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",            // diamond
		"m0-4.6l4.4 7.6h-8.8z",                         // triangle
		"m0 4.6l4.4-7.6h-8.8z",                         // triangle on its tip
		"m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",        // cross
		"m-4.6-2h9.2v4h-9.2z",                          // bar
		"m-4.6 0l7.6-4.4v8.8z",                         // triangle to the left
	}
	return "M" + number(x) + " " + number(y) + shapes[n%colours]
}

// describeLine tells a line to who cannot see it.
func describeLine(r analyse.PanelRow, p analyse.Panel, s unit.Scale) string {
	first, last := -1, -1
	for i, v := range r.Values {
		if v.Estimate != nil {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return r.Stack + " has no figure"
	}
	at := func(i int) string {
		return digits(r.Values[i].Estimate.Value/s.Div) + " at iodepth " + strconv.Itoa(p.Columns[i].IODepth)
	}
	if first == last {
		return r.Stack + " " + at(first)
	}
	return r.Stack + " from " + at(first) + " to " + at(last)
}

// digits prints a value in about three digits.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fixed(v, 0)
	case v >= 10:
		return fixed(v, 1)
	}
	return fixed(v, 2)
}

// number prints a coordinate.
func number(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }
