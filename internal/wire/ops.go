package wire

import "time"

// PortName is the name of the virtio-serial port between the host and the agent inside the guest.
const PortName = "org.iotax.agent"

// Operations of the agent and the one event that it sends unasked.
const (
	OpHello    = "hello"    // event: the agent is ready; Hello
	OpBeat     = "beat"     // event: the agent lives; no body
	OpLoad     = "load"     // Load -> nothing: insert kernel modules
	OpDisks    = "disks"    // nothing -> []Disk
	OpTune     = "tune"     // Tune -> nothing: set the queue of a disk
	OpWindow   = "window"   // load.Request -> load.Result, caches of the guest dropped first
	OpDiscard  = "discard"  // load.Discard -> nothing: tell a disk that nothing on it is needed
	OpProbe    = "probe"    // load.Probe -> load.Stat: synchronous writes, to see where a flush ends
	OpWrite    = "write"    // File -> nothing: write a file of /sys or /proc
	OpRead     = "read"     // File -> File
	OpClock    = "clock"    // nothing -> Clock
	OpPowerOff = "poweroff" // nothing -> nothing, then the guest ends
)

// Beat is the time between two signs of life.
const Beat = time.Second

// Hello is the agent's first word.
type Hello struct {
	Release string        `json:"release"` // uname -r
	CPUs    int           `json:"cpus"`
	Memory  int64         `json:"memory"` // bytes
	Uptime  time.Duration `json:"uptime"` // of the guest's kernel
}

// Load names module files inside the guest, in the order in which they are inserted.
type Load struct {
	Paths      []string          `json:"paths"`
	Parameters map[string]string `json:"parameters,omitempty"` // of modules, by name: "queue_mode=2 irqmode=0"
}

// NullBlk begins the names of the disks that the module null_blk makes; a number from 0 follows.
const NullBlk = "nullb"

// Disk is a disk as the guest sees it.
type Disk struct {
	Serial     string `json:"serial"`
	Address    string `json:"address,omitempty"` // of the PCI device that it is or hangs on: "0000:00:05.0"
	Name       string `json:"name"`              // kernel name
	Size       int64  `json:"size"`              // bytes
	WriteCache string `json:"write_cache"`
	Scheduler  string `json:"scheduler"`
	Rotational string `json:"rotational"`
	Logical    string `json:"logical_block_size"`
	Physical   string `json:"physical_block_size"`
	ReadAhead  string `json:"read_ahead_kb"`
	Requests   string `json:"nr_requests"`
	Queues     int    `json:"queues"` // hardware queues
}

// Tune sets the queue of a disk, in the words of the guest's kernel. What is "" stays as it is.
type Tune struct {
	Disk      string `json:"disk"`                    // kernel name
	Scheduler string `json:"scheduler,omitempty"`     //
	ReadAhead string `json:"read_ahead_kb,omitempty"` // KiB
}

// File is a small file inside the guest.
type File struct {
	Path string `json:"path"`
	Data string `json:"data,omitempty"`
}

// Clock is the guest's monotonic clock.
type Clock struct {
	Monotonic time.Duration `json:"monotonic"`
}
