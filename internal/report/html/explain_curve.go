package html

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// maxCurvePoints is how many points the curves of a page have together.
const maxCurvePoints = 700

// curvesView is the load curves, a chart for each load.
type curvesView struct {
	Limit   string // in words, "" when none was asked for
	Charts  []curveChart
	LeftOut string
}

// curveChart is IOPS against the 99th percentile of latency over iodepth, a line for each stack, under one load.
type curveChart struct {
	ID, Title, AxisX, AxisY, Summary string
	XTicks, YTicks                   []tick
	Limit                            *curveLimit
	Lines                            []curveLine
	Notes                            []string
	Figures                          curveFigures
}

// curveLine is one stack, as path data. Under is the most it does under the limit, in words.
type curveLine struct {
	Name, Class, Line, Band, Whiskers, Markers, Key, Under string
	Depths                                                 []label
	marks                                                  []curveMark
}

// curveLimit is a line across the drawing, with its word.
type curveLimit struct {
	Y    float64
	Word label
}

// curveMark is where a point of a line lies.
type curveMark struct {
	x, y        float64
	left, right float64 // the ends of its whisker
	depth       int
	joined      bool // to the one before it
}

// curveFigures is the table behind a drawing: a row for each point.
type curveFigures struct {
	Columns []figureColumn
	Rows    []curveRow
}

type curveRow struct {
	Name, Depth, Reason string
	IOPS, P99           figureValue
}

// curveScales are the units and the axes of a chart.
type curveScales struct {
	rate, time unit.Scale
	xs, ys     ruler
}

func curvesOf(x index, e *analyse.Explanation) *curvesView {
	var loads []string
	by := map[string][]analyse.Curve{}
	for _, c := range e.Curves {
		if by[c.Load] == nil {
			loads = append(loads, c.Load)
		}
		by[c.Load] = append(by[c.Load], c)
	}
	if len(loads) == 0 {
		return nil
	}
	v := &curvesView{}
	if l := e.Limit; l != nil {
		v.Limit = metrics.Title(l.Metric) + " at most " + latency(l.NS)
	}
	points := 0
	for i, load := range loads {
		for _, c := range by[load] {
			points += len(c.Points)
		}
		if points <= maxCurvePoints || i == 0 {
			v.Charts = append(v.Charts, curveChartOf(x, by[load], e.Limit, "curve"+strconv.Itoa(i), load))
		}
	}
	v.LeftOut = leftOut(x, len(loads), len(v.Charts), "load")
	return v
}

func curveChartOf(x index, curves []analyse.Curve, limit *analyse.Limit, id, load string) curveChart {
	drawn, notes := x.within(curves)
	line := 0.0 // the limit, where it is of what is drawn
	if limit != nil && limit.Metric == record.ClatP99 {
		line = limit.NS
	}
	s := curveScalesOf(curves, drawn, line)
	c := curveChart{
		ID: id, Title: load, AxisX: "IOPS, " + unitName(s.rate) + "; further right is better",
		AxisY:  "clat p99, " + unitName(s.time) + ", log scale; lower is better",
		XTicks: s.xs.ticks(s.rate.Div, 40), YTicks: s.ys.ticks(s.time.Div, 22), Notes: notes, Figures: curveFiguresOf(curves, s),
	}
	room := labels{inside: box{chartLeft, 0, 478, chartBottom}}
	var words []string
	for _, curve := range drawn {
		l := curveLineOf(x, curve, s)
		if c.Notes = append(c.Notes, curveReasons(curve)...); len(l.marks) == 0 {
			continue
		}
		for _, m := range l.marks {
			room.point(m.x, m.y)
		}
		l.strokes(&room)
		c.Lines = append(c.Lines, l)
		words = append(words, curveWords(curve, s))
	}
	if at := s.ys.at(line); line > 0 && finite(at) {
		c.Limit = limitLine(at, "limit "+latency(line), &room)
	}
	for i := range c.Lines {
		for _, m := range c.Lines[i].marks {
			if l, ok := room.beside(m.x, m.y, strconv.Itoa(m.depth), true); ok {
				c.Lines[i].Depths = append(c.Lines[i].Depths, l)
			}
		}
	}
	c.Summary = "99th percentile of latency against IOPS, over iodepth. " + strings.Join(words, "; ") + "."
	return c
}

