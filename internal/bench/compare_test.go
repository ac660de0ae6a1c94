package bench

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/stat"
)

// runtime is the timed part of a window, as in the default preset.
const runtime = time.Second

// volumeSize is the size of every file that is read, in bytes.
const volumeSize = 256 << 20

// workload is one load; vcpu is where package rig puts it in a guest of two CPUs.
type workload struct {
	name  string
	depth int
	vcpu  string
}

var workloads = []workload{
	{"randread-4k-q1", 1, "1"},
	{"randread-4k-q32", 32, "0"},
}

// job is the load as package rig gives it to fio on either side.
func (w workload) job(filename, cpus string, seed uint64, runtime time.Duration) (string, error) {
	return fio.Job{
		Name: w.name, Filename: filename, Size: volumeSize, RW: "randread", BS: 4096, IODepth: w.depth, Direct: true,
		Runtime: runtime, RandSeed: seed, CPUsAllowed: cpus,
		Extra: map[string]string{"clocksource": "clock_gettime", "disk_util": "0"},
	}.Text()
}

// iops reads the figure out of what fio printed.
func iops(output []byte) (float64, error) {
	out, err := fio.Parse(output)
	if err != nil {
		return 0, err
	}
	job := fio.Sum(out.Jobs)
	if fault := job.Fault(); fault != "" {
		return 0, errors.New(fault)
	}
	return job.Read.IOPS, nil
}

// order says in which order n sides take their turns in a round. Rounds 0 and 1 are mirror images (A B C, C B A), and
// 2 and 3, and so on, so that drift cancels; each pair begins with another side.
func order(round, n int) []int {
	turns := make([]int, n)
	for i := range turns {
		turns[i] = (i + round/2) % n
	}
	if round%2 == 1 {
		slices.Reverse(turns)
	}
	return turns
}

// results are IOPS by workload, side and round.
type results map[string]map[string][]float64

func (r results) add(workload, side string, value float64) {
	if r[workload] == nil {
		r[workload] = map[string][]float64{}
	}
	r[workload][side] = append(r[workload][side], value)
}

// ratio compares two series of rounds. A pair of mirrored rounds is one observation.
func ratio(this, base []float64) stat.Estimate {
	var logs []float64
	for i := 1; i < min(len(this), len(base)); i += 2 {
		logs = append(logs, math.Log(this[i]*this[i-1]/(base[i]*base[i-1]))/2)
	}
	return stat.Ratio(logs)
}

// report prints one line: the ratio of this to base, and again, the noise floor: that of one side to itself under a
// second name.
func report(b *testing.B, name string, this, base []float64, again stat.Estimate) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { // all was measured before
		}
		b.ReportMetric(0, "ns/op") // leaves it out
		b.ReportMetric(float64(len(this)), "rounds")
		for unit, e := range map[string]stat.Estimate{"ratio": ratio(this, base), "again": again} {
			b.ReportMetric(e.Value, unit)
			b.ReportMetric(e.Low, unit+"-low")
			b.ReportMetric(e.High, unit+"-high")
		}
	})
}

// median of at least one value.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
