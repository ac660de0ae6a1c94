package html

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// span is a piece of a sentence.
type span struct {
	Text   string
	Strong bool
}

// answer is the sentence that the page opens on, and the lines under it.
type answer struct {
	Sentence []span
	Lines    []string
	short    string // for the title of the page
}

// banner is something that a reader must know before any number.
type banner struct{ Word, Text string }

// tile is a figure beside the answer.
type tile struct{ Label, Value, Interval, Note string }

var roles = map[string]string{
	"virt-manager": "virt-manager\u2019s default",
	"proxmox":      "Proxmox\u2019s default",
	"ceiling":      "ceiling",
}

func roleName(role, stack string) string {
	if n := roles[role]; n != "" {
		return n
	}
	return stack
}

func runOf(r record.Run) runLine {
	return runLine{
		ID: r.ID, Started: r.Started.UTC().Format("2 January 2006, 15:04 UTC"), Preset: r.Preset,
		Seed: strconv.FormatUint(r.Seed, 10), Version: r.Version, Status: r.Status,
	}
}

func answerOf(x index) answer {
	b := x.Best
	if b == nil {
		return answer{
			short:    "no best safe stack",
			Sentence: []span{{"This run cannot name a best safe way to give a virtual machine its disk", true}, {emulated(x) + ".", false}},
			Lines:    []string{"No durable stack has a figure that can be compared with the host; the notes under the table say why."},
		}
	}
	a := answer{short: b.Stack + " keeps " + percent(b.Ratio.Value) + " of the host"}
	value, interval := shareOf(b.Ratio)
	a.Sentence = append(a.Sentence,
		span{b.Stack, true}, span{" is the best safe way to give a virtual machine this disk" + emulated(x) + ": it keeps ", false},
		span{value, true}, span{" of the host\u2019s speed (95" + thin + "% interval " + unbroken(interval) + ")", false})
	var told, untold []analyse.Gain
	for _, g := range x.Gains {
		switch {
		case g.Over == b.Stack:
			a.Lines = append(a.Lines, "It is "+roleName(g.Role, g.Over)+".")
		case g.Overall != nil && g.Differs:
			told = append(told, g)
		default:
			untold = append(untold, g)
		}
	}
	a.Sentence = append(a.Sentence, gainSpans(told)...)
	a.Sentence = append(a.Sentence, span{".", false})
	if d := x.Dominant(); d != nil {
		a.Lines = append(a.Lines, dominantLine(*d, *b))
	}
	for _, g := range untold {
		a.Lines = append(a.Lines, untoldLine(g))
	}
	if len(b.Tied) > 0 {
		a.Lines = append(a.Lines, "This run cannot tell it from "+list(b.Tied)+".")
	}
	a.Lines = append(a.Lines, judgedOn(x))
	return a
}

// emulated says software emulation inside the sentence itself, where no one can miss it.
func emulated(x index) string {
	if x.Run.Host.Accelerator == "tcg" {
		return ", under software emulation"
	}
	return ""
}

func gainSpans(told []analyse.Gain) []span {
	var out []span
	for i, g := range told {
		join := ", "
		if i > 0 {
			join = " and "
		}
		value, interval := faster(*g.Overall)
		out = append(out, span{join, false}, span{value, true},
			span{" than " + roleName(g.Role, g.Over) + " (" + unbroken(interval) + ")", false})
	}
	return out
}

// unbroken keeps an interval on one line; browsers break after a dash.
func unbroken(s string) string { return strings.ReplaceAll(s, dash, joiner+dash+joiner) }

func untoldLine(g analyse.Gain) string {
	if g.Overall == nil {
		return "It cannot be compared with " + roleName(g.Role, g.Over) + " in this run."
	}
	_, interval := changeOf(*g.Overall)
	return "Against " + roleName(g.Role, g.Over) + " this run cannot tell a difference: ~ (" + interval + ")."
}

