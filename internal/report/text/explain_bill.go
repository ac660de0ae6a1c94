package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// bills prints the stacks one after the other, with a waterfall for each workload.
func (x *explanation) bills() {
	x.title("Where the time of an I/O goes")
	if len(x.subject.Stacks) == 0 {
		x.hang("", "No stack with a guest has been measured. `iotax run --quick` measures the usual ones.", plain)
		return
	}
	x.hang("", "from the host's disk up to the program in the guest; ▒ the host and the whole, █ what a layer adds, ░ what it gives back, ~ cannot be told "+
		"from nothing; ± is the 95 % interval", faint)
	for _, stack := range x.subject.Stacks {
		x.blank()
		x.hang("", x.names.stack(stack)+x.details(stack), good)
		if b := x.r.Best; b != nil && slices.Contains(b.Tied, stack) {
			x.hang("", "it cannot be told from the best stack, "+x.names.stack(b.Stack), faint)
		}
		drawn := false
		for _, b := range x.Bills {
			if b.Stack == stack && x.about(b.Workload) {
				x.bill(b)
				drawn = true
			}
		}
		if !drawn {
			x.hang("", x.whyNoBill(stack), plain)
			x.own(stack)
		}
	}
}

// details are what a stack has in its layers, from its first bill that has any.
func (x *explanation) details(stack string) string {
	for _, b := range x.Bills {
		if b.Stack != stack || len(b.Layers) == 0 {
			continue
		}
		var words []string
		for _, l := range b.Layers {
			if l.Detail != "" {
				words = append(words, l.Detail)
			}
		}
		return " (" + strings.Join(words, ", ") + ")"
	}
	return configWords(x.r, stack)
}

// whyNoBill says why a stack of the run has no bill.
func (x *explanation) whyNoBill(stack string) string {
	for _, s := range x.r.Experiment.Stacks {
		switch {
		case s.Name != stack:
		case s.Ceiling():
			return "a disk of zero latency has no bill: it is what the bills of others are checked with"
		case s.OnHost():
			return "it has no guest, and no bill: it is a step in the bills of others"
		}
	}
	if stack == spec.Host || stack == spec.Control {
		return "the host is what the bills start from"
	}
	return "there is no bill under this workload: all stacks are held to the same rate there, and the price tells them apart"
}

// general reports whether a zero-latency stack has no controller, and so is no ceiling of one path alone.
func (x *explanation) general(stack string) bool {
	return slices.ContainsFunc(x.r.Experiment.Stacks, func(s spec.Stack) bool { return s.Name == stack && (s.InsideGuest() || s.OnHost()) })
}

// generalCeilings says what the guest and QEMU's block layer can do by themselves.
func (x *explanation) generalCeilings() {
	first := true
	for _, c := range x.Ceilings {
		if !x.general(c.Stack) || !x.about(c.Workload) || slices.Contains(x.subject.Stacks, c.Stack) {
			continue
		}
		if first {
			x.title("Without disk and controller")
			first = false
		}
		x.hang("", x.names.workload(c.Workload)+": "+c.Sentence, plain)
	}
}

// own says what a zero-latency stack shows by itself.
func (x *explanation) own(stack string) {
	for _, c := range x.Ceilings {
		if c.Stack == stack && x.about(c.Workload) {
			x.hang("  ", x.names.workload(c.Workload)+": "+c.Sentence, plain)
		}
	}
}

// bill prints one waterfall.
func (x *explanation) bill(b analyse.Bill) {
	name := x.names.workload(b.Workload)
	x.blank()
	if b.Reason != "" {
		x.hang("", name+": "+b.Reason, plain)
		return
	}
	scale := metrics.Scale(record.ClatMean, *b.Host, *b.Total)
	x.hang("", name+": "+taxWords(b, scale), plain)
	x.waterfall(waterfallOf(b, scale), "time, "+strings.TrimSpace(scale.Unit))
	if c := b.Check; c != nil {
		x.hang("  check    ", x.checkWords(*c, wholeOf(b), scale), plain)
	}
	for _, c := range x.Ceilings {
		if c.Workload == b.Workload && takes(c, b.Stack) && !x.general(c.Stack) {
			x.hang("  ceiling  ", fmt.Sprintf("%s: %s", glued(x.names.stack(c.Stack)), c.Sentence), plain)
		}
	}
	for _, a := range b.Advice {
		if told := [2]string{b.Stack, a}; !x.told[told] { // under one workload as under the other
			x.told[told] = true
			x.hang("  finer    ", a, faint)
		}
	}
}

// taxWords is the bill in a sentence.
func taxWords(b analyse.Bill, scale unit.Scale) string {
	less := b.Tax.Value < 0
	vague := vaguely(*b.Tax, wholeOf(b), scale)
	spread := func(e stat.Estimate) string { return glued(spread(e, scale, true) + scale.Unit) }
	switch untold := !b.Tax.Known() || b.Tax.Contains(0); {
	case untold && vague != "":
		return "the time of an I/O cannot be told from the host's"
	case untold:
		return "the time of an I/O cannot be told from the host's: " + spread(*b.Tax) + " more"
	case vague != "" && less:
		return "each I/O takes less time than on the host, by " + glued(vaguely(minus(*b.Tax), wholeOf(b), scale)+scale.Unit)
	case vague != "":
		return "each I/O takes longer than on the host, by " + glued(vague+scale.Unit)
	case less:
		return "each I/O takes " + spread(minus(*b.Tax)) + " less than on the host"
	}
	return "each I/O takes " + spread(*b.Tax) + " more than on the host, " + glued(times(b.Total.Value/b.Host.Value)+" times as long in all")
}

