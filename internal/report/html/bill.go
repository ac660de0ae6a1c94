package html

import (
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// bill is the itemised bill of a ladder: a line for each step, and a waterfall beside it.
type bill struct {
	Lead        string
	Ticks       []tick
	Lines       []billLine
	Interaction string
	Notes       []string
}

// billLine is one step, or the whole.
type billLine struct {
	Title                  string
	Alone, Together, Taken figureValue
	Share                  string
	Fall                   *fall
	Whole                  bool
}

// fall is a bar of the waterfall, in pixels: from where the ladder stood to where the step takes it.
type fall struct {
	From, To, Left, Width float64
	Low, High             float64 // of the end
	Down                  bool
}

// Geometry of the waterfall.
const (
	fallWidth  = 230
	fallMargin = 18
)

func billOf(b analyse.LadderBill) *bill {
	out := &bill{Lead: billLead(b), Notes: append([]string(nil), b.LeftOut...)}
	ax := fallAxis(b)
	out.Ticks = ax.changes(42)
	stood := 1.0
	for _, s := range b.Steps {
		line := billLine{Title: s.Title, Alone: worthText(s.Alone), Together: worthText(s.Together), Taken: worthText(s.Without)}
		if s.Share != nil {
			line.Share = percent(*s.Share)
		}
		if f := s.Together.Factor; f != nil {
			line.Fall = ax.fall(stood, *f)
			stood *= f.Value
		}
		out.Lines = append(out.Lines, line)
		out.Notes = append(out.Notes, worthNotes(s)...)
	}
	if b.Total != nil {
		value, interval := changeOf(*b.Total)
		whole := billLine{Title: "All of it, " + b.Top + " over " + b.Base, Together: figureValue{value, interval}, Fall: ax.fall(1, *b.Total), Whole: true}
		if !b.Total.Contains(1) {
			whole.Share = percent(1)
		}
		out.Lines = append(out.Lines, whole)
	}
	if b.Interaction != nil {
		value, interval := changeOf(*b.Interaction)
		if b.Interaction.Contains(1) {
			value = "~"
		}
		out.Interaction = "Interaction: " + value + " (" + interval + "), the whole over the product of the steps alone: what they give or take by being combined."
	}
	if b.Reason != "" {
		out.Notes = append(out.Notes, b.Reason)
	}
	out.Notes = unique(out.Notes)
	return out
}

func billLead(b analyse.LadderBill) string {
	what := "Changes of the speed"
	if b.Metric != "" {
		what = "Changes of " + metrics.Title(b.Metric)
		if w := betterWords(b.Metric); w != "" {
			what += " (" + w + ")"
		}
	}
	return what + ", as geometric means over " + unit.Count(len(b.Workloads), "workload") + ", from " + b.Base + " upwards. Alone is the step on the start; " +
		"together with all before it; taken off is what the whole owes to it. The shares are of the whole gain, in the order of the ladder; " +
		"\u201c~\u201d cannot be told from no change."
}

func worthText(w analyse.Worth) figureValue {
	if w.Factor == nil {
		if w.Reason == "" {
			return figureValue{}
		}
		return figureValue{Text: "n/a"}
	}
	value, interval := changeOf(*w.Factor)
	if w.Factor.Contains(1) {
		value = "~"
	}
	return figureValue{value, interval}
}

// worthNotes says why a step has no figure, and what a figure holds beside its own step.
func worthNotes(s analyse.LadderStep) []string {
	var out []string
	for _, w := range []analyse.Worth{s.Alone, s.Together, s.Without} {
		if w.Reason != "" {
			text := s.Title + ": " + w.Reason
			if w.Mend != "" {
				text += "; to have it: " + w.Mend
			}
			out = append(out, text)
		}
	}
	if a := s.Together.Across; len(a) > 0 {
		out = append(out, s.Title+", together: holds what could not be measured by itself as well: "+strings.Join(a, ", "))
	}
	return out
}

// fallAxis spans every place where the ladder stands.
func fallAxis(b analyse.LadderBill) axis {
	stood, vs := 1.0, []float64{1, 0.95, 1.05}
	for _, s := range b.Steps {
		if f := s.Together.Factor; f != nil {
			vs = append(vs, stood*f.Low, stood*f.High)
			stood *= f.Value
			vs = append(vs, stood)
		}
	}
	if b.Total != nil {
		vs = append(vs, b.Total.Low, b.Total.High)
	}
	return newAxis(vs, fallMargin, fallWidth-fallMargin)
}

// fall places a step that starts where the ladder stood; nil where it cannot be drawn.
func (a axis) fall(stood float64, f stat.Estimate) *fall {
	out := &fall{From: a.at(stood), To: a.at(stood * f.Value), Low: a.at(stood * f.Low), High: a.at(stood * f.High), Down: f.Value < 1}
	if !finite(out.From) || !finite(out.To) {
		return nil
	}
	if !f.Known() || !finite(out.Low) || !finite(out.High) {
		out.Low, out.High = out.To, out.To
	}
	out.Left, out.Width = min(out.From, out.To), max(out.From, out.To)-min(out.From, out.To)
	return out
}
