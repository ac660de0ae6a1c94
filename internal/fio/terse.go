package fio

import (
	"math"
	"strconv"
	"strings"
)

// terseLayout is one version of the terse format: fields before the first direction, directions, and fields of each.
type terseLayout struct{ head, dirs, width int }

// Every direction has 41 fields; version 5 adds six for the samples of bandwidth and IOPS.
var terseLayouts = map[string]terseLayout{
	"2": {4, 3, 41}, // no fio version
	"3": {5, 2, 41}, // no trim
	"4": {5, 3, 41},
	"5": {5, 3, 47},
}

const (
	terseSlat, terseClat, tersePercentiles, terseLat = 4, 8, 12, 32 // offsets in a direction
	terseTail                                        = 5 + 7        // CPU and depth levels, the last fields that are read
)

// parseTerse reads the terse lines among lines; false when there are none.
func parseTerse(lines []string) (Output, bool) {
	out := Output{Terse: true}
	var rest []string
	for _, line := range lines {
		if job, version, ok := terseJob(strings.Split(line, ";")); ok {
			out.Jobs, out.Version = append(out.Jobs, job), version
		} else {
			rest = append(rest, line)
		}
	}
	out.Notes = diagnostics(rest)
	return out, len(out.Jobs) > 0
}

func terseJob(fields []string) (job JobResult, version string, ok bool) {
	lay, known := terseLayouts[fields[0]]
	tail := lay.head + lay.dirs*lay.width
	if !known || len(fields) < tail+terseTail {
		return JobResult{}, "", false
	}
	id := fields[1:lay.head]
	if lay.head == 5 {
		version, id = id[0], id[1:]
	}
	group, err1 := strconv.Atoi(id[1])
	errno, err2 := strconv.Atoi(id[2])
	if err1 != nil || err2 != nil { // some other text with many semicolons
		return JobResult{}, "", false
	}
	job = JobResult{Name: id[0], Group: group, Error: errno}
	for i, d := range []*Direction{&job.Read, &job.Write, &job.Trim}[:lay.dirs] {
		*d = terseDirection(fields[lay.head+i*lay.width:])
		job.Runtime = max(job.Runtime, d.Runtime)
	}
	job.UserCPU, job.SystemCPU = number(fields[tail])/100, number(fields[tail+1])/100
	job.CtxSwitches = whole(number(fields[tail+2]))
	job.DepthLevels = map[string]float64{}
	for i, level := range depthLevels {
		job.DepthLevels[level.name] = number(fields[tail+5+i]) / 100
	}
	return job, version, true
}

func terseDirection(f []string) Direction {
	d := Direction{
		IOBytes: whole(number(f[0]) * 1024), Bandwidth: number(f[1]) * 1024, IOPS: number(f[2]), Runtime: whole(number(f[3]) * 1e6),
		Slat: terseLatency(f[terseSlat:]), Clat: terseLatency(f[terseClat:]), Lat: terseLatency(f[terseLat:]),
	}
	if d.Clat.Max == 0 {
		return d
	}
	d.Clat.Percentiles = map[float64]float64{}
	for _, pair := range f[tersePercentiles:terseLat] {
		percent, value, _ := strings.Cut(pair, "%=")
		if p := number(percent); p > 0 && p <= 100 { // unused slots are 0%=0
			d.Clat.Percentiles[ratio(p)] = number(value) * 1000
		}
	}
	return d
}

// terseLatency reads min, max, mean and deviation, in microseconds in every version of fio.
func terseLatency(f []string) Latency {
	return Latency{Min: number(f[0]) * 1000, Max: number(f[1]) * 1000, Mean: number(f[2]) * 1000, StdDev: number(f[3]) * 1000}
}

// number reads a field, with or without a per cent sign; a field that is no finite number is 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
