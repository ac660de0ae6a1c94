package jsonout

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/stat"
)

// few workloads that show every status and a share served from RAM.
var few = []string{"randread-4k-q1", "read-256k"}

func TestGolden(t *testing.T) {
	for name, r := range map[string]analyse.Result{"default": reporttest.Only(reporttest.Default(), few...), "none": {}, "partial": reporttest.Only(reporttest.Partial(), few...), "published": reporttest.Published(), "held": reporttest.Only(reporttest.Held(), "randread-4k-held"), "explained": reporttest.Only(reporttest.Limited(), "randread-4k-q1")} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/" + name + ".json"
			got := write(t, r)
			golden.Equal(t, path, string(got))
		})
	}
}

// TestNoNumberBeyondJSON puts NaN and the infinities wherever a result has a number that was computed.
func TestNoNumberBeyondJSON(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		e := stat.Estimate{Value: bad, Low: bad, High: bad}
		half := stat.Estimate{Value: 2, Low: 0, High: bad}
		r := analyse.Result{
			Efficiency: bad, TimedShare: bad,
			Noise: analyse.Noise{
				Low: bad, High: bad, Detectable: bad,
				ByWorkload: map[string]analyse.Band{"w": {Low: 0.9, High: 1.1, Detectable: bad}, "v": {Low: 0.9, High: bad}},
			},
			Best:     &analyse.Best{Stack: "s", Ratio: e},
			Verdicts: []analyse.Verdict{{Effect: &e, Above: bad}, {Effect: &half}},
			Figures: []analyse.Figure{
				{Panels: []analyse.Panel{{Rows: []analyse.PanelRow{{Values: []analyse.PanelValue{{Estimate: &e, BestOfN: &analyse.BestOfN{Headline: bad, ClatMean: bad}}}}}}}},
				{Ladder: &analyse.LadderBill{Total: &e, Interaction: &half, Steps: []analyse.LadderStep{{Share: &bad, Alone: analyse.Worth{Factor: &e}}}}},
			},
			Run: record.Run{Stacks: []record.Stack{{Name: "s", Volume: &record.Volume{CompressRatio: &bad}}}}, StackOrder: []string{"s"},
			Explanation: &analyse.Explanation{
				Bills:    []analyse.Bill{{Host: &e, Total: &half, Tax: &e, Layers: []analyse.BillLayer{{Time: e, Share: &e}, {Time: half, Share: &half}}, Check: &analyse.BillCheck{Time: e}}},
				Curves:   []analyse.Curve{{Points: []analyse.CurvePoint{{IOPS: &e, P99: &half, Limited: &e}}, Under: &analyse.CurveUnder{IOPS: &e}}},
				Prices:   []analyse.Price{{CPU: e, ByRole: map[string]stat.Estimate{record.VCPU: e, record.Load: half}, GuestCPU: &e, Cores: half}},
				Ceilings: []analyse.Ceiling{{IOPS: e, Of: []analyse.CeilingUse{{Share: e}}}}, Limit: &analyse.Limit{NS: bad},
			},
			Gains: []analyse.Gain{{Overall: &e, Workloads: []analyse.GainCell{{Ratio: &e}, {Ratio: &half}}}},
			Cells: []analyse.Cell{{
				Status: record.OK, RAMShare: &bad,
				Metrics: map[string]stat.Estimate{record.IOPS: e, record.ClatP99: half},
				Ratio:   map[string]stat.Estimate{record.IOPS: e, record.ClatP99: half},
				Points:  []analyse.Point{{Value: bad, Ratio: 1}, {Value: 1, Ratio: bad}},
				Derived: map[string]stat.Estimate{record.HostCPU: e}, BestOfN: &analyse.BestOfN{N: 3, Headline: bad, ClatMean: bad},
			}},
		}
		d := decode(t, write(t, r))
		c := d.Cells[0]
		if len(c.Metrics) != 1 || len(c.Ratio) != 1 || len(c.Points) != 1 || c.RAMShare != nil || c.Points[0].Ratio != nil {
			t.Errorf("with %v the cell is %+v", bad, c)
		}
		if d.Efficiency != nil || d.TimedShare != nil || d.Noise.Low != nil || d.Best.Ratio != nil || d.Gains[0].Overall != nil {
			t.Errorf("with %v the document is %+v", bad, d)
		}
		if v := d.Verdicts; v[0].Effect != nil || v[0].Above != nil || v[1].Effect.High != nil || len(c.Derived) != 0 || c.BestOfN.Headline != nil {
			t.Errorf("with %v the verdicts are %+v and the cell %+v", bad, v, c)
		}
		if l := d.Figures[1].Ladder; l.Total != nil || l.Steps[0].Share != nil || d.Figures[0].Panels[0].Rows[0].Values[0].Estimate != nil || d.Stacks[0].Volume.CompressRatio != nil {
			t.Errorf("with %v the figures are %+v", bad, d.Figures)
		}
		x := d.Explanation
		if b := x.Bills[0]; b.Host != nil || b.Total.High != nil || b.Layers[0].Time != nil || b.Layers[1].Share.High != nil || b.Check.Time != nil {
			t.Errorf("with %v the bill is %+v", bad, b)
		}
		if p := x.Prices[0]; p.CPU != nil || len(p.ByRole) != 1 || p.GuestCPU != nil || x.Curves[0].Under.IOPS != nil || x.Ceilings[0].IOPS != nil || x.Limit.NS != nil {
			t.Errorf("with %v the explanation is %+v", bad, x)
		}
		if g := d.Gains[0].Workloads; g[0].Ratio != nil || g[1].Ratio == nil || g[1].Ratio.High != nil {
			t.Errorf("with %v the gains are %+v", bad, g)
		}
	}
}

