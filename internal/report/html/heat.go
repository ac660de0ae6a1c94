package html

import (
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// heat is the table of stacks by workloads.
type heat struct {
	Columns []column
	Groups  []heatGroup
	Legend  []legendStep
	Notes   []string
}

// Span is the number of columns of the table.
func (h heat) Span() int { return len(h.Columns) + 2 }

// column heads one workload.
type column struct{ Title, Detail, Metric string }

// heatGroup is a body of rows under one heading; the heading may be empty.
type heatGroup struct {
	Heading string
	Rows    []heatRow
}

type heatRow struct {
	Name, Title string
	Badges      []string
	Best        bool
	Host        bool
	Cells       []heatCell
	Durability  durability
}

// heatCell is Class for its colour, Text for its figure, Sub for its interval.
type heatCell struct {
	Class, Text, Sub string
	Marks            []int
}

// durability is a class with a sign, so that colour is never the only one.
type durability struct{ Class, Sign, Text string }

type legendStep struct{ Class, Text string }

var durabilities = map[string]durability{
	record.Durable:  {"safe", "\u25cf", record.Durable},
	record.Volatile: {"volatile", "\u25d0", record.Volatile},
	record.Unsafe:   {"unsafe", "\u25cb", record.Unsafe},
	record.Unknown:  {"unknown", "?", record.Unknown},
}

func heatOf(x index, n *notes) heat {
	h := heat{Columns: columnsOf(x)}
	var host, stacks, control, beside, ceiling heatGroup
	beside.Heading = "On the host: no guest in front of the disk, to tell the layers under one apart. Never ranked."
	ceiling.Heading = "Ceiling: a disk of zero latency behind the same controller. Not a way to store anything, never ranked."
	control.Heading = "Control: the host once more, as if it were a stack. How far it is from 100" + thin + "% is the noise of this run."
	for _, s := range x.stacks {
		g := &stacks
		switch {
		case s == spec.Host:
			g = &host
		case s == spec.Control:
			g = &control
		case x.asked[s].OnHost():
			g = &beside
		case x.ceiling(s):
			g = &ceiling
		}
		g.Rows = append(g.Rows, heatRowOf(x, s, n))
	}
	for _, g := range []heatGroup{host, stacks, control, beside, ceiling} {
		if len(g.Rows) > 0 {
			h.Groups = append(h.Groups, g)
		}
	}
	h.Notes = n.texts
	for i := 0; i <= 10; i++ {
		text := ""
		if i%5 == 0 {
			text = percent(float64(i) / 10)
		}
		h.Legend = append(h.Legend, legendStep{heatClass(float64(i) / 10), text})
	}
	return h
}

func columnsOf(x index) []column {
	out := make([]column, len(x.workloads))
	for i, w := range x.workloads {
		title, detail, _ := strings.Cut(name(w), ", ")
		out[i] = column{title, detail, metricName(w)}
	}
	return out
}

// metricName is what the headline metric of a workload is called.
func metricName(w spec.Workload) string {
	switch analyse.Headline(w) {
	case record.Bandwidth:
		return "bandwidth"
	case record.ClatMean:
		return "latency, less is better"
	}
	return "IOPS"
}

// absolute prints the headline metric of the host with its unit, and its interval: "19.1k IOPS".
func absolute(e stat.Estimate, w spec.Workload) (value, interval string) {
	s, noun := unit.IOPSScale(e.Value), thin+"IOPS"
	switch analyse.Headline(w) {
	case record.Bandwidth:
		s, noun = unit.BandwidthScale(e.Value), ""
	case record.ClatMean:
		s = unit.LatencyScale(e.Value)
		s.Unit, noun = " "+unitName(s), ""
	}
	s = sharpen(s, e)
	return scaled(s, e.Value) + strings.Replace(s.Unit, " ", thin, 1) + noun, scaledRange(s, e)
}

func heatRowOf(x index, stack string, n *notes) heatRow {
	row := heatRow{Name: stack, Title: x.title(stack), Host: stack == spec.Host}
	if x.Best != nil {
		row.Best = stack == x.Best.Stack
	}
	if r := x.role(stack); r != "" && r != "ceiling" {
		row.Badges = append(row.Badges, roleName(r, r))
	}
	class := x.found[stack].Durability
	row.Cells = make([]heatCell, len(x.workloads))
	for i, w := range x.workloads {
		c, ok := x.cell(stack, w.Name)
		if !ok {
			row.Cells[i] = heatCell{Class: "none", Text: none}
			continue
		}
		if class == "" {
			class = c.Durability
		}
		row.Cells[i] = heatCellOf(c, w)
		row.Cells[i].Marks = n.mark(append([]string{c.Reason, heldWords(c, w)}, c.Warnings...)...)
	}
	row.Durability = durabilityOf(class)
	return row
}

func heatCellOf(c analyse.Cell, w spec.Workload) heatCell {
	switch {
	case c.Status == record.Unavailable:
		return heatCell{Class: "none", Text: "n/a"}
	case c.Status != record.OK:
		return heatCell{Class: "none", Text: c.Status}
	case c.Baseline:
		e, ok := c.Metrics[analyse.Headline(w)]
		if !ok {
			return heatCell{Class: "none", Text: none}
		}
		value, interval := absolute(e, w)
		return heatCell{Class: "base", Text: value, Sub: interval}
	}
	e, ok := share(c, w)
	if !ok {
		return heatCell{Class: "none", Text: none}
	}
	value, interval := shareOf(e)
	kept := e.Value
	if w.Held() { // a latency: twice the host's has the colour of half its speed
		value, interval = timesOf(e)
		kept = 1 / e.Value
	}
	if !c.Differs {
		return heatCell{Class: "tie", Text: "~", Sub: interval}
	}
	return heatCell{Class: heatClass(kept), Text: value, Sub: interval}
}

// heldWords say at the host's cell what a column is whose load is held to a rate; "" elsewhere.
func heldWords(c analyse.Cell, w spec.Workload) string {
	if !c.Baseline || c.Offered == 0 {
		return ""
	}
	return "Held to " + unit.IOPS(c.Offered) + thin + "IOPS for all, " + percent(w.RateShare) + " of what the slowest stack reached: " +
		"the column is the mean latency, as a multiple of the host\u2019s; less is better."
}

// heatClass is the step of the colour scale: h0 for nothing left, h10 for all of the host or more.
func heatClass(ratio float64) string {
	steps := [...]string{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10"}
	if !finite(ratio) {
		return "none"
	}
	return steps[int(min(max(ratio, 0), 1)*10+0.5)]
}

func durabilityOf(class string) durability {
	if d, ok := durabilities[class]; ok {
		return d
	}
	return durability{"unknown", "?", class}
}
