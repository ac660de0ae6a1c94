package html

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// pages are results with every section that a page can have.
var pages = map[string]func() analyse.Result{
	"sample":      sample,
	"explained":   explainedSample,
	"limited":     reporttest.Limited,
	"published":   reporttest.Published,
	"local-disks": func() analyse.Result { return reporttest.LocalDisks(1, 4, 32, 256) },
}

// TestPublishedGolden holds what a page has of an experiment's statements and figures.
func TestPublishedGolden(t *testing.T) {
	for _, name := range []string{"published", "local-disks"} {
		page := string(render(t, pages[name]()))
		from, to := strings.Index(page, `<section id="verdicts"`), strings.Index(page, `<section id="tax"`)
		if from < 0 || to < from {
			t.Fatalf("%s: the sections are not where they should be: %d, %d", name, from, to)
		}
		golden.Equal(t, "testdata/"+name+".html", page[from:to])
	}
}

func TestVerdictList(t *testing.T) {
	page := parse(t, render(t, reporttest.Published()))
	items := page.byID("verdicts").all("li")
	want := []struct{ class, text string }{
		{"holds", "✓ holds Random reads stop at about the same rate in every guest, whatever the disk Here ×0.96 (0.91–1.01); it holds between ×0.8 and ×1.25."},
		{"fails", "✗ does not hold Random reads reach a third of the host's in every guest Here ×0.46 (0.44–0.49); it holds between ×0.28 and ×0.4."},
		{"open", "? cannot tell A raw file writes faster than the whole disk Here ×1.02 (0.93–1.12); it holds above ×1. Why: the interval reaches over 1"},
		{"holds", "✓ holds Sequential reads of the raw file come from the host's RAM Here 97 % (96–98); it holds above 50 %. These figures were RAM and not the disk."},
		{"open", "? cannot tell LVM keeps half of the host's sequential reads Why: lvm is unavailable here: there is no volume group"},
		{"holds", "✓ holds A random read takes the whole disk less than a millisecond at the 99th percentile Here 824 µs (790–860); it holds below 1.0 ms."},
	}
	if len(items) != len(want) {
		t.Fatalf("%d verdicts, want %d", len(items), len(want))
	}
	for i, w := range want {
		if got := items[i].words(); items[i].attr["class"] != w.class || !strings.HasPrefix(got, w.text) {
			t.Errorf("%s: %q, want %s: %q", items[i].attr["class"], got, w.class, w.text)
		}
		if marks := len(items[i].all("svg")); marks != 1 && i != 4 || marks != 0 && i == 4 {
			t.Errorf("%q has %d drawings", w.text, marks)
		}
	}
	text := page.all("header")[0].words()
	for _, s := range []string{"Scale small. Not the terms of the published experiment: disks of 1 GiB", "3 of 6 published statements hold here"} {
		if !strings.Contains(text, s) {
			t.Errorf("the head of the page lacks %q", s)
		}
	}
}

// TestScaleIsSaid: with or without a note, and not where scales have no names.
func TestScaleIsSaid(t *testing.T) {
	r := reporttest.Published()
	r.Experiment.Scale, r.Experiment.Note, r.Experiment.Size, r.Experiment.Runtime = "article", "", 64<<30, 10*time.Minute
	text := parse(t, render(t, r)).all("header")[0].words()
	if !strings.Contains(text, "Scale article. Volumes of 64 GiB, windows of 10 min.") {
		t.Errorf("the scale is not said: %s", text)
	}
	if text := parse(t, render(t, sample())).all("header")[0].words(); strings.Contains(text, "Scale") {
		t.Errorf("a scale without a name is said: %s", text)
	}
}

// TestNoStatements: a page of an experiment without any has neither the sections nor links to them.
func TestNoStatements(t *testing.T) {
	page := parse(t, render(t, sample()))
	if page.byID("verdicts") != nil || page.byID("published") != nil || strings.Contains(page.all("nav")[0].words(), "published") {
		t.Error("there is a section of nothing")
	}
}

