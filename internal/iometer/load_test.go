package iometer

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func one(lines ...Line) AccessSpec { return AccessSpec{Name: "x", Lines: lines} }

func TestBuiltIn(t *testing.T) {
	for name, tt := range map[string]struct {
		spec               AccessSpec
		lines              int
		mean, read, random float64
	}{
		"2004":    {AllInOne2004(), 20, 13440, 0.5, 0},
		"1.1.0":   {AllInOne110(), 29, 38277.12, 0.5, 0.12},
		"default": {Default(), 1, 2048, 0.67, 1},
		"none":    {AccessSpec{}, 0, 0, 0, 0},
		"bursts":  {one(Line{Size: 512, Share: 50, Burst: 3, Reads: 100}, Line{Size: 4096, Share: 50}), 2, (3*512 + 4096) / 4., 0.75, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := []float64{float64(len(tt.spec.Lines)), tt.spec.MeanSize(), tt.spec.ReadShare(), tt.spec.RandomShare()}
			if d := cmp.Diff([]float64{float64(tt.lines), tt.mean, tt.read, tt.random}, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
				t.Errorf("lines, mean size, reads, random: -want +got:\n%s", d)
			}
		})
	}
}

const positions = "fio keeps one sequential position for reads and one for writes, Iometer one for both"

var loads = map[string]struct {
	spec AccessSpec
	want Load
}{
	"All in one 2004": {AllInOne2004(), Load{
		RW: "rw", RWMixRead: 50, BS: 32768, BSSplit: "512/25:4096/25:16384/25:32768/25", LogicalBlock: 512, MeanSize: 13440,
		Notes: []string{positions},
	}},
	// By the direction every size would be random for 12 per cent, which is far worse: 8 per cent of the I/Os.
	"All in one 1.1.0": {AllInOne110(), Load{
		RW: "randrw", RWMixRead: 50, BS: 262144, BSSplit: "512/23:4096/23:16384/17:32768/17:65536/10:262144/10,4096/100",
		BSIsSeqRand: true, PercentageRandom: "12", BlockAlign: 4096, LogicalBlock: 512, MeanSize: 37613.1584, Distance: 0.0048,
		Notes: []string{
			"fio draws the size by the order only and in whole per cent: 0.48 % of the I/Os differ from the specification, mean size 37613 B instead of 38277 B",
			positions,
		},
	}},
	"default": {Default(), Load{RW: "randrw", RWMixRead: 67, BS: 2048, BlockAlign: 2048, LogicalBlock: 2048, MeanSize: 2048}},
	"read":    {one(Line{Size: 4096, Share: 100, Reads: 100}), Load{RW: "read", BS: 4096, LogicalBlock: 4096, MeanSize: 4096}},
	"write":   {one(Line{Size: 4096, Share: 100}), Load{RW: "write", BS: 4096, LogicalBlock: 4096, MeanSize: 4096}},
	"any sector": {one(Line{Size: 4096, Share: 100, Random: 100}), Load{
		RW: "randwrite", BS: 4096, BlockAlign: 512, LogicalBlock: 512, MeanSize: 4096,
		Notes: []string{"random I/Os begin at any sector of 512 bytes, as the specification says: a device of 4 KiB blocks has more to do for them"},
	}},
	"partly random": {one(Line{Size: 8192, Share: 100, Reads: 80, Random: 80, Align: 8192}), Load{
		RW: "randrw", RWMixRead: 80, BS: 8192, PercentageRandom: "80", BlockAlign: 8192, LogicalBlock: 8192, MeanSize: 8192,
		Notes: []string{positions},
	}},
	"sizes and order by direction": {one(
		Line{Size: 65536, Share: 20, Reads: 100},
		Line{Size: 4096, Share: 60, Random: 100, Align: 4096},
		Line{Size: 8192, Share: 20, Random: 100, Align: 8192},
		Line{Size: 1000, Share: 0, Reads: 50, Align: 3},
	), Load{
		RW: "randrw", RWMixRead: 20, BS: 65536, BSSplit: "65536/100,4096/75:8192/25", PercentageRandom: "0,100",
		BlockAlign: 4096, LogicalBlock: 4096, MeanSize: 0.2*65536 + 0.6*4096 + 0.2*8192,
		Notes: []string{positions, "the random lines are aligned differently: fio aligns them all to 4 KiB"},
	}},
	"thirds": {one(
		Line{Size: 512, Share: 34, Reads: 100}, Line{Size: 1024, Share: 33, Reads: 100}, Line{Size: 2048, Share: 33, Reads: 1},
	), Load{
		RW: "rw", RWMixRead: 67, BS: 2048, BSSplit: "512/51:1024/49,2048/100", LogicalBlock: 512, Distance: 0.0033 + 0.0017, MeanSize: 1187.0,
		Notes: []string{
			"fio draws the size by the direction only and in whole per cent: 0.5 % of the I/Os differ from the specification, mean size 1187 B instead of 1188 B",
			positions,
		},
	}},
	"paced": {one(Line{Size: 4096, Share: 100, Reads: 100, Delay: 2 * time.Millisecond, Burst: 8, Reply: 512}), Load{
		RW: "read", BS: 4096, LogicalBlock: 4096, MeanSize: 4096, ThinkTime: 2 * time.Millisecond, ThinkTimeBlocks: 8,
		Notes: []string{"replies, an I/O in the other direction after each, are left out: fio has none"},
	}},
	"bursts and delays": {one(
		Line{Size: 4096, Share: 50, Reads: 100, Delay: time.Millisecond, Burst: 3, Align: 4096},
		Line{Size: 512, Share: 50, Reads: 100, Burst: 1},
	), Load{
		RW: "read", BS: 4096, BSSplit: "512/25:4096/75", LogicalBlock: 512, MeanSize: 0.25*512 + 0.75*4096,
		Notes: []string{
			"sequential lines are aligned beyond the sizes before them: fio begins each where the last I/O ended",
			"the lines differ in delay: fio has one think time for all I/Os, and none is set",
			"a burst stays with one line: fio draws every I/O anew, in the same shares",
		},
	}},
	"next to nothing": {one(Line{Size: 4096, Share: 100, Random: 100, Align: 4096}, Line{Size: 512, Share: 0}), Load{
		RW: "randwrite", BS: 4096, BlockAlign: 4096, LogicalBlock: 4096, MeanSize: 4096,
	}},
}

