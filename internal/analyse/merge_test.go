package analyse

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
)

// TestSum holds the quick sum against hist.Merge over random histograms, unsorted and empty ones and doubled bins among them.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var all [][]hist.Bin
		var s sum
		for range r.IntN(6) {
			var h []hist.Bin
			ns := uint64(0)
			for range r.IntN(8) {
				ns += uint64(r.IntN(4))
				h = append(h, hist.Bin{NS: ns, Count: uint64(r.IntN(3))})
			}
			if r.IntN(3) == 0 {
				r.Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
			}
			all = append(all, h)
			s.add(h)
		}
		want := hist.Merge(all...)
		if len(want) == 0 && len(s.bins) == 0 {
			continue
		}
		if diff := cmp.Diff(want, s.bins); diff != "" {
			t.Fatalf("%v: %s", all, diff)
		}
	}
}

// TestBothHistograms leaves out the pairs that lack a histogram on one side.
func TestBothHistograms(t *testing.T) {
	w := func(bins ...hist.Bin) *record.Window { return &record.Window{Histogram: bins} }
	these := []*record.Window{w(hist.Bin{NS: 1, Count: 1}), w(hist.Bin{NS: 2, Count: 1}), w()}
	hosts := []*record.Window{w(hist.Bin{NS: 5, Count: 2}), w(), w(hist.Bin{NS: 6, Count: 2})}
	a, b := bothHistograms(these, hosts)
	if diff := cmp.Diff([][]*record.Window{these[:1], hosts[:1]}, [][]*record.Window{a, b}); diff != "" {
		t.Error(diff)
	}
}