// TestChart: points lie where they should, what is not there is marked below the axis, and nothing leaves the drawing.
func TestChart(t *testing.T) {
	r := reporttest.LocalDisks(1, 4, 32, 256)
	x := newIndex(r)
	c := chartOf(x, r.Figures[2].Panels[0], "c", "title")
	if len(c.Lines) != 5 || len(c.XTicks) != 4 || len(c.YTicks) < 3 || c.Scale != "linear" {
		t.Fatalf("%d lines, %d and %d ticks, %s", len(c.Lines), len(c.XTicks), len(c.YTicks), c.Scale)
	}
	for i, l := range c.Lines {
		points, gone := strings.Count(l.Line, " "), strings.Count(l.Missing, "l7 7")
		want := []struct {
			points, gone int
			absent       string
		}{{4, 0, ""}, {4, 0, ""}, {0, 0, "not available here"}, {2, 2, ""}, {4, 0, ""}}[i]
		if points != want.points || gone != want.gone || l.Absent != want.absent {
			t.Errorf("%s has %d points, %d marks and %q; want %v", l.Name, points, gone, l.Absent, want)
		}
	}
	seen := map[string]bool{}
	for n := range colours {
		seen[marker(n, 0, 0)] = true
	}
	if len(seen) != colours {
		t.Errorf("%d markers for %d colours", len(seen), colours)
	}
	if latency := chartOf(x, r.Figures[4].Panels[0], "c", "title"); latency.Scale != "log" || !strings.Contains(latency.Axis, "lower is better") {
		t.Errorf("latencies over three decades are drawn %s, %q", latency.Scale, latency.Axis)
	}
	far := chartOf(x, r.Figures[0].Panels[0], "c", "title")
	if len(far.Lines) != 4 || !strings.Contains(strings.Join(far.Notes, "\n"), "far above: the ceiling null-co from") {
		t.Errorf("a ceiling far above is drawn: %d lines, %q", len(far.Lines), far.Notes)
	}
	for _, y := range []float64{0, 1, 1e5, 92_000} {
		if at := x.planeOf(r.Figures[2].Panels[0]).up.at(y); at < chartTop || at > chartBottom {
			t.Errorf("%v lies at %v", y, at)
		}
	}
}

// TestWaterfall: each step starts where the one before it ended, and the whole spans them all.
func TestWaterfall(t *testing.T) {
	b := billOf(*reporttest.Bill().Ladder)
	stood := b.Lines[0].Fall.From
	start := stood
	for _, l := range b.Lines {
		switch {
		case l.Whole:
			if l.Fall.From != start || math.Abs(l.Fall.To-stood) > 0.2 {
				t.Errorf("the whole goes from %v to %v, the steps from %v to %v", l.Fall.From, l.Fall.To, start, stood)
			}
		case l.Fall != nil:
			if math.Abs(l.Fall.From-stood) > 0.2 || l.Fall.Down != (l.Fall.To < l.Fall.From) {
				t.Errorf("%s starts at %v, the ladder stands at %v", l.Title, l.Fall.From, stood)
			}
			stood = l.Fall.To
		}
	}
	text := parse(t, render(t, reporttest.Published())).byID("published").words()
	for _, s := range []string{"huge pages of 1 GiB: there are no huge pages of 1 GiB; to have it: echo 2", "−6.7 %", "Interaction: ~ (−14 to 0 %)", "All of it, virtio-blk over stock"} {
		if !strings.Contains(text, s) {
			t.Errorf("the bill lacks %q", s)
		}
	}
}

// TestOddFigures: what is no number is not drawn, and breaks no template.
func TestOddFigures(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, 5e-324} {
		r := reporttest.Published()
		odd := stat.Estimate{Value: v, Low: v, High: v}
		for i := range r.Verdicts {
			r.Verdicts[i].Effect = &odd
		}
		for _, f := range r.Figures {
			for _, p := range f.Panels {
				for _, row := range p.Rows {
					for i := range row.Values {
						row.Values[i].Estimate = &odd
					}
				}
			}
			if f.Ladder != nil {
				f.Ladder.Total, f.Ladder.Interaction = &odd, &odd
				for i := range f.Ladder.Steps {
					f.Ladder.Steps[i].Together.Factor, f.Ladder.Steps[i].Share = &odd, &v
				}
			}
		}
		out := render(t, r)
		parse(t, out)
		for _, s := range []string{"NaN", "Inf", "ZgotmplZ"} {
			if bytes.Contains(out, []byte(s)) {
				t.Errorf("with %v the page has %q", v, s)
			}
		}
	}
}

// TestSingleRoundOfFigures: without an interval there are values, and neither whiskers nor "Inf".
func TestSingleRoundOfFigures(t *testing.T) {
	r := reporttest.Published()
	one := stat.Unknown(5)
	for i := range r.Verdicts {
		r.Verdicts[i].Effect = &one
	}
	for _, f := range r.Figures {
		for _, p := range f.Panels {
			for _, row := range p.Rows {
				for i := range row.Values {
					row.Values[i].Estimate = &one
				}
			}
		}
		if f.Ladder != nil {
			f.Ladder.Total = &one
			f.Ladder.Steps[0].Together.Factor = &one
		}
	}
	out := render(t, r)
	parse(t, out)
	if bytes.Contains(out, []byte("Inf")) || bytes.Contains(out, []byte(`class="whisk"`)) {
		t.Error("an interval that is not known is drawn")
	}
}

