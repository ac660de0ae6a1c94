package analyse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// The three workloads of the synthetic runs.
var loads = []spec.Workload{
	{Name: "rr32", RW: "randread", BS: 4096, IODepth: 32},
	{Name: "rw1", RW: "randwrite", BS: 4096, IODepth: 1},
	{Name: "sr", RW: "read", BS: 256 << 10, IODepth: 8},
}

var epoch = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// synthetic is a run whose truth is known: each stack's ratio to the host, and how far rounds scatter around it.
type synthetic struct {
	run     record.Run
	exp     spec.Experiment
	truth   map[string]float64
	scatter float64 // of each window, on the log scale
	whole   float64 // of each round as a whole
	windows []record.Window
}

// newRun has four guest stacks: fast and near, both durable and near each other in truth, the two usual
// defaults, and a ceiling.
func newRun() *synthetic {
	s := &synthetic{scatter: 0.01, whole: 0.2, truth: map[string]float64{
		spec.Host: 1, spec.Control: 1, "fast": 0.8, "near": 0.8, "virt": 0.5, "prox": 0.6, "null": 3,
	}}
	s.exp = spec.Experiment{Target: 0.05, MinRounds: 5, Workloads: slices.Clone(loads), Stacks: []spec.Stack{
		{Name: "fast", Format: "raw"},
		{Name: "near", Format: "raw"},
		{Name: "virt", Format: "qcow2", Role: "virt-manager"},
		{Name: "prox", Format: "raw", Role: "proxmox"},
		{Name: "null", Format: "null-co", Role: "ceiling"},
	}}
	for _, st := range s.exp.Stacks {
		s.run.Stacks = append(s.run.Stacks, record.Stack{Name: st.Name, Role: st.Role, Durability: record.Durable})
	}
	s.run.Stacks[4].Durability = record.Unknown
	return s
}

// measured fills in rounds of windows, from the given seed, as one boot.
func (s *synthetic) measured(rounds int) *synthetic {
	s.measure(0, 0, rounds, append([]string{spec.Host, spec.Control}, s.guests()...))
	return s
}

func (s *synthetic) guests() []string {
	var out []string
	for _, st := range s.exp.Stacks {
		out = append(out, st.Name)
	}
	return out
}

func (s *synthetic) measure(boot, first, rounds int, stacks []string) {
	r := rand.New(rand.NewPCG(uint64(boot), uint64(first)))
	for round := first; round < first+rounds; round++ {
		whole := s.whole * r.NormFloat64() // what befalls a whole round cancels
		for _, load := range s.exp.Workloads {
			for seq, stack := range stacks {
				speed := s.truth[stack] * math.Exp(whole+s.scatter*r.NormFloat64())
				s.windows = append(s.windows, s.window(boot, round, seq, stack, load, speed))
			}
		}
	}
}

// window is a sound one that lasts 1 s of which 0.9 s are timed; a speed of 1 is 10,000 I/Os per second of 1 ms each.
func (s *synthetic) window(boot, round, seq int, stack string, load spec.Workload, speed float64) record.Window {
	latency := 1e6 / speed
	bytes := int64(10000 * speed * float64(load.BS))
	w := record.Window{
		Boot: boot, Round: round, Seq: seq, Stack: stack, Workload: load.Name, Status: record.OK,
		Started: epoch.Add(time.Duration(len(s.windows)) * time.Second), Elapsed: 1e9, Timed: 9e8,
		Metrics: map[string]float64{
			record.IOPS: 10000 * speed, record.Bandwidth: float64(bytes), record.ClatMean: latency,
			record.ClatP50: latency, record.ClatP99: 2 * latency, record.ClatP999: 4 * latency,
		},
		Histogram: []hist.Bin{
			{NS: uint64(latency), Count: 9000}, {NS: uint64(2 * latency), Count: 985}, {NS: uint64(4 * latency), Count: 15},
		},
		Evidence: record.Evidence{Depth: float64(load.IODepth), FioCPU: 0.3},
	}
	if load.Writes() {
		w.Evidence.PathWrite, w.Evidence.DeviceWrite = bytes, &bytes
	} else {
		w.Evidence.PathRead, w.Evidence.DeviceRead = bytes, &bytes
	}
	return w
}

// change applies f to the windows of a cell ("" is any stack or workload), with their number in the cell.
func (s *synthetic) change(stack, workload string, f func(i int, w *record.Window)) *synthetic {
	n := map[key]int{}
	for i := range s.windows {
		w := &s.windows[i]
		if k := (key{w.Stack, w.Workload}); (stack == "" || stack == w.Stack) && (workload == "" || workload == w.Workload) {
			f(n[k], w)
			n[k]++
		}
	}
	return s
}

// stack returns what was found out of a stack, to be changed.
func (s *synthetic) stack(name string) *record.Stack {
	i := slices.IndexFunc(s.run.Stacks, func(st record.Stack) bool { return st.Name == name })
	return &s.run.Stacks[i]
}

func (s *synthetic) analyse() Result { return Analyse(s.run, s.exp, s.windows) }

// said is the warnings of a run, less the one that every run of one boot has.
func (r Result) said() []string {
	var out []string
	for _, w := range r.Warnings {
		if w != oneBoot {
			out = append(out, w)
		}
	}
	return out
}

func (r Result) cell(t *testing.T, stack, workload string) Cell {
	t.Helper()
	for _, c := range r.Cells {
		if c.Stack == stack && c.Workload == workload {
			return c
		}
	}
	t.Fatalf("no cell %s, %s", stack, workload)
	return Cell{}
}
