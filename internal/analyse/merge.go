package analyse

import (
	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
)

// merge adds up the histograms of windows.
func merge(windows []*record.Window) []hist.Bin {
	var s sum
	for _, w := range windows {
		s.add(w.Histogram)
	}
	return s.bins
}

// sum adds histograms one by one into bins that ascend. It gives what hist.Merge gives, which sorts all bins of all
// windows together: too slow for an analysis after each block, when histograms come sorted anyway.
type sum struct{ bins, spare []hist.Bin }

func (s *sum) add(h []hist.Bin) {
	if !ascends(h) {
		h = hist.Merge(h)
	}
	out, a := s.spare[:0], s.bins
	for _, bin := range h {
		for len(a) > 0 && a[0].NS < bin.NS {
			out, a = append(out, a[0]), a[1:]
		}
		switch {
		case bin.Count == 0:
		case len(a) > 0 && a[0].NS == bin.NS:
			out, a = append(out, hist.Bin{NS: bin.NS, Count: a[0].Count + bin.Count}), a[1:]
		default:
			out = append(out, bin)
		}
	}
	s.bins, s.spare = append(out, a...), s.bins
}

// ascends reports whether every bin is above the one before it.
func ascends(bins []hist.Bin) bool {
	for i := 1; i < len(bins); i++ {
		if bins[i].NS <= bins[i-1].NS {
			return false
		}
	}
	return true
}
