package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// Fronts are drawn for as many workloads as have maxFrontPoints stacks together, the first openFronts of them unfolded.
const (
	maxFrontPoints = 150
	openFronts     = 2
)

// frontsView is IOPS against cores under each workload, those with most I/Os in flight first.
type frontsView struct {
	Drawn, Folded []frontChart
	LeftOut       string
}

// frontChart is a scatter of stacks.
type frontChart struct {
	ID, Title, AxisX, AxisY, Summary string
	XTicks, YTicks                   []tick
	Line                             string // joins the stacks of the front
	Points                           []frontPoint
	Unlabelled                       []frontPoint // named below, for want of room
	Grid                             grid
}

// frontPoint is one stack, with its marker as path data.
type frontPoint struct {
	Name, Class, Marker, Whiskers, Key string
	Beaten                             bool
	Label                              *label
}

// plot is the stacks of a workload that have both figures, those of the front first.
type plot struct {
	prices []analyse.Price
	front  int // how many of them are on the front
}

func frontsOf(x index, e *analyse.Explanation) frontsView {
	prices := make(map[plan.Key]analyse.Price, len(e.Prices))
	for _, p := range e.Prices {
		if !p.Held {
			prices[plan.Key{Stack: p.Stack, Workload: p.Workload}] = p
		}
	}
	fronts := byWorkload(x, "", e.Fronts, func(f analyse.Front) string { return f.Workload })
	slices.SortStableFunc(fronts, func(a, b analyse.Front) int { return x.inFlight(b.Workload) - x.inFlight(a.Workload) })
	var v frontsView
	points, all := 0, 0
	for _, f := range fronts {
		p := plotOf(f, prices)
		if len(p.prices) == 0 {
			continue
		}
		all++
		if points += len(p.prices); points > maxFrontPoints && all > 1 {
			continue
		}
		c := frontChartOf(x, p, "front"+strconv.Itoa(all), x.workload(f.Workload))
		if len(v.Drawn) < openFronts {
			v.Drawn = append(v.Drawn, c)
		} else {
			v.Folded = append(v.Folded, c)
		}
	}
	v.LeftOut = leftOut(x, all, len(v.Drawn)+len(v.Folded), "workload")
	return v
}

func plotOf(f analyse.Front, prices map[plan.Key]analyse.Price) plot {
	var p plot
	for i, stack := range slices.Concat(f.Stacks, f.Beaten) {
		price, ok := prices[plan.Key{Stack: stack, Workload: f.Workload}]
		if !ok || !finite(price.IOPS.Value) || !finite(price.Cores.Value) {
			continue
		}
		p.prices = append(p.prices, price)
		if i < len(f.Stacks) {
			p.front++
		}
	}
	return p
}

// inFlight is how many I/Os a workload keeps in flight.
func (x index) inFlight(workload string) int {
	for _, w := range x.workloads {
		if w.Name == workload {
			return w.InFlight()
		}
	}
	return 0
}

func frontChartOf(x index, p plot, id, title string) frontChart {
	var iops, cores []stat.Estimate
	for _, price := range p.prices {
		iops, cores = append(iops, price.IOPS), append(cores, price.Cores)
	}
	rate, count := countScale(iops...), countScale(cores...)
	c := frontChart{
		ID: id, Title: title, AxisX: "CPU cores busy on the host; fewer is better",
		AxisY: "IOPS, " + unitName(rate) + "; higher is better", Grid: frontGrid(p, rate, count),
	}
	xs, ys := spread(cores, chartLeft+12, chartRight-12), spread(iops, chartBottom, chartTop)
	c.XTicks, c.YTicks = xs.ticks(1, 36), ys.ticks(rate.Div, 32)
	var words []string
	room := labels{inside: box{chartLeft + 2, chartTop - 8, 478, chartBottom - 2}}
	for i, price := range p.prices {
		point := pointOf(x, price, xs, ys, &room)
		point.Beaten = i >= p.front
		c.Points = append(c.Points, point)
		words = append(words, fmt.Sprintf("%s %s IOPS with %s cores", price.Stack, scaled(rate, price.IOPS.Value)+rate.Unit, scaled(count, price.Cores.Value)))
	}
	c.Line = frontLine(x, p.prices[:p.front], xs, ys, &room)
	x.nameAll(&c, p, xs, ys, &room)
	c.Summary = "IOPS against busy cores of the host. On the front: " + strings.Join(words[:p.front], "; ") + ". " + beatenWords(words[p.front:])
	return c
}

