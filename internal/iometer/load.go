package iometer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/unit"
)

// sector is what Iometer's alignment of 0 stands for, and the least that direct I/O takes.
const sector = 512

// Load is an access specification in fio's words. What is zero is not needed.
type Load struct {
	RW               string // read, write, rw, randread, randwrite, randrw
	RWMixRead        int    // per cent of reads of a mixed load
	BS               int64  // bytes; the largest where there are several
	BSSplit          string // sizes with their per cent, "512/20:4096/80", for reads and writes apart after a comma
	BSIsSeqRand      bool   // the parts of BSSplit are for sequential and random I/Os instead
	PercentageRandom string // of a load that is partly random: "12", or of reads and writes apart "12,30"
	BlockAlign       int64  // bytes; random offsets are multiples of it
	LogicalBlock     int64  // bytes; a device with larger logical blocks refuses some of the I/Os
	ThinkTime        time.Duration
	ThinkTimeBlocks  int // I/Os between two think times

	MeanSize float64  // bytes of an I/O as fio will do them
	Distance float64  // share of the I/Os that differ from the specification in size, direction or order
	Notes    []string // what fio does otherwise, one sentence each
}

// Load says the specification in fio's words, as near as fio 3 can come. fio draws the direction, then the order
// (random or sequential) by the direction, then the size by one of the two, all in whole per cent; Iometer draws a line
// that says all three. The notes name every difference. An error is an errkind.List of what no disk can do.
func (s AccessSpec) Load() (Load, error) {
	if err := s.check(); err != nil {
		return Load{}, err
	}
	m := s.mix()
	d := nearest(m)
	l := d.load()
	l.Distance = m.distance(d.mix())
	l.MeanSize = d.mix().meanSize()
	if l.Distance > 1e-9 {
		l.notef("fio draws the size by the %s only and in whole per cent: %.2g %% of the I/Os differ from the specification, mean size %.0f B instead of %.0f B",
			d.basis(), 100*l.Distance, l.MeanSize, m.meanSize())
	}
	if l.RW == "rw" || l.RW == "randrw" && l.PercentageRandom != "" {
		l.notef("fio keeps one sequential position for reads and one for writes, Iometer one for both")
	}
	l.align(s.active())
	l.pace(s.active())
	return l, nil
}

// check lists what fio cannot send to a disk.
func (s AccessSpec) check() error {
	lines := s.active()
	if len(lines) == 0 {
		return errkind.List{errkind.Userf("%s: has no I/Os; expected lines with a share above 0", clip(s.Name))}
	}
	var faults errkind.List
	said := map[int64]bool{}
	for _, l := range lines {
		for _, n := range []int64{l.Size, l.Align} {
			if n%sector != 0 && !said[n] {
				said[n] = true
				faults = append(faults, errkind.Userf("%s: %d bytes is no multiple of %d, so no disk takes it; expected sizes and alignments of whole sectors",
					clip(s.Name), n, sector))
			}
		}
	}
	return faults.Err()
}

