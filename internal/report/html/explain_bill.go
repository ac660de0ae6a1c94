package html

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// maxBills is how many bills a page holds; iotax explain prints the others.
const maxBills = 80

// billsView is the bills of a run: those that answer most questions drawn, all others folded.
type billsView struct {
	Workload string
	Featured []billCard
	Folded   []billFold
	LeftOut  string
}

// billFold is what is folded under one summary.
type billFold struct {
	Title string
	Cards []billCard
}

// Count says how many bills it holds.
func (f billFold) Count() string { return unit.Count(len(f.Cards), "bill") }

// billCard is one bill as a waterfall. Reason stands in its place where there is none.
type billCard struct {
	Stack, Title string
	Badges       []badge
	Reason       string
	Lead         []span
	Unit         string
	Ticks        []tick // in per cent of the width
	Lines        string // of the ticks, as path data
	Rows         []billRow
	Check        *billCheck
	Advice       []string
}

// badge is a word beside a stack's name.
type badge struct{ Class, Text string }

// billRow is the host, a layer or the stack itself. Note says in words what the colour says.
type billRow struct {
	Name, Class, Note string
	Details           []string
	Time, Share       figureValue
	Bar               *billBar
}

// billBar is a bar in per cent of the width: from where the bill stood to where it stands then.
type billBar struct {
	Left, Width, From, To, Low, High float64
	Whisker                          bool
}

// billCheck is the cross-check in a sentence.
type billCheck struct{ Class, Sign, Text string }

func billsOf(x index, e *analyse.Explanation, chosen string) *billsView {
	if len(e.Bills) == 0 {
		return nil
	}
	bills := byWorkload(x, chosen, e.Bills, func(b analyse.Bill) string { return b.Workload })
	v := &billsView{Workload: x.workload(chosen)}
	v.LeftOut = leftOut(x, len(bills), maxBills, "bill")
	bills = bills[:min(len(bills), maxBills)]
	var here []analyse.Bill
	for _, b := range bills {
		if b.Workload == chosen {
			here = append(here, b)
		}
	}
	badges, order := featuredOf(x, here)
	for _, stack := range order {
		for _, b := range here {
			if b.Stack == stack {
				v.Featured = append(v.Featured, billCardOf(x, b, badges[stack]))
			}
		}
	}
	for _, b := range bills {
		if b.Workload == chosen && badges[b.Stack] != nil {
			continue
		}
		title := "Under " + x.workload(b.Workload)
		if b.Workload == chosen && len(v.Featured) > 0 {
			title = "The other stacks under " + x.workload(chosen)
		}
		if n := len(v.Folded); n == 0 || v.Folded[n-1].Title != title {
			v.Folded = append(v.Folded, billFold{Title: title})
		}
		fold := &v.Folded[len(v.Folded)-1]
		fold.Cards = append(fold.Cards, billCardOf(x, b, nil))
	}
	return v
}

// leftOut says what a page does not hold for want of room.
func leftOut(x index, n, most int, noun string) string {
	if n <= most {
		return ""
	}
	return "Here are " + strconv.Itoa(most) + " of " + unit.Count(n, noun) + "; iotax explain " + x.Run.ID + " prints them all."
}

// featuredOf chooses the stacks whose bills are drawn first: the best one, the usual defaults, and the one with the most
// tax. Without a best one it is the one with the least.
func featuredOf(x index, bills []analyse.Bill) (badges map[string][]badge, order []string) {
	badges = map[string][]badge{}
	add := func(stack string, b badge) {
		if badges[stack] == nil {
			order = append(order, stack)
		}
		badges[stack] = append(badges[stack], b)
	}
	var least, most *analyse.Bill
	for i := range bills {
		b := &bills[i]
		if b.Tax == nil || b.Reason != "" {
			continue
		}
		if least == nil || b.Tax.Value < least.Tax.Value {
			least = b
		}
		if most == nil || b.Tax.Value > most.Tax.Value {
			most = b
		}
	}
	for _, b := range bills {
		if x.Best != nil && x.Best.Stack == b.Stack {
			add(b.Stack, badge{"star", "\u2605 best safe stack"})
		}
	}
	for _, b := range bills {
		if clearest := x.Clearest(); b.Stack == clearest && clearest != x.Best.Stack {
			add(b.Stack, badge{"", "cannot be told from the best"})
		}
	}
	if x.Best == nil && least != nil && least != most {
		add(least.Stack, badge{"", "least tax"})
	}
	for _, b := range bills {
		if r := x.role(b.Stack); r != "" && r != "ceiling" {
			add(b.Stack, badge{"", roleName(r, r)})
		}
	}
	if most != nil {
		add(most.Stack, badge{"", "most tax"})
	}
	return badges, order
}

