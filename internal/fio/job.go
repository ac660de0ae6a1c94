package fio

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Job is one fio job, in fio's words. Zero values are left out of the job file unless a default is named here.
type Job struct {
	Name        string // section name, required
	Filename    string // one existing file or device, required
	Offset      int64  // bytes
	Size        int64  // bytes
	RW          string // randread, randwrite, randrw, read, write, rw, ...
	BS          int64  // bytes
	IODepth     int    // default 1
	NumJobs     int    // default 1
	IOEngine    string // default libaio
	Direct      bool
	Runtime     time.Duration // 0 runs once over Size instead of for a time
	Ramp        time.Duration // untimed lead before Runtime
	FDataSync   int           // an fdatasync after every so many writes
	RWMixRead   int           // per cent of reads, written for mixed loads only
	RandSeed    uint64        // of the offsets; its low 63 bits count, since fio refuses more
	CPUsAllowed string        // list such as 0,2-3
	RateIOPS    int           // offered load per job, 0 for as fast as it goes

	// Extra holds further options by their fio names. An option that the job would write by itself is replaced.
	Extra map[string]string
}

// Random reports whether offsets are drawn at random.
func (j Job) Random() bool { return strings.HasPrefix(j.RW, "rand") }

// Writes reports whether the job writes.
func (j Job) Writes() bool {
	return strings.Contains(j.RW, "write") || strings.HasSuffix(baseRW(j.RW), "rw")
}

// Mixed reports whether the job both reads and writes.
func (j Job) Mixed() bool {
	rw := baseRW(j.RW)
	return strings.HasSuffix(rw, "rw") || rw == "readwrite"
}

// baseRW drops the modifier of an rw value: "randrw:8" is "randrw".
func baseRW(rw string) string {
	base, _, _ := strings.Cut(rw, ":")
	return base
}

type option struct{ key, value string }

// Text returns the job file, or every fault of the job at once (joined errors, one line each).
//
// What it adds to the fields, and why:
//   - randrepeat=0 with randseed: fio repeats its offsets by default.
//   - norandommap=1 for random loads: the map costs memory and CPU, and makes late offsets dearer than early ones.
//   - scramble_buffers=1, and not refill_buffers: each block differs from the last at no cost to the generator.
//     The base of the data is as many random blocks as iodepth, so a target that compresses over more than that
//     still gains; give Extra refill_buffers=1 to a job that fills a volume.
//   - end_fsync=1 for writes: fio's runtime includes that flush, so data that is still in RAM at the end is paid for.
//   - thread=1 and group_reporting=1: one process, one result for all of numjobs.
//   - allow_file_create=0: a device that has not appeared yet must not become a regular file of that name.
func (j Job) Text() (string, error) {
	if err := j.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", j.Name)
	for _, o := range j.options() {
		if _, replaced := j.Extra[o.key]; !replaced {
			fmt.Fprintf(&b, "%s=%s\n", o.key, o.value)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(j.Extra)) {
		fmt.Fprintf(&b, "%s=%s\n", k, j.Extra[k])
	}
	return b.String(), nil
}

func (j Job) options() []option {
	var opts []option
	add := func(write bool, key, value string) {
		if write {
			opts = append(opts, option{key, value})
		}
	}
	num := func(n int64) string { return strconv.FormatInt(n, 10) }

	add(true, "filename", strings.ReplaceAll(j.Filename, ":", `\:`)) // a bare colon separates files
	add(j.Offset > 0, "offset", num(j.Offset))
	add(j.Size > 0, "size", num(j.Size))
	add(true, "rw", j.RW)
	add(j.Mixed(), "rwmixread", num(int64(j.RWMixRead)))
	add(true, "bs", num(j.BS))
	add(true, "ioengine", orDefault(j.IOEngine, "libaio"))
	add(true, "iodepth", num(int64(max(j.IODepth, 1))))
	add(true, "numjobs", num(int64(max(j.NumJobs, 1))))
	add(true, "direct", bit(j.Direct))
	add(j.Runtime > 0, "runtime", millis(j.Runtime))
	add(j.Runtime > 0, "time_based", "1")
	add(j.Ramp > 0, "ramp_time", millis(j.Ramp))
	add(j.FDataSync > 0, "fdatasync", num(int64(j.FDataSync)))
	add(j.Writes(), "end_fsync", "1")
	add(true, "randrepeat", "0")
	add(true, "randseed", strconv.FormatUint(j.RandSeed&(1<<63-1), 10))
	add(j.Random(), "norandommap", "1")
	add(true, "scramble_buffers", "1")
	add(j.RateIOPS > 0, "rate_iops", num(int64(j.RateIOPS)))
	add(j.CPUsAllowed != "", "cpus_allowed", j.CPUsAllowed)
	add(true, "thread", "1")
	add(true, "group_reporting", "1")
	add(true, "allow_file_create", "0")
	return opts
}

// check lists what fio would refuse, or, worse, read as something else.
func (j Job) check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("fio job %q: "+format, append([]any{j.Name}, args...)...))
		}
	}
	fault(j.Name == "" || j.Name == "global" || strings.ContainsAny(j.Name, "[]"), "name cannot be a section of a job file")
	fault(j.Filename == "", "filename is missing")
	fault(j.RW == "", "rw is missing")
	fault(j.BS <= 0, "bs is %d, want bytes above 0", j.BS)
	fault(j.Offset < 0 || j.Size < 0, "offset %d and size %d, want bytes from 0 up", j.Offset, j.Size)
	fault(j.Size > 0 && j.Size < j.BS, "size %d is smaller than bs %d", j.Size, j.BS)
	fault(j.IODepth < 0 || j.NumJobs < 0 || j.FDataSync < 0 || j.RateIOPS < 0, "iodepth, numjobs, fdatasync and rate_iops cannot be negative")
	fault(j.Runtime < 0 || j.Ramp < 0, "runtime %v and ramp_time %v cannot be negative", j.Runtime, j.Ramp)
	fault(j.Runtime == 0 && j.Size == 0, "needs a runtime or a size, else it has no end")
	fault(j.RWMixRead < 0 || j.RWMixRead > 100, "rwmixread is %d, want per cent", j.RWMixRead)

	texts := []option{{"name", j.Name}, {"filename", j.Filename}, {"rw", j.RW}, {"ioengine", j.IOEngine}, {"cpus_allowed", j.CPUsAllowed}}
	for _, k := range slices.Sorted(maps.Keys(j.Extra)) {
		fault(!optionName.MatchString(k), "%q is not an option name", k)
		texts = append(texts, option{k, j.Extra[k]})
	}
	for _, o := range texts {
		fault(unsafeValue(o.value), "%s %q holds a character that a job file cannot carry ($ ; # a control character, or a blank at an end)", o.key, o.value)
	}
	return errors.Join(faults...)
}

var optionName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// unsafeValue reports whether fio would read another value than v: it cuts lines at ; and #, expands $keyword and
// ${VARIABLE} (the former through a shell), and strips blanks. Seen with fio 3.33: "dir/a#b" opens "dir/a".
func unsafeValue(v string) bool {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	return strings.ContainsAny(v, "$;#") || strings.ContainsFunc(v, control) || strings.TrimSpace(v) != v
}

// millis writes a duration with its unit, since a bare number is seconds; fio counts run time in milliseconds.
func millis(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + "ms"
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
