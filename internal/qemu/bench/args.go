// Package bench is qemu-img bench: QEMU's block layer under a load, with nothing in front of it.
package bench

import (
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/qemu/cmdline"
)

// MaxCount is the most requests that one run takes; they and the step are ints in qemu-img (qemu-img.c, img_bench).
const MaxCount = math.MaxInt32

// Pattern is the byte that writes consist of. It is not 0, which detect-zeroes would not write, and which storage of some
// kinds keeps nothing of.
const Pattern = 0xa5

// Load is what one run of qemu-img bench does.
type Load struct {
	Write      bool
	BlockSize  int64 // bytes of each request
	Depth      int   // requests in flight
	Count      int64 // requests in all, at most MaxCount
	Offset     int64 // bytes, of the first one
	Step       int64 // bytes from one to the next; beyond the end they go on at the beginning
	FlushEvery int   // writes between two flushes, 0 = none; at least Depth
}

// Args returns the argv of one run on a disk, which is opened node for node as QEMU would open it for a guest. Everything
// wrong with the two is returned at once, as errkind.List.
func Args(binary string, d cmdline.Disk, l Load) ([]string, error) {
	var faults errkind.List
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, errkind.Userf("qemu-img bench of disk "+d.Serial+": "+format, args...))
		}
	}
	if _, err := cmdline.Blockdevs(d); err != nil {
		faults = append(faults, err)
	}
	fault(l.BlockSize < 1 || l.BlockSize > math.MaxInt32, "requests of %d bytes", l.BlockSize)
	fault(l.Depth < 1, "%d requests in flight", l.Depth)
	fault(l.Count < 1 || l.Count > MaxCount, "%d requests, 1 to %d are possible", l.Count, MaxCount)
	fault(l.Offset < 0, "offset %d", l.Offset)
	fault(l.Step < 0 || l.Step > math.MaxInt32, "a step of %d bytes, 0 to %d are possible", l.Step, math.MaxInt32)
	fault(l.FlushEvery < 0 || l.FlushEvery > 0 && l.FlushEvery < l.Depth, "a flush after every %d writes, with %d in flight", l.FlushEvery, l.Depth)
	fault(l.FlushEvery > 0 && !l.Write, "flushes between reads")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	args := []string{
		binary, "bench", "-c", number(l.Count), "-d", strconv.Itoa(l.Depth), "-s", number(l.BlockSize),
		"-o", number(l.Offset), "-S", number(l.Step),
	}
	if !d.Stack.Ceiling() {
		args = append(args, "-t", d.Stack.Cache, "-i", d.Stack.AIO)
	}
	if l.Write {
		args = append(args, "-w", "--pattern="+strconv.Itoa(Pattern))
	}
	if l.FlushEvery > 0 {
		args = append(args, "--flush-interval="+strconv.Itoa(l.FlushEvery))
	}
	return append(args, "--image-opts", imageOptions(d)), nil
}

// imageOptions describes the disk's nodes in one line: a node's own options are led by the names of its parents' children
// (qemu(1), on image-opts). Cache mode and aio are those of the command, which every node inherits.
func imageOptions(d cmdline.Disk) string {
	var o options
	if d.Stack.Ceiling() {
		o.set("", "driver", "null-co", "size", strconv.FormatInt(d.Size, 10), "read-zeroes", "on")
		return o.text()
	}
	below := "file."
	sliced := d.Offset != 0 || d.Size != 0
	o.set("", "driver", d.Stack.Format)
	switch {
	case sliced && d.Stack.Format == "raw":
		o.slice("", d)
	case sliced:
		o.set(below, "driver", "raw", "discard", d.Stack.Discard)
		o.slice(below, d)
		below += "file."
	}
	o.set("", "discard", d.Stack.Discard, "detect-zeroes", d.Stack.DetectZeroes)
	if d.Stack.L2CacheSize != 0 {
		o.set("", "l2-cache-size", strconv.FormatInt(d.Stack.L2CacheSize, 10))
	}
	if d.Stack.LazyRefcounts {
		o.set("", "lazy-refcounts", "on")
	}
	protocol := "file"
	if d.Block {
		protocol = "host_device"
	}
	o.set(below, "driver", protocol, "filename", d.Path, "discard", d.Stack.Discard)
	if d.Base != "" {
		o.set("backing.", "driver", "qcow2", "read-only", "on")
		o.set("backing.file.", "driver", "file", "filename", d.Base)
	}
	return o.text()
}

// options are keys and values of a node and of those below it.
type options []string

// set adds keys and values in turn, without those that have no value. QEMU's parser ends a value at a comma unless it is
// doubled.
func (o *options) set(node string, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			*o = append(*o, node+pairs[i]+"="+strings.ReplaceAll(pairs[i+1], ",", ",,"))
		}
	}
}

func (o *options) slice(node string, d cmdline.Disk) {
	if d.Offset != 0 {
		o.set(node, "offset", strconv.FormatInt(d.Offset, 10))
	}
	if d.Size != 0 {
		o.set(node, "size", strconv.FormatInt(d.Size, 10))
	}
}

func (o *options) text() string { return strings.Join(*o, ",") }
