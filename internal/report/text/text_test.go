package text

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

var results = map[string]func() analyse.Result{
	"default": reporttest.Default,
	"partial": reporttest.Partial,
	"alarm":   reporttest.Alarm,
	"held":    reporttest.Held,
	"none":    func() analyse.Result { return analyse.Result{} },

	"published":   reporttest.Published,
	"local-disks": func() analyse.Result { return reporttest.LocalDisks(1, 2, 4, 8, 16, 32, 64, 128, 256) },
}

func TestGolden(t *testing.T) {
	for name, result := range results {
		for _, width := range []int{80, 120, 200} {
			checkGolden(t, fmt.Sprintf("%s-%d.txt", name, width), result(), Options{Width: width})
		}
	}
	checkGolden(t, "default-color.txt", reporttest.Default(), Options{Width: 120, Color: true})
	checkGolden(t, "published-color.txt", reporttest.Published(), Options{Width: 120, Color: true})
}

// TestNoStrayGoldenFile: a file that no case reads would rot.
func TestNoStrayGoldenFile(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) != 3*len(results)+2+3*len(explanations)+1 {
		t.Errorf("%d golden files, want %d: %v, %v", len(files), 3*len(results)+2+3*len(explanations)+1, files, err)
	}
}

func checkGolden(t *testing.T, name string, r analyse.Result, o Options) {
	t.Run(name, func(t *testing.T) {
		got := write(t, r, o)
		path := "testdata/" + name
		golden.Equal(t, path, got)
	})
}

// TestNoLineIsTooWide also tries results whose texts are much longer than usual.
func TestNoLineIsTooWide(t *testing.T) {
	long := reporttest.Default()
	long.Experiment.Stacks[0].Title = ""
	for i := range long.Cells {
		c := &long.Cells[i]
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d %s", i, strings.Repeat("x", 300)), strings.Repeat("漢字 ", 80))
		if c.Stack == long.Experiment.Stacks[0].Name {
			c.Stack = strings.Repeat("a-very-long-name-", 9)
		}
	}
	long.StackOrder[1] = strings.Repeat("a-very-long-name-", 9)
	cases := map[string]analyse.Result{"long": long}
	for name, f := range results {
		cases[name] = f()
	}
	for name, r := range cases {
		for _, o := range []Options{{Width: 60}, {Width: 80}, {}, {Width: 97, Color: true}, {Width: 120}, {Width: 400}} {
			limit := o.Width
			if limit == 0 {
				limit = 80
			}
			for i, line := range strings.Split(write(t, r, o), "\n") {
				if w := ansi.StringWidth(line); w > limit {
					t.Errorf("%s at %d: line %d is %d wide: %q", name, limit, i+1, w, line)
				}
				if !o.Color && line != strings.TrimRight(line, " ") {
					t.Errorf("%s at %d: line %d ends in blanks", name, limit, i+1)
				}
			}
		}
	}
}

// TestColorAddsNothingElse: without its escape sequences the coloured report is the plain one.
func TestColorAddsNothingElse(t *testing.T) {
	for name, result := range results {
		colored := write(t, result(), Options{Width: 120, Color: true})
		bare := write(t, result(), Options{Width: 120})
		if strings.Contains(bare, "\x1b") {
			t.Errorf("%s: escape sequences without colour", name)
		}
		if d := cmp.Diff(bare, ansi.Strip(colored)); d != "" {
			t.Errorf("%s: -plain +coloured:\n%s", name, d)
		}
	}
	if !strings.Contains(write(t, reporttest.Default(), Options{Color: true}), "\x1b[") {
		t.Error("no escape sequence with colour")
	}
}

// TestNothingIsPassedOver: each reason and each warning of a result is in its report, once.
func TestNothingIsPassedOver(t *testing.T) {
	for name, result := range results {
		r := result()
		r.Verdicts = nil // these repeat the reasons of cells
		r.Figures = slices.DeleteFunc(r.Figures, func(f analyse.Figure) bool { return f.Ladder != nil })
		got := strings.Join(strings.Fields(write(t, r, Options{Width: 2000})), " ")
		texts := slices.Clone(r.Warnings)
		for _, c := range r.Cells {
			texts = append(append(texts, c.Reason), c.Warnings...)
		}
		for _, text := range texts {
			text = clean(text)
			if n := strings.Count(got, text); text != "" && n != 1 {
				t.Errorf("%s: %q is there %d times", name, text, n)
			}
		}
	}
}

// TestEveryStatementIsAnswered: each has its verdict, and what is said beside it.
func TestEveryStatementIsAnswered(t *testing.T) {
	r := reporttest.Published()
	got := strings.Join(strings.Fields(write(t, r, Options{Width: 2000})), " ")
	for _, v := range r.Verdicts {
		for _, text := range []string{v.Verdict + " " + v.Statement, v.Reason, v.Answer} {
			if !strings.Contains(got, text) {
				t.Errorf("%q is missing", text)
			}
		}
	}
	for _, f := range r.Figures {
		texts := []string{f.Title}
		if f.Ladder != nil {
			texts = append(texts, f.Ladder.LeftOut...)
			for _, s := range f.Ladder.Steps {
				texts = append(texts, s.Title, s.Together.Reason, s.Together.Mend)
			}
		}
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("%q is missing", text)
			}
		}
	}
	if note := r.Experiment.Note; !strings.Contains(got, "SMALL: "+note) {
		t.Errorf("%q is missing", note)
	}
}

