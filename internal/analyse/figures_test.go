package analyse

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// overDepth is a run of two loads under three iodepths each.
func overDepth() *synthetic {
	s := newRun()
	s.exp.Workloads = nil
	for _, rw := range []string{"randread", "randwrite"} {
		for _, depth := range []int{32, 1, 4} {
			s.exp.Workloads = append(s.exp.Workloads, spec.Workload{
				Name: fmt.Sprintf("%s-q%d", rw, depth), Title: fmt.Sprintf("4 KiB %s, iodepth %d", rw, depth), RW: rw, BS: 4096, IODepth: depth,
			})
		}
	}
	return s.measured(5)
}

func TestLinesFigure(t *testing.T) {
	s := overDepth()
	fromRAM("virt", "randread-q4", 0.97)(s)
	s.exp.Figures = []spec.Figure{
		{Title: "both", Kind: spec.Lines, Stacks: []string{"host", "virt"}},
		{Title: "latency of reads", Kind: spec.Lines, Metric: record.ClatMean, Workloads: []string{"randread*"}},
	}
	figures := s.analyse().Figures
	both := figures[0]
	if len(both.Panels) != 2 || both.Panels[0].Title != "4 KiB randread" || both.Panels[1].Title != "4 KiB randwrite" {
		t.Fatalf("panels %+v", both.Panels)
	}
	p := both.Panels[0]
	var depths []int
	for _, c := range p.Columns {
		depths = append(depths, c.IODepth)
		if c.Metric != record.IOPS || c.Workload != fmt.Sprintf("randread-q%d", c.IODepth) {
			t.Errorf("column %+v", c)
		}
	}
	if d := cmp.Diff([]int{1, 4, 32}, depths); d != "" {
		t.Errorf("depths: %s", d)
	}
	if len(p.Rows) != 2 || p.Rows[0].Stack != spec.Host || p.Rows[1].Stack != "virt" {
		t.Fatalf("rows %+v", p.Rows)
	}
	if v := p.Rows[1].Values[1]; v.Estimate != nil || v.Status != record.Withheld || !strings.Contains(v.Reason, "RAM") {
		t.Errorf("a point from RAM is %+v", v)
	}
	if v := p.Rows[1].Values[0]; v.Estimate == nil || !v.Estimate.Known() || v.Status != record.OK || v.BestOfN != nil {
		t.Errorf("a point is %+v", v)
	}
	latency := figures[1]
	if len(latency.Panels) != 1 || latency.Panels[0].Title != "" || len(latency.Panels[0].Rows) != 6 {
		t.Errorf("one load of all stacks and the host is %+v", latency.Panels)
	}
	if v := latency.Panels[0].Rows[0].Values[0]; v.BestOfN != nil || v.Estimate == nil {
		t.Errorf("a latency is %+v", v)
	}
}

// The best of the rounds is given where a figure asks for it, in the figure's own unit.
func TestBestAs(t *testing.T) {
	c := &cell{workload: spec.Workload{RW: "randread", BS: 4096}}
	c.BestOfN = &BestOfN{N: 5, Headline: 1000}
	if b := c.bestAs(record.IOPS); b.Headline != 1000 {
		t.Errorf("IOPS: %+v", b)
	}
	if b := c.bestAs(record.Bandwidth); b.N != 5 || b.Headline != 4096000 || c.BestOfN.Headline != 1000 {
		t.Errorf("bandwidth: %+v of %+v", b, c.BestOfN)
	}
	if b := c.bestAs(record.ClatMean); b != nil {
		t.Errorf("a latency: %+v", b)
	}
	c.workload.BSSplit = "4k/50:64k/50"
	if b := c.bestAs(record.Bandwidth); b != nil {
		t.Errorf("blocks of several sizes: %+v", b)
	}
	c.workload = spec.Workload{RW: "read", BS: 4096}
	if b := c.bestAs(record.IOPS); b.Headline != 1000.0/4096 {
		t.Errorf("IOPS of a sequential load: %+v", b)
	}
}

