package spec

import "time"

// Workload is one load, in the words of its generator.
type Workload struct {
	Name      string `json:"name"`
	Title     string `json:"title"`               // for a person: "4 KiB random read, iodepth 32"
	Generator string `json:"generator,omitempty"` // one of Generators, "" = fio
	RW        string `json:"rw"`                  // one of Rws
	BS        int64  `json:"bs"`                  // bytes
	IODepth   int    `json:"iodepth"`             // at least 1, of each job
	NumJobs   int    `json:"numjobs,omitempty"`   // threads that do the same at once, 0 = 1
	Warm      bool   `json:"warm,omitempty"`      // the volume is read into the host's page cache before each window, not dropped from it
	FDataSync int    `json:"fdatasync,omitempty"` // an fdatasync after every so many writes, 0 = none
	RWMixRead int    `json:"rwmixread,omitempty"` // per cent of reads of a mixed load

	BSSplit          string `json:"bssplit,omitempty"`           // fio's distribution of block sizes, in place of BS
	BSIsSeqRand      bool   `json:"bs_is_seq_rand,omitempty"`    // the two lists of BSSplit are for sequential and random I/Os, not for reads and writes
	PercentageRandom string `json:"percentage_random,omitempty"` // per cent of the I/Os of a random load that are random, of reads and writes or of each; "" = all
	BlockAlign       int64  `json:"blockalign,omitempty"`        // bytes that random offsets are multiples of, 0 = BS

	ThinkTime       time.Duration `json:"thinktime,omitempty"`        // that a job waits after each ThinkTimeBlocks
	ThinkTimeBlocks int           `json:"thinktime_blocks,omitempty"` // I/Os, 0 = 1

	RateShare float64 `json:"rate_share,omitempty"` // of the IOPS of the slowest stack, to which all are held; 0 = as fast as it goes

	Requests int           `json:"requests,omitempty"` // ioping: requests of a window
	Interval time.Duration `json:"interval,omitempty"` // ioping: from the start of one request to that of the next
}

// Writes reports whether the workload writes, Reads whether it reads.
func (w Workload) Writes() bool { return w.RW != "randread" && w.RW != "read" }

// Reads reports whether the workload reads.
func (w Workload) Reads() bool { return w.RW != "randwrite" && w.RW != "write" }

// Sequential reports whether offsets ascend.
func (w Workload) Sequential() bool { return w.RW == "read" || w.RW == "write" || w.RW == "rw" }

// Ioping reports whether the load is made by ioping.
func (w Workload) Ioping() bool { return w.Generator == "ioping" }

// Jobs is how many threads do the load at once.
func (w Workload) Jobs() int { return max(w.NumJobs, 1) }

// InFlight is how many I/Os the load keeps in flight, all its jobs together.
func (w Workload) InFlight() int { return w.IODepth * w.Jobs() }

// Held reports whether all stacks are offered the same load, of which the price is compared and not the speed.
func (w Workload) Held() bool { return w.RateShare > 0 }
