// Package reporttest holds results made by hand, for the golden tests of every renderer. The figures are invented.
package reporttest

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

var started = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

var workloads = []spec.Workload{
	{Name: "randread-4k-q1", Title: "4k rand read q1", RW: "randread", BS: 4096, IODepth: 1},
	{Name: "randread-4k-q32", Title: "4k rand read q32", RW: "randread", BS: 4096, IODepth: 32},
	{Name: "randwrite-4k-q1", Title: "4k rand write q1", RW: "randwrite", BS: 4096, IODepth: 1},
	{Name: "randwrite-4k-q32", Title: "4k rand write q32", RW: "randwrite", BS: 4096, IODepth: 32},
	{Name: "read-256k", Title: "256k seq read", RW: "read", BS: 256 << 10, IODepth: 8},
	{Name: "write-256k", Title: "256k seq write", RW: "write", BS: 256 << 10, IODepth: 8},
	{Name: "syncwrite-4k-q1", Title: "4k sync write q1", RW: "randwrite", BS: 4096, IODepth: 1, FDataSync: 1},
}

var stacks = []spec.Stack{
	{
		Name: "virtio-blk-iothread", Title: "virtio-blk + iothread",
		Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring", IOThread: true,
	},
	{Name: "virtio-blk", Title: "virtio-blk", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"},
	{
		Name: "proxmox-default", Title: "Proxmox default", Role: "proxmox",
		Format: "raw", Bus: "virtio-scsi-single", Cache: "none", AIO: "io_uring", IOThread: true,
	},
	{
		Name: "virt-manager-default", Title: "virt-manager default", Role: "virt-manager",
		Format: "qcow2", Bus: "virtio-blk", Cache: "writeback", AIO: "threads", Discard: "unmap",
	},
	{Name: "sata", Title: "SATA", Format: "raw", Bus: "sata", Cache: "none", AIO: "io_uring"},
	{Name: "unsafe", Title: "cache unsafe", Format: "raw", Bus: "virtio-blk", Cache: "unsafe", AIO: "threads"},
	{Name: "vhost", Title: "vhost-blk", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native"},
	{Name: "null-co", Title: "null-co (ceiling)", Role: "ceiling", Format: "null-co", Bus: "virtio-blk", Cache: "none", AIO: "threads", IOThread: true},
}

// base is what the host did, per workload: I/Os a second.
var base = []float64{19_100, 78_400, 17_250, 62_500, 8_200, 4_100, 2_100}

// shares of the host, per stack and workload; 0 makes no cell of its own.
var shares = map[string][]float64{
	spec.Control:           {1.004, 0.99, 1.01, 1.0, 0.995, 1.002, 1.01},
	"virtio-blk-iothread":  {0.22, 0.37, 0.24, 0.42, 0.91, 0.88, 0.88},
	"virtio-blk":           {0.21, 0.20, 0.22, 0.23, 0.85, 0.83, 0.87},
	"proxmox-default":      {0.20, 0.24, 0.21, 0.22, 0.84, 0.80, 0.85},
	"virt-manager-default": {0.24, 0.61, 0.23, 0.30, 0.999, 0.70, 0.86},
	"sata":                 {0.18, 0.10, 0.17, 0.15, 0.52, 0.0861, 0.84},
	"unsafe":               {0.23, 0.41, 0.25, 0.44, 0.93, 0.90, 11.5},
	"null-co":              {0.35, 0.66, 0.36, 0.71, 2.13, 4.02, 12.4},
}

// Default is a complete run under software emulation: every kind of cell, both usual defaults, a ceiling.
func Default() analyse.Result {
	r := analyse.Result{
		Run: run(),
		Experiment: spec.Experiment{
			Name: "quick", Title: "the usual stacks in four minutes", Size: 1 << 30,
			Stacks: slices.Clone(stacks), Workloads: slices.Clone(workloads),
		},
		StackOrder: []string{spec.Host},
		Efficiency: 0.912, TimedShare: 0.784,
		Noise: analyse.Noise{Low: 0.985, High: 1.02, Detectable: 0.031, ByWorkload: map[string]analyse.Band{}},
		Best: &analyse.Best{
			Stack: "virtio-blk-iothread", Ratio: stat.Estimate{Value: 0.49, Low: 0.47, High: 0.51},
			Workloads: names(), Tied: []string{"proxmox-default"},
		},
		Warnings: []string{"other I/O was seen on vda during 3 of 168 windows"},
	}
	for _, w := range workloads {
		r.Noise.ByWorkload[w.Name] = analyse.Band{Low: 0.98, High: 1.03, Detectable: 0.04}
	}
	for _, s := range stacks {
		r.StackOrder = append(r.StackOrder, s.Name)
	}
	r.StackOrder = append(r.StackOrder, spec.Control)
	for _, name := range r.StackOrder {
		for i := range workloads {
			r.Cells = append(r.Cells, cell(name, i))
		}
	}
	spoil(&r)
	r.Gains = gains()
	return r
}

// spoil gives single cells their warnings and the words why they have no number.
func spoil(r *analyse.Result) {
	cached := "97 % of these reads came from the host's RAM: this is not the disk"
	edit(r, "virt-manager-default", "randread-4k-q32", func(c *analyse.Cell) { withhold(c, cached, 0.97) })
	edit(r, "virt-manager-default", "read-256k", func(c *analyse.Cell) { withhold(c, cached, 0.99) })
	edit(r, "virt-manager-default", "randread-4k-q1", func(c *analyse.Cell) {
		share := 0.31
		c.RAMShare = &share
		c.Warnings = []string{"31 % of these reads came from the host's RAM, not from the disk"}
	})
	edit(r, "sata", "read-256k", func(c *analyse.Cell) {
		c.Status, c.Reason, c.Rounds = record.Failed, "fio: io_u error\non file /dev/sda: Input/output error", 0
		c.Metrics, c.Ratio, c.Points, c.Differs, c.RAMShare = nil, nil, nil, false, nil
	})
	edit(r, "virtio-blk", "syncwrite-4k-q1", func(c *analyse.Cell) {
		c.Warnings = []string{"the figure rose by 12 % over the rounds", "steal time of 4 % during the windows"}
	})
	edit(r, spec.Host, "syncwrite-4k-q1", func(c *analyse.Cell) { c.Warnings = []string{"the figure rose by 12 % over the rounds"} })
}

func withhold(c *analyse.Cell, reason string, ram float64) {
	c.Status, c.Reason, c.RAMShare, c.Differs = record.Withheld, reason, &ram, false
}

func edit(r *analyse.Result, stack, workload string, f func(*analyse.Cell)) {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Stack == stack && c.Workload == workload {
			f(c)
		}
	}
}

func gains() []analyse.Gain {
	est := func(v, low, high float64) *stat.Estimate { return &stat.Estimate{Value: v, Low: low, High: high} }
	return []analyse.Gain{
		{Over: "virt-manager-default", Role: "virt-manager", Overall: est(1.12, 1.08, 1.17), Differs: true, Workloads: []analyse.GainCell{
			{Workload: "randread-4k-q1", Ratio: est(0.92, 0.88, 0.96), Differs: true},
			{Workload: "randread-4k-q32", Reason: "withheld: 97 % of these reads came from the host's RAM: this is not the disk"},
			{Workload: "randwrite-4k-q1", Ratio: est(1.04, 0.98, 1.10)},
			{Workload: "randwrite-4k-q32", Ratio: est(1.40, 1.31, 1.50), Differs: true},
		}},
		{Over: "proxmox-default", Role: "proxmox", Overall: est(1.31, 1.26, 1.37), Differs: true, Workloads: []analyse.GainCell{
			{Workload: "randread-4k-q32", Ratio: est(1.54, 1.41, 1.69), Differs: true},
			{Workload: "randwrite-4k-q32", Ratio: est(1.91, 1.70, 2.15), Differs: true},
		}},
	}
}

// cell makes one plain cell; the stack "vhost" has none to offer.
func cell(stack string, i int) analyse.Cell {
	w := workloads[i]
	c := analyse.Cell{Stack: stack, Workload: w.Name, Status: record.OK, Rounds: 7, Durability: durability(stack)}
	if stack == "vhost" {
		c.Status, c.Rounds, c.Reason = record.Unavailable, 0, "this kernel has no vhost-blk"
		return c
	}
	share := 1.0
	if c.Baseline = stack == spec.Host; !c.Baseline {
		share = shares[stack][i]
		c.Ratio = map[string]stat.Estimate{}
	}
	c.Differs = math.Abs(share-1) > 0.03
	ram := 0.0
	c.RAMShare = &ram
	c.Metrics = map[string]stat.Estimate{}
	for name, v := range map[string]float64{
		record.IOPS: base[i] * share, record.Bandwidth: base[i] * share * float64(w.BS),
		record.ClatMean: 1e9 / (base[i] * share), record.ClatP99: 3e9 / (base[i] * share),
	} {
		c.Metrics[name] = around(math.Round(v))
		if c.Ratio == nil {
			continue
		}
		c.Ratio[name] = around(share)
		if !record.HigherIsBetter(name) {
			c.Ratio[name] = around(1 / share)
		}
	}
	headline := c.Metrics[analyse.Headline(w)].Value
	for round := range 2 {
		c.Points = append(c.Points, analyse.Point{Round: round + 1, Value: headline, Ratio: share})
	}
	return c
}

func around(v float64) stat.Estimate { return stat.Estimate{Value: v, Low: v * 0.96, High: v * 1.05} }

func durability(stack string) string {
	switch stack {
	case "virt-manager-default":
		return record.Volatile
	case "unsafe":
		return record.Unsafe
	case "vhost", "null-co":
		return record.Unknown
	}
	return record.Durable
}

func names() (out []string) {
	for _, w := range workloads {
		out = append(out, w.Name)
	}
	return out
}

// Only keeps the cells of some workloads, for a golden file that a person can still read.
func Only(r analyse.Result, workloads ...string) analyse.Result {
	gone := func(name string) bool { return !slices.Contains(workloads, name) }
	r.Cells = slices.DeleteFunc(r.Cells, func(c analyse.Cell) bool { return gone(c.Workload) })
	r.Experiment.Workloads = slices.DeleteFunc(slices.Clone(r.Experiment.Workloads), func(w spec.Workload) bool { return gone(w.Name) })
	maps.DeleteFunc(r.Noise.ByWorkload, func(name string, _ analyse.Band) bool { return gone(name) })
	return r
}
