package reporttest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// diskLoads are the four loads of LocalDisks; top is what the host reaches at depth.
var diskLoads = []struct {
	spec.Workload
	top, half float64 // half of the top is reached at this iodepth
}{
	{spec.Workload{Name: "read-256k", Title: "256 KiB sequential read", RW: "read", BS: 256 << 10}, 520e6, 0.6},
	{spec.Workload{Name: "write-256k", Title: "256 KiB sequential write", RW: "write", BS: 256 << 10}, 480e6, 0.5},
	{spec.Workload{Name: "randread-4k", Title: "4 KiB random read", RW: "randread", BS: 4096}, 92_000, 8},
	{spec.Workload{Name: "randwrite-4k", Title: "4 KiB random write", RW: "randwrite", BS: 4096}, 61_000, 3},
}

var diskStacks = []spec.Stack{
	{Name: "passthrough", Title: "whole disk", Format: "raw", Storage: "device", Bus: "virtio-blk", Cache: "none", AIO: "native"},
	{Name: "lvm", Title: "LVM volume", Format: "raw", Storage: "lvm", Bus: "virtio-blk", Cache: "none", AIO: "native"},
	{Name: "raw", Title: "raw file", Format: "raw", Storage: "file", Bus: "virtio-blk", Cache: "writeback", AIO: "threads"},
	{Name: "null-co", Title: "no disk at all", Role: "ceiling", Format: "null-co", Bus: "virtio-blk", Cache: "none", AIO: "threads"},
}

// Why there is no LVM, and what would give it.
const (
	noLVM   = "there is no volume group with 1.0 GiB free"
	mendLVM = "vgcreate iotax /dev/disk/by-id/..."
)

// diskShares are what a stack keeps of the host at low depth, and what its guest cannot go beyond (I/Os a second).
var diskShares = map[string]struct{ share, limit float64 }{
	spec.Host: {1, math.Inf(1)}, spec.Control: {1.003, math.Inf(1)}, "passthrough": {0.93, 35_000}, "raw": {0.81, 33_000}, "null-co": {4, 36_000},
}

// LocalDisks is a run of four stacks under four loads over the given iodepths: a figure of lines for each, with
// points that came from RAM and a stack that is not to be had, and a verdict of each kind.
func LocalDisks(depths ...int) analyse.Result {
	r := analyse.Result{
		Run: run(),
		Experiment: spec.Experiment{
			Name: "local-disks", Title: "Host against three stacks, over queue depth", Size: 1 << 30, Stacks: slices.Clone(diskStacks),
			Scale: "small", Note: "disks of 1 GiB in place of 64 GiB, windows of 2 s in place of a minute",
		},
		StackOrder: []string{spec.Host, "passthrough", "lvm", "raw", "null-co", spec.Control},
		Efficiency: 0.88, TimedShare: 0.8,
		Noise: analyse.Noise{Low: 0.98, High: 1.02, Detectable: 0.04, ByWorkload: map[string]analyse.Band{}},
	}
	r.Run.Preset, r.Run.Stacks = "local-disks", diskFound()
	for _, l := range diskLoads {
		for _, depth := range depths {
			w := l.Workload
			w.Name, w.Title, w.IODepth = fmt.Sprintf("%s-q%d", w.Name, depth), fmt.Sprintf("%s, iodepth %d", w.Title, depth), depth
			r.Experiment.Workloads = append(r.Experiment.Workloads, w)
			r.Noise.ByWorkload[w.Name] = analyse.Band{Low: 0.98, High: 1.02, Detectable: 0.03}
		}
	}
	for _, s := range r.StackOrder {
		for i, w := range r.Experiment.Workloads {
			r.Cells = append(r.Cells, diskCell(s, w, diskLoads[i/len(depths)].top, diskLoads[i/len(depths)].half))
		}
	}
	for i, l := range diskLoads {
		load := r.Experiment.Workloads[i*len(depths) : (i+1)*len(depths)]
		r.Figures = append(r.Figures, lines(r, l.Title, load, ""))
	}
	load := r.Experiment.Workloads[2*len(depths) : 3*len(depths)]
	r.Figures = append(r.Figures, lines(r, "4 KiB random read: mean completion latency", load, record.ClatMean))
	r.Verdicts = diskVerdicts()
	return r
}

