package html

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/report/text/reporttest"
	"github.com/iotax/iotax/internal/spec"
)

// A column whose load is held to a rate has latencies: multiples of the host's, coloured the other way round, and no
// share that would say that all stacks are equal.
func TestHeldColumn(t *testing.T) {
	x := newIndex(reporttest.Held())
	n := &notes{}
	h := heatOf(x, n)
	last := len(h.Columns) - 1
	if m := h.Columns[last].Metric; m != "latency, less is better" {
		t.Errorf("the column is headed %q", m)
	}
	cells := map[string]heatCell{}
	for _, g := range h.Groups {
		for _, row := range g.Rows {
			cells[row.Name] = row.Cells[last]
			if text := row.Cells[last].Text; strings.Contains(text, "%") {
				t.Errorf("%s has the share %q", row.Name, text)
			}
		}
	}
	for stack, want := range map[string]heatCell{
		spec.Host:    {Class: "base", Text: "52" + thin + "\u00b5s"},
		"virtio-blk": {Class: "h4", Text: "2.24" + times, Sub: "2.15" + dash + "2.35"},
		spec.Control: {Class: "tie", Text: "~", Sub: "0.97" + dash + "1.06"},
		"sata":       {Class: "none", Text: "withheld"},
		"null-co":    {Class: "tie", Text: "~", Sub: "1.18" + dash + "1.29"},
	} {
		got := cells[stack]
		got.Marks = nil
		if want.Sub == "" {
			got.Sub = ""
		}
		if got.Class != want.Class || got.Text != want.Text || got.Sub != want.Sub {
			t.Errorf("%s: %+v, want %+v", stack, got, want)
		}
	}
	if said := strings.Join(n.texts, "\n"); !strings.Contains(said, "Held to 6.3k"+thin+"IOPS for all, 80"+thin+"% of what the slowest stack reached") {
		t.Errorf("the notes do not say what the load is held to:\n%s", said)
	}
	f := figureOf(x, x.workloads[last])
	if c := f.Columns[0]; c.Title != "IOPS" || c.Better != "held to a rate" {
		t.Errorf("the figures begin with %+v", c)
	}
	s := stripOf(x, x.workloads[last], 0, []string{"virtio-blk"}, stripAxis(x, []string{"virtio-blk"}))
	if text := s.Lanes[0].Text; text != "2.24"+times || !strings.Contains(s.Summary, "latency is so many times the host") {
		t.Errorf("a lane of %q, %q", text, s.Summary)
	}
	if got := judgedOn(x); !strings.Contains(got, "all 2 workloads that are not held to a rate") {
		t.Errorf("judged on: %q", got)
	}
}