// TestIntervalNotKnown: a single round has a value and no interval, whichever bound would be finite.
func TestIntervalNotKnown(t *testing.T) {
	got := estimate(&stat.Estimate{Value: 0.5, Low: 0, High: math.Inf(1)})
	if d := cmp.Diff(&Estimate{Value: 0.5}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestWithheldHasNoNumbers: only an ok cell may carry one, even if the analysis left some in others.
func TestWithheldHasNoNumbers(t *testing.T) {
	one := map[string]stat.Estimate{record.IOPS: {Value: 1, Low: 1, High: 1}}
	for _, status := range []string{record.OK, record.Withheld, record.Failed, record.Unavailable} {
		c := cell(analyse.Cell{Status: status, Metrics: one, Ratio: one, Differs: true, Points: []analyse.Point{{Value: 1}}})
		has := len(c.Metrics)+len(c.Ratio)+len(c.Points) == 3 && c.Differs
		none := len(c.Metrics)+len(c.Ratio)+len(c.Points) == 0 && !c.Differs
		if has != (status == record.OK) || none == has {
			t.Errorf("%s: %+v", status, c)
		}
	}
}

func TestStatusOfRun(t *testing.T) {
	for _, tt := range []struct{ status, reason, wantStatus, wantReason string }{
		{record.Complete, "", "complete", ""},
		{record.Partial, "Ctrl-C", "partial", "Ctrl-C"},
		{record.Running, "", "partial", unfinished},
	} {
		got := run(record.Run{Status: tt.status, Reason: tt.reason})
		if got.Status != tt.wantStatus || got.Reason != tt.wantReason {
			t.Errorf("%s: got %q, %q", tt.status, got.Status, got.Reason)
		}
	}
}

// TestNeverNullWhereAListIsPromised looks at the emptiest of results.
func TestNeverNullWhereAListIsPromised(t *testing.T) {
	d := string(write(t, analyse.Result{
		Cells: []analyse.Cell{{}}, StackOrder: []string{"s"}, Gains: []analyse.Gain{{}}, Best: &analyse.Best{},
		Explanation: &analyse.Explanation{
			Bills: []analyse.Bill{{Layers: []analyse.BillLayer{{}}}}, Ceilings: []analyse.Ceiling{{}}, Prices: []analyse.Price{{}},
			Fronts: []analyse.Front{{}}, Curves: []analyse.Curve{{}},
		},
		Run:      record.Run{Stacks: []record.Stack{{Name: "s", Volume: &record.Volume{}}}},
		Verdicts: []analyse.Verdict{{}}, Figures: []analyse.Figure{{Panels: []analyse.Panel{{Rows: []analyse.PanelRow{{}}}}, Ladder: &analyse.LadderBill{Steps: []analyse.LadderStep{{}}}}},
	}))
	for _, name := range []string{
		"warnings", "cells", "stacks", "workloads", "gains", "neighbours", "boots", "metrics", "ratio",
		"by_workload", "effective", "mismatch", "qemu_args", "points", "tied", "devices", "properties", "derived",
		"verdicts", "figures", "panels", "columns", "rows", "values", "left_out", "steps", "across",
		"bills", "layers", "names", "advice", "ceilings", "of", "prices", "by_role_ns", "fronts", "beaten", "curves", "points",
	} {
		if !strings.Contains(d, `"`+name+`":`) || (name != "ratio" && strings.Contains(d, `"`+name+`": null`)) {
			t.Errorf("%s is missing or null in\n%s", name, d)
		}
	}
}

func write(t *testing.T, r analyse.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, in []byte) (d Document) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}
