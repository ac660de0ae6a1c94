// Package jsonout writes a result as JSON of the schema "iotax/1". docs/JSON.md is the contract: what is
// there stays, what is added is additive.
package jsonout

import "time"

// Schema names the contract. It changes only when a field is removed or changes its meaning.
const Schema = "iotax/1"

// Document is the whole output. A pointer is null where there is no number; lists and maps are never null.
type Document struct {
	Schema     string            `json:"schema"`
	Run        Run               `json:"run"`
	Host       Host              `json:"host"`
	Noise      Noise             `json:"noise"`
	Metrics    map[string]Metric `json:"metrics"`
	Workloads  []Workload        `json:"workloads"`
	Stacks     []Stack           `json:"stacks"`
	Cells      []Cell            `json:"cells"`
	Efficiency *float64          `json:"efficiency"`
	TimedShare *float64          `json:"timed_share"`
	Best       *Best             `json:"best"`
	Gains      []Gain            `json:"gains"`
	Verdicts   []Verdict         `json:"verdicts"`
	Figures    []Figure          `json:"figures"`
	Warnings   []string          `json:"warnings"`

	Explanation *Explanation `json:"explanation"`
}

// Run is the run's own facts.
type Run struct {
	ID      string     `json:"id"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended"`
	Status  string     `json:"status"`
	Reason  string     `json:"reason"`
	Seed    uint64     `json:"seed"`
	Preset  string     `json:"preset"`
	Scale   string     `json:"scale"`
	Note    string     `json:"note"`
	Version string     `json:"version"`
}

// Host is the machine and the software that measured.
type Host struct {
	Accelerator       string   `json:"accelerator"`
	AcceleratorReason string   `json:"accelerator_reason"`
	Kernel            string   `json:"kernel"`
	GuestKernel       string   `json:"guest_kernel"`
	QEMU              string   `json:"qemu"`
	Fio               string   `json:"fio"`
	CPU               string   `json:"cpu"`
	CPUs              int      `json:"cpus"`
	Memory            int64    `json:"memory_bytes"`
	Virtualised       string   `json:"virtualised"`
	Device            Device   `json:"device"`
	ScratchPath       string   `json:"scratch_path"`
	Filesystem        string   `json:"filesystem"`
	VolumeSize        int64    `json:"volume_bytes"`
	GuestCPUs         int      `json:"guest_cpus"`
	GuestMemory       int64    `json:"guest_memory_bytes"`
	Neighbours        []string `json:"neighbours"`
	Polite            string   `json:"polite"`
	Boots             []Boot   `json:"boots"`
}

// Device is the physical block device under the scratch volumes.
type Device struct {
	Name       string `json:"name"`
	Model      string `json:"model"`
	Rotational bool   `json:"rotational"`
	WriteCache string `json:"write_cache"`
	Scheduler  string `json:"scheduler"`
	Reason     string `json:"reason"`
}

// Boot is one start of the guest.
type Boot struct {
	Index   int      `json:"index"`
	ReadyNS int64    `json:"ready_ns"`
	Args    []string `json:"args"`
	Reason  string   `json:"reason"`
}

// Noise is the floor from the A/A control.
type Noise struct {
	Band
	ByWorkload map[string]Band `json:"by_workload"`
}

// Band is a noise floor.
type Band struct {
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Detectable *float64 `json:"detectable"`
	Alarm      bool     `json:"alarm"`
}

// Metric tells how to read the numbers of one metric.
type Metric struct {
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

// Workload is one fio job.
type Workload struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	RW        string `json:"rw"`
	BS        int64  `json:"bs_bytes"`
	IODepth   int    `json:"iodepth"`
	FDataSync int    `json:"fdatasync"`
	RWMixRead int    `json:"rwmixread"`
	Headline  string `json:"headline"`

	Generator        string `json:"generator"`
	NumJobs          int    `json:"numjobs"`
	BSSplit          string `json:"bssplit"`
	BSIsSeqRand      bool   `json:"bs_is_seq_rand"`
	PercentageRandom string `json:"percentage_random"`
	BlockAlign       int64  `json:"blockalign_bytes"`
	ThinkTime        int64  `json:"thinktime_ns"`
	ThinkTimeBlocks  int    `json:"thinktime_blocks"`
	Requests         int    `json:"requests"`
	Interval         int64  `json:"interval_ns"`
	Warm             bool   `json:"warm"`

	RateShare float64 `json:"rate_share"`
}

// Stack is one way of giving a guest a disk: as asked, and as found.
type Stack struct {
	Name          string            `json:"name"`
	Title         string            `json:"title"`
	Role          string            `json:"role"`
	Ceiling       bool              `json:"ceiling"`
	Durability    string            `json:"durability"`
	DurabilityWhy string            `json:"durability_why"`
	Unavailable   string            `json:"unavailable"`
	Mend          string            `json:"mend"`
	Config        *Config           `json:"config"`
	Effective     map[string]string `json:"effective"`
	Mismatch      []string          `json:"mismatch"`
	QEMUArgs      []string          `json:"qemu_args"`
	GuestConfig   string            `json:"guest_config"`
	Volume        *Volume           `json:"volume"`
}

// Volume is what its storage told of a stack's volume.
type Volume struct {
	Path          string            `json:"path"`
	Devices       []string          `json:"devices"`
	RealSize      int64             `json:"real_bytes"`
	CompressRatio *float64          `json:"compress_ratio"`
	Unwritten     *float64          `json:"unwritten"`
	Properties    map[string]string `json:"properties"`
}

// Cell is one stack under one workload.
type Cell struct {
	Stack      string              `json:"stack"`
	Workload   string              `json:"workload"`
	Baseline   bool                `json:"baseline"`
	Status     string              `json:"status"`
	Reason     string              `json:"reason"`
	Rounds     int                 `json:"rounds"`
	Metrics    map[string]Estimate `json:"metrics"`
	Ratio      map[string]Estimate `json:"ratio"`
	Differs    bool                `json:"differs"`
	RAMShare   *float64            `json:"ram_share"`
	Derived    map[string]Estimate `json:"derived"`
	BestOfN    *BestOfN            `json:"best_of_n"`
	Durability string              `json:"durability"`
	Warnings   []string            `json:"warnings"`
	Points     []Point             `json:"points"`
	Offered    *float64            `json:"offered_iops"`
}

// BestOfN is what a program that reports the best of its rounds would have said.
type BestOfN struct {
	N        int      `json:"n"`
	Headline *float64 `json:"headline"`
	ClatMean *float64 `json:"clat_mean_ns"`
}

// Estimate is a value with its 95 % interval.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Point is one round of a cell's headline metric.
type Point struct {
	Round int      `json:"round"`
	Value float64  `json:"value"`
	Ratio *float64 `json:"ratio"`
}

// Best is the safe stack that loses least.
type Best struct {
	Stack     string    `json:"stack"`
	Ratio     *Estimate `json:"ratio"`
	Workloads []string  `json:"workloads"`
	Tied      []string  `json:"tied"`
}

// Gain is what the best stack gives over a usual default.
type Gain struct {
	Over      string     `json:"over"`
	Role      string     `json:"role"`
	Overall   *Estimate  `json:"overall"`
	Differs   bool       `json:"differs"` // of overall
	Workloads []GainCell `json:"workloads"`
}

// GainCell is a gain under one workload.
type GainCell struct {
	Workload string    `json:"workload"`
	Ratio    *Estimate `json:"ratio"`
	Differs  bool      `json:"differs"`
	Reason   string    `json:"reason"`
}
