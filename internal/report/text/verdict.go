package text

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// noise tells how to read the table, and what it cannot see.
func (p *printer) noise(n analyse.Noise, table, short bool) {
	if !table {
		return
	}
	if short {
		p.hang("", "± is the 95 % interval; ~ before a figure: the interval is wider than the figure itself.", faint)
	} else {
		p.shares()
	}
	if !n.Known() {
		p.hang("", "Noise floor: not known; the host's control has too few rounds.", loud)
		return
	}
	p.hang("", fmt.Sprintf("Noise floor: the host differs from itself by %s; a difference of %s would be found.",
		floor(n), percent(n.Detectable)), plain)
}

func (p *printer) shares() {
	p.hang("", "Shares are of IOPS, of bandwidth for sequential loads: more is better. ± is the 95 % interval; ~ cannot be told from the host.", faint)
}

// verdictLine is one paragraph, filled beside its prefix.
type verdictLine struct {
	prefix, text string
	kind         kind
}

func (p *printer) verdict(lines []verdictLine) {
	for _, l := range lines {
		p.hang(l.prefix, l.text, l.kind)
	}
}

// verdictLines word the best safe stack, what it gains, and how the time was spent.
func verdictLines(r analyse.Result, names labels, notes *notes) []verdictLine {
	var lines []verdictLine
	if r.Best == nil {
		lines = append(lines, verdictLine{"", "No best safe stack here: no durable stack has a number that can be compared.", loud})
	} else {
		lines = append(lines, bestLines(r, names)...)
		lines = append(lines, gainLines(r.Gains, names, notes)...)
	}
	if r.Efficiency > 0 {
		lines = append(lines, verdictLine{"", fmt.Sprintf("Efficiency: %.0f %% of the time was spent inside windows, %.0f %% in what fio timed.",
			100*r.Efficiency, 100*r.TimedShare), plain})
	}
	return lines
}

func bestLines(r analyse.Result, names labels) []verdictLine {
	b := r.Best
	lines := []verdictLine{{"", "Best safe stack here: " + names.stack(b.Stack) + configWords(r, b.Stack), good}}
	share := fmt.Sprintf("%s of the host", shareWords(b.Ratio))
	ranked := len(analyse.Ranked(r.Experiment))
	of, held := fmt.Sprintf("%d of %d workloads", len(b.Workloads), ranked), ""
	if len(b.Workloads) == ranked {
		of = fmt.Sprintf("all %d workloads", ranked)
	}
	if ranked < len(r.Experiment.Workloads) {
		held = " that are not held to a rate"
	}
	share += ", geometric mean over " + of + held
	lines = append(lines, verdictLine{"  ", share, plain})
	if d := r.Dominant(); d != nil {
		lines = append(lines, verdictLine{"  ", dominantWords(*d, *b, names), plain})
	}
	if len(b.Tied) > 0 {
		tied := make([]string, len(b.Tied))
		for i, name := range b.Tied {
			tied[i] = names.stack(name)
		}
		lines = append(lines, verdictLine{"  ", "cannot be told from it: " + strings.Join(tied, ", "), plain})
	}
	for _, s := range r.Experiment.Stacks {
		if s.Name == b.Stack && (s.Role == "virt-manager" || s.Role == "proxmox") {
			lines = append(lines, verdictLine{"  ", "it is itself " + whose(s.Role), plain})
		}
	}
	return lines
}

// dominantWords names the layer that takes most of what the best stack loses, with its share where it is least.
func dominantWords(d analyse.Dominant, best analyse.Best, names labels) string {
	judged := len(best.Workloads)
	words := glued(shareOfTax(d.Share))
	switch {
	case d.Workloads < judged:
		words += fmt.Sprintf(" where it is least, under %d of %s", d.Workloads, unit.Count(judged, "workload"))
	case judged > 1:
		words += " where it is least"
	}
	whose := "it"
	if d.Stack != best.Stack {
		whose = names.stack(d.Stack) + ", which cannot be told from it,"
	}
	return fmt.Sprintf("most of what %s loses goes into %s (%s)", whose, d.Layer, words)
}

// configWords spells out a stack in QEMU's words.
func configWords(r analyse.Result, name string) string {
	for _, s := range r.Experiment.Stacks {
		if s.Name == name {
			return " (" + stackWords(s) + ")"
		}
	}
	return ""
}

func stackWords(s spec.Stack) string {
	f := facts{}
	for _, word := range []string{s.Format, s.Bus} {
		f.add(word != "", "%s", word)
	}
	f.add(s.IOThread, "iothread")
	f.add(s.Cache != "", "cache %s", s.Cache)
	f.add(s.AIO != "", "aio %s", s.AIO)
	return f.String()
}

func shareWords(e stat.Estimate) string {
	if !e.Known() {
		return "about " + strings.Fields(unit.Share(e.Value, e.Low, e.High))[0] + " % (no interval)"
	}
	return unit.Share(e.Value, e.Low, e.High)
}

func gainLines(gains []analyse.Gain, names labels, notes *notes) (lines []verdictLine) {
	widest := 0
	for _, g := range gains {
		widest = max(widest, width(whose(g.Role)))
	}
	for _, g := range gains {
		lines = append(lines, verdictLine{"  against " + left(whose(g.Role), widest) + "  ", gainWords(g, names, notes), plain})
	}
	return lines
}

// changeWords is "~" when 1 is inside the interval: not a change.
func changeWords(e stat.Estimate) string {
	if !e.Known() || e.Contains(1) {
		return "~"
	}
	return glued(unit.Change(e.Value, e.Low, e.High))
}

// gainWords lists what is gained overall and by workload, then what cannot be told and what cannot be compared.
func gainWords(g analyse.Gain, names labels, notes *notes) string {
	var gained, same, none []string
	if g.Overall != nil {
		words := "~"
		if g.Differs {
			words = changeWords(*g.Overall)
		}
		gained = append(gained, "overall "+words)
	}
	for _, c := range g.Workloads {
		name := names.workload(c.Workload)
		switch {
		case c.Ratio == nil:
			none = append(none, strings.TrimSpace(name+" "+notes.mark(withoutStatus(c.Reason))))
		case !c.Differs || !c.Ratio.Known():
			same = append(same, name)
		default:
			gained = append(gained, name+" "+changeWords(*c.Ratio))
		}
	}
	var parts []string
	if len(gained) > 0 {
		parts = append(parts, strings.Join(gained, ", "))
	}
	if len(same) > 0 {
		parts = append(parts, "~ "+strings.Join(same, ", "))
	}
	if len(none) > 0 {
		parts = append(parts, "cannot be compared: "+strings.Join(none, ", "))
	}
	if len(parts) == 0 {
		return "cannot be compared"
	}
	return strings.Join(parts, "; ")
}

// withoutStatus takes off the status that the analysis puts before the reason of a cell, which the
// table has as a footnote already.
func withoutStatus(reason string) string {
	for _, status := range []string{record.Withheld, record.Failed, record.Unavailable} {
		if rest, ok := strings.CutPrefix(reason, status+": "); ok {
			return rest
		}
	}
	return reason
}
