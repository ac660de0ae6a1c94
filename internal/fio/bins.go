package fio

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/hist"
)

// bins reads the "bins" object of json+. It is nearly all of a json+ document, hence no map of any.
type bins []hist.Bin

// indexBits is the key by which fio 2.x says that its other keys are bucket numbers, not latencies.
const indexBits = "FIO_IO_U_PLAT_BITS"

// UnmarshalJSON reads {"<nanoseconds>": count, ...} (3.x) or {"<bucket>": count, ..., "FIO_IO_U_PLAT_BITS": 6, ...}
// (2.x; buckets of microseconds, left for the caller to scale). Empty bins and foreign keys are left out.
func (b *bins) UnmarshalJSON(data []byte) error {
	var out bins
	var bits uint64
	eachPair(data, func(key, value []byte) {
		n, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil || n == 0 {
			return
		}
		if ns, err := strconv.ParseUint(string(key), 10, 64); err == nil {
			out = append(out, hist.Bin{NS: ns, Count: n})
		} else if string(key) == indexBits {
			bits = n
		}
	})
	if bits > 0 {
		for i := range out {
			out[i].NS = bucketValue(out[i].NS, bits)
		}
	}
	if !slices.IsSortedFunc(out, ascending) {
		out = hist.Merge(out)
	}
	*b = out
	return nil
}

// ascending also calls two bins of one value unsorted, so that they get merged.
func ascending(a, b hist.Bin) int {
	if a.NS < b.NS {
		return -1
	}
	return 1
}

// bucketValue returns the middle of a bucket of fio's log-linear histogram with 2^bits buckets to a power of two.
func bucketValue(index, bits uint64) uint64 {
	if bits > 16 || index < 2<<bits {
		return index // the first two groups are exact
	}
	shift := index>>bits - 1
	if shift+bits > 62 {
		return math.MaxInt64
	}
	low := uint64(1)<<(shift+bits) + (index&(1<<bits-1))<<shift
	return low + uint64(1)<<shift/2
}

// percentiles reads the "percentile" object: per cent -> latency becomes ratio -> latency.
type percentiles map[float64]float64

// UnmarshalJSON drops the unused slots that 2.x and early 3.x print as "0.00": 0.
func (p *percentiles) UnmarshalJSON(data []byte) error {
	out := make(percentiles, 20)
	eachPair(data, func(key, value []byte) {
		percent, err := strconv.ParseFloat(string(key), 64)
		v, err2 := strconv.ParseFloat(string(value), 64)
		if err == nil && err2 == nil && percent >= 0 && percent <= 100 && !(percent == 0 && v == 0) {
			out[ratio(percent)] = v
		}
	})
	if len(out) > 0 {
		*p = out
	}
	return nil
}

// ratio turns per cent, printed with six decimals, into the nearest ratio: 99.9 gives 0.999, which 99.9/100 does not.
func ratio(percent float64) float64 { return math.Round(percent*1e6) / 1e8 }

// eachPair calls f for the key and the value of each pair of a flat JSON object that is known to be valid.
// Values are numbers as printed; what is nested is passed over in fragments that no number parser takes.
func eachPair(data []byte, f func(key, value []byte)) {
	for {
		start := bytes.IndexByte(data, '"')
		if start < 0 {
			return
		}
		data = data[start+1:]
		end := bytes.IndexByte(data, '"')
		colon := bytes.IndexByte(data, ':')
		if end < 0 || colon < end {
			return
		}
		key, rest := data[:end], data[colon+1:]
		stop := bytes.IndexAny(rest, ",}")
		if stop < 0 {
			stop = len(rest)
		}
		f(key, bytes.TrimSpace(rest[:stop]))
		data = rest[stop:]
	}
}
