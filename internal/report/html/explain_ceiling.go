package html

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// maxCeilings is how many ceilings a page holds.
const maxCeilings = 40

// ceilingsView is the ceilings of a run, a group for each workload.
type ceilingsView struct {
	Groups  []ceilingGroup
	LeftOut string
}

// ceilingGroup is the ceilings under one workload, folded unless it is the chosen one.
type ceilingGroup struct {
	Title string
	Open  bool
	Cards []ceilingCard
}

// ceilingCard is the most that one path can do, and how near stacks come to it.
type ceilingCard struct {
	Stack, Sentence, Value, Interval string
	Ticks                            []tick // in per cent of the width
	One                              float64
	Rows                             []partRow
}

// partRow is a stack's part of a whole, as a bar from 0.
type partRow struct {
	Name string
	Part figureValue
	Bar  *billBar
}

func ceilingsOf(x index, e *analyse.Explanation, chosen string) *ceilingsView {
	if len(e.Ceilings) == 0 {
		return nil
	}
	all := byWorkload(x, chosen, e.Ceilings, func(c analyse.Ceiling) string { return c.Workload })
	v := &ceilingsView{LeftOut: leftOut(x, len(all), maxCeilings, "ceiling")}
	for _, c := range all[:min(len(all), maxCeilings)] {
		title := x.workload(c.Workload)
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Title != title {
			v.Groups = append(v.Groups, ceilingGroup{Title: title, Open: n == 0})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Cards = append(g.Cards, ceilingCardOf(c))
	}
	return v
}

func ceilingCardOf(c analyse.Ceiling) ceilingCard {
	s := sharpen(unit.IOPSScale(c.IOPS.Value), c.IOPS)
	out := ceilingCard{Stack: c.Stack, Sentence: sentence(microIn(c.Sentence)), Value: scaled(s, c.IOPS.Value) + s.Unit + thin + "IOPS", Interval: scaledRange(s, c.IOPS)}
	most := []float64{1}
	for _, u := range c.Of {
		_, high := reach(u.Share, 1)
		most = append(most, high)
	}
	r := linear(1, 98, most...)
	out.One = r.at(1)
	for _, t := range r.ticks(0.01, 20) {
		out.Ticks = append(out.Ticks, tick{t.X, t.Text + thin + "%"})
	}
	for _, u := range c.Of {
		out.Rows = append(out.Rows, partRow{u.Stack, partOf(u.Share), r.bar(0, notNegative(u.Share))})
	}
	return out
}

// sentence starts with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(s[size:], ".") + "."
}

// notNegative keeps an interval at what can be.
func notNegative(e stat.Estimate) stat.Estimate {
	e.Low = max(e.Low, 0)
	return e
}