// active returns the lines that are ever drawn.
func (s AccessSpec) active() []Line {
	var lines []Line
	for _, l := range s.Lines {
		if l.Share > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

func (l *Load) notef(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// basis names what the size depends on.
func (d draw) basis() string {
	if d.byOrder {
		return "order"
	}
	return "direction"
}

// load writes the draw in fio's options.
func (d draw) load() Load {
	l := Load{RW: "rw", RWMixRead: d.reads}
	reads, writes := d.random[1], d.random[0]
	switch d.reads {
	case 100:
		l.RW, l.RWMixRead, writes = "read", 0, reads
	case 0:
		l.RW, reads = "write", writes
	}
	if reads+writes > 0 {
		l.RW = "rand" + l.RW
	}
	if reads != writes {
		l.PercentageRandom = fmt.Sprintf("%d,%d", reads, writes)
	} else if 0 < reads && reads < 100 {
		l.PercentageRandom = strconv.Itoa(reads)
	}
	first, second := d.splits[1], d.splits[0] // reads, writes
	if d.byOrder {
		first, second = second, first // sequential, random
	}
	l.sizes(first, second)
	l.BSIsSeqRand = d.byOrder && strings.Contains(l.BSSplit, ",")
	return l
}

// sizes writes bs and bssplit from the two parts that fio tells apart. A part that no I/O uses has no sizes.
func (l *Load) sizes(first, second []split) {
	for _, s := range slices.Concat(first, second) {
		l.BS = max(l.BS, s.size)
	}
	a, b := bssplit(first), bssplit(second)
	switch {
	case a == b || b == "":
		l.BSSplit = a
	case a == "":
		l.BSSplit = b
	default:
		l.BSSplit = a + "," + b
	}
	if l.BSSplit == bssplit([]split{{l.BS, 100}}) {
		l.BSSplit = ""
	}
}

// bssplit writes one part of fio's option.
func bssplit(splits []split) string {
	parts := make([]string, len(splits))
	for i, s := range splits {
		parts[i] = fmt.Sprintf("%d/%d", s.size, s.share)
	}
	return strings.Join(parts, ":")
}

// align takes the alignment of the random lines, for fio aligns random offsets only.
func (l *Load) align(lines []Line) {
	var differ, sequential bool
	var boundary int64
	for _, line := range lines {
		l.LogicalBlock = gcd(line.Size, l.LogicalBlock)
		at := cmp.Or(line.Align, sector)
		if line.Random > 0 {
			differ = differ || boundary > 0 && at != boundary
			boundary = gcd(at, boundary)
		}
		for _, other := range lines {
			sequential = sequential || line.Random < 100 && other.Size%at != 0
		}
	}
	if differ {
		l.notef("the random lines are aligned differently: fio aligns them all to %s", unit.ExactBytes(boundary))
	}
	if sequential {
		l.notef("sequential lines are aligned beyond the sizes before them: fio begins each where the last I/O ended")
	}
	if !strings.HasPrefix(l.RW, "rand") {
		return
	}
	l.LogicalBlock = gcd(boundary, l.LogicalBlock)
	if l.BlockAlign = boundary; boundary == sector && l.BS > sector {
		l.notef("random I/Os begin at any sector of %d bytes, as the specification says: a device of 4 KiB blocks has more to do for them", sector)
	}
}

// gcd returns the greatest common divisor.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// pace takes what the lines have in common of delays and bursts, and says what fio cannot do.
func (l *Load) pace(lines []Line) {
	first := lines[0]
	var paces, bursts, replies bool
	for _, line := range lines {
		paces = paces || line.Delay != first.Delay || line.Delay > 0 && line.Burst != first.Burst
		bursts = bursts || line.Burst > 1 && len(lines) > 1
		replies = replies || line.Reply > 0
	}
	if paces {
		l.notef("the lines differ in delay: fio has one think time for all I/Os, and none is set")
	} else if first.Delay > 0 {
		l.ThinkTime, l.ThinkTimeBlocks = first.Delay, max(first.Burst, 1)
	}
	if bursts {
		l.notef("a burst stays with one line: fio draws every I/O anew, in the same shares")
	}
	if replies {
		l.notef("replies, an I/O in the other direction after each, are left out: fio has none")
	}
}

// Options returns those of fio's options that jobs of one block size do not have, by their names.
func (l Load) Options() map[string]string {
	o := map[string]string{}
	set := func(on bool, name, value string) {
		if on {
			o[name] = value
		}
	}
	set(l.BSSplit != "", "bssplit", l.BSSplit)
	set(l.BSIsSeqRand, "bs_is_seq_rand", "1")
	set(l.PercentageRandom != "", "percentage_random", l.PercentageRandom)
	set(l.BlockAlign > 0, "blockalign", strconv.FormatInt(l.BlockAlign, 10))
	set(l.ThinkTime > 0, "thinktime", strconv.FormatInt(l.ThinkTime.Microseconds(), 10))
	set(l.ThinkTime > 0, "thinktime_blocks", strconv.Itoa(l.ThinkTimeBlocks))
	return o
}
