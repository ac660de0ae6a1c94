package calibrate

import (
	"context"
	"slices"
	"time"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// recorded are the loads whose noise is recorded: as different as a disk's loads are.
var recorded = []spec.Workload{
	{Name: "randread-4k-q1", RW: "randread", BS: 4 << 10, IODepth: 1},
	{Name: "randread-4k-q32", RW: "randread", BS: 4 << 10, IODepth: 32},
	{Name: "randwrite-4k-q32", RW: "randwrite", BS: 4 << 10, IODepth: 32},
	{Name: "read-256k-q4", RW: "read", BS: 256 << 10, IODepth: 4},
}

// recordedWindow is how long fio runs for one point of a trace.
const recordedWindow = 500 * time.Millisecond

// Record runs window after window of each load in turn, for a time each, and hands over the traces as they end.
func (h *Host) Record(ctx context.Context, each time.Duration, seed uint64, keep func(Trace) error) error {
	for _, load := range recorded {
		t := Trace{Name: "host-" + load.Name}
		for start := time.Now(); time.Since(start) < each; {
			seed++
			w, err := h.window(ctx, load, recordedWindow, seed)
			if err != nil {
				return err
			}
			middle := time.Since(start) - time.Duration(w.Elapsed/2)
			t.Points = append(t.Points, Point{At: middle, IOPS: w.Metrics[record.IOPS]})
		}
		if err := keep(t); err != nil {
			return err
		}
	}
	return nil
}

// Extract is the trace of a run of which the windows of the named stacks are taken, or of all where none is named: what its machine did
// from window to window, whatever was measured. Each counts as a share of what its cell usually reaches, the median of its windows; a cell
// with fewer than leastOfCell tells no usual.
func Extract(name string, stacks []string, windows []record.Window) Trace {
	cells := map[plan.Key][]float64{}
	var used []record.Window
	for _, w := range windows {
		named := len(stacks) == 0 || slices.Contains(stacks, w.Stack)
		if iops := w.Metrics[record.IOPS]; named && !w.Discard && w.Status == record.OK && iops > 0 {
			k := plan.Key{Stack: w.Stack, Workload: w.Workload}
			cells[k] = append(cells[k], iops)
			used = append(used, w)
		}
	}
	t := Trace{Name: name}
	for _, w := range used {
		of := cells[plan.Key{Stack: w.Stack, Workload: w.Workload}]
		if len(of) < leastOfCell {
			continue
		}
		t.Points = append(t.Points, Point{
			At:   w.Started.Sub(used[0].Started) + time.Duration(w.Elapsed/2),
			IOPS: usualIOPS * w.Metrics[record.IOPS] / stat.Median(of),
		})
	}
	return t
}

// leastOfCell is how many windows of a cell make its median one.
const leastOfCell = 5
