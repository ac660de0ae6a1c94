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
)

var results = map[string]func() analyse.Result{
	"default": reporttest.Default,
	"partial": reporttest.Partial,
	"alarm":   reporttest.Alarm,
	"none":    func() analyse.Result { return analyse.Result{} },
}

func TestGolden(t *testing.T) {
	for name, result := range results {
		for _, width := range []int{80, 120, 200} {
			checkGolden(t, fmt.Sprintf("%s-%d.txt", name, width), result(), Options{Width: width})
		}
	}
	checkGolden(t, "default-color.txt", reporttest.Default(), Options{Width: 120, Color: true})
}

// TestNoStrayGoldenFile: a file that no case reads would rot.
func TestNoStrayGoldenFile(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) != 3*len(results)+1 {
		t.Errorf("%d golden files, want %d: %v, %v", len(files), 3*len(results)+1, files, err)
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

// TestHostileText: what a guest or a device calls itself cannot take hold of the terminal.
func TestHostileText(t *testing.T) {
	r := reporttest.Default()
	hostile := "\x1b]0;title\x07\x1b[2Jbad\r\n\tdisk\u009b31m"
	r.Run.Host.Device.Model, r.Run.Reason, r.Warnings = hostile, hostile, []string{hostile}
	r.Cells[3].Status, r.Cells[3].Reason = record.Failed, hostile
	r.Experiment.Title, r.Experiment.Workloads[0].Title, r.Experiment.Stacks[0].Title = hostile, hostile, hostile
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
