package html

import (
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// Strip charts are drawn for at most this many workloads, stacks and rounds: a run of ten thousand
// cells stays a page that opens at once. Every figure is in the tables all the same.
const (
	maxStrips = 12
	maxLanes  = 16
	maxDots   = 200
)

// sure is how far the run can be trusted.
type sure struct {
	Sentence string
	Floors   []floor
	Strips   []strip
	LeftOut  string
}

// floor is the noise floor of one workload.
type floor struct {
	Workload, Low, High, Detectable string
	Alarm                           bool
}

// Geometry of a strip chart, in pixels.
const (
	stripWidth = 520
	laneTop    = 8
	laneHeight = 30
	plotLeft   = 158
	plotRight  = 436
)

// strip is one workload: a lane per stack, a dot per round.
type strip struct {
	ID, Title, Summary    string
	Width, Height         int
	PlotTop, PlotBottom   int
	BandLeft, BandWidth   float64 // the noise floor; no width, no band
	One                   float64 // where 100 % is
	Ticks                 []tick
	Lanes                 []lane
	AxisLabel, AxisLabel2 int
}

// Plot is the height of the plotting area.
func (s strip) Plot() int { return s.PlotBottom - s.PlotTop }

// lane is one stack. Dots is the data of a path of points; Bar is its interval.
type lane struct {
	Name, Text, Class string
	Y                 int
	Dots              string
	Bar               *whisker
}

func sureOf(x index) sure {
	s := sure{Sentence: noiseSentence(x)}
	for _, w := range x.workloads {
		if b, ok := x.Noise.ByWorkload[w.Name]; ok {
			of := name(w)
			if w.Held() {
				of += " (latency)"
			}
			s.Floors = append(s.Floors, floor{of, change(b.Low), change(b.High), percent(b.Detectable), b.Alarm})
		}
	}
	lanes := laneStacks(x)
	drawn := lanes[:min(len(lanes), maxLanes)]
	ax := stripAxis(x, drawn)
	for i, w := range x.workloads {
		if i == maxStrips {
			break
		}
		s.Strips = append(s.Strips, stripOf(x, w, i, drawn, ax))
	}
	if len(lanes) > maxLanes || len(x.workloads) > maxStrips {
		s.LeftOut = "Drawn: " + strconv.Itoa(len(drawn)) + " of " + unit.Count(len(lanes), "stack") + " under " +
			strconv.Itoa(min(len(x.workloads), maxStrips)) + " of " + unit.Count(len(x.workloads), "workload") + ". The tables hold them all."
	}
	return s
}

func noiseSentence(x index) string {
	n := x.Noise
	if !n.Known() {
		return "This run has no control of two rounds or more: its noise floor is not known."
	}
	s := "The host was measured twice under two names, in every round. The two lie " + change(n.Low) + " to " + change(n.High) +
		" apart: nothing smaller than that is a difference. This run would have found a difference of " + percent(n.Detectable) +
		" four times in five."
	if x.Efficiency > 0 {
		s += " It spent " + percent(x.Efficiency) + " of its time inside windows."
	}
	return s
}

// laneStacks is the control first, as the measure of all others, then the stacks; the baseline is the axis.
func laneStacks(x index) []string {
	var out []string
	if len(x.workloads) > 0 {
		if _, ok := x.cell(spec.Control, x.workloads[0].Name); ok {
			out = append(out, spec.Control)
		}
	}
	for _, s := range x.stacks {
		if s != spec.Host && s != spec.Control {
			out = append(out, s)
		}
	}
	return out
}

func stripOf(x index, w spec.Workload, i int, stacks []string, ax axis) strip {
	s := strip{ID: "strip" + strconv.Itoa(i), Title: name(w), Width: stripWidth, PlotTop: laneTop}
	s.PlotBottom = laneTop + laneHeight*len(stacks)
	s.AxisLabel, s.AxisLabel2 = s.PlotBottom+16, s.PlotBottom+32
	s.Height = s.PlotBottom + 38
	cells := make([]analyse.Cell, len(stacks))
	for j, name := range stacks {
		cells[j] = x.cells[plan.Key{Stack: name, Workload: w.Name}]
	}
	rounds := roundsOf(cells)
	s.One = ax.at(1)
	if b, ok := x.Noise.ByWorkload[w.Name]; ok {
		if l, r := ax.at(b.Low), ax.at(b.High); finite(l) && finite(r) {
			s.BandLeft, s.BandWidth = l, math.Round(10*(r-l))/10
		}
	}
	s.Ticks = ax.changes(40)
	words := make([]string, len(stacks))
	for j, c := range cells {
		l := laneOf(c, w, stacks[j], laneTop+laneHeight*j, ax, rounds)
		if x.Best != nil && x.Best.Stack == stacks[j] {
			l.Class += " best"
		}
		s.Lanes = append(s.Lanes, l)
		words[j] = stacks[j] + " " + l.Text + ", " + unit.Count(len(c.Points), "round")
	}
	whose := "share of the host is"
	if w.Held() {
		whose = "latency is so many times the host\u2019s"
	}
	s.Summary = "Rounds around the estimate of each stack, whose " + whose + ": " + strings.Join(words, "; ") + "."
	return s
}

// stripAxis spans the points and intervals of every chart, each around its own estimate: all charts
// share it, so that a wide lane is wide anywhere.
func stripAxis(x index, stacks []string) axis {
	vs := []float64{1, 0.97, 1.03}
	for _, w := range x.workloads[:min(len(x.workloads), maxStrips)] {
		for _, stack := range stacks {
			c, _ := x.cell(stack, w.Name)
			e, ok := share(c, w)
			if !ok {
				continue
			}
			vs = append(vs, e.Low/e.Value, e.High/e.Value)
			for _, p := range c.Points {
				vs = append(vs, p.Ratio/e.Value)
			}
		}
	}
	return newAxis(vs, plotLeft, plotRight)
}

// roundSpan is the rounds of the cells of a chart, so that one height is one moment in every lane.
type roundSpan struct{ first, last int }

func roundsOf(cells []analyse.Cell) roundSpan {
	s, seen := roundSpan{}, false
	for _, c := range cells {
		for _, p := range c.Points {
			if !seen {
				s, seen = roundSpan{p.Round, p.Round}, true
			}
			s.first, s.last = min(s.first, p.Round), max(s.last, p.Round)
		}
	}
	return s
}

func laneOf(c analyse.Cell, w spec.Workload, stack string, top int, ax axis, rounds roundSpan) lane {
	l := lane{Name: shorten(stack, 24), Y: top + laneHeight/2, Text: none}
	if stack == spec.Control {
		l.Class = "control"
	}
	e, ok := share(c, w)
	switch {
	case ok:
		l.Text, l.Dots = shareText(e, c.Differs, w), dots(c.Points, e.Value, top, ax, rounds)
		l.Bar = ax.whisker(stat.Estimate{Value: 1, Low: e.Low / e.Value, High: e.High / e.Value})
	case c.Status != "" && c.Status != record.OK:
		l.Text = c.Status
	}
	return l
}

func shareText(e stat.Estimate, differs bool, w spec.Workload) string {
	value, _ := shareOf(e)
	switch {
	case !differs:
		return "~"
	case w.Held():
		value, _ = timesOf(e)
	}
	return value
}

// dots draws points as path data: zero-length strokes with round caps, the smallest form that SVG has.
func dots(points []analyse.Point, middle float64, top int, ax axis, rounds roundSpan) string {
	var b strings.Builder
	const margin = 5
	for i, p := range points {
		px := ax.at(p.Ratio / middle)
		if i >= maxDots || !finite(px) {
			continue
		}
		y := float64(top + laneHeight/2)
		if rounds.last > rounds.first {
			t := float64(p.Round-rounds.first) / float64(rounds.last-rounds.first)
			y = float64(top) + margin + t*(laneHeight-2*margin)
		}
		b.WriteString("M" + strconv.FormatFloat(px, 'f', -1, 64) + " " + strconv.FormatFloat(y, 'f', 1, 64) + "h0")
	}
	return b.String()
}

// shorten cuts a label that would run into the drawing; the whole name is in the tables.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "\u2026"
}