func TestBarsTableSettings(t *testing.T) {
	s := newRun().measured(5)
	s.stack("prox").Unavailable, s.stack("prox").Mend = "no volume group", "vgcreate vg /dev/sdb"
	s.stack("virt").Effective = map[string]string{"aio": "threads"}
	s.stack("fast").Volume = &record.Volume{Properties: map[string]string{"recordsize": "128K"}, CompressRatio: new(1.94)}
	fromRAM("virt", "sr", 0.97)(s)
	s.exp.Compressible = 0.5
	s.exp.Figures = []spec.Figure{
		{Title: "bars", Kind: spec.Bars, Workloads: []string{"rr32", "sr"}},
		{Title: "table", Kind: spec.Table, Workloads: []string{"sr"}, Columns: []string{record.Bandwidth, record.RAMShare, record.CompressRatio}, Stacks: []string{"virt", "fast"}},
		{Title: "settings", Kind: spec.Settings, Columns: []string{"aio", "recordsize"}, Stacks: []string{"virt", "fast", "prox"}},
	}
	figures := s.analyse().Figures
	bars := figures[0].Panels[0]
	if len(bars.Columns) != 2 || bars.Columns[0].Metric != record.IOPS || bars.Columns[1].Metric != record.Bandwidth || len(bars.Rows) != 6 {
		t.Errorf("bars %+v", bars.Columns)
	}
	for _, r := range bars.Rows {
		if r.Stack == "prox" && r.Values[0].Reason != "no volume group; to have it: vgcreate vg /dev/sdb" {
			t.Errorf("an unavailable stack keeps its row, got %+v", r)
		}
	}
	table := figures[1].Panels[0]
	virt, fast := table.Rows[1], table.Rows[0]
	if virt.Stack != "virt" || virt.Values[0].Estimate != nil || math.Abs(virt.Values[1].Estimate.Value-0.97) > 1e-6 {
		t.Errorf("a withheld row keeps its evidence: %+v", virt)
	}
	if fast.Values[2].Estimate.Value != 1.94 || virt.Values[2].Estimate != nil {
		t.Errorf("compression: %+v, %+v", fast.Values[2], virt.Values[2])
	}
	settings := figures[2].Panels[0]
	var got []string
	for _, r := range settings.Rows {
		for _, v := range r.Values {
			got = append(got, r.Stack+" "+v.Text+v.Status)
		}
	}
	want := []string{"fast ok", "fast 128Kok", "virt threadsok", "virt ok", "prox unavailable", "prox unavailable"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("settings -want +got:\n%s", d)
	}
}

func TestDerived(t *testing.T) {
	s := newRun().measured(6)
	s.change("fast", "rw1", func(i int, w *record.Window) {
		e := &w.Evidence
		*e.DeviceWrite *= 3
		e.ARCHits, e.ARCMisses, e.HostCPU = new(int64(90+i)), new(int64(10)), new(0.5)
	})
	r := s.analyse()
	c := r.cell(t, "fast", "rw1")
	for metric, want := range map[string]float64{record.DeviceWriteRatio: 3, record.ARCHitShare: 0.903, record.HostCPU: 0.5, record.RAMShare: 0} {
		if e, ok := c.Derived[metric]; !ok || math.Abs(e.Value-want) > 0.001 || e.Low < 0 || e.High < e.Value {
			t.Errorf("%s is %v, %v; want %v", metric, e, ok, want)
		}
	}
	for _, metric := range []string{record.DeviceReadRatio, record.GuestCPU, record.CompressRatio} {
		if e, ok := c.Derived[metric]; ok {
			t.Errorf("%s is %v, and was not counted", metric, e)
		}
	}
	if _, ok := r.cell(t, "null", "rw1").Derived[record.DeviceWriteRatio]; ok {
		t.Error("a disk of zero latency has a device")
	}
	s.change("near", "rw1", func(i int, w *record.Window) {
		if i > 2 {
			w.Status = record.Failed
		}
	})
	if c := s.analyse().cell(t, "near", "rw1"); c.Status != record.Failed || c.Derived != nil {
		t.Errorf("a cell that failed has %v", c.Derived)
	}
	if e := r.cell(t, "near", "sr").Derived[record.DeviceReadRatio]; e.Value != 1 {
		t.Errorf("bytes read: %v", e)
	}
}

func TestBestOfN(t *testing.T) {
	s := newRun().measured(6)
	top, least := 0.0, math.Inf(1)
	s.change("fast", "sr", func(_ int, w *record.Window) {
		top, least = max(top, w.Metrics[record.Bandwidth]), min(least, w.Metrics[record.ClatMean])
	})
	want := &BestOfN{N: 6, Headline: top, ClatMean: least}
	if d := cmp.Diff(want, s.analyse().cell(t, "fast", "sr").BestOfN); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	fromRAM("fast", "sr", 0.9)(s)
	if b := s.analyse().cell(t, "fast", "sr").BestOfN; b != nil {
		t.Errorf("a withheld number has a best: %+v", b)
	}
}