func diskFound() []record.Stack {
	out := []record.Stack{{Name: spec.Host, Title: "the host itself", Durability: record.Durable}}
	for _, s := range diskStacks {
		f := record.Stack{
			Name: s.Name, Title: s.Title, Durability: record.Durable, Effective: map[string]string{"aio": s.AIO, "cache": s.Cache},
			Volume: &record.Volume{Path: "/var/tmp/iotax/" + s.Name, Devices: []string{"vda"}, RealSize: 1 << 30},
		}
		switch s.Name {
		case "lvm":
			f.Unavailable, f.Mend, f.Durability, f.Volume = noLVM, mendLVM, record.Unknown, nil
		case "null-co":
			f.Durability, f.Role, f.Volume = record.Unknown, "ceiling", nil
		}
		out = append(out, f)
	}
	return out
}

func diskCell(stack string, w spec.Workload, top, half float64) analyse.Cell {
	c := analyse.Cell{Stack: stack, Workload: w.Name, Baseline: stack == spec.Host, Status: record.OK, Rounds: 7, Durability: record.Durable}
	if stack == "lvm" {
		c.Status, c.Rounds, c.Durability, c.Reason = record.Unavailable, 0, record.Unknown, noLVM
		return c
	}
	depth, s := float64(w.IODepth), diskShares[stack]
	host := top * depth / (depth + half)
	headline := analyse.Headline(w)
	bytes := 1.0
	if headline == record.Bandwidth {
		bytes = float64(w.BS)
	}
	value := min(host*s.share, s.limit*bytes)
	ram := 0.004
	c.RAMShare = &ram
	if stack == "raw" && w.RW != "randwrite" && w.RW != "write" && w.IODepth < 16 {
		withhold(&c, "97 % of these reads came from the host's RAM: this is not the disk", 0.97)
		c.Derived = map[string]stat.Estimate{record.RAMShare: {Value: 0.97, Low: 0.96, High: 0.98}}
		return c
	}
	wide := 0.02 + 0.03/math.Sqrt(depth)
	around := func(v float64) stat.Estimate {
		return stat.Estimate{Value: v, Low: v / (1 + wide), High: v * (1 + wide)}
	}
	iops := value / bytes * 1
	if headline == record.Bandwidth {
		iops = value / float64(w.BS)
	}
	c.Metrics = map[string]stat.Estimate{
		record.IOPS: around(iops), record.Bandwidth: around(iops * float64(w.BS)),
		record.ClatMean: around(math.Round(depth * 1e9 / iops)), record.ClatP99: around(math.Round(3 * depth * 1e9 / iops)),
	}
	c.Derived = map[string]stat.Estimate{record.RAMShare: {Value: ram, Low: 0.001, High: 0.007}, record.HostCPU: {Value: 0.8, Low: 0.7, High: 0.9}}
	c.BestOfN = &analyse.BestOfN{N: 7, Headline: value * 1.04, ClatMean: math.Round(depth * 0.96e9 / iops)}
	if !c.Baseline {
		c.Ratio = map[string]stat.Estimate{headline: around(value / host), record.ClatMean: around(host / value)}
		c.Differs = math.Abs(value/host-1) > wide
	}
	for round := range 2 {
		c.Points = append(c.Points, analyse.Point{Round: round + 1, Value: value, Ratio: value / host})
	}
	return c
}

// lines is a figure of all stacks but the control under one load.
func lines(r analyse.Result, title string, load []spec.Workload, metric string) analyse.Figure {
	p := analyse.Panel{}
	for _, w := range load {
		m := metric
		if m == "" {
			m = analyse.Headline(w)
		}
		p.Columns = append(p.Columns, analyse.Column{Name: w.Name, Workload: w.Name, Metric: m, IODepth: w.IODepth})
	}
	p.Rows = rows(r, p.Columns)
	return analyse.Figure{Title: title, Kind: spec.Lines, Panels: []analyse.Panel{p}}
}

// rows are the values of all stacks but the control, as the analysis would put them.
func rows(r analyse.Result, columns []analyse.Column) []analyse.PanelRow {
	var out []analyse.PanelRow
	for _, s := range r.StackOrder {
		if s == spec.Control {
			continue
		}
		row := analyse.PanelRow{Stack: s}
		for _, column := range columns {
			i := slices.IndexFunc(r.Cells, func(c analyse.Cell) bool { return c.Stack == s && c.Workload == column.Workload })
			c := r.Cells[i]
			v := analyse.PanelValue{Status: c.Status, Reason: c.Reason}
			if c.Status == record.Unavailable {
				v.Reason += "; to have it: " + mendLVM
			}
			if e, ok := c.Derived[column.Metric]; ok {
				v = analyse.PanelValue{Status: record.OK, Estimate: &e}
			} else if e, ok := c.Metrics[column.Metric]; ok {
				v = analyse.PanelValue{Status: record.OK, Estimate: &e}
				if column.Metric == record.IOPS || column.Metric == record.Bandwidth {
					v.BestOfN = c.BestOfN
				}
			}
			row.Values = append(row.Values, v)
		}
		out = append(out, row)
	}
	return out
}