// strokes keeps texts off the line and its whiskers.
func (l curveLine) strokes(room *labels) {
	for i, m := range l.marks {
		room.line(m.left, m.y, m.right, m.y)
		if m.joined {
			room.line(l.marks[i-1].x, l.marks[i-1].y, m.x, m.y)
		}
	}
}

// limitLine puts the word of the limit above or below its line, as far to the right as there is room.
func limitLine(y float64, word string, room *labels) *curveLimit {
	var places []label
	for x := float64(chartRight); x > chartLeft; x -= 10 {
		above, below := room.around(x, y-8, word, 0)[1], room.around(x, y+12, word, 0)[1]
		places = append(places, above, below)
	}
	room.line(chartLeft, y, chartRight, y)
	if l, ok := room.first(places, true); ok {
		return &curveLimit{y, l}
	}
	return &curveLimit{y, places[0]}
}

// curveReasons say why points have no figure: "raw (iodepth 1, 2), withheld: ...".
func curveReasons(c analyse.Curve) []string {
	var texts []string
	at := map[string][]string{}
	for _, p := range c.Points {
		if p.Reason == "" {
			continue
		}
		if at[p.Reason] == nil {
			texts = append(texts, p.Reason)
		}
		at[p.Reason] = append(at[p.Reason], strconv.Itoa(p.IODepth))
	}
	for i, text := range texts {
		name := c.Stack
		if n := len(at[text]); n < len(c.Points) {
			name += " (" + depthWord + strings.Join(at[text], ", ") + ")"
		}
		texts[i] = name + ", " + text
	}
	return texts
}

// within leaves out the curves of ceilings that lie far beyond all others.
func (x index) within(curves []analyse.Curve) (drawn []analyse.Curve, notes []string) {
	beyond := x.farAbove(len(curves), func(i int) (stack string, most float64) {
		for _, p := range curves[i].Points {
			if p.IOPS != nil && finite(p.IOPS.Value) {
				most = max(most, p.IOPS.Value)
			}
		}
		return curves[i].Stack, most
	})
	for i, c := range curves {
		if beyond[i] {
			notes = append(notes, "not drawn, since it lies far beyond: the ceiling "+c.Stack)
			continue
		}
		drawn = append(drawn, c)
	}
	return drawn, notes
}

// curveScalesOf spans the points that are drawn and the limit, 0 for none.
func curveScalesOf(all, drawn []analyse.Curve, limit float64) curveScales {
	var iops, p99 []stat.Estimate
	for _, c := range all {
		for _, p := range c.Points {
			if p.IOPS != nil && p.P99 != nil {
				iops, p99 = append(iops, *p.IOPS), append(p99, *p.P99)
			}
		}
	}
	s := curveScales{rate: countScale(iops...), time: timeScale(p99...)}
	var xs, ys []float64
	for _, c := range drawn {
		for _, p := range c.Points {
			if p.IOPS == nil || p.P99 == nil {
				continue
			}
			_, right := reach(*p.IOPS, p.IOPS.Value)
			low, high := reach(*p.P99, p.P99.Value)
			xs, ys = append(xs, p.IOPS.Value, right), append(ys, low, high, p.P99.Value/1.5, p.P99.Value*1.5) // room for a tick or two
		}
	}
	s.xs, s.ys = linear(chartLeft+4, chartRight-4, xs...), logarithmic(chartBottom, chartTop+8, append(ys, limit)...)
	s.xs.high *= 1.04
	return s
}

