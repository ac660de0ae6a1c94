// Package spec says what to measure: stacks, workloads and the experiment around them, with
// defaults, matrix expansion, embedded presets, and a validation that reports every fault at once.
package spec

import "time"

// Names of the two host stacks that every experiment holds: the baseline and its twin, the A/A control.
const (
	Host    = "host"
	Control = "host-again"
)

// Enumerations. The words are QEMU's and fio's own; the lists are what iotax can build.
var (
	Formats  = []string{"raw", "qcow2", "null-co"}
	Buses    = []string{"virtio-blk", "virtio-scsi", "virtio-scsi-single", "sata", "ide", "nvme", "lsi53c895a", "megasas", "pvscsi"}
	Caches   = []string{"none", "writeback", "writethrough", "directsync", "unsafe"}
	AIOs     = []string{"threads", "native", "io_uring"}
	Rws      = []string{"randread", "randwrite", "randrw", "read", "write", "rw"}
	Discards = []string{"ignore", "unmap"}
	Detects  = []string{"off", "on", "unmap"}
	Machines = []string{"pc", "q35"}
)

// Experiment is everything that one run measures. Sizes are bytes, times are time.Duration, Target is a ratio.
type Experiment struct {
	Name      string        `json:"name"`       // preset or file name
	Title     string        `json:"title"`      // one sentence for a person
	Size      int64         `json:"size"`       // bytes of every scratch volume
	Runtime   time.Duration `json:"runtime"`    // timed part of one window
	Ramp      time.Duration `json:"ramp"`       // fio ramp time before it
	Budget    time.Duration `json:"budget"`     // wall time for the measuring, boots included
	Target    float64       `json:"target"`     // half-width of the interval at which a cell is decided (0.05 = 5 %)
	MinRounds int           `json:"min_rounds"` // counted rounds before anything may stop
	MaxRounds int           `json:"max_rounds"` // counted rounds at most
	Boots     int           `json:"boots"`      // boots of each group of stacks, at least
	Guest     Guest         `json:"guest"`
	Stacks    []Stack       `json:"stacks"` // guest stacks only: the host and its control are always there
	Workloads []Workload    `json:"workloads"`
}

// Guest is the virtual machine that the stacks are attached to.
type Guest struct {
	CPUs   int   `json:"cpus"`   // vCPUs, at least 2 (see docs/METHOD.md: one vCPU under emulation loses barriers)
	Memory int64 `json:"memory"` // bytes
}

// Stack is one way of giving a guest a disk. Empty strings mean QEMU's own default, spelled out by validation.
type Stack struct {
	Name          string `json:"name"`
	Title         string `json:"title"`                   // for a person
	Role          string `json:"role,omitempty"`          // "", "virt-manager", "proxmox" (the usual defaults), "ceiling" (shown apart)
	Format        string `json:"format"`                  // one of Formats
	Preallocation string `json:"preallocation,omitempty"` // qcow2: off, metadata, falloc, full
	ClusterSize   int64  `json:"cluster_size,omitempty"`  // qcow2: bytes, 0 = 64 KiB
	Bus           string `json:"bus"`                     // one of Buses
	Cache         string `json:"cache"`                   // one of Caches
	AIO           string `json:"aio"`                     // one of AIOs
	IOThread      bool   `json:"iothread,omitempty"`
	Queues        int    `json:"queues,omitempty"`        // num-queues, 0 = QEMU's default
	QueueSize     int    `json:"queue_size,omitempty"`    // 0 = QEMU's default
	Discard       string `json:"discard,omitempty"`       // one of Discards
	DetectZeroes  string `json:"detect_zeroes,omitempty"` // one of Detects
	Machine       string `json:"machine,omitempty"`       // one of Machines, "" = whatever the boot has
}

// Ceiling reports whether the stack is a disk of zero latency, shown apart and never ranked.
func (s Stack) Ceiling() bool { return s.Format == "null-co" }

// Workload is one fio job, in fio's own words.
type Workload struct {
	Name      string `json:"name"`
	Title     string `json:"title"`               // for a person: "4 KiB random read, iodepth 32"
	RW        string `json:"rw"`                  // one of Rws
	BS        int64  `json:"bs"`                  // bytes
	IODepth   int    `json:"iodepth"`             // at least 1
	FDataSync int    `json:"fdatasync,omitempty"` // an fdatasync after every so many writes, 0 = none
	RWMixRead int    `json:"rwmixread,omitempty"` // per cent of reads of a mixed load
}

// Writes reports whether the workload writes, Reads whether it reads.
func (w Workload) Writes() bool { return w.RW != "randread" && w.RW != "read" }

// Reads reports whether the workload reads.
func (w Workload) Reads() bool { return w.RW != "randwrite" && w.RW != "write" }

// Sequential reports whether offsets ascend.
func (w Workload) Sequential() bool { return w.RW == "read" || w.RW == "write" || w.RW == "rw" }