func TestHostileFigures(t *testing.T) {
	const evil = `</title></desc><script>alert("x")</script>&{{.}}`
	r := reporttest.Published()
	r.Experiment.Scale, r.Experiment.Note = evil, evil
	r.Verdicts[0].Statement, r.Verdicts[0].Verdict, r.Verdicts[0].Answer, r.Verdicts[1].Reason, r.Verdicts[3].Metric = evil, evil, evil, evil, evil
	for i := range r.Figures {
		f := &r.Figures[i]
		f.Title = evil
		for j := range f.Panels {
			p := &f.Panels[j]
			p.Title, p.Columns[0].Name, p.Columns[0].Metric, p.Rows[0].Stack = evil, evil, evil, evil
			p.Rows[0].Values[0] = analyse.PanelValue{Status: evil, Reason: evil, Text: evil}
		}
		if b := f.Ladder; b != nil {
			b.Base, b.Top, b.Metric, b.LeftOut, b.Reason = evil, evil, evil, []string{evil}, evil
			b.Steps[0] = analyse.LadderStep{Title: evil, Alone: analyse.Worth{Stack: evil, Reason: evil, Mend: evil}, Together: analyse.Worth{Across: []string{evil}}}
		}
	}
	out := render(t, r)
	page := parse(t, out)
	if n := len(page.all("script")); n != 0 || bytes.Contains(out, []byte("<script")) || bytes.Contains(out, []byte("ZgotmplZ")) {
		t.Errorf("%d hostile elements got through, or one was escaped into nothing", n)
	}
}

// TestEmptyFigures: a figure of nothing, as before the first window, is a page all the same.
func TestEmptyFigures(t *testing.T) {
	var r analyse.Result
	for _, kind := range spec.FigureKinds {
		r.Figures = append(r.Figures,
			analyse.Figure{Title: kind, Kind: kind},
			analyse.Figure{Title: kind, Kind: kind, Panels: []analyse.Panel{{}}},
			analyse.Figure{Title: kind, Kind: kind, Panels: []analyse.Panel{{Columns: []analyse.Column{{Name: "w", Metric: record.IOPS}}}}})
	}
	r.Figures = append(r.Figures, analyse.Figure{Kind: spec.Ladder, Ladder: &analyse.LadderBill{}})
	r.Verdicts = []analyse.Verdict{{}}
	parse(t, render(t, r))
}

// TestTicks: an axis has a few round values in order, wherever it lies.
func TestTicks(t *testing.T) {
	for _, top := range []float64{0.001, 3, 47, 999, 1e5, 7.3e8} {
		for _, isLog := range []bool{false, true} {
			p := plane{up: ruler{high: top, from: chartBottom, to: chartTop, isLog: isLog}}
			if isLog {
				p.up.low = top / 300
			}
			ticks := p.ticks(unit.Scale{Div: 1})
			if len(ticks) < 3 || len(ticks) > 9 {
				t.Errorf("%v, log %v: %d ticks", top, isLog, len(ticks))
			}
			for i := 1; i < len(ticks); i++ {
				if ticks[i-1].X-ticks[i].X < 20 {
					t.Errorf("%v: %v and %v are too near", top, ticks[i-1], ticks[i])
				}
			}
		}
	}
	if got := fmt.Sprint(places([]string{"iodepth 1", "iodepth 2", "x", "iodepth 4"})); got != "iodepth 1, 2, x, iodepth 4" {
		t.Error(got)
	}
}

// TestEvidenceColumns: what was counted beside the metrics has columns where a stack has it, and volumes are shown.
func TestEvidenceColumns(t *testing.T) {
	r := reporttest.Published()
	for i := range r.Run.Stacks {
		if s := &r.Run.Stacks[i]; s.Name == "raw" {
			s.Config = "builder = 'hvm'"
			s.Volume.CompressRatio, s.Volume.Properties = new(1.94), map[string]string{"recordsize": "128K"}
		}
	}
	page := parse(t, render(t, r))
	for id, want := range map[string][]string{
		"figures": {"host CPUs busy lower is better", "0.8 0.7–0.9"},
		"stacks":  {"/var/tmp/iotax/raw", "1.94", "128K", "builder = 'hvm'"},
	} {
		text := page.byID(id).words()
		for _, s := range want {
			if !strings.Contains(text, s) {
				t.Errorf("%s lacks %q", id, s)
			}
		}
	}
	if text := page.byID("figures").words(); strings.Contains(text, "compression") || strings.Contains(text, "ARC hits") {
		t.Error("there is a column of what no stack has")
	}
}