// nameAll writes the names beside the points: first those that have room right there, then those that need a line.
func (x index) nameAll(c *frontChart, p plot, xs, ys ruler, room *labels) {
	try := func(find func(x, y float64, text string) (label, bool)) {
		for i, price := range p.prices {
			if c.Points[i].Label != nil {
				continue
			}
			if l, ok := find(xs.at(price.Cores.Value), ys.at(price.IOPS.Value), x.durabilitySign(price.Stack)+price.Stack); ok {
				c.Points[i].Label = &l
			}
		}
	}
	try(func(x, y float64, text string) (label, bool) { return room.beside(x, y, text, true) })
	try(room.apart)
	try(func(x, y float64, text string) (label, bool) { return room.beside(x, y, text, false) })
	for _, point := range c.Points {
		if point.Label == nil {
			c.Unlabelled = append(c.Unlabelled, point)
		}
	}
}

// frontLine joins the stacks of a front, which come by falling IOPS, in each class of durability by itself: classes are not
// ranked together. One that lies behind the line within its interval is not joined.
func frontLine(x index, prices []analyse.Price, xs, ys ruler, room *labels) string {
	var line strings.Builder
	var classes []string
	for _, p := range prices {
		classes = append(classes, cmp.Or(x.found[p.Stack].Durability, record.Unknown))
	}
	for _, class := range unique(classes) {
		joined, least := 0, math.Inf(1)
		var lastX, lastY float64
		for i, p := range prices {
			if classes[i] != class || p.Cores.Value >= least {
				continue
			}
			least = p.Cores.Value
			at, y := xs.at(p.Cores.Value), ys.at(p.IOPS.Value)
			line.WriteString(joint(joined) + number(at) + " " + number(y))
			if joined++; joined > 1 {
				room.line(lastX, lastY, at, y)
			}
			lastX, lastY = at, y
		}
	}
	return line.String()
}

// durabilitySign marks a stack that is not durable.
func (x index) durabilitySign(stack string) string {
	switch class := x.found[stack].Durability; class {
	case record.Volatile, record.Unsafe:
		return durabilityOf(class).Sign + " "
	}
	return ""
}

// joint is the verb of path data: to the first point it moves, to the others it draws.
func joint(i int) string {
	if i == 0 {
		return "M"
	}
	return "L"
}

func beatenWords(words []string) string {
	if len(words) == 0 {
		return "No stack is beaten in both."
	}
	return "Beaten in both: " + strings.Join(words, "; ") + "."
}

// spread is an axis over estimates: linear from 0, log where they span decades.
func spread(es []stat.Estimate, from, to float64) ruler {
	var values, ends []float64
	low, high := 0.0, 0.0
	for _, e := range es {
		if e.Value > 0 && (low == 0 || e.Value < low) {
			low = e.Value
		}
		high = max(high, e.Value)
		values = append(values, e.Value)
	}
	for _, e := range es {
		down, up := reach(e, 0.5*high)
		ends = append(ends, up, max(down, e.Value/2))
	}
	if low > 0 && high/low > logFrom {
		return logarithmic(from, to, append(values, ends...)...)
	}
	r := linear(from, to, append(values, ends...)...)
	r.high *= 1.04
	return r
}

// pointOf draws a stack and keeps its place and its whiskers from the labels.
func pointOf(x index, p analyse.Price, xs, ys ruler, room *labels) frontPoint {
	n := x.colour(p.Stack)
	at, y := xs.at(p.Cores.Value), ys.at(p.IOPS.Value)
	out := frontPoint{Name: p.Stack, Class: colourClass(n), Marker: marker(n, at, y), Key: marker(n, 8, 8)}
	room.point(at, y)
	var w strings.Builder
	if low, high := xs.at(p.Cores.Low), xs.at(p.Cores.High); p.Cores.Known() && finite(low) && finite(high) {
		fmt.Fprintf(&w, "M%s %sH%s", number(low), number(y), number(high))
		room.line(low, y, high, y)
	}
	if low, high := ys.at(p.IOPS.Low), ys.at(p.IOPS.High); p.IOPS.Known() && finite(low) && finite(high) {
		fmt.Fprintf(&w, "M%s %sV%s", number(at), number(low), number(high))
		room.line(at, high, at, low)
	}
	out.Whiskers = w.String()
	return out
}

func frontGrid(p plot, rate, count unit.Scale) grid {
	g := grid{Title: "IOPS and cores", Columns: []figureColumn{
		{"IOPS", unitName(rate), "higher is better"}, {"cores", "busy", "lower is better"}, {Title: "on the front"},
	}}
	for i, price := range p.prices {
		where := "yes"
		if i >= p.front {
			where = "beaten in both"
		}
		g.Rows = append(g.Rows, figureRow{Name: price.Stack, Values: []figureValue{
			{scaled(rate, price.IOPS.Value), scaledRange(rate, price.IOPS)}, {scaled(count, price.Cores.Value), scaledRange(count, price.Cores)}, {Text: where},
		}})
	}
	return g
}