// TestSharesAreToldOnce: the table of shares is there unless figures show every cell.
func TestSharesAreToldOnce(t *testing.T) {
	r := reporttest.Published()
	if got := write(t, r, Options{}); strings.Contains(got, "share of the host") || !strings.Contains(got, "noise floor ±") {
		t.Error("figures show every cell, and the table tells it again")
	}
	r.Figures = r.Figures[:1]
	if got := write(t, r, Options{}); !strings.Contains(got, "share of the host") {
		t.Error("figures show some cells, and there is no table")
	}
}

// A load on the host stands under a heading of its own, between the guests and the ceilings.
func TestOnTheHostStandsApart(t *testing.T) {
	r := reporttest.Default()
	i := slices.IndexFunc(r.Experiment.Stacks, func(s spec.Stack) bool { return s.Name == "sata" })
	r.Experiment.Stacks = slices.Clone(r.Experiment.Stacks)
	r.Experiment.Stacks[i].Bus = "host"
	got := write(t, r, Options{Width: 200})
	heading, row, ceiling := strings.Index(got, "on the host: no guest"), strings.Index(got, "\nSATA"), strings.Index(got, "ceiling: a disk")
	if heading < 0 || heading > row || row > ceiling {
		t.Errorf("the heading stands at %d, its row at %d, the ceilings at %d:\n%s", heading, row, ceiling, got)
	}
	if strings.Contains(write(t, reporttest.Default(), Options{Width: 200}), "on the host: no guest") {
		t.Error("there is a heading without rows")
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{amount("", est(1.584, 1.46, 1.712)), "1.58 times (1.46 to 1.71)"},
		{amount("", est(0.0123, 0.01, 0.02)), "0.012 times (0.010 to 0.020)"},
		{amount("", est(123.4, 99.4, 140)), "123 times (99.4 to 140)"},
		{amount("", est(1.5, 0, inf)), "1.50 times"},
		{amount(record.RAMShare, est(0.97, 0.96, 0.98)), "97 % (96 to 98)"},
		{amount(record.CompressRatio, est(1.94, 1.94, 1.94)), "1.94"},
		{bounds(analyse.Verdict{Above: 1.2}), "above 1.2"},
		{bounds(analyse.Verdict{Below: 1e7, Metric: record.SyncP99}), "below 10.0 ms"},
		{bounds(analyse.Verdict{Above: 0.5, Below: 2}), "between 0.5 and 2"},
		{plusMinus(est(5, 4.8, 5.3), unit.Scale{Div: 1}, " ± "), "5.0 ± 0.3"},
		{plusMinus(est(5, 0.1, 300), unit.Scale{Div: 1}, "±"), "~5.00"},
		{plusMinus(est(0.004, 0, 0.01), unit.Scale{Div: 0.01}, "±"), "0.4±0.6"},
		{plusMinus(est(123.4, 0, inf), unit.Scale{Div: 1}, "±"), "123"},
		{changed(est(1.25, 1.2, 1.3)), "+25 % ± 5"},
		{changed(est(0.99, 0.95, 1.03)), "~ -1 % ± 4"},
		{changed(est(1.5, 0, inf)), "+50 %"},
		{spark([]analyse.PanelValue{{Estimate: new(est(1, 1, 1))}, {}, {Estimate: new(est(100, 1, 1))}}, 1, 100), "▁·█"},
		{spark([]analyse.PanelValue{{}, {}}, 1, 100), ""},
		{drawBar(est(50, 40, 60), 100, 10), "████░░"},
		{drawBar(est(50, 0, inf), 100, 10), "█████"},
		{drawBar(est(0, 0, 0), 0, 10), ""},
		{drawBar(est(50, 1, 900), 100, 10), "▒▒▒▒▒"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

// TestHostileText: what a guest or a device calls itself cannot take hold of the terminal.
func TestHostileText(t *testing.T) {
	r := reporttest.Published()
	hostile := "\x1b]0;title\x07\x1b[2Jbad\r\n\tdisk\u009b31m"
	r.Run.Host.Device.Model, r.Run.Reason, r.Warnings = hostile, hostile, []string{hostile}
	r.Cells[3].Status, r.Cells[3].Reason = record.Failed, hostile
	r.Experiment.Title, r.Experiment.Workloads[0].Title, r.Experiment.Stacks[0].Title = hostile, hostile, hostile
	r.Experiment.Scale, r.Experiment.Note = hostile, hostile
	r.Verdicts[0].Statement, r.Verdicts[0].Verdict, r.Verdicts[1].Reason, r.Verdicts[2].Answer, r.Verdicts[3].Metric = hostile, hostile, hostile, hostile, hostile
	for i := range r.Figures {
		f := &r.Figures[i]
		f.Title = hostile
		for j := range f.Panels {
			p := &f.Panels[j]
			p.Title, p.Columns[0].Name, p.Columns[0].Workload, p.Columns[0].Metric, p.Rows[0].Stack = hostile, hostile, hostile, hostile, hostile
			p.Rows[0].Values[0] = analyse.PanelValue{Status: hostile, Reason: hostile, Text: hostile}
		}
		if b := f.Ladder; b != nil {
			b.Base, b.Top, b.Metric, b.LeftOut, b.Reason = hostile, hostile, hostile, []string{hostile}, hostile
			b.Steps[0] = analyse.LadderStep{Title: hostile, Alone: analyse.Worth{Stack: hostile, Reason: hostile, Mend: hostile}, Together: analyse.Worth{Across: []string{hostile}}}
		}
	}
	for _, c := range write(t, r, Options{Width: 120}) {
		if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 {
			t.Fatalf("the report holds %U", c)
		}
	}
}

func TestCell(t *testing.T) {
	load := spec.Workload{Name: "w", RW: "randread"}
	seq := spec.Workload{Name: "w", RW: "read"}
	known, unknown := est(0.22, 0.21, 0.23), est(0.22, 0, inf)
	for _, tt := range []struct {
		give analyse.Cell
		load spec.Workload
		want string
	}{
		{analyse.Cell{Status: record.OK, Baseline: true, Metrics: one(record.IOPS, est(19100, 1, 2))}, load, "19.1k IOPS"},
		{analyse.Cell{Status: record.OK, Baseline: true, Metrics: one(record.Bandwidth, est(2.15e9, 1, 2))}, seq, "2.1 GB/s"},
		{analyse.Cell{Status: record.OK, Differs: true, Ratio: one(record.IOPS, known)}, load, "22 % ± 1"},
		{analyse.Cell{Status: record.OK, Differs: true, Ratio: one(record.Bandwidth, known)}, seq, "22 % ± 1"},
		{analyse.Cell{Status: record.OK, Differs: false, Ratio: one(record.IOPS, known)}, load, "~"},
		{analyse.Cell{Status: record.OK, Differs: true, Ratio: one(record.IOPS, unknown)}, load, "~"},
		{analyse.Cell{Status: record.OK, Differs: true, Ratio: one(record.IOPS, known), Warnings: []string{"b", "a", "b"}}, load, "22 % ± 1 [1,2]"},
		{analyse.Cell{Status: record.Withheld, Reason: "RAM", Ratio: one(record.IOPS, known)}, load, "withheld [1]"},
		{analyse.Cell{Status: record.Failed, Reason: "EIO"}, load, "failed [1]"},
		{analyse.Cell{Status: record.Unavailable, Reason: "no KVM"}, load, "n/a [1]"},
	} {
		c := tableOf(analyse.Result{}, labels{}, &notes{}).cell(tt.give, tt.load)
		if got := strings.TrimSpace(c.text + " " + c.notes); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for give, want := range map[float64]string{0.02: "2.0 %", 0.0201: "2.1 %", 0.031: "3.1 %", 0.0994: "10.0 %", 0.12: "12 %", 0.121: "13 %", 1.5: "150 %"} {
		if got := percent(give); got != want {
			t.Errorf("percent(%v) = %q, want %q", give, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct {
		give  string
		limit int
		want  []string
	}{
		{"", 10, nil},
		{"one two three", 8, []string{"one two", "three"}},
		{"a\n\tb", 10, []string{"a b"}},
		{"abcdefghijkl mn", 8, []string{"abcdefgh", "ijkl mn"}},
		{"漢字漢字漢字 x", 8, []string{"漢字漢字", "漢字 x"}},
		{"12345678 9", 8, []string{"12345678", "9"}},
	} {
		if d := cmp.Diff(tt.want, Fill(tt.give, tt.limit)); d != "" {
			t.Errorf("Fill(%q, %d): -want +got:\n%s", tt.give, tt.limit, d)
		}
	}
}

func TestWriteError(t *testing.T) {
	full := errors.New("no space")
	if err := Write(failing{full}, reporttest.Default(), Options{}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite10000Cells(b *testing.B) {
	r := reporttest.Large(10_000 / 7)
	for b.Loop() {
		var out bytes.Buffer
		if err := Write(&out, r, Options{Width: 120}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDominantLayer: the verdict names the layer that takes most of what the best stack loses, and none without certainty.
func TestDominantLayer(t *testing.T) {
	const words = "most of what it loses goes into "
	verdict := func(r analyse.Result) string {
		var out string
		for _, l := range verdictLines(r, newLabels(r), &notes{}) {
			out += strings.ReplaceAll(l.text, "\u00a0", " ") + "\n"
		}
		return out
	}
	r := reporttest.Vague()
	if got, want := verdict(r), words+"transport and controller (64 % ± 3 where it is least, under 1 of 2 workloads)\n"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	r.Best.Workloads = r.Best.Workloads[:1]
	if got, want := verdict(r), words+"transport and controller (64 % ± 3)\n"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	r.Explanation.Bills[0].Layers[1].Share.Low = 0.45
	if got := verdict(r); strings.Contains(got, words) {
		t.Errorf("a layer that may take less than half is named: %q", got)
	}
}
