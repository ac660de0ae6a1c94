package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/stat"
)

// TestExplainedGolden holds what a page has of the explanation that all renderers are shown with.
func TestExplainedGolden(t *testing.T) {
	page := string(render(t, reporttest.Limited()))
	from, to := strings.Index(page, `<section id="why"`), strings.Index(page, `<section id="sure"`)
	if from < 0 || to < from {
		t.Fatalf("the sections are not where they should be: %d, %d", from, to)
	}
	golden.Equal(t, "testdata/explained.html", page[from:to])
}

// cardOf is the card of a stack under the workload that is drawn first.
func cardOf(t *testing.T, v *billsView, stack string) billCard {
	t.Helper()
	for _, c := range v.Featured {
		if c.Stack == stack {
			return c
		}
	}
	t.Fatalf("%s is not among the stacks that are drawn first", stack)
	return billCard{}
}

// TestBillDrawing: each layer starts where the one before it ended, the last ends where the stack does, and what gives back
// goes to the left.
func TestBillDrawing(t *testing.T) {
	r := explainedSample()
	e := explainOf(newIndex(r), r.Explanation)
	for _, stack := range []string{"virtio-blk-iothread", "virt-manager"} {
		rows := cardOf(t, e.Bills, stack).Rows
		first, last := rows[0], rows[len(rows)-1]
		stood := first.Bar.To
		if first.Name != "host" || last.Name != stack || first.Bar.From != last.Bar.From {
			t.Errorf("%s: the bill goes from %s to %s, from %v and %v", stack, first.Name, last.Name, first.Bar.From, last.Bar.From)
		}
		for _, row := range rows[1 : len(rows)-1] {
			if math.Abs(row.Bar.From-stood) > 0.2 {
				t.Errorf("%s: %s starts at %v, the bill stands at %v", stack, row.Name, row.Bar.From, stood)
			}
			if back := row.Bar.To < row.Bar.From; back != (row.Class == "gives") || back != strings.Contains(row.Note, "gives back") {
				t.Errorf("%s: %s goes from %v to %v and is said to be %s: %s", stack, row.Name, row.Bar.From, row.Bar.To, row.Class, row.Note)
			}
			if !row.Bar.Whisker || row.Bar.Low > row.Bar.To || row.Bar.High < row.Bar.To {
				t.Errorf("%s: %s ends at %v, its interval is %v to %v", stack, row.Name, row.Bar.To, row.Bar.Low, row.Bar.High)
			}
			stood = row.Bar.To
		}
		if math.Abs(stood-last.Bar.To) > 0.2 {
			t.Errorf("%s: the layers end at %v, the stack at %v", stack, stood, last.Bar.To)
		}
	}
}

// TestBillsChosen: the best stack, the usual defaults and the worst one are drawn, and every other bill is folded.
func TestBillsChosen(t *testing.T) {
	r := explainedSample()
	v := explainOf(newIndex(r), r.Explanation).Bills
	var got []string
	for _, c := range v.Featured {
		words := c.Stack
		for _, b := range c.Badges {
			words += ", " + b.Text
		}
		got = append(got, words)
	}
	want := []string{
		"virtio-blk-iothread, \u2605 best safe stack", "virt-manager, virt-manager\u2019s default", "proxmox, Proxmox\u2019s default", "sata, most tax",
	}
	if !slices.Equal(got, want) {
		t.Errorf("drawn first: %q, want %q", got, want)
	}
	n := len(v.Featured)
	for _, f := range v.Folded {
		n += len(f.Cards)
	}
	if n != len(r.Explanation.Bills) || v.LeftOut != "" || v.Workload != loads[0].Title || v.Folded[0].Title != "The other stacks under "+loads[0].Title {
		t.Errorf("%d of %d bills, %q, under %q and %q", n, len(r.Explanation.Bills), v.LeftOut, v.Workload, v.Folded[0].Title)
	}
	r.Best = nil
	if c := explainOf(newIndex(r), r.Explanation).Bills.Featured[0]; c.Badges[0].Text != "least tax" {
		t.Errorf("without a best stack %s comes first as %q", c.Stack, c.Badges)
	}
}

// TestWhyWords: what the drawings say stands in the text as well.
func TestWhyWords(t *testing.T) {
	text := parse(t, render(t, explainedSample())).byID("why").words()
	for _, s := range []string{
		"235.8 µs for one I/O: the host’s 52.4 µs and a tax of 183.5 µs (176.1–190.8).",
		"transport and controller + guest virtio-blk virtio-blk-writeback less qemu-img-writeback no measured stack tells these apart",
		"◀ gives back", "~ cannot be told from nothing", "split by a disk of zero latency",
		"to tell transport and controller from guest, add a stack like virt-manager",
		"✓ Cross-check by null-co: over a disk of zero latency the layers above the block layer take 152.3 µs (146.2–158.4); this agrees with the bill.",
		"✗ Cross-check by null-co", "No bill here. Withheld: 97 % of these reads came from the host’s RAM: this is not the disk.",
		"This VM path tops out at", "a faster disk will not help",
	} {
		if !strings.Contains(text, s) {
			t.Errorf("the section lacks %q", s)
		}
	}
}

