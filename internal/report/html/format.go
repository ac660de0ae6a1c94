package html

import (
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

const (
	minus   = "\u2212"    // a real minus, as wide as a plus
	dash    = "\u2013"    // between the ends of an interval
	times   = "\u00d7"    // after a multiple
	thin    = "\u202f"    // narrow space that does not break
	joiner  = "\u2060"    // forbids a break, and has no width
	none    = "\u2014"    // there is no figure
	unknown = "not known" // the interval of a single round
)

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// fixed prints v with a number of decimals and a thin space between thousands.
func fixed(v float64, decimals int) string {
	if !finite(v) {
		return none
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && len(whole) > 4; i -= 3 {
		whole = whole[:i] + thin + whole[i:]
	}
	if decimals > 0 {
		whole += "." + frac
	}
	if v < 0 && strings.Trim(s, "0.") != "" {
		return minus + whole
	}
	return whole
}

// hopeless is a ratio beyond which more digits tell nothing more: a few rounds on a busy host give any number.
const hopeless = 10

// percent prints a ratio without an interval: 0.372 is "37 %", 0.037 is "3.7 %".
func percent(ratio float64) string {
	if ratio >= hopeless {
		return "over 1000" + thin + "%"
	}
	d := 0
	if ratio != 0 && math.Abs(ratio) < 0.0995 {
		d = 1
	}
	return fixed(100*ratio, d) + thin + "%"
}

// shareOf prints an estimate of a share and its interval alike: "37 %" and "34–40".
func shareOf(e stat.Estimate) (value, interval string) {
	d := deserved(e)
	if !e.Known() {
		return fixed(100*e.Value, d) + thin + "%", unknown
	}
	return fixed(100*e.Value, d) + thin + "%", fixed(100*e.Low, d) + dash + fixed(100*e.High, d)
}

// timesOf prints an estimate of a multiple and its interval alike: "1.38×" and "1.34–1.42".
func timesOf(e stat.Estimate) (value, interval string) {
	const decimals = 2
	if !e.Known() {
		return fixed(e.Value, decimals) + times, unknown
	}
	return fixed(e.Value, decimals) + times, fixed(e.Low, decimals) + dash + fixed(e.High, decimals)
}

// deserved is how many decimals a share deserves in per cent: as many as its half-width has before its
// first digit, one at most. Package unit rounds alike.
func deserved(e stat.Estimate) int {
	if half := 100 * max(e.Value-e.Low, e.High-e.Value); half > 0 && half < 0.95 {
		return 1
	}
	return 0
}

// change prints a ratio as a difference: 1.38 is "+38 %", 0.966 is "−3.4 %".
func change(ratio float64) string {
	if ratio-1 >= hopeless {
		return "over +1000" + thin + "%"
	}
	d := 0
	if math.Abs(ratio-1) < 0.0995 {
		d = 1
	}
	return signed(fixed(100*(ratio-1), d)) + thin + "%"
}

// changeOf prints an estimate of a difference and its interval alike: "+38 %" and "+31 to +46 %".
func changeOf(e stat.Estimate) (value, interval string) {
	d := deserved(e)
	print := func(ratio float64) string { return signed(fixed(100*(ratio-1), d)) }
	if !e.Known() {
		return print(e.Value) + thin + "%", unknown
	}
	return print(e.Value) + thin + "%", print(e.Low) + " to " + print(e.High) + thin + "%"
}

// signed puts a plus before a printed figure that has no sign and is not zero.
func signed(s string) string {
	if strings.HasPrefix(s, minus) || s == none || strings.Trim(s, "0.") == "" {
		return s
	}
	return "+" + s
}

// faster prints a ratio of speeds in words, with its interval: "38 % faster", "31–46".
func faster(e stat.Estimate) (value, interval string) {
	word := " faster"
	gain := stat.Estimate{Value: e.Value - 1, Low: e.Low - 1, High: e.High - 1}
	if e.Value < 1 {
		word, gain = " slower", stat.Estimate{Value: 1 - e.Value, Low: 1 - e.High, High: 1 - e.Low}
	}
	if !e.Known() {
		gain = stat.Unknown(gain.Value)
	}
	value, interval = shareOf(gain)
	return value + word, interval
}

// scaled prints a figure of a column, scaledRange its interval; both without the unit.
func scaled(s unit.Scale, v float64) string {
	if !finite(v) {
		return none
	}
	return fixed(v/s.Div, s.Decimals)
}

func scaledRange(s unit.Scale, e stat.Estimate) string {
	if !e.Known() {
		return unknown
	}
	return scaled(s, e.Low) + dash + scaled(s, e.High)
}

// sharpen gives a scale as many decimals as the narrowest of the intervals deserves: its half-width
// shows one digit. Three at most.
func sharpen(s unit.Scale, es ...stat.Estimate) unit.Scale {
	half := math.Inf(1)
	for _, e := range es {
		if h := max(e.Value-e.Low, e.High-e.Value); h > 0 {
			half = min(half, h/s.Div)
		}
	}
	if !finite(half) {
		return s
	}
	s.Decimals = min(max(0, int(math.Ceil(-math.Log10(half/0.95)))), 3)
	return s
}

// unitName is the unit of a scale as it stands alone at the head of a column.
func unitName(s unit.Scale) string {
	switch name := strings.TrimSpace(s.Unit); name {
	case "us":
		return "\u00b5s"
	case "k":
		return "thousands"
	case "M":
		return "millions"
	case "":
		return "per second"
	default:
		return name
	}
}

// list joins words as a person would: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
