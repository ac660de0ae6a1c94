package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/iotax/iotax/internal/hist"
)

func TestHistogram(t *testing.T) {
	for name, bins := range map[string][]hist.Bin{
		"none":       nil,
		"one":        {{NS: 0, Count: 1}},
		"ascending":  {{NS: 100, Count: 3}, {NS: 101, Count: 0}, {NS: 1 << 40, Count: math.MaxUint64}},
		"descending": {{NS: math.MaxUint64, Count: 1}, {NS: 5, Count: 2}},
	} {
		got, err := unpackHistogram(packHistogram(bins))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		diff(t, bins, got)
	}
	for _, bad := range [][]byte{{0x80}, {1}, {1, 0x80}, bytes.Repeat([]byte{0xff}, 11)} {
		if got, err := unpackHistogram(bad); err == nil {
			t.Errorf("%x was read as %v", bad, got)
		}
	}
}

// FuzzHistogram checks that whatever can be read is written back to the same bins.
func FuzzHistogram(f *testing.F) {
	f.Add(packHistogram(testWindow(0, 0).Histogram))
	f.Add([]byte{0x80})
	f.Add(binary.AppendUvarint(nil, math.MaxUint64))
	f.Fuzz(func(t *testing.T, in []byte) {
		bins, err := unpackHistogram(in)
		if err != nil {
			return
		}
		again, err := unpackHistogram(packHistogram(bins))
		check(t, err)
		diff(t, bins, again)
	})
}
