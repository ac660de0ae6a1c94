package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/iotax/iotax/internal/cli"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/jsonout"
	"github.com/iotax/iotax/internal/spec"
	own "github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// What the ways do, and for how long.
const (
	wanted        = 0.05             // half-width of the interval of each share, at 95 %
	ourBoots      = 4                // of iotax
	matrixRuntime = 60 * time.Second // of each cell: bench-fio's default (bench_fio/benchlib/defaultsettings.py of 1.1.21)
	matrixLoops   = 2                // the least that show how much one differs from the next; bench-fio's default is 1, which has no interval
	rebootRuntime = 5 * time.Second  // of each window: one run of CrystalDiskMark, by which people compare settings from boot to boot
	rebootLimit   = 4 * time.Minute  // for which the way with reboots is watched
)

// question is what all ways are asked: the shares of the host of two stacks under two loads. The names are the default
// preset's.
const question = `
extends: quick
title: two stacks under two loads
size: 256MiB
budget: 5m
max_rounds: 1000
boots: %d
stacks: [virtio-blk-iothread, sata]
workloads: [randread-4k-q1, randread-4k-q32]
`

// answer is what a way came to.
type answer struct {
	took    time.Duration
	repeats int           // rounds, loops or reboots
	half    float64       // widest half-width of the shares' intervals in that time; 0 where none was asked for
	whole   time.Duration // what it takes until all intervals are as narrow as wanted
}

// BenchmarkAnswer asks how long it takes to know the same shares to ±5 %: by iotax, its whole command; by the matrix of
// cells that bench-fio runs as it comes, on the host and in one guest; and with a new boot for each stack, again and again.
// None of them gets there within minutes on a noisy machine, so each is watched for some, and what is missing is reckoned: our
// intervals narrow with the root of the time, and theirs are the textbook's for as many repeats of the scatter that was seen. The
// volumes of theirs are filled beforehand, outside the time, and of their cells the scatter of the middle counts, where
// ours have to be narrow to the last.
func BenchmarkAnswer(b *testing.B) {
	p := newPeers(b)
	ours := iotax(b)
	reboots := p.rebooting(b)
	loops := p.matrix(b)
	for _, way := range []struct {
		name string
		answer
	}{{"iotax", ours}, {"reboot-per-stack", reboots}, {"bench-fio-matrix", loops}} {
		line(b, way.name, way.answer, ours.whole.Seconds()/way.whole.Seconds())
	}
}

// line prints an answer; ratio is our time over its.
func line(b *testing.B, name string, a answer, ratio float64) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { // all was measured before
		}
		b.ReportMetric(0, "ns/op") // leaves it out
		b.ReportMetric(a.took.Seconds(), "s")
		b.ReportMetric(float64(a.repeats), "repeats")
		b.ReportMetric(a.whole.Seconds(), "s-to-5%")
		b.ReportMetric(ratio, "ratio")
		if a.half > 0 {
			b.ReportMetric(100*a.half, "half-%")
		}
	})
}

