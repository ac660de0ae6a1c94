// Package spec says what to measure: stacks, workloads and the experiment around them, with
// defaults, matrix expansion, embedded presets, and a validation that reports every fault at once.
package spec

import "time"

// Names of the two host stacks that every experiment holds: the baseline and its twin, the A/A control.
const (
	Host    = "host"
	Control = "host-again"
)

// Enumerations. The words are those of QEMU, fio, LVM, ZFS and Xen themselves; the lists are what iotax can build.
var (
	Formats  = []string{"raw", "qcow2", "null-co"}
	Storages = []string{"file", "device", "lvm", "lvm-thin", "zfs-file", "zvol"}
	Buses    = []string{
		"virtio-blk", "virtio-scsi", "virtio-scsi-single", "sata", "ide", "nvme", "lsi53c895a", "megasas", "pvscsi",
		"vhost-user-blk", "vhost-user-scsi", "blkfront", "null_blk", "host",
	}
	Caches      = []string{"none", "writeback", "writethrough", "directsync", "unsafe"}
	AIOs        = []string{"threads", "native", "io_uring"}
	Rws         = []string{"randread", "randwrite", "randrw", "read", "write", "rw"}
	Discards    = []string{"ignore", "unmap"}
	Detects     = []string{"off", "on", "unmap"}
	Machines    = []string{"pc", "q35"}
	Protocols   = []string{"nbd"}
	Daemons     = []string{"qemu-storage-daemon", "spdk", "qemu-img"}
	Snapshots   = []string{"fresh", "copied"}
	Schedulers  = []string{"none", "mq-deadline", "kyber", "bfq"}
	Memories    = []string{"ram", "memfd", "file"}
	Hypervisors = []string{"xen-pv", "xen-pvh", "xen-hvm"}
	Backends    = []string{"phy", "qdisk"}
	Generators  = []string{"fio", "ioping"}
)

// Experiment is everything that one run measures. Sizes are bytes, times are time.Duration, Target is a ratio.
type Experiment struct {
	Name      string        `json:"name"`       // preset or file name
	Title     string        `json:"title"`      // one sentence for a person
	Size      int64         `json:"size"`       // bytes of every scratch volume
	Runtime   time.Duration `json:"runtime"`    // timed part of one window
	Ramp      time.Duration `json:"ramp"`       // fio ramp time before it
	Budget    time.Duration `json:"budget"`     // wall time for the measuring, boots included; 0 = what it takes to find Detect
	Target    float64       `json:"target"`     // half-width of the interval at which a cell is decided (0.05 = 5 %)
	MinRounds int           `json:"min_rounds"` // counted rounds before anything may stop
	MaxRounds int           `json:"max_rounds"` // counted rounds at most
	Boots     int           `json:"boots"`      // boots of each group of stacks, at least

	Detect float64 `json:"detect,omitempty"` // difference that nine of ten runs are to find (0.05 = 5 %); 0 = Target and MaxRounds stand, see Stopping

	HostStorage  string  `json:"host_storage,omitempty"` // one of Storages: where the baseline's volume lies, "" = file
	Compressible float64 `json:"compressible,omitempty"` // share of all data that compresses to nothing, 0 = none of it

	Guest      Guest            `json:"guest"`
	Stacks     []Stack          `json:"stacks"` // guest stacks only: the host and its control are always there
	Workloads  []Workload       `json:"workloads"`
	Statements []Statement      `json:"statements,omitempty"`
	Figures    []Figure         `json:"figures,omitempty"`
	Scale      string           `json:"scale,omitempty"`  // name of the scale that is in force, "" where none has a name
	Note       string           `json:"note,omitempty"`   // in what this departs from the published experiment, for every report
	Scales     map[string]Scale `json:"scales,omitempty"` // other scales, by name
}

// Guest is the virtual machine that stacks are attached to.
type Guest struct {
	CPUs          int    `json:"cpus"`                     // vCPUs
	Memory        int64  `json:"memory"`                   // bytes
	Hugepages     int64  `json:"hugepages,omitempty"`      // bytes of the pages that back the memory: 2 MiB or 1 GiB, 0 = ordinary ones
	MemoryBackend string `json:"memory_backend,omitempty"` // one of Memories, "" = ram
	Pinning       string `json:"pinning,omitempty"`        // "on" or "off", "" = on: QEMU's threads are pinned to CPUs
	Hypervisor    string `json:"hypervisor,omitempty"`     // one of Hypervisors, "" = QEMU
}

// Scale is another size of an experiment; what is 0 or "" stays as it is.
type Scale struct {
	Size      int64         `json:"size,omitempty"`
	Runtime   time.Duration `json:"runtime,omitempty"`
	Ramp      time.Duration `json:"ramp,omitempty"`
	Budget    time.Duration `json:"budget,omitempty"`
	MinRounds int           `json:"min_rounds,omitempty"`
	MaxRounds int           `json:"max_rounds,omitempty"`
	Boots     int           `json:"boots,omitempty"`
	Interval  time.Duration `json:"interval,omitempty"`  // between two requests of ioping
	Workloads []string      `json:"workloads,omitempty"` // patterns of those that are left; none = all
	Note      string        `json:"note,omitempty"`
}
