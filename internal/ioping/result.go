package ioping

import (
	"math"
	"strings"
)

// Result is one run of ioping. All times are nanoseconds, sizes bytes, bandwidths bytes per second. The plain format
// rounds to about three digits ("70.7 k requests"), and so are its figures here.
type Result struct {
	Target     string // path as given to ioping
	FSType     string // "ext4", "block" for a device, ...
	Device     string
	DeviceSize int64
	Requests   []Request
	Periods    []Stat // of -p and -P, in order
	Stat              // of the valid requests; after a quiet run with periods, their sum
	Load       Load
	TooFast    int64 // left out by -t
	TooSlow    int64 // left out by -T
}

// Request is one request.
type Request struct {
	Index     int64 // from 1
	Operation string
	Size      int64
	TimeNS    float64
	Ignored   bool   // not in the statistics
	Note      string // "warmup", "slow", ...; plain format only
}

// Stat sums up valid requests: without warm-up and those that -t and -T leave out. Min, Avg, Max and MDev (standard
// deviation) are nanoseconds of one request.
type Stat struct {
	Count     int64
	Bytes     int64   // 0 where old versions do not print it
	TimeNS    float64 // sum of the requests' times
	IOPS      float64 // Count over TimeNS, so without the intervals
	Bandwidth float64
	Min       float64
	Avg       float64
	Max       float64
	MDev      float64
}

// Load sums up all requests over wall time, intervals included.
type Load struct {
	Count     int64
	Bytes     int64
	TimeNS    float64
	IOPS      float64
	Bandwidth float64
}

// NoResultError says that a text holds no result of ioping, and why.
type NoResultError struct {
	Said      []string // ioping's own error lines, else the first lines of the text
	Truncated bool     // requests, but no statistics: the run was killed
}

// Error returns one line.
func (e *NoResultError) Error() string {
	why := "ioping gave no result"
	if e.Truncated {
		why = "ioping's output is truncated: it has no statistics"
	} else if len(e.Said) == 0 {
		why += ": its output is empty"
	}
	if len(e.Said) == 0 {
		return why
	}
	return why + ": " + strings.Join(e.Said, "; ")
}

// sum pools the statistics of periods.
func sum(periods []Stat) Stat {
	total := Stat{Min: math.Inf(1)}
	var squares float64
	for _, p := range periods {
		if p.Count == 0 {
			continue
		}
		n := float64(p.Count)
		total.Count += p.Count
		total.Bytes += p.Bytes
		total.TimeNS += p.TimeNS
		total.Min, total.Max = min(total.Min, p.Min), max(total.Max, p.Max)
		squares += n * (p.MDev*p.MDev + p.Avg*p.Avg)
	}
	if total.Count == 0 {
		return Stat{}
	}
	n := float64(total.Count)
	total.Avg = total.TimeNS / n
	total.MDev = math.Sqrt(max(squares/n-total.Avg*total.Avg, 0))
	if total.TimeNS > 0 {
		total.IOPS = n * 1e9 / total.TimeNS
		total.Bandwidth = float64(total.Bytes) * 1e9 / total.TimeNS
	}
	return total
}
