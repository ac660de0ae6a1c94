package rig

import (
	"context"
	"time"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// pace is what is known of a cell of qemu-img bench from its windows before.
type pace struct {
	iops  float64       // 0 before the first
	start time.Duration // that the program takes to start and to end, beside its requests; 0 where it was not measured
	timed time.Duration // what counts of the last run
}

// The first run of a cell is a guess, and each further one is as long as the pace of the one before says: after a few the
// window has its length. A window ends with the first run of half its length.
const (
	firstCount = 64
	mostRuns   = 8
)

// benchLoad lets qemu-img bench make a window's load. It takes a number of requests and no time, so that there may be short
// runs before the one that counts; what they asked of the disk is in the output and in the counters around the window, as with
// fio's ramp time. All else of the result is of the last run.
func (s *session) benchLoad(ctx context.Context, w plan.Window, l spec.Workload, in intended, t target) (load.Result, error) {
	key := w.Key()
	known := s.paces[key]
	if closing(in.stack, l) && known.start == 0 {
		if err := s.measureStart(ctx, in, &known); err != nil {
			return load.Result{}, err
		}
	}
	job := bench.Load{
		Write: l.Writes(), BlockSize: l.BS, Depth: l.IODepth, Step: l.BS, FlushEvery: l.FDataSync,
		Count: max(int64(known.iops*w.Runtime.Seconds()), firstCount, int64(l.IODepth)),
	}
	if !l.Sequential() {
		job.Step, job.Offset = bench.Stride(t.size, l.BS), bench.Start(w.Seed, t.size, l.BS)
	}
	var output []byte
	var read, written int64
	for i := 1; ; i++ {
		r, took, err := s.benchRun(ctx, w, in, job, t)
		r.Output = append(output, r.Output...)
		read, written = read+r.ReadBytes, written+r.WriteBytes
		r.ReadBytes, r.WriteBytes = read, written
		if err != nil || r.Exit != 0 || r.Stalled != "" {
			return r, err
		}
		if closing(in.stack, l) {
			took = max(r.Elapsed-known.start, took)
		}
		if took >= w.Runtime/2 || i == mostRuns {
			known.iops, known.timed = float64(job.Count)/max(took.Seconds(), 0.001), took
			s.paces[key] = known
			return r, nil
		}
		output, job.Count = r.Output, bench.Next(job.Count, took, w.Runtime)
	}
}

// benchRun is one run of the program. took is 0 where it did not complete.
func (s *session) benchRun(ctx context.Context, w plan.Window, in intended, job bench.Load, t target) (r load.Result, took time.Duration, err error) {
	argv, err := bench.Args(s.QEMUImg, in.disk, job)
	if err != nil {
		return r, 0, err
	}
	r, err = load.Run(ctx, load.Request{
		Argv: argv, Env: s.Env, Disk: t.disk, CPUs: t.cpus, Timeout: 2*w.Runtime + overtime, StallAfter: stallAfter, Step: seriesStep,
		Started: s.account.started,
	})
	if err != nil || r.Exit != 0 || r.Stalled != "" {
		return r, 0, err
	}
	said, err := bench.Parse(r.Output)
	if err != nil {
		return r, 0, err
	}
	return r, said[len(said)-1].Took, nil
}

// closing reports whether what a load wrote may still be in the page cache when qemu-img bench says that it has completed. It
// flushes when it closes the volume (bdrv_close in QEMU's block.c), and as with fio's end_fsync that has to be paid for: its time
// is what the whole program took, without the time to start it. In all other modes that flush is one request or none, less
// than the start of a program varies by.
func closing(stack spec.Stack, l spec.Workload) bool {
	return l.Writes() && l.FDataSync == 0 && stack.Cache == "writeback" && !stack.Ceiling()
}

// startTries is how often the start of the program is timed; the quickest counts.
const startTries = 3

// measureStart times the program around a single read.
func (s *session) measureStart(ctx context.Context, in intended, p *pace) error {
	argv, err := bench.Args(s.QEMUImg, in.disk, bench.Load{BlockSize: probeBlock, Depth: 1, Count: 1, Step: probeBlock})
	if err != nil {
		return err
	}
	for range startTries {
		r, err := s.runProbe(ctx, load.Request{Argv: argv})
		if err != nil {
			return err
		}
		if p.start == 0 || r.Elapsed < p.start {
			p.start = r.Elapsed
		}
	}
	return nil
}

// fold turns what the load generator of a window said into its numbers.
func (s *session) fold(out *record.Window, r load.Result, l spec.Workload, w plan.Window) {
	if in, ok := s.onHost(w.Stack); ok && in.stack.Bench() {
		foldBench(out, r, s.paces[w.Key()].timed)
		return
	}
	fold(out, r, l, w.Runtime)
}

// foldBench turns what qemu-img bench said into a window's numbers: those of its last run, of which timed counts. It keeps so many requests in flight as
// it was asked to, so that the mean latency is their number over their pace (Little's law); one that flushes in between waits
// for these too, which is no latency of a write. There are no percentiles.
func foldBench(w *record.Window, r load.Result, timed time.Duration) {
	w.Raw = r.Output
	w.Evidence.Series, w.Evidence.SeriesStep = r.Series, int64(seriesStep)
	if r.Stalled != "" {
		w.Status, w.Reason = record.Stalled, r.Stalled
		return
	}
	runs, err := bench.Parse(r.Output)
	if r.Exit != 0 || err != nil {
		w.Status, w.Reason = record.Failed, said("qemu-img bench failed", r.Stderr)
		if r.Exit == 0 {
			w.Reason = err.Error()
		}
		return
	}
	for _, run := range runs {
		bytes := run.Count * run.BlockSize
		if run.Write {
			w.Evidence.PathWrite, w.Evidence.PathWrites = w.Evidence.PathWrite+bytes, w.Evidence.PathWrites+run.Count
		} else {
			w.Evidence.PathRead, w.Evidence.PathReads = w.Evidence.PathRead+bytes, w.Evidence.PathReads+run.Count
		}
		w.Evidence.PathFlush += run.Flushes()
	}
	last := runs[len(runs)-1]
	if timed <= 0 {
		w.Status, w.Reason = record.Failed, "qemu-img bench ended too soon to be timed"
		return
	}
	w.Status, w.Timed = record.OK, int64(timed)
	iops := float64(last.Count) / timed.Seconds()
	w.Metrics = map[string]float64{record.IOPS: iops, record.Bandwidth: iops * float64(last.BlockSize)}
	if last.FlushEvery == 0 {
		w.Metrics[record.ClatMean] = float64(last.Depth) / iops * float64(time.Second)
	}
	w.Evidence.Depth = float64(last.Depth)
}
