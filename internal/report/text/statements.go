package text

import (
	"fmt"
	"math"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
)

// statements prints one verdict for each published statement, under a line that counts them.
func (p *printer) statements(verdicts []analyse.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	count := map[string]int{}
	for _, v := range verdicts {
		count[v.Verdict]++
	}
	p.blank()
	p.hang("", fmt.Sprintf("Published statements, judged here: %d x holds, %d x does not hold, %d x cannot tell",
		count[analyse.Holds], count[analyse.DoesNotHold], count[analyse.CannotTell]), head)
	kinds := map[string]kind{analyse.Holds: good, analyse.DoesNotHold: bad, analyse.CannotTell: loud}
	for _, v := range verdicts {
		word := left(clean(v.Verdict), len(analyse.DoesNotHold))
		indent := width(word) + 2
		for i, line := range Fill(v.Statement, p.width-indent) {
			lead := strings.Repeat(" ", indent)
			if i == 0 {
				lead = p.paint(kinds[v.Verdict], word) + "  "
			}
			p.line(lead + line)
		}
		if words := effectWords(v); words != "" {
			p.hang(strings.Repeat(" ", indent), words, faint)
		}
	}
	p.hang("", "Their intervals are widened together: of the verdicts given, one in twenty is expected to be wrong at most.", faint)
	p.blank()
}

// effectWords is what this run shows, what it would take to hold, and the reason or the answer.
func effectWords(v analyse.Verdict) string {
	var parts []string
	if v.Effect != nil {
		parts = append(parts, "here "+glued(amount(v.Metric, *v.Effect))+", it holds "+glued(bounds(v)))
	}
	for _, s := range []string{v.Reason, v.Answer} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// amount is an effect in its metric's unit, or as a ratio: "1.58 times (1.46 to 1.71)".
func amount(metric string, e stat.Estimate) string {
	if metric != "" {
		out := metrics.Format(metric, e)
		if i := metrics.Interval(metric, e); i != "" && e.Low != e.High {
			out += " (" + i + ")"
		}
		return out
	}
	out := times(e.Value) + " times"
	if e.Known() && e.Low != e.High {
		out += fmt.Sprintf(" (%s to %s)", times(e.Low), times(e.High))
	}
	return out
}

// times prints a factor in three digits, two decimals at least below 10.
func times(v float64) string {
	switch {
	case math.Abs(v) >= 1e5:
		return fmt.Sprintf("%.0e", v)
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	case math.Abs(v) >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func bounds(v analyse.Verdict) string {
	word := func(b float64) string {
		if v.Metric == "" {
			return fmt.Sprintf("%.4g", b)
		}
		return metrics.Format(v.Metric, stat.Estimate{Value: b, Low: b, High: b})
	}
	switch {
	case v.Above == 0:
		return "below " + word(v.Below)
	case v.Below == 0:
		return "above " + word(v.Above)
	}
	return "between " + word(v.Above) + " and " + word(v.Below)
}