// wholeOf is the time that the parts of a bill are measured by.
func wholeOf(b analyse.Bill) float64 { return max(b.Host.Value, b.Total.Value) }

// vaguely is unit.Vaguely of a time.
func vaguely(e stat.Estimate, whole float64, scale unit.Scale) string {
	return unit.Vaguely(e.Low, e.High, whole, scale.Number)
}

// checkWords says what the check of a bill shows, whole being that of the bill.
func (x *explanation) checkWords(c analyse.BillCheck, whole float64, scale unit.Scale) string {
	where := fmt.Sprintf("over a disk of zero latency (%s) ", glued(x.names.stack(c.Stack)))
	if vaguely(c.Time, whole, scale) != "" {
		return where + "the time of the layers above QEMU's block layer is hardly known: it checks nothing"
	}
	words := where + "the layers above QEMU's block layer take " + glued(spread(c.Time, scale, true)+scale.Unit)
	if c.Agree {
		return words + ": it agrees"
	}
	return words + ": it does NOT agree; with a disk behind them they take another time, or do their work while it does its own"
}

func minus(e stat.Estimate) stat.Estimate {
	if !e.Known() {
		return stat.Unknown(-e.Value)
	}
	return stat.Estimate{Value: -e.Value, Low: -e.High, High: -e.Low}
}

// fall is one line of a waterfall.
type fall struct {
	label, time, share string
	from, to           float64 // of the bar, in nanoseconds
	glyph              string
	kind               kind // of the bar
}

func waterfallOf(b analyse.Bill, scale unit.Scale) []fall {
	at := b.Host.Value
	whole := func(e stat.Estimate) string { return timeOf(e, e.Value, scale, true) }
	out := []fall{{label: "host", time: whole(*b.Host), to: at, glyph: "▒", kind: faint}}
	for _, l := range b.Layers {
		f := fall{label: strings.Join(l.Names, " + "), time: timeOf(l.Time, wholeOf(b), scale, l.Differs), from: at, to: at + l.Time.Value, glyph: "█"}
		if l.Time.Value < 0 {
			f.glyph, f.kind = "░", good
			if l.Differs {
				f.label += " gives back"
			}
		}
		if l.Share != nil {
			f.share = shareOfTax(*l.Share)
		}
		at = f.to
		out = append(out, f)
	}
	return append(out, fall{label: "in all", time: whole(*b.Total), to: b.Total.Value, glyph: "▒", kind: faint})
}

// timeOf is spread for a part of a whole that may be hardly known.
func timeOf(e stat.Estimate, whole float64, scale unit.Scale, differs bool) string {
	switch vague := vaguely(e, whole, scale); {
	case vague == "":
		return spread(e, scale, differs)
	case differs:
		return vague
	}
	return "~"
}

// shareOfTax is a share with the longer half of its interval; that of the only layer has no chance in it.
func shareOfTax(e stat.Estimate) string {
	if e.Low == e.High {
		return shareOfAll(&e.Value)
	}
	return unit.Part(e.Value, e.Low, e.High)
}

// spread is a value with the longer half of its interval, in as many digits as that deserves; "~" before one that cannot be
// told from nothing.
func spread(e stat.Estimate, scale unit.Scale, differs bool) string {
	sign := ""
	if !differs {
		sign = "~ "
	}
	half := max(e.Value-e.Low, e.High-e.Value)
	if !e.Known() || half <= 0 {
		return sign + digits(e.Value/scale.Div)
	}
	scale.Decimals = min(max(0, int(math.Ceil(-math.Log10(half/scale.Div/0.95)))), 3)
	value := scale.Number(e.Value)
	if strings.Trim(value, "-0.") == "" {
		value = strings.TrimPrefix(value, "-")
	}
	return sign + value + " ± " + scale.Number(half)
}

// waterfall prints the lines with their bars, all on one scale.
func (x *explanation) waterfall(falls []fall, unitTitle string) {
	times, shares, top := width(unitTitle), width("share"), 0.0
	for _, f := range falls {
		times, shares, top = max(times, width(f.time)), max(shares, width(f.share)), max(top, f.from, f.to)
	}
	labels := min(30, x.width/3)
	room := min(x.width-2-labels-gap-times-gap-shares-gap, 60)
	x.line("  " + left("", labels+gap) + right(x.paint(head, unitTitle), times) + "  " + right(x.paint(head, "share"), shares))
	for _, f := range falls {
		first, more, _ := strings.Cut(strings.Join(Fill(f.label, labels), "\n"), "\n")
		x.line("  " + left(first, labels+gap) + right(f.time, times) + "  " + right(f.share, shares) + "  " + x.paint(f.kind, f.bar(top, room)))
		for _, line := range Fill(more, labels) {
			x.line("    " + line)
		}
	}
}

// bar is where a line's time lies between nothing and top.
func (f fall) bar(top float64, room int) string {
	if !(top > 0) || room < 4 {
		return ""
	}
	cells := func(v float64) int { return min(max(int(math.Round(v/top*float64(room))), 0), room) }
	from, to := cells(min(f.from, f.to)), cells(max(f.from, f.to))
	if from == to { // too little for a whole character
		return strings.Repeat(" ", min(from, room-1)) + "▏"
	}
	return strings.Repeat(" ", from) + strings.Repeat(f.glyph, to-from)
}

// takes reports whether a stack takes the path of a ceiling.
func takes(c analyse.Ceiling, stack string) bool {
	return slices.ContainsFunc(c.Of, func(u analyse.CeilingUse) bool { return u.Stack == stack })
}
