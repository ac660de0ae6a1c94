package unit

import (
	"math"
	"strconv"
)

// Scale prints every value of one column in one unit and with one number of decimals, so that the eye
// can compare them. Div is the base units in one printed unit. Unit follows the number as it stands,
// its blank included where it has one.
type Scale struct {
	Div      float64
	Unit     string
	Decimals int
}

type step struct {
	div  float64
	unit string
}

var (
	iopsSteps      = []step{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}}
	bandwidthSteps = []step{{1, " B/s"}, {1e3, " kB/s"}, {1e6, " MB/s"}, {1e9, " GB/s"}}
	latencySteps   = []step{{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}}
)

// IOPSScale is the scale of a column of rates per second: "950", "19.1k", "1.2M".
func IOPSScale(values ...float64) Scale { return pick(iopsSteps, values) }

// BandwidthScale is the scale of a column of bytes per second. The units are powers of 1000 (MB/s = 10^6
// bytes a second), as on data sheets; fio prints both kinds.
func BandwidthScale(values ...float64) Scale { return pick(bandwidthSteps, values) }

// LatencyScale is the scale of a column of nanoseconds: "224.6 us", "3.7 ms".
func LatencyScale(values ...float64) Scale { return pick(latencySteps, values) }

// IOPS, Bandwidth and Latency print a single value, in I/Os a second, bytes a second and nanoseconds.
func IOPS(v float64) string      { return IOPSScale(v).Format(v) }
func Bandwidth(v float64) string { return BandwidthScale(v).Format(v) }
func Latency(ns float64) string  { return LatencyScale(ns).Format(ns) }

// pick takes the unit in which the largest value stays below 1000, and decimals enough for the smallest
// to show two digits, three decimals at most. Zeros and values that are not finite have no say.
func pick(steps []step, values []float64) Scale {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v = math.Abs(v); v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	i := 0
	for i < len(steps)-1 && high >= 999.95*steps[i].div { // 999.95 would print as 1000.0
		i++
	}
	s := Scale{Div: steps[i].div, Unit: steps[i].unit, Decimals: 1}
	switch r := low / s.Div; {
	case r < 0.1:
		s.Decimals = 3
	case r < 1:
		s.Decimals = 2
	case i == 0 && r >= 10: // base units are whole: no decimals that mean nothing
		s.Decimals = 0
	}
	return s
}

// Number prints v without its unit. What is not finite prints as "-".
func (s Scale) Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v/s.Div, 'f', s.Decimals, 64)
}

// Format prints v with its unit.
func (s Scale) Format(v float64) string {
	if n := s.Number(v); n != "-" {
		return n + s.Unit
	}
	return "-"
}