// iotax runs the real program, from its command to its report.
func iotax(b *testing.B) answer {
	dir := vmtest.Dir(b)
	b.Setenv("IOTAX_CACHE", vmtest.CacheDir(b))
	b.Setenv("IOTAX_STATE", filepath.Join(dir, "state"))
	file, result := filepath.Join(dir, "question.yaml"), filepath.Join(dir, "answer.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, question, ourBoots), 0o600); err != nil {
		b.Fatal(err)
	}
	world, err := sys.OS()
	if err != nil {
		b.Fatal(err)
	}
	var said bytes.Buffer
	world.Stdout, world.Stderr = &said, &said
	world.Args = []string{"run", "-f", file, "--scratch", dir, "--json", result, "--accel", "tcg", "--no-progress"}
	start := time.Now()
	if code := cli.Main(b.Context(), world); code != 0 {
		b.Fatalf("iotax ended with %d: %s", code, said.String())
	}
	a := answer{took: time.Since(start)}
	text, err := os.ReadFile(result)
	if err != nil {
		b.Fatal(err)
	}
	var doc jsonout.Document
	if err := json.Unmarshal(text, &doc); err != nil {
		b.Fatal(err)
	}
	for _, c := range doc.Cells {
		if c.Stack == spec.Host || c.Stack == spec.Control {
			continue
		}
		if c.Status != record.OK {
			b.Fatalf("%s under %s is %s: %s", c.Stack, c.Workload, c.Status, c.Reason)
		}
		share := c.Ratio[record.IOPS]
		if share.Low == nil || share.High == nil {
			b.Fatalf("%s under %s has no interval", c.Stack, c.Workload)
		}
		e := own.Estimate{Value: share.Value, Low: *share.Low, High: *share.High}
		a.half, a.repeats = max(a.half, e.HalfWidth()), max(a.repeats, c.Rounds)
		b.Logf("iotax: %s under %s keeps %.1f %% ± %.1f %% of it", c.Stack, c.Workload, 100*e.Value, 100*e.HalfWidth())
	}
	a.whole = time.Duration(float64(a.took) * max(1, a.half*a.half/(wanted*wanted)))
	return a
}

// matrix is bench-fio's: each cell for its default time, one after the other: on the host, then in one guest that has
// both disks; and all that again. Its fio jobs are run without the Python around them, which would only add time.
func (p *peers) matrix(b *testing.B) answer {
	start := time.Now()
	got := results{}
	for range matrixLoops {
		for _, w := range workloads {
			got.add(w.name, spec.Host, p.onHost(b, w, matrixRuntime))
		}
		g := p.start(b, p.stacks...)
		for _, s := range p.stacks {
			for _, w := range workloads {
				got.add(w.name, s.Name, p.inGuest(b, g, s, w, matrixRuntime))
			}
		}
		g.close(b)
	}
	return enough(b, "bench-fio-matrix", got, answer{took: time.Since(start), repeats: matrixLoops})
}

// rebooting measures the host, then boots a guest for each stack and measures that, and repeats all.
func (p *peers) rebooting(b *testing.B) answer {
	start := time.Now()
	got, repeats := results{}, 0
	for ; time.Since(start) < rebootLimit; repeats++ {
		for _, w := range workloads {
			got.add(w.name, spec.Host, p.onHost(b, w, rebootRuntime))
		}
		for _, s := range p.stacks {
			g := p.start(b, s)
			for _, w := range workloads {
				got.add(w.name, s.Name, p.inGuest(b, g, s, w, rebootRuntime))
			}
			g.close(b)
		}
	}
	return enough(b, "reboot-per-stack", got, answer{took: time.Since(start), repeats: repeats})
}

// enough adds to an answer how long the way takes until it knows all, if the scatter stays as it was seen.
func enough(b *testing.B, name string, got results, a answer) answer {
	seen := scatter(got)
	needed := max(repeatsFor(seen), a.repeats)
	b.Logf("%s: repeats of a cell scatter by %.1f %%: %d are needed", name, 100*math.Expm1(seen), needed)
	a.whole = time.Duration(float64(a.took) / float64(a.repeats) * float64(needed))
	return a
}

// scatter is by how much repeats of the same cell differ: the standard deviation of their logs, pooled over the cells.
func scatter(got results) float64 {
	sum, df := 0.0, 0
	for _, stacks := range got {
		for _, values := range stacks {
			_, v := stat.MeanVariance(logs(values), nil)
			sum, df = sum+v*float64(len(values)-1), df+len(values)-1
		}
	}
	return math.Sqrt(sum / float64(df))
}

// repeatsFor is the least number of repeats of both sides after which the textbook's interval of their ratio is as narrow as
// wanted, for values whose logs have a standard deviation.
func repeatsFor(sd float64) int {
	for n := 2; ; n++ {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(2 * (n - 1))}.Quantile(0.975)
		if t*sd*math.Sqrt(2/float64(n)) <= math.Log1p(wanted) {
			return n
		}
	}
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// within gives a window all the patience that it deserves beyond its time.
func within(b *testing.B, runtime time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.Context(), runtime+patience)
}
