package fio

import (
	"math"

	"github.com/iotax/iotax/internal/hist"
)

// Groups splits results by fio's groupid, in order of appearance: jobs of one group ran at the same time.
func Groups(jobs []JobResult) [][]JobResult {
	var groups [][]JobResult
	index := map[int]int{}
	for _, j := range jobs {
		i, ok := index[j.Group]
		if !ok {
			i = len(groups)
			index[j.Group], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], j)
	}
	return groups
}

// Sum adds up jobs that ran at the same time, as fio does with group_reporting: amounts add, rates are amounts over
// the longest runtime, latencies pool. Percentiles come from merged bins; without bins they cannot be merged and are
// left out, unless one job alone has samples. Name, host, options and steady state are the first job's; Error is the
// first that is not 0.
func Sum(jobs []JobResult) JobResult {
	if len(jobs) == 0 {
		return JobResult{}
	}
	sum := jobs[0]
	if len(jobs) == 1 {
		return sum
	}
	each := func(of func(JobResult) Direction) Direction {
		parts := make([]Direction, len(jobs))
		for i, j := range jobs {
			parts[i] = of(j)
		}
		return sumDirections(parts)
	}
	sum.Read = each(func(j JobResult) Direction { return j.Read })
	sum.Write = each(func(j JobResult) Direction { return j.Write })
	sum.Trim = each(func(j JobResult) Direction { return j.Trim })
	sum.Mixed = each(func(j JobResult) Direction { return j.Mixed })
	sum.Runtime = max(sum.Read.Runtime, sum.Write.Runtime, sum.Trim.Runtime, sum.Mixed.Runtime)
	sum.addCounters(jobs)
	return sum
}

// addCounters sums what does not belong to a direction. CPU is a share of thread time and weighs by it.
func (j *JobResult) addCounters(jobs []JobResult) {
	j.Error, j.IOErrors, j.SyncIOs, j.CtxSwitches, j.ThreadTime = 0, 0, 0, 0, 0
	j.UserCPU, j.SystemCPU, j.DepthLevels = 0, 0, nil
	var syncs []Latency
	var syncWeights []float64
	var cpuWeight, ios float64
	levels := map[string]float64{}
	for _, p := range jobs {
		if j.Error == 0 {
			j.Error = p.Error
		}
		j.IOErrors += p.IOErrors
		j.SyncIOs += p.SyncIOs
		j.CtxSwitches += p.CtxSwitches
		j.ThreadTime += p.ThreadTime
		syncs, syncWeights = append(syncs, p.Sync), append(syncWeights, float64(p.SyncIOs))

		w := float64(p.ThreadTime)
		if w == 0 {
			w = float64(p.Runtime)
		}
		cpuWeight += w
		j.UserCPU += p.UserCPU * w
		j.SystemCPU += p.SystemCPU * w

		n := p.Read.ios() + p.Write.ios() + p.Trim.ios() + p.Mixed.ios()
		ios += n
		for level, share := range p.DepthLevels {
			levels[level] += share * n
		}
	}
	j.Sync = sumLatencies(syncs, syncWeights)
	if cpuWeight > 0 {
		j.UserCPU, j.SystemCPU = j.UserCPU/cpuWeight, j.SystemCPU/cpuWeight
	}
	if ios > 0 {
		j.DepthLevels = levels
		for level := range levels {
			levels[level] /= ios
		}
	}
}

// ios returns the number of I/Os, computed where fio does not print it.
func (d Direction) ios() float64 {
	if d.TotalIOs > 0 {
		return float64(d.TotalIOs)
	}
	return d.IOPS * float64(d.Runtime) / 1e9
}

func sumDirections(parts []Direction) Direction {
	var sum Direction
	var bytes, ios float64
	var slat, clat, lat []Latency
	var weights []float64
	for _, d := range parts {
		sum.IOBytes += d.IOBytes
		sum.TotalIOs += d.TotalIOs
		sum.ShortIOs += d.ShortIOs
		sum.DropIOs += d.DropIOs
		sum.Runtime = max(sum.Runtime, d.Runtime)
		bytes += d.Bandwidth * float64(d.Runtime)
		ios += d.ios()
		slat, clat, lat = append(slat, d.Slat), append(clat, d.Clat), append(lat, d.Lat)
		weights = append(weights, d.ios())
	}
	if sum.Runtime > 0 {
		sum.Bandwidth = bytes / float64(sum.Runtime)
		sum.IOPS = ios * 1e9 / float64(sum.Runtime)
	}
	sum.Slat, sum.Clat, sum.Lat = sumLatencies(slat, weights), sumLatencies(clat, weights), sumLatencies(lat, weights)
	return sum
}

// sumLatencies pools distributions; weights stand in for sample counts that fio did not print.
func sumLatencies(parts []Latency, weights []float64) Latency {
	var used []Latency
	var counts []float64
	for i, l := range parts {
		n := float64(l.N)
		if l.N == 0 {
			n = weights[i]
		}
		if l.Max > 0 && n > 0 {
			used, counts = append(used, l), append(counts, n)
		}
	}
	switch len(used) {
	case 0:
		return Latency{}
	case 1:
		return used[0]
	}
	sum := Latency{Min: math.Inf(1)}
	var total, squares float64
	bins := make([][]hist.Bin, 0, len(used))
	for i, l := range used {
		// Pooled mean and deviation after Chan, Golub and LeVeque: no large squares that cancel.
		// fio's deviation is the sample's, over n-1.
		n, delta := counts[i], l.Mean-sum.Mean
		squares += l.StdDev*l.StdDev*max(n-1, 0) + delta*delta*total*n/(total+n)
		total += n
		sum.Mean += delta * n / total
		sum.Min, sum.Max = min(sum.Min, l.Min), max(sum.Max, l.Max)
		sum.N += l.N
		if len(l.Bins) > 0 {
			bins = append(bins, l.Bins)
		}
	}
	sum.StdDev = math.Sqrt(squares / max(total-1, 1))
	if len(bins) == len(used) {
		sum.Bins = hist.Merge(bins...)
		sum.Percentiles = percentilesOf(sum.Bins, used)
	}
	return sum
}

// percentilesOf computes the percentiles that any part names, from merged bins.
func percentilesOf(bins []hist.Bin, parts []Latency) map[float64]float64 {
	out := map[float64]float64{}
	for _, l := range parts {
		for p := range l.Percentiles {
			if _, done := out[p]; !done {
				ns, _ := hist.Percentile(bins, p)
				out[p] = float64(ns)
			}
		}
	}
	return out
}
