// Package record is what was measured, as plain data: windows as they ended, and the facts of the run and its host.
package record

import (
	"time"

	"github.com/iotax/iotax/internal/hist"
)

// Statuses of a window and of a cell.
const (
	OK          = "ok"
	Stalled     = "stalled"     // window: I/O stood still; there is no number
	Failed      = "failed"      // fio, the guest or the device gave an error
	Withheld    = "withheld"    // cell: there is a number, and it cannot mean what it says
	Unavailable = "unavailable" // cell: this host cannot offer the stack
)

// Statuses of a run.
const (
	Running  = "running"
	Complete = "complete"
	Partial  = "partial"
)

// Durability classes of a stack, from safest to least safe.
const (
	Durable  = "durable"                // a completed flush is on the device
	Volatile = "volatile on host crash" // acknowledged flushes may be in the host's RAM
	Unsafe   = "unsafe"                 // flushes are ignored
	Unknown  = "unknown"                // could not be probed
)

// Run is one run's own facts. Times are UTC.
type Run struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Status   string    `json:"status"`
	Reason   string    `json:"reason,omitempty"` // why a partial run is partial
	Seed     uint64    `json:"seed"`
	Preset   string    `json:"preset"`
	Version  string    `json:"version"`  // of iotax
	Host     Host      `json:"host"`     // filled when the run starts
	Stacks   []Stack   `json:"stacks"`   // what was found out of each stack, updated at every boot
	Warnings []string  `json:"warnings"` // of the run as a whole
}

// Host is the machine and the software that measured.
type Host struct {
	Accelerator       string   `json:"accelerator"`        // "kvm" or "tcg", "xen" where no guest is QEMU's
	AcceleratorReason string   `json:"accelerator_reason"` // why not kvm, "" with kvm
	Kernel            string   `json:"kernel"`
	GuestKernel       string   `json:"guest_kernel"`
	QEMU              string   `json:"qemu"` // version
	Fio               string   `json:"fio"`
	CPU               string   `json:"cpu"`
	CPUs              int      `json:"cpus"`
	Memory            int64    `json:"memory"`       // bytes
	Device            Device   `json:"device"`       // under the scratch volumes
	Neighbours        []string `json:"neighbours"`   // other virtual machines seen running at the start
	Virtualised       string   `json:"virtualised"`  // hypervisor under this host, "" on bare metal
	ScratchPath       string   `json:"scratch_path"` // folder or device that held the scratch volumes
	Filesystem        string   `json:"filesystem"`   // type under the scratch folder, "" for a device
	Polite            string   `json:"polite"`       // what --polite did, "" when it was not asked
	GuestCPUs         int      `json:"guest_cpus"`   // vCPUs
	GuestMemory       int64    `json:"guest_memory"` // bytes
	VolumeSize        int64    `json:"volume_size"`  // bytes of each scratch volume
	BootSeconds       []Boot   `json:"boots"`        // one per boot
}

// Boot is one start of the guest.
type Boot struct {
	Index   int      `json:"index"`
	ReadyNS int64    `json:"ready_ns"` // from QEMU's start to the agent's first word
	Args    []string `json:"args"`     // QEMU's argv
	Reason  string   `json:"reason"`   // "" for a planned boot, else why the guest was started anew
}

// Device is the physical block device that a scratch volume ends on.
type Device struct {
	Name       string `json:"name"`  // kernel name, "" when it could not be resolved
	Model      string `json:"model"` //
	Rotational bool   `json:"rotational"`
	WriteCache string `json:"write_cache"` // "write back" or "write through"
	Scheduler  string `json:"scheduler"`
	Reason     string `json:"reason,omitempty"` // why it could not be resolved
}

