package text

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// billLine is one line of the itemised bill.
type billLine struct {
	title string
	cells [4]string // alone, together, without it, share
	kind  kind
}

// ladder prints the itemised bill.
func (p *printer) ladder(b analyse.LadderBill, t *table) {
	p.hang("", fmt.Sprintf("from %s, step by step; %s%s, geometric mean over %s. Alone: this step on the start. Together: with all "+
		"before it. Taken off: what the whole owes to it.", t.names.stack(b.Base), ladderMetric(b), better(b.Metric), unit.Count(len(b.Workloads), "workload")), faint)
	lines := []billLine{{cells: [4]string{"alone", "together", "taken off", "share"}, kind: head}}
	for i, s := range b.Steps {
		lines = append(lines, billLine{
			title: fmt.Sprintf("%d %s", i+1, s.Title),
			cells: [4]string{worthWords(s.Alone, t.notes), worthWords(s.Together, t.notes), worthWords(s.Without, t.notes), shareOfAll(s.Share)},
		})
	}
	if b.Total != nil {
		whole := 1.0
		if b.Total.Contains(1) {
			lines = append(lines, billLine{title: "all of it", cells: [4]string{"", changed(*b.Total), "", ""}, kind: good})
		} else {
			lines = append(lines, billLine{title: "all of it", cells: [4]string{"", changed(*b.Total), "", shareOfAll(&whole)}, kind: good})
		}
	}
	p.billLines(lines)
	if b.Interaction != nil {
		p.hang("", "interaction: "+changed(*b.Interaction)+", the whole over the product of the steps alone: what they give or take by being combined", plain)
	}
	if b.Reason != "" {
		p.hang("", b.Reason, loud)
	}
	for _, why := range b.LeftOut {
		p.hang("left out: ", why, plain)
	}
	p.blank()
}

func ladderMetric(b analyse.LadderBill) string {
	if b.Metric == "" {
		return "more is better"
	}
	return metrics.Title(b.Metric)
}

// billLines prints the lines, the titles broken into the room that the figures leave.
func (p *printer) billLines(lines []billLine) {
	var widths [4]int
	used := 0
	for i := range widths {
		for _, l := range lines {
			widths[i] = max(widths[i], width(l.cells[i]))
		}
		used += gap + widths[i]
	}
	room := 0
	for _, l := range lines {
		room = max(room, width(l.title))
	}
	room = max(min(room, p.width-used), 12)
	for _, l := range lines {
		title := Fill(l.title, room)
		if len(title) == 0 {
			title = []string{""}
		}
		line := left(title[0], room)
		for i, c := range l.cells {
			line += strings.Repeat(" ", gap) + right(c, widths[i])
		}
		p.line(p.paint(l.kind, clip(strings.TrimRight(line, " "), p.width)))
		for _, more := range title[1:] {
			p.line("  " + more)
		}
	}
}

func worthWords(w analyse.Worth, n *notes) string {
	switch {
	case w.Factor != nil:
		words := changed(*w.Factor)
		if len(w.Across) > 0 {
			words += " " + n.mark("this holds what could not be measured by itself as well: "+strings.Join(w.Across, ", "))
		}
		return words
	case w.Reason == "":
		return ""
	}
	reason := w.Reason
	if w.Mend != "" {
		reason += "; to have it: " + w.Mend
	}
	return "n/a " + n.mark(reason)
}

// changed is a factor as a change with the longer half of its interval, "~" where that holds no change.
func changed(e stat.Estimate) string {
	if !e.Known() {
		return strings.Fields(unit.Change(e.Value, e.Low, e.High))[0] + " %"
	}
	words := unit.Share(e.Value, e.Low, e.High)
	_, half, ok := strings.Cut(words, "±")
	if !ok {
		return words
	}
	sign := ""
	if e.Contains(1) {
		sign = "~ "
	}
	return sign + strings.Join(strings.Fields(unit.Change(e.Value, e.Low, e.High))[:2], " ") + " ±" + half
}

func shareOfAll(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}