func billCardOf(x index, b analyse.Bill, badges []badge) billCard {
	c := billCard{Stack: b.Stack, Title: x.title(b.Stack), Badges: badges, Reason: sentence(microIn(b.Reason))}
	for _, a := range b.Advice {
		c.Advice = append(c.Advice, microIn(a))
	}
	if b.Host == nil || b.Total == nil || b.Tax == nil {
		if c.Reason == "" {
			c.Reason = "It was not measured."
		}
		return c
	}
	s := billScale(b)
	c.Unit = unitName(s)
	c.Lead = billWords(b, s)
	r := billRuler(b)
	c.Ticks = r.ticks(s.Div, 20)
	c.Lines = tickLines(c.Ticks)
	whole := func(name, class string, e stat.Estimate) billRow {
		return billRow{Name: name, Class: class, Time: timeOf(s, e, e.Value), Bar: r.bar(0, e)}
	}
	c.Rows = append(c.Rows, whole("host", "whole", *b.Host))
	stood := b.Host.Value
	for _, l := range b.Layers {
		row := layerRow(l, wholeOf(b), s)
		row.Bar = r.bar(stood, l.Time)
		stood += l.Time.Value
		c.Rows = append(c.Rows, row)
	}
	c.Rows = append(c.Rows, whole(b.Stack, "whole sum", *b.Total))
	if b.Check != nil {
		c.Check = checkOf(*b.Check, wholeOf(b), s)
	}
	return c
}

// billScale is one unit for all times of a bill, with the decimals that its parts deserve.
func billScale(b analyse.Bill) unit.Scale {
	es := []stat.Estimate{*b.Host, *b.Total}
	for _, l := range b.Layers {
		es = append(es, l.Time)
	}
	s := sharpen(unit.LatencyScale(min(b.Host.Value, b.Total.Value)), es...)
	s.Decimals = min(s.Decimals, 2)
	return s
}

func billWords(b analyse.Bill, s unit.Scale) []span {
	in := thin + unitName(s)
	word, tax := " and a tax of ", *b.Tax
	if tax.Value < 0 {
		word, tax = " less ", stat.Estimate{Value: -tax.Value, Low: -tax.High, High: -tax.Low}
		if !b.Tax.Known() {
			tax = stat.Unknown(tax.Value)
		}
	}
	amount := scaled(s, tax.Value) + in
	if tax.Known() && tax.Contains(0) {
		word, amount = " and a tax that cannot be told from none: ", "~"
	}
	out := []span{
		{scaled(s, b.Total.Value) + in, true},
		{" for one I/O: the host\u2019s " + scaled(s, b.Host.Value) + in + word, false},
	}
	switch vague := vaguely(s, tax, wholeOf(b)); {
	case amount == "~" && vague != "":
		out[1].Text = strings.TrimSuffix(out[1].Text, ": ") + "."
		return out
	case vague != "":
		return append(out, span{vague + in, true}, span{".", false})
	}
	return append(
		out, span{amount, true},
		span{" (" + unbroken(between(tax, scaled(s, tax.Low), scaled(s, tax.High))) + ").", false},
	)
}

// wholeOf is the time that the parts of a bill are measured by.
func wholeOf(b analyse.Bill) float64 { return max(b.Host.Value, b.Total.Value) }

