package fio

// depthLevels are fio's buckets of I/O depth: a level holds its own value and all up to the next level.
var depthLevels = []struct {
	name        string
	first, last int
}{
	{"1", 1, 1}, {"2", 2, 3}, {"4", 4, 7}, {"8", 8, 15}, {"16", 16, 31}, {"32", 32, 63}, {">=64", 64, 1 << 30},
}

// MeanDepth estimates the mean I/O depth that a job of the asked iodepth achieved, from fio's levels, 0 when there
// are none. Levels are buckets that double, so this is coarse: the bucket that holds the asked depth counts as the
// asked depth (fio refills its queue to there), a lower one as its middle. A job that always had 32 of 32 in flight
// gives 32, one stuck at 16 to 31 gives 23.5. InFlight measures the same thing another way.
func (j JobResult) MeanDepth(asked int) float64 {
	var sum, share float64
	for _, l := range depthLevels {
		depth := float64(l.first+l.last) / 2
		if l.last >= asked {
			depth = float64(max(l.first, asked))
		}
		sum += j.DepthLevels[l.name] * depth
		share += j.DepthLevels[l.name] // not 1 when the job syncs: fio counts syncs above the line only
	}
	if share == 0 {
		return 0
	}
	return sum / share
}

// InFlight returns the mean number of I/Os in flight by Little's law: arrival rate times mean latency, per second.
// It sums over the threads of a group. Time that the runtime holds but no I/O has (end_fsync, fdatasync) lowers it.
func (j JobResult) InFlight() float64 {
	var n float64
	for _, d := range []Direction{j.Read, j.Write, j.Trim, j.Mixed} {
		n += d.IOPS * d.Lat.Mean / 1e9
	}
	return n
}
