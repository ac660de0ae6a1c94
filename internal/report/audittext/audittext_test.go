package audittext

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/audit/outcome/outcometest"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/linediff"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/stat"
)

func write(t *testing.T, o *outcome.Outcome, options Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, o, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, tt := range map[string]struct {
		o       *outcome.Outcome
		options Options
	}{
		"80":      {outcometest.Default(), Options{}},
		"120":     {outcometest.Default(), Options{Options: text.Options{Width: 120}}},
		"verbose": {outcometest.Default(), Options{Verbose: true}},
		"colour":  {outcometest.Default(), Options{Options: text.Options{Color: true}}},
		"empty":   {outcometest.Empty(), Options{}},
	} {
		golden.Equal(t, "testdata/"+name+".golden", write(t, tt.o, tt.options))
	}
}

// Nothing is wider than the terminal but commands, and colour adds no word.
func TestWidthAndColour(t *testing.T) {
	for _, width := range []int{60, 80, 132} {
		plain := write(t, outcometest.Default(), Options{Options: text.Options{Width: width}})
		for line := range strings.Lines(plain) {
			if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > width && !strings.Contains(line, "echo vm.swappiness") && !strings.Contains(line, "qm set") {
				t.Errorf("%d columns at %d: %s", w, width, line)
			}
		}
		coloured := write(t, outcometest.Default(), Options{Options: text.Options{Width: width, Color: true}})
		if ansi.Strip(coloured) != plain {
			t.Errorf("at %d colour changes the words", width)
		}
		if coloured == plain {
			t.Error("no colour")
		}
	}
}

func TestFileCannotTakeTheTerminal(t *testing.T) {
	if out := write(t, outcometest.Default(), Options{Verbose: true}); strings.ContainsAny(out, "\x1b\x00") {
		t.Errorf("control characters in %q", out)
	}
}

func TestCosts(t *testing.T) {
	for want, r := range map[string]stat.Estimate{
		"45 % (41 to 50) of the IOPS under w":                                 {Value: 0.55, Low: 0.5, High: 0.59},
		"1.2 % (0.7 to 1.6) of the IOPS under w":                              {Value: 0.988, Low: 0.984, High: 0.993},
		"nothing that could be told: 0 % (-4 to 4) of the IOPS under w":       {Value: 1.0001, Low: 0.96, High: 1.04},
		"nothing: the change gives up 50 % (38 to 58) of the IOPS under w":    {Value: 2, Low: 1.6, High: 2.4},
		"nothing that could be told: -10 % (-30 to 0) of the IOPS under w":    {Value: 1.1, Low: 1, High: 1.3},
		"nothing that could be told: 0.0 % (-0.5 to 0.5) of the IOPS under w": {Value: 1, Low: 0.995, High: 1.005},
	} {
		if got := loss(&audit.Price{Ratio: r, Metric: "iops", Workload: "w"}); got != want {
			t.Errorf("%+v: %s, want %s", r, got, want)
		}
	}
	if got := costs(nil); got != "not measured here" {
		t.Error(got)
	}
}

// A change of hundreds of lines is cut, and said to be.
func TestLongChange(t *testing.T) {
	o := outcometest.Default()
	o.Findings = o.Findings[:1]
	var lines []string
	for i := range 3 * longest {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	o.Findings[0].Edits = []linediff.Edit{{Line: 1, NewLine: 1, New: lines}}
	out := write(t, o, Options{})
	if n := strings.Count(out, "+ line"); n != longest || !strings.Contains(out, "--format json has the whole change") {
		t.Errorf("%d lines in %s", n, out)
	}
}

func TestRules(t *testing.T) {
	var fired []audit.Rule
	for _, f := range outcometest.Default().Findings[:3] {
		fired = append(fired, f.Of)
	}
	for name, whole := range map[string]bool{"rules": false, "rules-whole": true} {
		var b strings.Builder
		if err := WriteRules(&b, fired, whole, Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/"+name+".golden", b.String())
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

func TestWriterFails(t *testing.T) {
	full := errors.New("disk full")
	if err := Write(failing{full}, outcometest.Empty(), Options{}); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := WriteRules(failing{full}, nil, false, Options{}); !errors.Is(err, full) {
		t.Error(err)
	}
}