// curveLineOf draws a stack; its line breaks where a point has no figure.
func curveLineOf(x index, c analyse.Curve, s curveScales) curveLine {
	n := x.colour(c.Stack)
	l := curveLine{Name: c.Stack, Class: colourClass(n), Key: marker(n, 17, 8), Under: underWords(c.Under)}
	var line, whiskers, markers, band strings.Builder
	var upper, lower []string
	shade := func() {
		if len(upper) > 1 {
			band.WriteString("M" + strings.Join(upper, "L") + "L" + strings.Join(lower, "L") + "Z")
		}
		upper, lower = nil, nil
	}
	joined := 0
	for _, p := range c.Points {
		if p.IOPS == nil || p.P99 == nil {
			joined = 0
			shade()
			continue
		}
		at, y := s.xs.at(p.IOPS.Value), s.ys.at(p.P99.Value)
		if !finite(at) || !finite(y) {
			continue
		}
		l.marks = append(l.marks, curveMark{x: at, y: y, left: at, right: at, depth: p.IODepth, joined: joined > 0})
		line.WriteString(joint(joined) + number(at) + " " + number(y))
		joined++
		markers.WriteString(marker(n, at, y))
		if low, high := s.xs.at(p.IOPS.Low), s.xs.at(p.IOPS.High); p.IOPS.Known() && finite(low) && finite(high) {
			fmt.Fprintf(&whiskers, "M%s %sH%s", number(low), number(y), number(high))
			m := &l.marks[len(l.marks)-1]
			m.left, m.right = low, high
		}
		if low, high := s.ys.at(p.P99.Low), s.ys.at(p.P99.High); p.P99.Known() && finite(low) && finite(high) {
			fmt.Fprintf(&whiskers, "M%s %sV%s", number(at), number(low), number(high))
			upper = append(upper, number(at)+" "+number(high))
			lower = append([]string{number(at) + " " + number(low)}, lower...)
		} else {
			shade()
		}
	}
	shade()
	l.Line, l.Band, l.Whiskers, l.Markers = line.String(), band.String(), whiskers.String(), markers.String()
	return l
}

// latency prints a time with its unit on one line.
func latency(ns float64) string { return strings.ReplaceAll(micro(unit.Latency(ns)), " ", thin) }

// underWords is the most that a stack does under the limit, "" where none was asked for.
func underWords(u *analyse.CurveUnder) string {
	switch {
	case u == nil:
		return ""
	case u.IOPS == nil && u.Reason != "":
		return "none under the limit: " + microIn(u.Reason)
	case u.IOPS == nil:
		return "none under the limit"
	}
	s := countScale(*u.IOPS)
	words := scaled(s, u.IOPS.Value) + s.Unit + thin + "IOPS (" + unbroken(scaledRange(s, *u.IOPS)) + ") under the limit, at iodepth " + strconv.Itoa(u.IODepth)
	if u.Bound {
		words += ", the deepest that was measured: more may be possible"
	}
	return words
}

// curveWords tell a curve to who cannot see it.
func curveWords(c analyse.Curve, s curveScales) string {
	var at []string
	for _, p := range c.Points {
		if p.IOPS != nil && p.P99 != nil {
			at = append(at, fmt.Sprintf("%s%s IOPS and %s %s at iodepth %d", scaled(s.rate, p.IOPS.Value), s.rate.Unit, scaled(s.time, p.P99.Value), unitName(s.time), p.IODepth))
		}
	}
	if len(at) == 0 {
		return c.Stack + " has no figure"
	}
	if len(at) > 2 {
		at = []string{at[0], at[len(at)-1]}
	}
	return c.Stack + " " + strings.Join(at, " to ")
}

func curveFiguresOf(curves []analyse.Curve, s curveScales) curveFigures {
	f := curveFigures{Columns: []figureColumn{{"iodepth", "", ""}, {"IOPS", unitName(s.rate), "higher is better"}, {"clat p99", unitName(s.time), "lower is better"}}}
	for _, c := range curves {
		for _, p := range c.Points {
			row := curveRow{Name: c.Stack, Depth: strconv.Itoa(p.IODepth), Reason: p.Reason}
			if p.IOPS != nil {
				row.IOPS = figureValue{scaled(s.rate, p.IOPS.Value), scaledRange(s.rate, *p.IOPS)}
			}
			if p.P99 != nil {
				row.P99 = figureValue{scaled(s.time, p.P99.Value), scaledRange(s.time, *p.P99)}
			}
			if row.Reason == "" && p.IOPS == nil && p.P99 == nil {
				row.Reason = "no figure"
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}
