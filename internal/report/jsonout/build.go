package jsonout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
)

// Write writes the document of r, indented by two blanks, and a line end.
func Write(w io.Writer, r analyse.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(Build(r)); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// Build gives the document of r. Numbers that are not finite become null, or their metric is left out; a
// cell that is not ok has no numbers, whatever r says of it: a withheld number is not published.
func Build(r analyse.Result) Document {
	d := Document{
		Schema:     Schema,
		Run:        run(r.Run),
		Host:       host(r.Run.Host),
		Noise:      noise(r.Noise),
		Metrics:    units(),
		Workloads:  list(r.Experiment.Workloads, workload),
		Stacks:     stacks(r),
		Cells:      list(r.Cells, cell),
		Efficiency: number(r.Efficiency),
		TimedShare: number(r.TimedShare),
		Gains:      list(r.Gains, gain),
		Verdicts:   list(r.Verdicts, verdict),
		Figures:    list(r.Figures, figure),
		Warnings:   merge(r.Run.Warnings, r.Warnings),

		Explanation: explanation(r.Explanation),
	}
	d.Run.Scale, d.Run.Note = r.Experiment.Scale, r.Experiment.Note
	if b := r.Best; b != nil {
		d.Best = &Best{Stack: b.Stack, Ratio: estimate(&b.Ratio), Workloads: all(b.Workloads), Tied: all(b.Tied)}
	}
	return d
}

// unfinished is the reason of a run that never came to its end.
const unfinished = "the run has not ended: it is still going, or it was killed"

func run(r record.Run) Run {
	out := Run{ID: r.ID, Started: r.Started.UTC(), Status: r.Status, Reason: r.Reason, Seed: r.Seed, Preset: r.Preset, Version: r.Version}
	if !r.Ended.IsZero() {
		ended := r.Ended.UTC()
		out.Ended = &ended
	}
	if r.Status != record.Complete {
		out.Status = record.Partial
		if r.Reason == "" && r.Status == record.Running {
			out.Reason = unfinished
		}
	}
	return out
}

func host(h record.Host) Host {
	return Host{
		Accelerator: h.Accelerator, AcceleratorReason: h.AcceleratorReason,
		Kernel: h.Kernel, GuestKernel: h.GuestKernel, QEMU: h.QEMU, Fio: h.Fio,
		CPU: h.CPU, CPUs: h.CPUs, Memory: h.Memory, Virtualised: h.Virtualised,
		Device:      Device(h.Device),
		ScratchPath: h.ScratchPath, Filesystem: h.Filesystem, VolumeSize: h.VolumeSize,
		GuestCPUs: h.GuestCPUs, GuestMemory: h.GuestMemory, Neighbours: all(h.Neighbours), Polite: h.Polite,
		Boots: list(h.BootSeconds, func(b record.Boot) Boot {
			return Boot{Index: b.Index, ReadyNS: b.ReadyNS, Args: all(b.Args), Reason: b.Reason}
		}),
	}
}

func noise(n analyse.Noise) Noise {
	out := Noise{Band: band(analyse.Band{Low: n.Low, High: n.High, Detectable: n.Detectable, Alarm: n.Alarm}), ByWorkload: map[string]Band{}}
	for name, b := range n.ByWorkload {
		out.ByWorkload[name] = band(b)
	}
	return out
}

// band leaves a floor that could not be found without numbers: a ratio of 0 stands for none.
func band(b analyse.Band) Band {
	out := Band{Alarm: b.Alarm}
	if b.Low > 0 && b.High > 0 {
		out.Low, out.High, out.Detectable = number(b.Low), number(b.High), number(b.Detectable)
	}
	return out
}

func units() map[string]Metric {
	out := map[string]Metric{}
	for _, name := range slices.Concat(record.MetricNames, record.SyncNames, record.DerivedNames) {
		out[name] = Metric{Unit: metrics.Unit(name), Better: metrics.Better(name)}
	}
	return out
}

func workload(w spec.Workload) Workload {
	return Workload{
		Name: w.Name, Title: w.Title, RW: w.RW, BS: w.BS, IODepth: w.IODepth,
		FDataSync: w.FDataSync, RWMixRead: w.RWMixRead, Headline: analyse.Headline(w),
		Generator: cmp.Or(w.Generator, "fio"), NumJobs: w.Jobs(), BSSplit: w.BSSplit, BSIsSeqRand: w.BSIsSeqRand,
		PercentageRandom: w.PercentageRandom, BlockAlign: w.BlockAlign, ThinkTime: int64(w.ThinkTime), ThinkTimeBlocks: w.ThinkTimeBlocks,
		Requests: w.Requests, Interval: int64(w.Interval), Warm: w.Warm, RateShare: w.RateShare,
	}
}
