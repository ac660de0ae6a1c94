package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// verdicts are the published statements with what this host says of them.
type verdicts struct {
	Lead string
	Rows []verdictRow
}

// verdictRow is one statement. Sign stands for the class, so that colour is never the only one.
type verdictRow struct {
	Class, Sign, Verdict         string
	Statement, Here, Takes, More string
	Mark                         *verdictMark
}

// verdictMark is the effect beside the range in which the statement holds, in pixels; each has an axis of its own.
type verdictMark struct {
	whisker
	Left, Width float64 // the range
}

// Geometry of the drawing of an effect, in pixels.
const (
	verdictWidth  = 180
	verdictMargin = 12
)

var signs = map[string]struct{ class, sign string }{
	analyse.Holds:       {"holds", "\u2713"},
	analyse.DoesNotHold: {"fails", "\u2717"},
	analyse.CannotTell:  {"open", "?"},
}

func verdictsOf(x index) verdicts {
	v := verdicts{Lead: countWords(x.Verdicts) + " The bar is the effect here, the shaded range where the statement holds. " +
		"The intervals are widened together: of the verdicts given, one in twenty is expected to be wrong at most."}
	for _, one := range x.Verdicts {
		s := signs[one.Verdict]
		row := verdictRow{Class: s.class, Sign: s.sign, Verdict: one.Verdict, Statement: one.Statement, Takes: "it holds " + rangeWords(one), More: more(one)}
		if one.Effect != nil {
			row.Here = amount(one.Metric, *one.Effect)
			row.Mark = markOf(one)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// more is what is said beside a verdict: what it means, why it cannot be told, what it leaves out.
func more(v analyse.Verdict) string {
	switch {
	case v.Reason == "":
		return v.Answer
	case v.Verdict == analyse.CannotTell:
		return "Why: " + strings.TrimSuffix(v.Reason, ".") + "."
	}
	return strings.TrimSpace(v.Answer + " Note: " + strings.TrimSuffix(v.Reason, ".") + ".")
}

// counts are how many statements have each verdict.
func counts(all []analyse.Verdict) (holds, fails, open int) {
	for _, v := range all {
		switch v.Verdict {
		case analyse.Holds:
			holds++
		case analyse.DoesNotHold:
			fails++
		default:
			open++
		}
	}
	return holds, fails, open
}

func countWords(all []analyse.Verdict) string {
	holds, fails, open := counts(all)
	return fmt.Sprintf("Of %s: \u2713 %d %s here, \u2717 %d %s not, ? %d cannot be told.", unit.Count(len(all), "published statement"),
		holds, verb(holds, "holds", "hold"), fails, verb(fails, "does", "do"), open)
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// amount is an effect in its metric's unit, or as a factor: "×1.58 (1.46–1.71)".
func amount(metric string, e stat.Estimate) string {
	if metric == "" {
		return "\u00d7" + factor(e.Value) + interval(e, factor(e.Low), factor(e.High))
	}
	s := metrics.Scale(metric, e)
	return micro(metrics.Format(metric, e)) + interval(e, scaled(s, e.Low), scaled(s, e.High))
}

func interval(e stat.Estimate, low, high string) string {
	switch {
	case !e.Known():
		return " (interval " + unknown + ")"
	case e.Low == e.High:
		return ""
	}
	return " (" + unbroken(low+dash+high) + ")"
}

// factor prints a ratio in three digits.
func factor(v float64) string {
	switch a := math.Abs(v); {
	case !finite(v):
		return none
	case a >= 1e5:
		return strconv.FormatFloat(v, 'e', 0, 64)
	case a >= 99.95:
		return fixed(v, 0)
	case a >= 9.995:
		return fixed(v, 1)
	case a >= 0.0995 || a == 0:
		return fixed(v, 2)
	}
	return fixed(v, 3)
}

func rangeWords(v analyse.Verdict) string {
	word := func(b float64) string {
		if v.Metric == "" {
			return "\u00d7" + strconv.FormatFloat(b, 'g', 4, 64)
		}
		return micro(metrics.Format(v.Metric, stat.Estimate{Value: b, Low: b, High: b}))
	}
	switch {
	case v.Above == 0:
		return "below " + word(v.Below)
	case v.Below == 0:
		return "above " + word(v.Above)
	}
	return "between " + word(v.Above) + " and " + word(v.Below)
}

// markOf draws an effect; nil where it cannot be drawn on a log axis.
func markOf(v analyse.Verdict) *verdictMark {
	e := *v.Effect
	var vs []float64
	for _, b := range []float64{e.Low, e.Value, e.High, v.Above, v.Below} {
		if b > 0 && finite(b) {
			vs = append(vs, b)
		}
	}
	ax := newAxis(vs, verdictMargin, verdictWidth-verdictMargin)
	ax.low, ax.high = ax.low/1.05, ax.high*1.05
	w := ax.whisker(e)
	if w == nil || !e.Known() {
		return nil
	}
	left, right := 0.0, float64(verdictWidth)
	if v.Above > 0 {
		left = ax.at(v.Above)
	}
	if v.Below > 0 {
		right = ax.at(v.Below)
	}
	if !finite(left) || !finite(right) {
		return nil
	}
	return &verdictMark{whisker: *w, Left: left, Width: math.Round(10*(right-left)) / 10}
}
