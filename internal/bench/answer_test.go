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
	matrixRuntime = 60 * time.Second // of each cell: bench-fio's default, and its loops are 1 (bench_fio/benchlib/defaultsettings.py of 1.1.21)
	rebootRuntime = 5 * time.Second  // of each window: one run of CrystalDiskMark, by which people compare settings from boot to boot
	rebootLimit   = 4 * time.Minute  // after which the way with reboots is given up, so that its time is a bound
	mostBoots     = 4                // of iotax, which has as many more as it takes
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
	half    float64 // widest half-width of the shares' intervals; +Inf where there is none
	repeats int     // rounds, loops or reboots
}

// BenchmarkAnswer asks how long it takes to know the same shares to ±5 %: by iotax, its whole command; by the matrix of
// cells that bench-fio runs as it comes, on the host and in one guest; and with a new boot for each stack, again and again
// until the textbook's interval is narrow enough. The volumes of the latter two are filled beforehand, outside the time.
func BenchmarkAnswer(b *testing.B) {
	p := newPeers(b)
	ours, boots := answer{half: math.Inf(1)}, 1
	for ours.half > wanted && boots < mostBoots { // what did not suffice counts as well
		boots *= 2
		again := iotax(b, boots)
		again.took += ours.took
		ours = again
	}
	reboots := p.rebooting(b)
	loop := p.matrix(b)
	line(b, "iotax", ours, map[string]float64{"boots": float64(boots)})
	line(b, "reboot-per-stack", reboots, map[string]float64{"ratio": ours.took.Seconds() / reboots.took.Seconds()})
	line(b, "bench-fio-matrix", loop, map[string]float64{
		"ratio": ours.took.Seconds() / loop.took.Seconds(), "ratio-of-two-loops": ours.took.Seconds() / (2 * loop.took.Seconds()),
	})
}

// line prints an answer: s, and half-% where there is an interval.
func line(b *testing.B, name string, a answer, more map[string]float64) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { // all was measured before
		}
		b.ReportMetric(0, "ns/op") // leaves it out
		b.ReportMetric(a.took.Seconds(), "s")
		b.ReportMetric(float64(a.repeats), "repeats")
		if !math.IsInf(a.half, 1) {
			b.ReportMetric(100*a.half, "half-%")
		}
		for unit, v := range more {
			b.ReportMetric(v, unit)
		}
	})
}

// iotax runs the real program, from its command to its report.
func iotax(b *testing.B, boots int) answer {
	dir := vmtest.Dir(b)
	b.Setenv("IOTAX_CACHE", vmtest.CacheDir(b))
	b.Setenv("IOTAX_STATE", filepath.Join(dir, "state"))
	file, result := filepath.Join(dir, "question.yaml"), filepath.Join(dir, "answer.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, question, boots), 0o600); err != nil {
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
		b.Logf("iotax, %d boots: %s under %s keeps %.1f %% ± %.1f %% of it", boots, c.Stack, c.Workload, 100*e.Value, 100*e.HalfWidth())
	}
	return a
}

// matrix is bench-fio's: each cell once, for its default time, one after the other: on the host, then in one guest that has
// both disks. Its fio jobs are run without the Python around them, which would only add time. It repeats nothing, so
// that it has no interval: two loops are the least that have one.
func (p *peers) matrix(b *testing.B) answer {
	start := time.Now()
	for _, w := range workloads {
		p.onHost(b, w, matrixRuntime)
	}
	g := p.start(b, p.stacks...)
	defer g.close(b)
	for _, s := range p.stacks {
		for _, w := range workloads {
			p.inGuest(b, g, s, w, matrixRuntime)
		}
	}
	return answer{took: time.Since(start), half: math.Inf(1), repeats: 1}
}

// rebooting measures the host, then boots a guest for each stack and measures that, and repeats all until the share of
// each cell is known well enough or the time is up.
func (p *peers) rebooting(b *testing.B) answer {
	start := time.Now()
	got := results{}
	a := answer{half: math.Inf(1)}
	for a.half > wanted && time.Since(start) < rebootLimit {
		a.repeats++
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
		a.half, a.took = 0, time.Since(start)
		for _, w := range workloads {
			for _, s := range p.stacks {
				e := textbook(got[w.name][s.Name], got[w.name][spec.Host])
				a.half = max(a.half, e.HalfWidth())
				b.Logf("reboot-per-stack, repeat %d: %s under %s keeps %.1f %% ± %.1f %% of it", a.repeats, s.Name, w.name, 100*e.Value, 100*e.HalfWidth())
			}
		}
	}
	return a
}

// textbook is the ratio of two means with the 95 % interval that textbooks give for series that are not paired: Welch's,
// on the logs. It is not known for fewer than two values on a side.
func textbook(this, base []float64) own.Estimate {
	ma, va := stat.MeanVariance(logs(this), nil)
	mb, vb := stat.MeanVariance(logs(base), nil)
	if len(this) < 2 || len(base) < 2 {
		return own.Unknown(math.Exp(ma - mb))
	}
	sa, sb := va/float64(len(this)), vb/float64(len(base))
	half := 0.0
	if sa+sb > 0 {
		df := (sa + sb) * (sa + sb) / (sa*sa/float64(len(this)-1) + sb*sb/float64(len(base)-1))
		half = math.Sqrt(sa+sb) * distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.975)
	}
	return own.Estimate{Value: math.Exp(ma - mb), Low: math.Exp(ma - mb - half), High: math.Exp(ma - mb + half)}
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
