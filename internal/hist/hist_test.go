package hist

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		sets [][]Bin
		want []Bin
	}{
		"nothing":        {nil, nil},
		"empty sets":     {[][]Bin{nil, {}}, nil},
		"only zeros":     {[][]Bin{{{5, 0}}}, nil},
		"one set":        {[][]Bin{{{5, 1}, {7, 2}}}, []Bin{{5, 1}, {7, 2}}},
		"shared bin":     {[][]Bin{{{5, 1}, {7, 2}}, {{7, 3}, {9, 1}}}, []Bin{{5, 1}, {7, 5}, {9, 1}}},
		"unsorted":       {[][]Bin{{{9, 1}, {5, 2}}, {{7, 3}}}, []Bin{{5, 2}, {7, 3}, {9, 1}}},
		"twice in a set": {[][]Bin{{{5, 1}, {5, 2}}}, []Bin{{5, 3}}},
		"zeros dropped":  {[][]Bin{{{5, 0}, {7, 1}}, {{9, 0}}}, []Bin{{7, 1}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Merge(tt.sets...)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestMergeLeavesInputs(t *testing.T) {
	a, b := []Bin{{9, 1}, {5, 2}}, []Bin{{5, 3}}
	got := Merge(a, b)
	got[0].Count = 99
	if d := cmp.Diff([][]Bin{{{9, 1}, {5, 2}}, {{5, 3}}}, [][]Bin{a, b}); d != "" {
		t.Errorf("inputs changed, -want +got:\n%s", d)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]Bin, 100) // one completion at each of 1..100 ns
	for i := range hundred {
		hundred[i] = Bin{uint64(i + 1), 1}
	}
	skewed := []Bin{{10, 999}, {500, 1}}
	tests := map[string]struct {
		bins []Bin
		p    float64
		want uint64
		ok   bool
	}{
		"empty":                  {nil, 0.5, 0, false},
		"no counts":              {[]Bin{{5, 0}}, 0.5, 0, false},
		"below range":            {hundred, -0.01, 0, false},
		"above range":            {hundred, 1.01, 0, false},
		"not a number":           {hundred, math.NaN(), 0, false},
		"lowest":                 {hundred, 0, 1, true},
		"highest":                {hundred, 1, 100, true},
		"median":                 {hundred, 0.5, 50, true},
		"just above a rank":      {hundred, 0.501, 51, true},
		"rounding above 7":       {hundred, 0.07, 7, true},
		"rounding above 29":      {hundred, 0.29, 29, true},
		"99.9 of 1000":           {skewed, 0.999, 10, true},
		"99.99 of 1000":          {skewed, 0.9999, 500, true},
		"one completion":         {[]Bin{{42, 1}}, 0.99, 42, true},
		"leading empty bin":      {[]Bin{{1, 0}, {42, 1}}, 0, 42, true},
		"more than 2^32 of them": {[]Bin{{1, 1 << 40}, {2, 1 << 40}}, 0.5, 1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := Percentile(tt.bins, tt.p)
			if got != tt.want || ok != tt.ok {
				t.Errorf("Percentile(%v) = %d, %v; want %d, %v", tt.p, got, ok, tt.want, tt.ok)
			}
		})
	}
}

// Every rank of every size up to 300 must be found by its own percentile, whatever the division rounds to.
func TestPercentileExactRanks(t *testing.T) {
	for n := 1; n <= 300; n++ {
		bins := make([]Bin, n)
		for i := range bins {
			bins[i] = Bin{uint64(i + 1), 1}
		}
		for rank := 1; rank <= n; rank++ {
			got, _ := Percentile(bins, float64(rank)/float64(n))
			if got != uint64(rank) {
				t.Fatalf("rank %d of %d: got %d", rank, n, got)
			}
		}
	}
}

func TestCountAndMean(t *testing.T) {
	bins := []Bin{{10, 3}, {30, 1}}
	if got := Count(bins); got != 4 {
		t.Errorf("Count = %d, want 4", got)
	}
	if got := Mean(bins); got != 15 {
		t.Errorf("Mean = %v, want 15", got)
	}
	if Count(nil) != 0 || Mean(nil) != 0 {
		t.Errorf("an empty histogram has count %d and mean %v, want 0 and 0", Count(nil), Mean(nil))
	}
}