// vaguely is unit.Vaguely of a time.
func vaguely(s unit.Scale, e stat.Estimate, whole float64) string {
	return unit.Vaguely(e.Low, e.High, whole, func(v float64) string { return scaled(s, v) })
}

// timeOf prints a time and its interval; of one that is hardly known for a part of the whole, what unit.Vaguely says.
func timeOf(s unit.Scale, e stat.Estimate, whole float64) figureValue {
	if vague := vaguely(s, e, whole); vague != "" {
		return figureValue{Text: vague}
	}
	return figureValue{scaled(s, e.Value), between(e, scaled(s, e.Low), scaled(s, e.High))}
}

func layerRow(l analyse.BillLayer, whole float64, s unit.Scale) billRow {
	row := billRow{Class: "adds", Name: strings.Join(l.Names, " + ")}
	row.Time = timeOf(s, l.Time, whole)
	switch {
	case row.Time.Sub != "":
		row.Time.Text = signed(row.Time.Text)
	case !l.Differs:
		row.Time.Text = "~"
	}
	if l.Share != nil {
		row.Share = partOf(*l.Share)
	}
	if l.Detail != "" {
		row.Details = append(row.Details, l.Detail)
	}
	if l.From != "" || l.To != "" {
		row.Details = append(row.Details, l.To+" less "+l.From)
	} else {
		row.Details = append(row.Details, "split by a disk of zero latency")
	}
	var notes []string
	if len(l.Names) > 1 {
		notes = append(notes, "no measured stack tells these apart")
	}
	switch {
	case !l.Differs:
		row.Class = "unsure"
		notes = append(notes, "~ cannot be told from nothing")
	case l.Time.Value < 0:
		row.Class = "gives"
		notes = append(notes, "\u25c0 gives back")
	}
	row.Note = strings.Join(notes, "; ")
	return row
}

// billRuler spans every place where the bill stands. The lower end is 0 unless a layer goes below it.
func billRuler(b analyse.Bill) ruler {
	most := max(b.Host.Value, b.Total.Value)
	var vs []float64
	span := func(stood float64, e stat.Estimate) {
		low, high := reach(e, most)
		vs = append(vs, stood+e.Value, stood+high)
		if stood+low < 0 && stood+e.Value < 0 {
			vs = append(vs, stood+low)
		}
	}
	span(0, *b.Host)
	span(0, *b.Total)
	stood := b.Host.Value
	for _, l := range b.Layers {
		span(stood, l.Time)
		stood += l.Time.Value
	}
	return linear(1, 98, vs...)
}

// bar places a step that starts where the bill stood; nil where it cannot be drawn.
func (r ruler) bar(stood float64, e stat.Estimate) *billBar {
	b := &billBar{From: r.at(stood), To: r.at(stood + e.Value)}
	if !finite(b.From) || !finite(b.To) {
		return nil
	}
	b.Left, b.Width = min(b.From, b.To), tenth(max(b.From, b.To)-min(b.From, b.To))
	if low, high := r.at(stood+e.Low), r.at(stood+e.High); e.Known() && finite(low) && finite(high) {
		b.Low, b.High, b.Whisker = low, high, true
	}
	return b
}

func checkOf(c analyse.BillCheck, whole float64, s unit.Scale) *billCheck {
	if vaguely(s, c.Time, whole) != "" {
		return &billCheck{"", "~", "Cross-check by " + c.Stack + ": over a disk of zero latency the time of the layers above the block layer is " +
			"hardly known; it checks nothing."}
	}
	out := &billCheck{"agrees", "\u2713", "this agrees with the bill."}
	if !c.Agree {
		out = &billCheck{"alarm", "\u2717", "this does not agree with the bill: trust its parts less than its sum."}
	}
	out.Text = "Cross-check by " + c.Stack + ": over a disk of zero latency the layers above the block layer take " +
		scaled(s, c.Time.Value) + thin + unitName(s) + " (" + unbroken(between(c.Time, scaled(s, c.Time.Low), scaled(s, c.Time.High))) + "); " + out.Text
	return out
}
