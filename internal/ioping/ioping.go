// Package ioping builds ioping's arguments and reads every output format of ioping 0.5 to 1.3. It is pure: it runs nothing.
package ioping

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Format is how ioping prints its result.
type Format string

// The formats. Only JSON gives every figure exactly; Batch gives the totals alone; Plain rounds to three digits.
const (
	Plain Format = ""
	Batch Format = "-B"
	JSON  Format = "-J"
)

// Options says what ioping does. Zero values leave ioping's own default.
type Options struct {
	Target   string // directory, file or device; required
	Count    int64  // -c: stop after so many requests, of which the first is the warm-up and not counted
	Size     int64  // -s: bytes of a request, by default 4 KiB, or 256 KiB with Linear
	WorkSize int64  // -S: bytes of the range that is used
	Offset   int64  // -o: bytes before it

	Interval   time.Duration // -i: between the starts of requests, by default 1 s, or none with Rapid
	NoInterval bool          // -i 0
	Time       time.Duration // -w: stop after so long
	Period     int64         // -p: statistics after every so many requests
	Seed       uint64        // -e, since 1.3: of the offsets and of what is written; 0 draws one from the clock

	Direct bool // -D
	Cached bool // -C: neither drop the cache before reads nor sync after writes
	Rapid  bool // -R: no interval, 3 s
	Linear bool // -L: in sequence from Offset, again from there at the end of WorkSize
	Sync   bool // -Y: O_SYNC
	DSync  bool // -y: O_DSYNC

	Write   bool // -W: writes, for which ioping wants a directory
	Destroy bool // -WWW: writes over what a file or device holds

	Quiet  bool // -q: no line for each request
	Format Format
}

// Args returns ioping's arguments (without the program's name), or every fault of the options at once.
func (o Options) Args() ([]string, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var args []string
	flag := func(on bool, name string) {
		if on {
			args = append(args, name)
		}
	}
	num := func(name string, n int64) {
		if n > 0 {
			args = append(args, name, strconv.FormatInt(n, 10))
		}
	}
	span := func(name string, d time.Duration) {
		if d > 0 {
			args = append(args, name, strconv.FormatInt(max(d.Microseconds(), 1), 10)+"us")
		}
	}
	flag(o.Direct, "-D")
	flag(o.Cached, "-C")
	flag(o.Rapid, "-R")
	flag(o.Linear, "-L")
	flag(o.Sync, "-Y")
	flag(o.DSync, "-y")
	flag(o.Write && !o.Destroy, "-W")
	flag(o.Destroy, "-WWW")
	flag(o.Quiet, "-q")
	flag(o.Format != Plain, string(o.Format))
	num("-c", o.Count)
	num("-s", o.Size)
	num("-S", o.WorkSize)
	num("-o", o.Offset)
	span("-i", o.Interval)
	if o.NoInterval {
		args = append(args, "-i", "0")
	}
	span("-w", o.Time)
	num("-p", o.Period)
	if o.Seed > 0 {
		args = append(args, "-e", strconv.FormatUint(o.Seed, 10))
	}
	return append(args, "--", o.Target), nil
}

func (o Options) check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("ioping: "+format, args...))
		}
	}
	fault(o.Target == "", "no target")
	fault(o.Count < 0 || o.Size < 0 || o.WorkSize < 0 || o.Offset < 0 || o.Period < 0, "counts and sizes cannot be negative")
	fault(o.Interval < 0 || o.Time < 0, "times cannot be negative")
	fault(o.WorkSize > 0 && o.size() > o.WorkSize, "size %d is larger than the work size %d", o.size(), o.WorkSize)
	fault(o.Direct && (o.size()%512 != 0 || o.Offset%512 != 0), "direct I/O of %d bytes at %d; both must be multiples of 512", o.size(), o.Offset)
	fault(o.NoInterval && o.Interval > 0, "an interval of %v and none at all", o.Interval)
	fault(o.Count == 0 && o.Time == 0 && !o.Rapid, "needs a count or a time, else it has no end")
	fault(o.Format != Plain && o.Format != Batch && o.Format != JSON, "unknown format %q", string(o.Format))
	return errors.Join(faults...)
}

// size returns the bytes of a request, ioping's default where none are given.
func (o Options) size() int64 {
	switch {
	case o.Size > 0:
		return o.Size
	case o.Linear:
		return 256 << 10
	}
	return 4 << 10
}
