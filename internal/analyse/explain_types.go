package analyse

import "github.com/iotax/iotax/internal/stat"

// Layers between the host's disk and the guest's program, from the disk up.
const (
	FileSystem = "storage"                  // what the volume lies on: file system, LVM, ZFS
	ImageLayer = "image format"             // qcow2 in place of raw
	BlockLayer = "QEMU's block layer"       // with its cache mode, aio and protocol
	Transport  = "transport and controller" // bus, queues, iothread, and who serves them
	GuestLayer = "guest"                    // its kernel and program, run by a virtual processor
)

// LayerNames lists them in that order.
var LayerNames = []string{FileSystem, ImageLayer, BlockLayer, Transport, GuestLayer}

// Explanation is where the tax of a run goes.
type Explanation struct {
	Bills    []Bill    // of each guest stack under each workload, in the order of the cells; ceilings have none
	Ceilings []Ceiling // of each zero-latency stack under each workload
	Prices   []Price   // of each cell that has counters of threads, host and ceilings included
	Fronts   []Front   // one for each workload: IOPS against cores
	Curves   []Curve   // one for each stack and load that has several iodepths
	Limit    *Limit    // on the latency of the curves, nil when none was asked for: see Result.Limit
}

// Bill says where the time of a stack's I/O goes under one workload. Times are nanoseconds for one I/O of those in flight
// (iodepth / IOPS), so that they add up; under a load that waits for one I/O at a time that is its latency.
type Bill struct {
	Stack, Workload string
	Reason          string         // why there is no bill, "" when there is one
	Host            *stat.Estimate // time of the host
	Total           *stat.Estimate // time of the stack
	Tax             *stat.Estimate // Total less Host, from the same rounds
	Layers          []BillLayer    // from the disk up; their times add up to Tax, and their shares to 1
	Check           *BillCheck     // the sum measured in another way, nil where there is none
	Advice          []string       // what to measure to tell apart layers that stand together
}

// BillLayer is what one layer, or several that no measured stack tells apart, adds. A layer that is the same on both sides is
// not listed.
type BillLayer struct {
	Names    []string // of LayerNames
	From, To string   // the stacks whose difference it is; both empty for one that was split by stacks of zero latency
	Detail   string   // what it is here: "qcow2", "cache=writeback aio=threads"
	Time     stat.Estimate
	Share    *stat.Estimate // of Tax; nil when Tax cannot be told from nothing
	Differs  bool           // the time differs from none after correction for all layers of the run
}

// BillCheck is the way that does not pass the disk: the same transport and guest over a disk of zero latency.
type BillCheck struct {
	Stack string        // the zero-latency stack
	Time  stat.Estimate // what the layers above the block layer take there
	Agree bool          // it lies within what the bill says of these layers, both intervals taken
}

// Ceiling is the most that a path can do over a disk of zero latency.
type Ceiling struct {
	Stack    string // of zero latency
	Workload string
	IOPS     stat.Estimate
	Of       []CeilingUse // the stacks with the same path
	Sentence string       // for a buyer
}

// CeilingUse is how near a stack comes to its ceiling.
type CeilingUse struct {
	Stack string
	Share stat.Estimate // of the ceiling's IOPS
}

// Price is what a cell's I/O costs in CPU, by the role of the thread.
type Price struct {
	Stack, Workload string
	Held            bool                     // at the same offered load as the other stacks
	CPU             stat.Estimate            // nanoseconds of the host for one I/O, all roles
	ByRole          map[string]stat.Estimate // nanoseconds, by record.Roles
	Voluntary       stat.Estimate            // context switches for one I/O
	Involuntary     stat.Estimate            //
	GuestCPU        *stat.Estimate           // nanoseconds that the guest itself counted as busy, for one I/O
	Cycles, Exits   *stat.Estimate           // for one I/O, nil where they are not counted
	Cores           stat.Estimate            // that the threads kept busy
	IOPS            stat.Estimate
}

// Front is IOPS against cores under one workload. No stack of the front is beaten in both by another one.
type Front struct {
	Workload string
	Stacks   []string // on the front, by IOPS
	Beaten   []string // the others
}

// Curve is IOPS against the 99th percentile of latency over iodepth.
type Curve struct {
	Stack  string
	Load   string // title of the workloads without their iodepth
	Points []CurvePoint
	Under  *CurveUnder // nil when no limit was asked for
}

// CurvePoint is one iodepth; a cell without a number has a reason instead.
type CurvePoint struct {
	Workload string
	IODepth  int
	IOPS     *stat.Estimate
	P99      *stat.Estimate // nanoseconds
	Limited  *stat.Estimate // nanoseconds of the latency that has a limit, nil without one
	Reason   string
}

// CurveUnder is the most IOPS at which a latency stays under a limit.
type CurveUnder struct {
	IODepth int
	IOPS    *stat.Estimate // nil when no measured iodepth keeps the limit
	Bound   bool           // the deepest measured iodepth keeps it still: more may be possible
	Reason  string         // why there is none
}
