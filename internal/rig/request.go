package rig

import (
	"fmt"
	"strconv"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/ioping"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/spec"
)

// target is where a load generator does its I/O, on the side where it runs.
type target struct {
	fio, ioping  string // paths of the programs
	filename     string
	offset, size int64
	uri          string // of the NBD export that filename names, "" for a file or device
	cpus         string // CPUs that it may use, as fio writes them
	disk         string // kernel name of the disk to watch
}

// request says how a window is run on its target. Both sides get the same job; only the target differs.
func request(w plan.Window, l spec.Workload, e spec.Experiment, t target) (load.Request, error) {
	if l.Ioping() {
		return iopingRequest(w, l, t)
	}
	job := fio.Job{
		Name: l.Name, Filename: t.filename, Offset: t.offset, Size: t.size, RW: l.RW, BS: l.BS,
		IODepth: l.IODepth, NumJobs: l.NumJobs, FDataSync: l.FDataSync, RWMixRead: l.RWMixRead, Direct: true,
		Runtime: w.Runtime, Ramp: e.Ramp, RandSeed: w.Seed, CPUsAllowed: t.cpus,
		// Both sides read the same clock, which also spares fio from calibrating its own (60 ms a start); the
		// disks are watched from outside.
		Extra: map[string]string{"clocksource": "clock_gettime", "disk_util": "0"},
	}
	if t.uri != "" {
		overNBD(&job, t.uri)
	}
	held(&job, w, l)
	mixture(job.Extra, l)
	content(job.Extra, e)
	text, err := job.Text()
	if err != nil {
		return load.Request{}, err
	}
	return load.Request{
		Argv: append([]string{t.fio}, fio.Args("-")...), Input: text, Disk: t.disk, Paced: w.Rate > 0,
		Timeout: e.Ramp + w.Runtime + overtime, StallAfter: stallAfter, Step: seriesStep,
	}, nil
}

// overNBD lets fio speak NBD itself. Its engine has no fdatasync and refuses one (engines/nbd.c); the flush of NBD is what both
// an fsync and an fdatasync become.
func overNBD(job *fio.Job, uri string) {
	job.IOEngine, job.Extra["uri"] = "nbd", uri
	if job.FDataSync > 0 {
		job.Extra["fsync"], job.FDataSync = strconv.Itoa(job.FDataSync), 0
	}
}

// held offers the load so many I/Os a second, by fio's rate_process linear: one at each tick of an even clock, and what is
// late at once. Its poisson has gaps of whole microseconds (usec_for_io of backend.c in fio 3.33), which at 60,000 a second
// is 4 % too fast and more; and even ticks make short windows alike. A limit of fio is that of each job and each direction.
func held(job *fio.Job, w plan.Window, l spec.Workload) {
	each := int(w.Rate) / l.Jobs()
	if each == 0 {
		return
	}
	job.RateIOPS = each
	if job.Mixed() {
		reads := min(max((each*l.RWMixRead+50)/100, 1), max(each-1, 1))
		job.Extra["rate_iops"] = fmt.Sprintf("%d,%d", reads, max(each-reads, 1))
	}
}

// mixture adds the options of a load of several block sizes, or one that is partly random.
func mixture(options map[string]string, l spec.Workload) {
	if l.BSSplit != "" {
		options["bssplit"] = l.BSSplit
	}
	if l.PercentageRandom != "" {
		options["percentage_random"] = l.PercentageRandom
	}
	if l.BSIsSeqRand {
		options["bs_is_seq_rand"] = "1"
	}
	if l.BlockAlign > 0 {
		options["blockalign"] = strconv.FormatInt(l.BlockAlign, 10)
	}
	if l.ThinkTime > 0 {
		options["thinktime"] = strconv.FormatInt(l.ThinkTime.Microseconds(), 10)
		options["thinktime_blocks"] = strconv.Itoa(max(l.ThinkTimeBlocks, 1))
	}
}

// content makes what is written as compressible as what the volumes were filled with. Where a storage compresses,
// each block is drawn anew: otherwise the same few are written again and again, and several in one record of ZFS
// would compress to one.
func content(options map[string]string, e spec.Experiment) {
	if e.Compressible > 0 {
		options["buffer_compress_percentage"] = strconv.Itoa(int(100*e.Compressible + 0.5))
		options["buffer_compress_chunk"] = "512"
	}
	if e.Compressible > 0 || e.Compresses() {
		options["refill_buffers"] = "1"
		options["scramble_buffers"] = "0"
	}
}

// iopingRequest asks ioping for so many requests at a distance, in its own way: it drops what is cached before a read,
// syncs after a write, and leaves the first request out of what it counts.
func iopingRequest(w plan.Window, l spec.Workload, t target) (load.Request, error) {
	if t.ioping == "" {
		return load.Request{}, fmt.Errorf("ioping is missing, which makes the load %s", l.Name)
	}
	count := l.Requests
	if w.Discard { // a window that only primes
		count = max(count/3, 2)
	}
	o := ioping.Options{
		Target: t.filename, Offset: t.offset, WorkSize: t.size, Size: l.BS,
		Count: int64(count), Interval: l.Interval, NoInterval: l.Interval == 0,
		Seed: w.Seed, Linear: l.Sequential(), Destroy: l.Writes(), Quiet: true, Format: ioping.Batch,
	}
	args, err := o.Args()
	if err != nil {
		return load.Request{}, err
	}
	return load.Request{
		Argv: append([]string{t.ioping}, args...), Disk: t.disk, CPUs: t.cpus,
		Timeout: time.Duration(count)*l.Interval + overtime, StallAfter: stallAfter, Step: seriesStep,
	}, nil
}
