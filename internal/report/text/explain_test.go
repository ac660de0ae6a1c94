package text

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// explanations are what golden files are made of.
var explanations = map[string]struct {
	result  func() analyse.Result
	subject Subject
}{
	"explain-all":      {reporttest.Limited, Subject{}},
	"explain-one":      {reporttest.Explained, Subject{Stacks: []string{"virtio-blk-iothread"}, Workload: "randread-4k-q1"}},
	"explain-none":     {func() analyse.Result { return analyse.Result{} }, Subject{}},
	"explain-ceiling":  {reporttest.Explained, Subject{Stacks: []string{"null-co"}}},
	"explain-vague":    {reporttest.Vague, Subject{Stacks: []string{"sata"}}},
	"explain-unpriced": {unpriced, Subject{Stacks: []string{"sata"}, Workload: "syncwrite-4k-q1"}},
}

// unpriced is a run without counters and curves, of which a limit is asked.
func unpriced() analyse.Result {
	r := reporttest.Limited()
	r.Explanation.Prices, r.Explanation.Curves, r.Explanation.Fronts = nil, nil, nil
	return r
}

func explain(t *testing.T, r analyse.Result, s Subject, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteExplanation(&b, r, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExplanationGolden(t *testing.T) {
	for name, x := range explanations {
		for _, width := range []int{60, 80, 120} {
			golden.Equal(t, fmt.Sprintf("testdata/%s-%d.txt", name, width), explain(t, x.result(), x.subject, Options{Width: width}))
		}
	}
	golden.Equal(t, "testdata/explain-color.txt", explain(t, reporttest.Limited(), Subject{}, Options{Width: 80, Color: true}))
}

// TestExplanationFits: at any width, with colour and without, and with names and reasons that are much too long.
func TestExplanationFits(t *testing.T) {
	long := reporttest.Limited()
	for i := range long.Explanation.Bills {
		b := &long.Explanation.Bills[i]
		b.Reason = strings.TrimSpace(b.Reason + " " + strings.Repeat("漢字 ", 60))
		b.Advice = append(b.Advice, strings.Repeat("x", 300))
	}
	long.Experiment.Stacks[0].Title, long.Experiment.Stacks[1].Title = strings.Repeat("wide ", 5), ""
	for _, o := range []Options{{Width: 60}, {Width: 80}, {}, {Width: 97, Color: true}, {Width: 200}} {
		limit := o.Width
		if limit == 0 {
			limit = 80
		}
		for name, r := range map[string]analyse.Result{"long": long, "limited": reporttest.Limited(), "vague": reporttest.Vague(), "none": {}} {
			for i, line := range strings.Split(explain(t, r, Subject{}, o), "\n") {
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

// TestExplanationInColor: without its escape sequences the coloured text is the plain one.
func TestExplanationInColor(t *testing.T) {
	bare := explain(t, reporttest.Limited(), Subject{}, Options{})
	colored := explain(t, reporttest.Limited(), Subject{}, Options{Color: true})
	if d := cmp.Diff(bare, ansi.Strip(colored)); d != "" || strings.Contains(bare, "\x1b") || !strings.Contains(colored, "\x1b[") {
		t.Errorf("-plain +coloured:\n%s", d)
	}
}

// TestExplanationTellsAll: every reason, advice and sentence of what is shown is there.
func TestExplanationTellsAll(t *testing.T) {
	r := reporttest.Limited()
	got := strings.Join(strings.Fields(explain(t, r, Subject{}, Options{Width: 4000})), " ")
	var texts []string
	for _, b := range r.Explanation.Bills {
		texts = append(append(texts, b.Reason), b.Advice...)
		for _, l := range b.Layers {
			texts = append(append(texts, l.Names...), l.Detail)
		}
	}
	for _, c := range r.Explanation.Ceilings {
		texts = append(texts, c.Sentence)
	}
	for _, c := range r.Explanation.Curves {
		for _, p := range c.Points {
			texts = append(texts, p.Reason)
		}
		texts = append(texts, c.Under.Reason)
	}
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%q is missing", text)
		}
	}
}

// TestWaterfall: each bar begins where the one before it ended, and what gives back goes the other way.
func TestWaterfall(t *testing.T) {
	ns := func(v float64) stat.Estimate { return est(v, v-1, v+1) }
	b := analyse.Bill{Host: new(ns(100)), Total: new(ns(170)), Tax: new(ns(70)), Layers: []analyse.BillLayer{
		{Names: []string{"up"}, Time: ns(100), Differs: true}, {Names: []string{"down"}, Time: ns(-40), Differs: true}, {Names: []string{"little"}, Time: ns(10)},
	}}
	var got []string
	for _, f := range waterfallOf(b, unit.Scale{Div: 1}) {
		got = append(got, f.label+"|"+f.time+"|"+f.bar(200, 20))
	}
	want := []string{
		"host|100 ± 1|▒▒▒▒▒▒▒▒▒▒",
		"up|100 ± 1|          ██████████",
		"down gives back|-40 ± 1|                ░░░░",
		"little|~ 10 ± 1|                █",
		"in all|170 ± 1|▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if f := (fall{from: 100, to: 100.1, glyph: "█"}); f.bar(200, 20) != strings.Repeat(" ", 10)+"▏" || f.bar(0, 20) != "" || f.bar(math.NaN(), 20) != "" {
		t.Errorf("a bar of nothing is %q", f.bar(200, 20))
	}
}

func TestExplanationWriteError(t *testing.T) {
	want := errors.New("the pipe is gone")
	if err := WriteExplanation(failing{want}, reporttest.Explained(), Subject{}, Options{}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// TestLimited holds the report of a run under a limit to what the explanation says of it, for every stack.
func TestLimited(t *testing.T) {
	write := func(r analyse.Result) string {
		var b strings.Builder
		if err := Write(&b, r, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain, limited := write(reporttest.Explained()), write(reporttest.Limited())
	for _, want := range []string{
		"\n4k rand read, the most with clat p99 up to 1.5 ms, the whole interval under it:\n",
		" 78k IOPS at iodepth 32, the deepest",
		" 4.2k IOPS at iodepth 1\n", " none: at iodepth 1 it was measured in a single round",
	} {
		if !strings.Contains(limited, want) || strings.Contains(plain, want) {
			t.Errorf("%q is said if and only if there is a limit; got\n%s", want, limited)
		}
	}
	none := reporttest.Limited()
	none.Explanation.Curves = nil
	if got := write(none); !strings.Contains(got, "No load was measured at several iodepths") {
		t.Errorf("without a curve:\n%s", got)
	}
}
