package fio

import (
	"fmt"
	"syscall"

	"github.com/iotax/iotax/internal/hist"
)

// Output is one result of fio. Notes holds what fio said around it (notes, warnings, errors) and what Parse had to
// choose, one line each.
type Output struct {
	Version    string // "fio-3.33"; "" where terse version 2 does not say
	Notes      []string
	Terse      bool
	Jobs       []JobResult // one per job, or per group with group_reporting
	AllClients *JobResult  // of client/server runs with several results: fio's own sum of Jobs
	DiskUtil   []DiskUtil
}

// JobResult is one job's result. Ratios are 0..1, times nanoseconds. What the format does not print is zero.
type JobResult struct {
	Name        string
	Group       int    // groupid
	Host        string // client/server only
	Error       int    // errno that ended the job, 0 for none
	IOErrors    int64  // I/O errors that continue_on_error let pass
	Options     map[string]string
	Read        Direction
	Write       Direction
	Trim        Direction
	Mixed       Direction // unified_rw_reporting: all directions in one
	Sync        Latency   // of fsync, fdatasync and sync_file_range (3.x)
	SyncIOs     int64
	Runtime     int64   // longest of the directions
	ThreadTime  int64   // run time summed over the threads of the group; 0 in older JSON
	UserCPU     float64 // share of ThreadTime, so of one CPU per thread
	SystemCPU   float64
	CtxSwitches int64
	DepthLevels map[string]float64 // "1", "2", "4" ... ">=64": share of I/Os issued at that depth; see MeanDepth
	Steadystate *Steadystate
}

// Direction is what one job read, wrote or trimmed.
type Direction struct {
	IOBytes   int64
	Bandwidth float64 // bytes per second
	IOPS      float64
	Runtime   int64 // nanoseconds; includes the end_fsync
	TotalIOs  int64 // 0 where it is not printed: terse, and JSON before 2.2
	ShortIOs  int64
	DropIOs   int64
	Slat      Latency // submission
	Clat      Latency // completion
	Lat       Latency // both
}

// Latency is a distribution in nanoseconds. A distribution without samples is the zero value.
type Latency struct {
	Min, Max, Mean, StdDev float64
	N                      int64               // samples; 0 where it is not printed: terse, and older JSON
	Percentiles            map[float64]float64 // ratio 0..1 -> nanoseconds
	Bins                   []hist.Bin          // json+ only, sorted
}

// DiskUtil is fio's view of a block device over the run.
type DiskUtil struct {
	Name                    string
	ReadIOs, WriteIOs       int64
	ReadBytes, WriteBytes   int64 // 0 in older JSON, which has no sectors
	ReadMerges, WriteMerges int64
	Util                    float64 // ratio of time with I/O in flight
}

// Steadystate is the outcome of fio's steadystate option.
type Steadystate struct {
	Rule     string // as fio prints it: "iops_slope:0.3%"
	Duration int64  // nanoseconds
	Attained bool
}

// TotalIOs returns the I/Os of all directions, syncs apart.
func (j JobResult) TotalIOs() int64 {
	return j.Read.TotalIOs + j.Write.TotalIOs + j.Trim.TotalIOs + j.Mixed.TotalIOs
}

// Fault says why the job's numbers cannot be used, "" when they can: an errno, errors that continue_on_error let
// pass, or no I/O at all. The last is how a missing file shows: "error" is 0 and only stderr names the fault.
func (j JobResult) Fault() string {
	moved := j.Read.IOBytes + j.Write.IOBytes + j.Trim.IOBytes + j.Mixed.IOBytes
	switch {
	case j.Error != 0:
		return fmt.Sprintf("fio job %s ended with error %d (%v)", j.Name, j.Error, syscall.Errno(j.Error))
	case j.IOErrors != 0:
		return fmt.Sprintf("fio job %s passed over %d I/O errors", j.Name, j.IOErrors)
	case moved == 0 && j.TotalIOs() == 0:
		return fmt.Sprintf("fio job %s did no I/O", j.Name)
	}
	return ""
}

// CPU returns how many CPUs the load generator kept busy (1 is one whole CPU). Where ThreadTime is not printed it is
// the mean of the threads instead of their sum.
func (j JobResult) CPU() float64 { return j.busy(j.UserCPU + j.SystemCPU) }

// User is the part of CPU that was spent outside the kernel: on making requests and data, not on the path of the I/O.
func (j JobResult) User() float64 { return j.busy(j.UserCPU) }

func (j JobResult) busy(share float64) float64 {
	if j.ThreadTime > 0 && j.Runtime > 0 {
		share *= float64(j.ThreadTime) / float64(j.Runtime)
	}
	return share
}
