package rig

import (
	"fmt"

	"github.com/iotax/iotax/internal/ioping"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// foldIoping turns what ioping said into a window's numbers. Its speeds are those of the requests themselves, without
// the time between them, as it reports them; it has no percentiles.
func foldIoping(w *record.Window, r load.Result, l spec.Workload) {
	out, err := ioping.Parse(r.Output)
	if err != nil || r.Exit != 0 {
		fault := fmt.Sprintf("ioping ended with exit status %d", r.Exit)
		if err != nil {
			fault = err.Error()
		}
		w.Status, w.Reason = record.Failed, said(fault, r.Stderr)
		return
	}
	w.Status = record.OK
	w.Timed = int64(out.TimeNS)
	w.Metrics = map[string]float64{record.IOPS: out.IOPS, record.Bandwidth: out.Bandwidth, record.ClatMean: out.Avg}
	w.Evidence.Depth = 1 // it knows no other
	if l.Writes() {
		w.Evidence.PathWrite, w.Evidence.PathWrites, w.Evidence.PathFlush = out.Load.Bytes, out.Load.Count, out.Load.Count
	} else {
		w.Evidence.PathRead, w.Evidence.PathReads = out.Load.Bytes, out.Load.Count
	}
}