// TestTaxOfNothing: a stack that is faster than the host has no tax, and the sentence says so.
func TestTaxOfNothing(t *testing.T) {
	r := explainedSample()
	b := &r.Explanation.Bills[0]
	b.Total, b.Tax = &stat.Estimate{Value: 40e3, Low: 39e3, High: 41e3}, &stat.Estimate{Value: -12356, Low: -13e3, High: -11e3}
	for i := range b.Layers {
		b.Layers[i].Share = nil
	}
	none := &r.Explanation.Bills[7]
	none.Tax = &stat.Estimate{Value: 500, Low: -1000, High: 2000}
	text := parse(t, render(t, r)).byID("why").words()
	for _, want := range []string{
		"40.0 µs for one I/O: the host’s 52.4 µs less 12.4 µs (11.0–13.0).", "52.4 µs and a tax that cannot be told from none: ~ (−1.0 to 2.0).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q", want)
		}
	}
}

// TestVagueBills: of what is hardly known a reader is told no more than what is certain.
func TestVagueBills(t *testing.T) {
	text := parse(t, render(t, reporttest.Vague())).byID("why").words()
	for _, want := range []string{
		"the host’s 52.4 µs and a tax of more than 8.0 µs.", "the host’s 408 µs and a tax that cannot be told from none.",
		"less than −120.0less than −40 %", "more than 310.0more than 140 %", "over a disk of zero latency the time of the layers above the block layer is hardly known; it checks nothing.",
		"virtio-blk-iothreadmore than 9 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q: %s", want, text)
		}
	}
	for _, s := range []string{"4 100", "3 400", "3 200", "21 000", "2 600"} {
		if strings.Contains(strings.ReplaceAll(text, thin, " "), s) {
			t.Errorf("the section has the end of an interval that says nothing: %s", s)
		}
	}
}

// TestDominantLayer: the answer names the layer that takes most of what the best stack loses, and none without certainty.
func TestDominantLayer(t *testing.T) {
	const words = "Most of what it loses goes into "
	r := reporttest.Vague()
	got := strings.Join(answerOf(newIndex(r)).Lines, " ")
	want := words + "transport and controller (64" + thin + "%, 61" + joiner + dash + joiner + "67 where it is least, under 1 of 2 workloads)."
	if !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	r.Explanation.Bills[0].Layers[1].Share.Low = 0.45
	if got := strings.Join(answerOf(newIndex(r)).Lines, " "); strings.Contains(got, words) {
		t.Errorf("a layer that may take less than half is named: %q", got)
	}
}

// TestPrices: loads that are held come first and are said to be, roles lie end to end, and what was not counted has no column.
func TestPrices(t *testing.T) {
	r := explainedSample()
	v := explainOf(newIndex(r), r.Explanation).Prices
	if g := v.Groups[0]; !v.Fair || !g.Held || !g.Open || g.Title != "4 KiB random read, iodepth 32, held" || v.Groups[1].Held || v.Groups[1].Open {
		t.Errorf("first %q, held %v, open %v; then held %v", g.Title, g.Held, g.Open, v.Groups[1].Held)
	}
	for _, g := range v.Groups {
		for _, row := range g.Rows {
			stood := 1.0
			for _, p := range row.Parts {
				if math.Abs(p.Left-stood) > 0.2 {
					t.Errorf("%s, %s: %s starts at %v, not at %v", g.Title, row.Name, p.Text, p.Left, stood)
				}
				stood = p.Left + p.Width
			}
			if math.Abs(stood-row.Sum.To) > 0.3 {
				t.Errorf("%s, %s: the roles end at %v, their sum at %v", g.Title, row.Name, stood, row.Sum.To)
			}
		}
	}
	text := parse(t, render(t, r)).byID("cost").words()
	for _, s := range []string{"at equal offered load", "vCPU", "worker threads", "load generator", "voluntary switches per I/O lower is better", "guest CPU µs per I/O"} {
		if !strings.Contains(text, s) {
			t.Errorf("the section lacks %q", s)
		}
	}
	if strings.Contains(text, "cycles") || strings.Contains(text, "exits") {
		t.Error("there is a column of what no cell has counted")
	}
	r.Explanation.Prices[3].Cycles, r.Explanation.Prices[3].Exits = new(estimate(412_000, .1)), new(estimate(3.1, .1))
	r.Explanation.Prices = slices.DeleteFunc(r.Explanation.Prices, func(p analyse.Price) bool { return p.Held })
	text = parse(t, render(t, r)).byID("cost").words()
	for _, s := range []string{"cycles thousands per I/O", "412 371–453", "exits per I/O", "as fast as it goes"} {
		if !strings.Contains(text, s) {
			t.Errorf("with counters the section lacks %q", s)
		}
	}
}

