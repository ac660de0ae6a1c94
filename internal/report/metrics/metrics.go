// Package metrics says how a metric is written: its title, its unit and its direction of better, alike in every report.
package metrics

import (
	"math"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// kinds of numbers.
const (
	rate      = "1/s"
	bandwidth = "bytes/s"
	latency   = "ns"
	share     = "share"
	ratio     = "ratio"
	cpus      = "CPUs"
)

// Directions of better.
const (
	Higher  = "higher"
	Lower   = "lower"
	Neither = "neither" // it explains and is not a merit
)

var all = map[string]struct{ title, kind, better string }{
	record.IOPS:               {"IOPS", rate, Higher},
	record.Bandwidth:          {"bandwidth", bandwidth, Higher},
	record.ClatMean:           {"clat mean", latency, Lower},
	record.ClatP50:            {"clat p50", latency, Lower},
	record.ClatP99:            {"clat p99", latency, Lower},
	record.ClatP999:           {"clat p99.9", latency, Lower},
	record.SyncMean:           {"fdatasync mean", latency, Lower},
	record.SyncP99:            {"fdatasync p99", latency, Lower},
	record.RAMShare:           {"from RAM", share, Neither},
	record.DeviceReadRatio:    {"device reads per byte read", ratio, Lower},
	record.DeviceWriteRatio:   {"device writes per byte written", ratio, Lower},
	record.DeviceRequestRatio: {"device requests per request", ratio, Neither},
	record.FlushRatio:         {"device flushes per flush", ratio, Neither},
	record.HostCPUPerIO:       {"host CPU per I/O", latency, Lower},
	record.ARCHitShare:        {"ARC hits", share, Neither},
	record.CompressRatio:      {"compression", ratio, Higher},
	record.HostCPU:            {"host CPUs busy", cpus, Lower},
	record.GuestCPU:           {"guest CPUs busy", cpus, Lower},
}

// Title is what a metric is called at the head of a column; one that is not known is called by its name.
func Title(metric string) string {
	if m, ok := all[metric]; ok {
		return m.title
	}
	return metric
}

// Unit is the base unit: "1/s", "bytes/s", "ns", "ratio" or "CPUs".
func Unit(metric string) string {
	if kind := all[metric].kind; kind != share {
		return kind
	}
	return ratio
}

// Better is the direction of better: Higher, Lower or Neither.
func Better(metric string) string {
	if b := all[metric].better; b != "" {
		return b
	}
	return Neither
}

// Scale is the one scale in which all estimates of a metric are written, with as many decimals as the narrowest interval
// deserves, three at most. Shares are in per cent.
func Scale(metric string, estimates ...stat.Estimate) unit.Scale {
	values := make([]float64, len(estimates))
	for i, e := range estimates {
		values[i] = e.Value
	}
	var s unit.Scale
	switch all[metric].kind {
	case rate:
		s = unit.IOPSScale(values...)
	case bandwidth:
		s = unit.BandwidthScale(values...)
	case latency:
		s = unit.LatencyScale(values...)
	case share:
		s = unit.Scale{Div: 0.01, Unit: " %"}
	case cpus:
		s = unit.Scale{Div: 1, Unit: " CPUs", Decimals: 2}
	default:
		s = unit.Scale{Div: 1, Decimals: 2}
	}
	return sharpen(s, estimates)
}

func sharpen(s unit.Scale, estimates []stat.Estimate) unit.Scale {
	half := math.Inf(1)
	for _, e := range estimates {
		if h := max(e.Value-e.Low, e.High-e.Value); h > 0 && h < math.Abs(e.Value) { // a wider one says nothing of decimals
			half = min(half, h/s.Div)
		}
	}
	if !math.IsInf(half, 0) && !math.IsNaN(half) {
		s.Decimals = min(max(0, int(math.Ceil(-math.Log10(half/0.95)))), 3)
	}
	return s
}

// UnitName is the unit of a scale as it stands alone, such as "MB/s", "thousands" or "per second"; "" for a plain number.
func UnitName(metric string, s unit.Scale) string {
	name := strings.TrimSpace(s.Unit)
	switch all[metric].kind {
	case cpus:
		return "" // the title has it
	case rate:
	default:
		return name
	}
	switch name {
	case "k":
		return "thousands"
	case "M":
		return "millions"
	case "G":
		return "billions"
	}
	return "per second"
}

// Format is a single value with its unit: "19.1k IOPS", "520.0 MB/s", "97 %", "3.7 ms".
func Format(metric string, e stat.Estimate) string {
	s := Scale(metric, e)
	if all[metric].kind == rate {
		return s.Format(e.Value) + " IOPS"
	}
	return s.Format(e.Value)
}

// Interval is the ends of an interval in the unit of Format, "" when it is not known.
func Interval(metric string, e stat.Estimate) string {
	if !e.Known() {
		return ""
	}
	s := Scale(metric, e)
	return s.Number(e.Low) + " to " + s.Number(e.High)
}