func TestLoad(t *testing.T) {
	for name, tt := range loads {
		t.Run(name, func(t *testing.T) {
			got, err := tt.spec.Load()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-3, 1e-9)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// A bssplit has 64 sizes at most; what does not fit must show in the distance, and the rest must add up.
func TestManySizes(t *testing.T) {
	s := AccessSpec{Name: "x"}
	for i := range 100 {
		s.Lines = append(s.Lines, Line{Size: 512 * int64(i+1), Share: 1, Reads: 100})
	}
	l, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(l.BSSplit, "/"); n != maxSplits || math.Abs(l.Distance-0.36) > 1e-9 || len(l.Notes) != 1 {
		t.Errorf("%d sizes: %+v", n, l)
	}
}

func TestLoadFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		spec AccessSpec
		want string
	}{
		"no lines": {one(), "x: has no I/Os; expected lines with a share above 0"},
		"network": {
			one(Line{Size: 1000, Share: 50, Align: 7}, Line{Size: 1000, Share: 50}),
			"x: 1000 bytes is no multiple of 512, so no disk takes it; expected sizes and alignments of whole sectors\n" +
				"x: 7 bytes is no multiple of 512, so no disk takes it; expected sizes and alignments of whole sectors",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if l, err := tt.spec.Load(); err == nil || err.Error() != tt.want {
				t.Errorf("%+v, %v\nwant %s", l, err, tt.want)
			}
		})
	}
}
