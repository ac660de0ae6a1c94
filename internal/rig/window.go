// Package rig is the machinery that carries out windows: it joins volumes, guests, the host's own load
// generator and the counters around them, and gives package measure an Executor.
package rig

import (
	"fmt"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// Patience with a load generator: it is killed when it has not ended so long after its time, and its disk is
// called stalled when I/O is in flight and none has ended for stallAfter.
const (
	overtime   = 20 * time.Second
	stallAfter = 4 * time.Second
	seriesStep = 100 * time.Millisecond
)

// fold turns what the load generator said into a window's numbers; asked is the runtime that fio was given.
// A window without a number comes back with its status and the reason.
func fold(w *record.Window, r load.Result, l spec.Workload, asked time.Duration) {
	w.Raw = r.Output
	w.Evidence.Series, w.Evidence.SeriesStep = r.Series, int64(seriesStep)
	if r.Stalled != "" {
		w.Status, w.Reason = record.Stalled, r.Stalled
		return
	}
	if l.Ioping() {
		foldIoping(w, r, l)
		return
	}
	out, err := fio.Parse(r.Output)
	if err != nil {
		w.Status, w.Reason = record.Failed, said(err.Error(), r.Stderr)
		return
	}
	job := fio.Sum(out.Jobs)
	if fault := job.Fault(); fault != "" || r.Exit != 0 {
		if fault == "" {
			fault = fmt.Sprintf("fio ended with exit status %d", r.Exit)
		}
		w.Status, w.Reason = record.Failed, said(fault, r.Stderr)
		if job.Error != 0 || job.IOErrors != 0 {
			w.Evidence.FioErrors++
		}
		return
	}
	w.Status = record.OK
	w.Timed = job.Runtime
	w.Histogram = hist.Merge(job.Read.Clat.Bins, job.Write.Clat.Bins)
	w.Metrics = metrics(job, w.Histogram)
	w.Evidence.Depth = depth(job, asked)
	w.Evidence.FioCPU, w.Evidence.FioUser = job.CPU(), job.User()
	w.Evidence.PathRead, w.Evidence.PathWrite = job.Read.IOBytes, job.Write.IOBytes
	w.Evidence.PathReads, w.Evidence.PathWrites = job.Read.TotalIOs, job.Write.TotalIOs
	w.Evidence.PathFlush = job.SyncIOs
	w.Evidence.Warnings = append(w.Evidence.Warnings, notes(out.Notes)...)
}

// minSyncs tells a load that syncs from one that only has the flush at its end.
const minSyncs = 2

// metrics names fio's figures as the JSON contract does. Latencies are those of the completions; a
// load that syncs has those of its syncs beside them, since fio's completion of a write does not wait for its sync.
func metrics(job fio.JobResult, clat []hist.Bin) map[string]float64 {
	m := map[string]float64{
		record.IOPS:      job.Read.IOPS + job.Write.IOPS,
		record.Bandwidth: job.Read.Bandwidth + job.Write.Bandwidth,
	}
	reads, writes := float64(job.Read.TotalIOs), float64(job.Write.TotalIOs)
	if n := reads + writes; n > 0 {
		m[record.ClatMean] = (job.Read.Clat.Mean*reads + job.Write.Clat.Mean*writes) / n
	}
	for name, p := range map[string]float64{record.ClatP50: 0.5, record.ClatP99: 0.99, record.ClatP999: 0.999} {
		if ns, ok := hist.Percentile(clat, p); ok {
			m[name] = float64(ns)
		}
	}
	if job.Sync.N >= minSyncs {
		m[record.SyncMean] = job.Sync.Mean
	}
	if ns, ok := hist.Percentile(job.Sync.Bins, 0.99); ok && job.Sync.N >= 100 { // fewer have no 99th percentile
		m[record.SyncP99] = float64(ns)
	}
	return m
}

// depth is the mean number of I/Os in flight by Little's law while the job issued I/O: its runtime also holds
// the flush at the end, when nothing is issued.
func depth(job fio.JobResult, asked time.Duration) float64 {
	if active := int64(asked); active > 0 && job.Runtime > active {
		return job.InFlight() * float64(job.Runtime) / float64(active)
	}
	return job.InFlight()
}

// notes keeps what of fio's remarks is about the numbers. fio always remarks that it cannot pin its
// own helper threads and the like; those are no concern of a reader.
func notes(said []string) []string {
	var out []string
	for _, s := range said {
		if strings.Contains(s, "may only") || strings.Contains(s, "falling back") || strings.Contains(s, "not support") {
			out = append(out, "fio: "+strings.TrimPrefix(s, "fio: "))
		}
	}
	return out
}

// said joins a fault and the first line that the program wrote about it.
func said(fault, stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line == "" || strings.Contains(fault, line) {
		return fault
	}
	return fault + ": " + line
}