// Stack is what was found out of one stack while it ran: effective, not intended.
type Stack struct {
	Name          string            `json:"name"`
	Title         string            `json:"title"`
	Role          string            `json:"role,omitempty"`
	Unavailable   string            `json:"unavailable,omitempty"` // why this host cannot offer it
	Mend          string            `json:"mend,omitempty"`        // the command that would make it available
	AtBoot        bool              `json:"at_boot,omitempty"`     // it was found to be unavailable when its guest started: the plan has it
	Durability    string            `json:"durability"`
	DurabilityWhy string            `json:"durability_why,omitempty"`
	Effective     map[string]string `json:"effective,omitempty"` // setting -> value asked of QEMU and the kernel
	Mismatch      []string          `json:"mismatch,omitempty"`  // intended against effective, in words: withholds every number
	QEMUArgs      []string          `json:"qemu_args,omitempty"` // the arguments that made it
	Config        string            `json:"config,omitempty"`    // what made it where that is no QEMU: an xl.cfg
	Volume        *Volume           `json:"volume,omitempty"`    // nil for a disk of zero latency
}

// Volume is what its storage told of a stack's volume at the end of the run, or nearest to it.
type Volume struct {
	Path          string            `json:"path"`
	Devices       []string          `json:"devices"`                  // kernel names of the physical disks under it
	RealSize      int64             `json:"real_bytes"`               // that it takes on the host
	CompressRatio *float64          `json:"compress_ratio,omitempty"` // of its storage, nil where that does not compress
	Unwritten     *float64          `json:"unwritten,omitempty"`      // as Evidence.Unwritten, nil where its storage does not tell
	Properties    map[string]string `json:"properties,omitempty"`     // effective settings of its storage, such as recordsize
}

// Metrics of a window, named as in the JSON contract. IOPS per second, bandwidth bytes per second, latencies nanoseconds.
const (
	IOPS      = "iops"
	Bandwidth = "bandwidth_bytes"
	ClatMean  = "clat_mean_ns"
	ClatP50   = "clat_p50_ns"
	ClatP99   = "clat_p99_ns"
	ClatP999  = "clat_p999_ns"
)

// MetricNames lists the metrics in their order of print.
var MetricNames = []string{IOPS, Bandwidth, ClatMean, ClatP50, ClatP99, ClatP999}

// Metrics of a load that syncs, beside those of each: clat ends when the write does, and the fdatasync comes after it.
const (
	SyncMean = "sync_mean_ns"
	SyncP99  = "sync_p99_ns"
)

// SyncNames lists those in their order of print.
var SyncNames = []string{SyncMean, SyncP99}

// Metrics that are derived from the evidence of windows, for statements and figures.
const (
	RAMShare           = "ram_share"            // of the bytes read, those that never met the device
	DeviceReadRatio    = "device_read_ratio"    // bytes read from the device for each byte that the load read
	DeviceWriteRatio   = "device_write_ratio"   // bytes written to the device for each byte that the load wrote
	DeviceRequestRatio = "device_request_ratio" // requests at the device for each one of the load
	FlushRatio         = "flush_ratio"          // flushes at the device for each one of the load
	HostCPUPerIO       = "host_cpu_per_io_ns"   // CPU time of the host that the processes of a window took for one I/O
	ARCHitShare        = "arc_hit_share"        // of the look-ups in ZFS's cache, those that it answered
	CompressRatio      = "compress_ratio"       // of the stack's volume, as its storage tells it
	HostCPU            = "host_cpu"             // CPUs of the host that were busy
	GuestCPU           = "guest_cpu"            // CPUs of the guest that were busy
)

// DerivedNames lists those.
var DerivedNames = []string{
	RAMShare, DeviceReadRatio, DeviceWriteRatio, DeviceRequestRatio, FlushRatio, ARCHitShare, CompressRatio, HostCPU, HostCPUPerIO, GuestCPU,
}

// HigherIsBetter tells the direction of better of a metric.
func HigherIsBetter(metric string) bool { return metric == IOPS || metric == Bandwidth }