// TestFronts: every stack is named in the drawing or below it, and the line joins no beaten one.
func TestFronts(t *testing.T) {
	r := explainedSample()
	v := explainOf(newIndex(r), r.Explanation).Fronts
	if len(v.Drawn) != openFronts || len(v.Drawn)+len(v.Folded) != len(loads) || v.Drawn[0].Title != loads[1].Title {
		t.Fatalf("%d and %d charts, %q first", len(v.Drawn), len(v.Folded), v.Drawn[0].Title)
	}
	for _, c := range v.Drawn {
		named := len(c.Unlabelled)
		for _, p := range c.Points {
			if p.Label != nil {
				named++
			}
		}
		if named != len(c.Points) || len(c.Points) != len(c.Grid.Rows) {
			t.Errorf("%s: %d of %d stacks are named, %d are in the table", c.Title, named, len(c.Points), len(c.Grid.Rows))
		}
		if joined := strings.Count(c.Line, " "); joined == 0 || joined > len(c.Points) || !strings.HasPrefix(c.Line, "M") {
			t.Errorf("%s: the line is %q", c.Title, c.Line)
		}
		if !strings.Contains(c.Summary, "On the front: ") || !strings.Contains(c.Summary, "Beaten in both: ") {
			t.Errorf("%s: %s", c.Title, c.Summary)
		}
	}
}

// TestLabelsDoNotOverlap: of many points some texts find no room; those that do cover no other, no point, and stay inside.
func TestLabelsDoNotOverlap(t *testing.T) {
	for _, n := range []int{1, 5, 12, 60} {
		l := labels{inside: box{0, 0, 480, 240}}
		at := func(i int) (x, y float64) { return float64(20 + i*97%440), float64(15 + i*i*31%210) }
		for i := range n {
			x, y := at(i)
			l.point(x, y)
			l.line(x-20, y, x+20, y)
		}
		var spots []box
		for i := range n {
			x, y := at(i)
			text := fmt.Sprint("virtio-blk-", i)
			got, ok := l.beside(x, y, text, true)
			if !ok {
				got, ok = l.apart(x, y, text)
			}
			if ok {
				spots = append(spots, got.spot)
			}
		}
		if len(spots) == 0 || n < 6 && len(spots) < n {
			t.Errorf("%d of %d texts found room", len(spots), n)
		}
		for i, a := range spots {
			if !l.inside.holds(a) {
				t.Errorf("%v leaves the drawing", a)
			}
			for _, b := range spots[:i] {
				if a.meets(b) {
					t.Errorf("%v covers %v", a, b)
				}
			}
			for j := range n {
				x, y := at(j)
				if a.left < x && x < a.right && a.top < y && y < a.bottom {
					t.Errorf("%v covers the point at %v, %v", a, x, y)
				}
			}
		}
	}
}

// TestDevice: a column for each kind that a stack counts, the workload with most of them open.
func TestDevice(t *testing.T) {
	page := parse(t, render(t, explainedSample()))
	var open []string
	for _, d := range page.byID("device").all("details") {
		if d.attr["open"] != "" {
			open = append(open, d.words())
		}
	}
	if len(open) != 1 || !strings.HasPrefix(open[0], loads[6].Title) || !strings.Contains(open[0], "1.98 1.94") || !strings.Contains(open[0], "1.61") {
		t.Errorf("open: %q", open)
	}
	r := explainedSample()
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Stack == "sata" && c.Workload == loads[6].Name {
			c.Status, c.Reason = record.Withheld, "87 % of the bytes at the device were others'"
		}
	}
	if s := parse(t, render(t, r)).byID("device").words(); !strings.Contains(s, "sata (withheld)") || !strings.Contains(s, "sata, withheld: 87 % of the bytes at the device were others'") {
		t.Error("nothing is said of the figures of a cell that is withheld")
	}
	if page := parse(t, render(t, sample())); page.byID("device") != nil || page.byID("why") != nil || page.byID("cost") != nil || page.byID("curves") != nil {
		t.Error("there is a section of nothing")
	}
}