// dominantLine names the layer that takes most of what the best stack loses, with its share where it is least.
func dominantLine(d analyse.Dominant, best analyse.Best) string {
	judged := len(best.Workloads)
	part := partOf(d.Share)
	words := part.Text
	if part.Sub != "" && d.Share.Low != d.Share.High {
		words += ", " + unbroken(part.Sub)
	}
	switch {
	case d.Workloads < judged:
		words += " where it is least, under " + strconv.Itoa(d.Workloads) + " of " + unit.Count(judged, "workload")
	case judged > 1:
		words += " where it is least"
	}
	whose := "it"
	if d.Stack != best.Stack {
		whose = d.Stack + ", which cannot be told from it,"
	}
	return "Most of what " + whose + " loses goes into " + d.Layer + " (" + words + ")."
}

func judgedOn(x index) string {
	n, all := len(x.Best.Workloads), len(analyse.Ranked(x.Experiment))
	over := "all " + unit.Count(all, "workload")
	if n != all {
		over = strconv.Itoa(n) + " of " + unit.Count(all, "workload")
	}
	if all < len(x.workloads) {
		over += " that are not held to a rate"
	}
	return "Judged on the geometric mean over " + over + ". Only stacks whose completed flushes are on the device are judged."
}

func bannersOf(x index) []banner {
	var out []banner
	if x.Run.Host.Accelerator == "tcg" {
		text := "The guest ran without KVM"
		if why := x.Run.Host.AcceleratorReason; why != "" {
			text += " (" + why + ")"
		}
		out = append(out, banner{"Software emulation", text + ". The shares below are far from what KVM gives; the order of the stacks usually is not."})
	}
	if e := x.Experiment; e.Scale != "" || e.Note != "" {
		out = append(out, banner{strings.TrimSpace("Scale " + e.Scale), scaleWords(e)})
	}
	if x.Run.Status == record.Running {
		out = append(out, banner{"Still running", "What follows rests on the rounds that were measured so far."})
	} else if x.Run.Status != record.Complete {
		text := "This run did not end as planned"
		if x.Run.Reason != "" {
			text += ": " + x.Run.Reason
		}
		out = append(out, banner{"Partial run", text + ". What follows rests on the rounds that were measured."})
	}
	if x.Noise.Alarm {
		out = append(out, banner{"Control alarm", "The host measured twice differs from itself: conditions changed under this run. Trust no small difference."})
	}
	return out
}

// scaleWords says in what the run departs from the published experiment.
func scaleWords(e spec.Experiment) string {
	if e.Note == "" {
		return "Volumes of " + unit.Bytes(e.Size) + ", windows of " + unit.Duration(e.Runtime) + "."
	}
	return "Not the terms of the published experiment: " + strings.TrimSuffix(e.Note, ".") + "."
}

func tilesOf(x index) []tile {
	var out []tile
	if b := x.Best; b != nil {
		value, interval := shareOf(b.Ratio)
		out = append(out, tile{"of the host\u2019s speed", value, "interval " + interval, b.Stack})
		for _, g := range x.Gains {
			if g.Over != b.Stack {
				out = append(out, gainTile(g))
			}
		}
	}
	if n := len(x.Verdicts); n > 0 {
		holds, fails, open := counts(x.Verdicts)
		out = append(out, tile{
			"published statements hold here", strconv.Itoa(holds) + " of " + strconv.Itoa(n),
			strconv.Itoa(fails) + verb(fails, " does not", " do not"), strconv.Itoa(open) + " cannot be told",
		})
	}
	if n := x.Noise; n.Known() {
		out = append(out, tile{
			"smallest difference it sees", percent(n.Detectable),
			change(n.Low) + " to " + change(n.High), "the host against itself: the noise floor",
		})
	}
	return out
}

func gainTile(g analyse.Gain) tile {
	t := tile{"over " + roleName(g.Role, g.Over), "~", "no comparison", g.Over}
	if e := g.Overall; e != nil {
		t.Value, t.Interval = gainText(*e, g.Differs)
	}
	return t
}