// Window is one stored timed execution of one cell.
type Window struct {
	Boot     int       `json:"boot"`
	Round    int       `json:"round"`
	Seq      int       `json:"seq"`
	Stack    string    `json:"stack"`
	Workload string    `json:"workload"`
	Seed     uint64    `json:"seed"`
	Discard  bool      `json:"discard"`
	Status   string    `json:"status"` // OK, Stalled or Failed
	Reason   string    `json:"reason,omitempty"`
	Started  time.Time `json:"started"`
	Elapsed  int64     `json:"elapsed_ns"` // host monotonic, the load generator's start to its end
	Timed    int64     `json:"timed_ns"`   // the part that fio timed, by the clock of the side that ran it

	Metrics   map[string]float64 `json:"metrics,omitempty"` // by metric name
	Histogram []hist.Bin         `json:"histogram,omitempty"`

	Evidence Evidence `json:"evidence"`
	Raw      []byte   `json:"-"` // fio's own output, stored compressed
}

// Evidence is what was counted around a window to judge whether its number can be believed.
// A nil pointer means that it could not be counted here.
type Evidence struct {
	PathRead     int64    `json:"path_read"`  // bytes that the load asked of its disk, ramp time included
	PathWrite    int64    `json:"path_write"` // bytes
	DeviceRead   *int64   `json:"device_read,omitempty"`
	DeviceWrite  *int64   `json:"device_write,omitempty"`
	DeviceFlush  *int64   `json:"device_flush,omitempty"`  // flush requests
	PathFlush    int64    `json:"path_flush"`              // fdatasyncs and flushes of the load
	DeviceReads  *int64   `json:"device_reads,omitempty"`  // requests, after merging
	DeviceWrites *int64   `json:"device_writes,omitempty"` // requests
	PathReads    int64    `json:"path_reads,omitempty"`    // requests of the load, or of the guest's kernel for it
	PathWrites   int64    `json:"path_writes,omitempty"`   //
	ForeignRead  *int64   `json:"foreign_read,omitempty"`  // bytes at the device that no process of this window asked for
	ForeignWrite *int64   `json:"foreign_write,omitempty"` // bytes
	Rate         float64  `json:"rate,omitempty"`          // IOPS that the load was held to, 0 = as fast as it goes
	Depth        float64  `json:"depth"`                   // mean I/Os in flight that fio achieved
	FioErrors    int      `json:"fio_errors"`              // error fields inside fio's JSON
	FioCPU       float64  `json:"fio_cpu"`                 // CPUs that fio kept busy
	FioUser      float64  `json:"fio_user,omitempty"`      // CPUs of those outside the kernel: the generator's own work
	Unwritten    *float64 `json:"unwritten,omitempty"`     // share of the volume that was never written, or is zeros that are stored nowhere, when the window began
	ClockSkew    *float64 `json:"clock_skew,omitempty"`    // guest clock over host clock, minus 1, over the window
	Robbed       *float64 `json:"robbed,omitempty"`        // of the time in which the guest's CPUs wanted to run, the share in which others had their processors
	Steal        float64  `json:"steal"`                   // share of host CPU time stolen during the window
	ARCHits      *int64   `json:"arc_hits,omitempty"`      // look-ups that ZFS's cache answered
	ARCMisses    *int64   `json:"arc_misses,omitempty"`    // look-ups that went to the pool
	HostCPU      *float64 `json:"host_cpu,omitempty"`      // CPUs of the host that were busy
	GuestCPU     *float64 `json:"guest_cpu,omitempty"`     // CPUs of the guest that were busy
	Series       []int64  `json:"series,omitempty"`        // completed I/Os per interval
	SeriesStep   int64    `json:"series_step_ns,omitempty"`
	Price        *Price   `json:"price,omitempty"` // what the processes that carried it out took; nil where it could not be counted: a domain of Xen
	Warnings     []string `json:"warnings,omitempty"`
}