// TestCurves: a line breaks where a point has no figure, the notes say why, and the limit is a line among the points.
func TestCurves(t *testing.T) {
	r := explainedSample()
	r.Explanation.Curves[1].Points[2] = analyse.CurvePoint{IODepth: 16, Reason: "failed: fio: Input/output error"}
	v := explainOf(newIndex(r), r.Explanation).Curves
	c := v.Charts[0]
	if c.Limit == nil || c.Limit.Word.Text != "limit 5.0"+thin+"ms" || v.Limit != "clat p99 at most 5.0"+thin+"ms" {
		t.Fatalf("the limit is %v, %q", c.Limit, v.Limit)
	}
	lines := map[string]curveLine{}
	for _, l := range c.Lines {
		lines[l.Name] = l
	}
	l := lines["virtio-blk-iothread"]
	if strings.Count(l.Line, "M") != 2 || strings.Count(l.Line, "L") != 2 || strings.Count(l.Band, "Z") != 2 || len(l.marks) != 4 {
		t.Errorf("line %q, band %q", l.Line, l.Band)
	}
	if _, drawn := lines["ide"]; drawn {
		t.Error("a stack without any point has a line")
	}
	notes := strings.Join(c.Notes, "\n")
	for _, s := range []string{
		"ide, unavailable: IDE disks", "virtio-blk-iothread (iodepth 16), failed: fio", "virt-manager (iodepth 1, 4), withheld: 97 %",
	} {
		if !strings.Contains(notes, s) {
			t.Errorf("the notes lack %q: %s", s, notes)
		}
	}
	for _, m := range l.marks {
		if m.x < chartLeft || m.x > chartRight || m.y < chartTop || m.y > chartBottom {
			t.Errorf("iodepth %d lies at %v, %v", m.depth, m.x, m.y)
		}
	}
	if l.Under == "" || !strings.Contains(l.Under, "under the limit, at iodepth") {
		t.Errorf("under the limit: %q", l.Under)
	}
	for i := range r.Explanation.Curves {
		points := r.Explanation.Curves[i].Points
		for j := range points {
			points[j] = analyse.CurvePoint{IODepth: points[j].IODepth, Reason: fmt.Sprintf("withheld: %d %%", j)}
		}
	}
	if s := parse(t, render(t, r)).byID("curves"); len(s.all("svg")) != 0 || !strings.Contains(s.words(), "No stack has a point to draw. Why points have no figure") {
		t.Errorf("a drawing of nothing: %s", s.words())
	}
	r.Explanation.Limit.Metric = record.ClatP50
	if v := explainOf(newIndex(r), r.Explanation).Curves; v.Charts[0].Limit != nil || v.Limit != "clat p50 at most 5.0"+thin+"ms" {
		t.Errorf("a limit of another latency is drawn, or not said: %q", v.Limit)
	}
}

func TestUnderWords(t *testing.T) {
	for _, tc := range []struct {
		u    *analyse.CurveUnder
		want string
	}{
		{nil, ""},
		{&analyse.CurveUnder{IODepth: 8, IOPS: new(estimate(31_200, .03))}, "31.2k IOPS (30.3–32.1) under the limit, at iodepth 8"},
		{&analyse.CurveUnder{IODepth: 8, IOPS: new(estimate(31_200, .03)), Bound: true}, "31.2k IOPS (30.3–32.1) under the limit, at iodepth 8, the deepest that was measured: more may be possible"},
		{&analyse.CurveUnder{Reason: "at iodepth 1 it is 6.0 ms"}, "none under the limit: at iodepth 1 it is 6.0 ms"},
		{&analyse.CurveUnder{}, "none under the limit"},
	} {
		if got := strings.NewReplacer(thin, " ", joiner, "").Replace(underWords(tc.u)); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestRuler: ticks are round, in order, and apart, whichever way an axis runs.
func TestRuler(t *testing.T) {
	for _, r := range []ruler{
		linear(1, 98, 236e3, 51e3), linear(240, 10, 92_000), linear(1, 98, -40, 800), logarithmic(240, 10, 2e5, 4e7), linear(0, 100),
	} {
		ticks := r.ticks(1, 20)
		if len(ticks) < 2 || len(ticks) > 13 {
			t.Errorf("%+v has %d ticks", r, len(ticks))
		}
		for i, tick := range ticks[1:] {
			if math.Abs(tick.X-ticks[i].X) < 20 || (tick.X > ticks[i].X) != (r.to > r.from) {
				t.Errorf("%+v: %v and %v", r, ticks[i], tick)
			}
		}
		for _, v := range []float64{-1e9, 0, 1e12} {
			if at := r.at(v); finite(at) && (at < min(r.from, r.to) || at > max(r.from, r.to)) {
				t.Errorf("%+v: %v lies outside, at %v", r, v, at)
			}
		}
	}
}
