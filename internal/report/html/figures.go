package html

import (
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// figure is every absolute figure of one workload.
type figure struct {
	Title   string
	Open    bool
	Columns []figureColumn
	Ticks   []tick // of the drawing of latencies; none when it is left out
	Rows    []figureRow
}

// Span is the number of columns after the first.
func (f figure) Span() int {
	if len(f.Ticks) > 0 {
		return len(f.Columns) + 1
	}
	return len(f.Columns)
}

// Latencies are drawn for at most this many cells, to keep the page small.
const maxDrawings = 1500

// Geometry of the drawing of latencies, in pixels.
const (
	drawWidth  = 250
	drawMargin = 20
)

// drawing is the latency of a cell from its median to its tail, on the axis of the workload.
type drawing struct{ P50, P99, P999 float64 }

// figureColumn has one unit for all its rows, and says which way is better.
type figureColumn struct{ Title, Unit, Better string }

type figureRow struct {
	Name   string
	Values []figureValue // one per column; nil for a cell without figures
	Reason string
	Draw   *drawing
}

type figureValue struct{ Text, Sub string }

// latencies are the latency columns, in the order of print.
var latencies = []struct{ metric, title string }{
	{record.ClatMean, "clat mean"}, {record.ClatP50, "clat p50"}, {record.ClatP99, "clat p99"}, {record.ClatP999, "clat p99.9"},
}

// syncs are those of a load that syncs: the time of its fdatasync is not in clat.
var syncs = []struct{ metric, title string }{{record.SyncMean, "fdatasync mean"}, {record.SyncP99, "fdatasync p99"}}

// latenciesOf adds to the usual columns those of syncs that some stack has.
func latenciesOf(x index, w spec.Workload) []struct{ metric, title string } {
	out := slices.Clone(latencies)
	for _, l := range syncs {
		if slices.ContainsFunc(x.stacks, func(stack string) bool {
			c, _ := x.cell(stack, w.Name)
			return c.Metrics[l.metric].Value > 0
		}) {
			out = append(out, l)
		}
	}
	return out
}

// derivedOf lists the derived metrics that some stack has under a workload; the share of RAM has a column of its own.
func derivedOf(x index, workload string) []string {
	return slices.DeleteFunc(slices.Clone(record.DerivedNames), func(m string) bool {
		return m == record.RAMShare || !slices.ContainsFunc(x.stacks, func(stack string) bool {
			c, _ := x.cell(stack, workload)
			_, has := c.Derived[m]
			return has && c.Status == record.OK
		})
	})
}

func derivedScale(x index, workload, metric string) unit.Scale {
	var es []stat.Estimate
	for _, stack := range x.stacks {
		if c, ok := x.cell(stack, workload); ok && c.Status == record.OK {
			if e, has := c.Derived[metric]; has {
				es = append(es, e)
			}
		}
	}
	return metrics.Scale(metric, es...)
}

func figuresOf(x index) []figure {
	out := make([]figure, len(x.workloads))
	for i, w := range x.workloads {
		out[i] = figureOf(x, w)
		out[i].Open = i == 0
	}
	return out
}

func figureOf(x index, w spec.Workload) figure {
	speed := w
	speed.RateShare = 0 // a held load has its latency in a column of its own, as any other
	head := analyse.Headline(speed)
	shown, scales := []string{head}, []unit.Scale{scaleFor(x, w.Name, head)}
	f := figure{Title: name(w), Columns: []figureColumn{{metricName(speed), unitName(scales[0]), "higher is better"}}}
	if w.Held() {
		f.Columns[0].Better = "held to a rate"
	}
	for _, l := range latenciesOf(x, w) {
		s := scaleFor(x, w.Name, l.metric)
		shown, scales = append(shown, l.metric), append(scales, s)
		f.Columns = append(f.Columns, figureColumn{l.title, unitName(s), "lower is better"})
	}
	derived := derivedOf(x, w.Name)
	for _, m := range derived {
		s := derivedScale(x, w.Name, m)
		shown, scales = append(shown, m), append(scales, s)
		f.Columns = append(f.Columns, metricColumn(analyse.Column{Metric: m}, unitOf(m, s)))
	}
	f.Columns = append(f.Columns, figureColumn{"from RAM", "share of bytes", ""}, figureColumn{"rounds", "counted", ""})
	draw := len(x.Cells) <= maxDrawings
	ax := latencyAxis(x, w.Name)
	if draw {
		f.Ticks = ax.latencies(44)
	}
	for _, stack := range x.stacks {
		c, ok := x.cell(stack, w.Name)
		if !ok {
			continue
		}
		row := figureRowOf(c, shown, scales)
		if draw && row.Reason == "" {
			row.Draw = ax.drawing(c)
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func latencyAxis(x index, workload string) axis {
	var vs []float64
	for _, stack := range x.stacks {
		if c, ok := x.cell(stack, workload); ok && c.Status == record.OK {
			vs = append(vs, c.Metrics[record.ClatP50].Value, c.Metrics[record.ClatP999].Value)
		}
	}
	return newAxis(vs, drawMargin, drawWidth-drawMargin)
}

// drawing places the percentiles of a cell; nil where one is missing.
func (a axis) drawing(c analyse.Cell) *drawing {
	d := drawing{a.at(c.Metrics[record.ClatP50].Value), a.at(c.Metrics[record.ClatP99].Value), a.at(c.Metrics[record.ClatP999].Value)}
	if !finite(d.P50) || !finite(d.P99) || !finite(d.P999) {
		return nil
	}
	return &d
}

func figureRowOf(c analyse.Cell, shown []string, scales []unit.Scale) figureRow {
	row := figureRow{Name: c.Stack}
	if c.Status != record.OK {
		row.Reason = c.Status
		if c.Reason != "" {
			row.Reason += ": " + c.Reason
		}
		return row
	}
	for i, m := range shown {
		e, ok := c.Metrics[m]
		if !ok {
			e, ok = c.Derived[m]
		}
		if !ok {
			row.Values = append(row.Values, figureValue{Text: none})
			continue
		}
		row.Values = append(row.Values, figureValue{scaled(scales[i], e.Value), scaledRange(scales[i], e)})
	}
	ram := none
	if c.RAMShare != nil {
		ram = percent(*c.RAMShare)
	}
	row.Values = append(row.Values, figureValue{Text: ram}, figureValue{Text: strconv.Itoa(c.Rounds)})
	return row
}

// scaleFor is the one scale of a column.
func scaleFor(x index, workload, metric string) unit.Scale {
	var vs []float64
	var es []stat.Estimate
	for _, stack := range x.stacks {
		if c, ok := x.cell(stack, workload); ok && c.Status == record.OK {
			e := c.Metrics[metric]
			vs, es = append(vs, e.Value), append(es, e)
		}
	}
	switch metric {
	case record.IOPS:
		return sharpen(unit.IOPSScale(vs...), es...)
	case record.Bandwidth:
		return sharpen(unit.BandwidthScale(vs...), es...)
	}
	return sharpen(unit.LatencyScale(vs...), es...)
}
