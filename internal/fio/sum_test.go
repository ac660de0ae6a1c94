package fio

import (
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/hist"
)

func parseFile(t *testing.T, path string) Output {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// A client prints its clients and fio's own sum of them: ours must be the same. Only percentiles and bins, which fio
// leaves out of its sum, are checked apart.
func TestSumEqualsFio(t *testing.T) {
	out := parseFile(t, "testdata/output/client-server.json")
	if out.AllClients == nil || len(out.Jobs) != 2 {
		t.Fatalf("got %d jobs and sum %v", len(out.Jobs), out.AllClients)
	}
	sum := Sum(out.Jobs)
	checkPercentiles(t, sum.Read.Clat)
	checkPercentiles(t, sum.Write.Clat)
	opts := []cmp.Option{
		cmpopts.IgnoreFields(JobResult{}, "Name", "Options"),
		cmpopts.IgnoreFields(Latency{}, "Percentiles", "Bins"),
		cmpopts.EquateApprox(1e-4, 1), // fio prints depth levels as a rounded share, bandwidth cut to a byte
	}
	if d := cmp.Diff(*out.AllClients, sum, opts...); d != "" {
		t.Errorf("-fio +ours:\n%s", d)
	}
}

func TestSumByHand(t *testing.T) {
	job := func(name string, ios int64, seconds float64, lat Latency) JobResult {
		d := Direction{IOBytes: ios * 4096, Bandwidth: float64(ios) * 4096 / seconds, IOPS: float64(ios) / seconds, Runtime: int64(seconds * 1e9), TotalIOs: ios, Clat: lat}
		return JobResult{Name: name, Read: d, Runtime: d.Runtime, DepthLevels: map[string]float64{"1": 1}}
	}
	// Samples 1, 1, 3 and 7: mean 3, deviation sqrt((4+4+0+16)/3).
	a := job("a", 3, 1, Latency{Min: 1, Max: 3, Mean: 5.0 / 3, StdDev: math.Sqrt(4.0 / 3), N: 3, Percentiles: map[float64]float64{0.5: 1}, Bins: []hist.Bin{{NS: 1, Count: 2}, {NS: 3, Count: 1}}})
	b := job("b", 1, 2, Latency{Min: 7, Max: 7, Mean: 7, N: 1, Percentiles: map[float64]float64{0.99: 7}, Bins: []hist.Bin{{NS: 7, Count: 1}}})
	b.Error, b.DepthLevels = 5, map[string]float64{"2": 1}

	got := Sum([]JobResult{a, b})
	want := JobResult{
		Name: "a", Error: 5, Runtime: 2e9, DepthLevels: map[string]float64{"1": 0.75, "2": 0.25},
		Read: Direction{IOBytes: 16384, Bandwidth: 8192, IOPS: 2, Runtime: 2e9, TotalIOs: 4, Clat: Latency{
			Min: 1, Max: 7, Mean: 3, StdDev: math.Sqrt(8), N: 4,
			Percentiles: map[float64]float64{0.5: 1, 0.99: 7},
			Bins:        []hist.Bin{{NS: 1, Count: 2}, {NS: 3, Count: 1}, {NS: 7, Count: 1}},
		}},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}

	b.Read.Clat.Bins = nil
	if l := Sum([]JobResult{a, b}).Read.Clat; l.Percentiles != nil || l.Bins != nil {
		t.Errorf("percentiles %v were merged without bins", l.Percentiles)
	}
	b.Read = Direction{}
	if d := cmp.Diff(a.Read, Sum([]JobResult{a, b}).Read); d != "" {
		t.Errorf("an idle job changes the other, -want +got:\n%s", d)
	}
	if d := cmp.Diff(a, Sum([]JobResult{a})); d != "" {
		t.Errorf("the sum of one job is not that job, -want +got:\n%s", d)
	}
	if d := cmp.Diff(JobResult{}, Sum(nil)); d != "" {
		t.Errorf("the sum of no jobs, -want +got:\n%s", d)
	}
}

func TestGroups(t *testing.T) {
	jobs := []JobResult{{Name: "a", Group: 3}, {Name: "b", Group: 0}, {Name: "c", Group: 3}}
	want := [][]JobResult{{jobs[0], jobs[2]}, {jobs[1]}}
	if d := cmp.Diff(want, Groups(jobs)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
