package ioping

import "math"

// rawStat is a line of raw statistics (-B, -p, -P).
type rawStat struct {
	Stat
	Load Load
}

// parseRaw reads a line of 10 columns (1.0 and later: nanoseconds), 8 (0.7 to 0.9) or 4 (before: minimum, average,
// maximum and deviation alone, in microseconds).
func parseRaw(fields []string) (rawStat, bool) {
	f := make([]float64, len(fields))
	for i := range fields {
		f[i] = number(fields[i])
	}
	switch len(f) {
	case 4:
		return rawStat{Stat: Stat{Min: f[0] * 1e3, Avg: f[1] * 1e3, Max: f[2] * 1e3, MDev: f[3] * 1e3}}, true
	case 8, 10:
	default:
		return rawStat{}, false
	}
	u := rawUnit(f)
	s := rawStat{Stat: Stat{
		Count: whole(f[0]), TimeNS: f[1] * u, IOPS: f[2], Bandwidth: f[3],
		Min: f[4] * u, Avg: f[5] * u, Max: f[6] * u, MDev: f[7] * u,
	}}
	if f[1] > 0 {
		s.Bytes = whole(s.Bandwidth * s.TimeNS / 1e9)
	}
	if len(f) == 10 {
		s.Load = Load{Count: whole(f[8]), TimeNS: f[9] * u}
		if s.Load.TimeNS > 0 {
			s.Load.IOPS = float64(s.Load.Count) * 1e9 / s.Load.TimeNS
		}
		if s.Count > 0 {
			s.Load.Bytes = whole(float64(s.Bytes) / float64(s.Count) * float64(s.Load.Count))
			s.Load.Bandwidth = s.Load.IOPS * float64(s.Bytes) / float64(s.Count)
		}
	}
	return s, true
}

// rawUnit returns the nanoseconds in a column's unit. Versions differ, but the columns tell: requests over time must
// be the requests per second.
func rawUnit(f []float64) float64 {
	if f[0] > 0 && f[1] > 0 && f[2] > 0 {
		if perUnit := f[0] / f[1]; math.Abs(math.Log(f[2]/perUnit/1e9)) < math.Abs(math.Log(f[2]/perUnit/1e6)) {
			return 1
		}
		return 1e3
	}
	if len(f) == 10 {
		return 1
	}
	return 1e3
}

func (r *Result) addPeriods(raw []rawStat) {
	for _, s := range raw {
		r.Periods = append(r.Periods, s.Stat)
	}
}

// addRaw takes the statistics of a run that printed only raw lines. With -B the last line is the total; with -q and
// periods there is none, and the periods are summed.
func (r *Result) addRaw(raw []rawStat) {
	last := len(raw) - 1
	if isTotal(raw[last], raw[:last]) {
		r.addPeriods(raw[:last])
		r.Stat, r.Load = raw[last].Stat, raw[last].Load
		return
	}
	r.addPeriods(raw)
	r.Stat = sum(r.Periods)
	for _, s := range raw {
		r.Load.Count += s.Load.Count
		r.Load.Bytes += s.Load.Bytes
		r.Load.TimeNS += s.Load.TimeNS
	}
	if r.Load.TimeNS > 0 {
		r.Load.IOPS = float64(r.Load.Count) * 1e9 / r.Load.TimeNS
		r.Load.Bandwidth = float64(r.Load.Bytes) * 1e9 / r.Load.TimeNS
	}
}

// isTotal reports whether s contains the periods: it counts all their requests and time, and its extremes hold theirs.
// One period as long as the whole run gives the same line twice.
func isTotal(s rawStat, periods []rawStat) bool {
	all := rawStat{}
	for _, p := range periods {
		all.Count += p.Count
		all.TimeNS += p.TimeNS
		all.Load.Count += p.Load.Count
		if s.Min > p.Min || s.Max < p.Max {
			return false
		}
	}
	if s.Count == all.Count && s.TimeNS != all.TimeNS {
		return false
	}
	return s.Count >= all.Count && s.TimeNS >= all.TimeNS && s.Load.Count >= all.Load.Count
}