func diskVerdicts() []analyse.Verdict {
	est := func(v, low, high float64) *stat.Estimate { return &stat.Estimate{Value: v, Low: low, High: high} }
	return []analyse.Verdict{
		{
			Statement: "Random reads stop at about the same rate in every guest, whatever the disk",
			Verdict:   analyse.Holds, Effect: est(0.96, 0.91, 1.01), Above: 0.8, Below: 1.25,
			Answer: "It is the ceiling of the platform: a disk of zero latency on the same path does no more.",
		},
		{
			Statement: "Random reads reach a third of the host's in every guest",
			Verdict:   analyse.DoesNotHold, Effect: est(0.46, 0.44, 0.49), Above: 0.28, Below: 0.4,
		},
		{
			Statement: "A raw file writes faster than the whole disk",
			Verdict:   analyse.CannotTell, Effect: est(1.02, 0.93, 1.12), Above: 1,
			Reason: "the interval reaches over 1: about 60 more rounds would tell, if the effect stays where it is",
		},
		{
			Statement: "Sequential reads of the raw file come from the host's RAM",
			Verdict:   analyse.Holds, Metric: record.RAMShare, Effect: est(0.97, 0.96, 0.98), Above: 0.5,
			Answer: "These figures were RAM and not the disk.",
		},
		{
			Statement: "LVM keeps half of the host's sequential reads",
			Verdict:   analyse.CannotTell, Above: 0.4, Below: 0.6,
			Reason: "lvm is unavailable here: " + noLVM + "; to have it: " + mendLVM,
		},
		{
			Statement: "A random read takes the whole disk less than a millisecond at the 99th percentile",
			Verdict:   analyse.Holds, Metric: record.ClatP99, Effect: est(824_000, 790_000, 860_000), Below: 1e6,
		},
	}
}

// Published is a short run with a figure of each kind: LocalDisks at two depths and the Bill.
func Published() analyse.Result {
	r := LocalDisks(1, 32)
	r.Run.Ended = started.Add(time.Hour)
	keep := []string{"read-256k-q32", "randread-4k-q1", "randread-4k-q32", "randwrite-4k-q32"}
	r.Figures = slices.DeleteFunc(r.Figures, func(f analyse.Figure) bool { return f.Title != "4 KiB random read" })
	r = Only(r, keep...)
	bars := analyse.Panel{}
	for _, w := range r.Experiment.Workloads {
		bars.Columns = append(bars.Columns, analyse.Column{Name: w.Name, Workload: w.Name, Metric: analyse.Headline(w), IODepth: w.IODepth})
	}
	bars.Rows = rows(r, bars.Columns)
	table := analyse.Panel{}
	for _, m := range []string{record.IOPS, record.Bandwidth, record.ClatP99, record.HostCPU, record.RAMShare} {
		table.Columns = append(table.Columns, analyse.Column{Name: m, Workload: "randread-4k-q1", Metric: m, IODepth: 1})
	}
	table.Rows = rows(r, table.Columns)
	r.Figures = append(r.Figures,
		analyse.Figure{Title: "Every load", Kind: spec.Bars, Panels: []analyse.Panel{bars}},
		analyse.Figure{Title: "4 KiB random read, one at a time", Kind: spec.Table, Panels: []analyse.Panel{table}},
		settings(r), Bill())
	return r
}

func settings(r analyse.Result) analyse.Figure {
	p := analyse.Panel{Columns: []analyse.Column{{Name: "cache"}, {Name: "aio"}, {Name: "write cache"}}}
	for _, s := range r.Run.Stacks {
		row := analyse.PanelRow{Stack: s.Name}
		for _, c := range p.Columns {
			v := analyse.PanelValue{Status: record.OK, Text: s.Effective[c.Name]}
			if s.Unavailable != "" {
				v = analyse.PanelValue{Status: record.Unavailable, Reason: s.Unavailable + "; to have it: " + s.Mend}
			}
			row.Values = append(row.Values, v)
		}
		p.Rows = append(p.Rows, row)
	}
	return analyse.Figure{Title: "What was really in force", Kind: spec.Settings, Panels: []analyse.Panel{p}}
}
