// Package iometer reads the access specifications of Iometer's configuration files (.icf, versions 2004.07.30 to
// 1.1.0), holds the built-in ones, and says them in fio's words. It is pure: it runs nothing.
package iometer

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// AccessSpec is a load: a list of lines, one of which Iometer draws for each burst of I/Os.
type AccessSpec struct {
	Name       string
	Assignment string // default assignment: which new workers get it, NONE, ALL, DISK or NET
	Lines      []Line // their shares add up to 100

	// Outstanding holds the numbers of outstanding I/Os per target (fio's iodepth) of the workers in the same file
	// that have this specification: each once, ascending. It is empty when no worker says one; Iometer's default is 1.
	Outstanding []int
}

// Line is one line of an access specification, in the order of the file's columns.
type Line struct {
	Size   int64         // bytes of an I/O
	Share  int           // "% of size": per cent of the bursts, not of the bytes
	Reads  int           // per cent
	Random int           // per cent
	Delay  time.Duration // before each burst
	Burst  int           // I/Os in a burst; 0 is 1
	Align  int64         // bytes; 0 is the disk's sector
	Reply  int64         // bytes of the I/O in the other direction that follows each, 0 for none
}

// weight is proportional to the line's share of the I/Os: Iometer draws a line, then does a whole burst of it.
func (l Line) weight() float64 { return float64(l.Share) * float64(max(l.Burst, 1)) }

// MeanSize returns the mean size of an I/O in bytes.
func (s AccessSpec) MeanSize() float64 {
	return s.mean(func(l Line) float64 { return float64(l.Size) })
}

// ReadShare returns the share of the I/Os that read, a ratio.
func (s AccessSpec) ReadShare() float64 {
	return s.mean(func(l Line) float64 { return float64(l.Reads) / 100 })
}

// RandomShare returns the share of the I/Os at random offsets, a ratio.
func (s AccessSpec) RandomShare() float64 {
	return s.mean(func(l Line) float64 { return float64(l.Random) / 100 })
}

// mean averages a quantity over the I/Os; 0 for a specification without any.
func (s AccessSpec) mean(of func(Line) float64) float64 {
	var sum, all float64
	for _, l := range s.Lines {
		sum += l.weight() * of(l)
		all += l.weight()
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

var notInName = regexp.MustCompile(`[^a-z0-9._]+`)

// Slug makes the name of a workload from that of an access specification:
// "4 KiB aligned; 50% Read" is "4-kib-aligned-50-read".
func Slug(name string) string {
	s := strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-._")
	if s == "" {
		return "iometer"
	}
	return s
}

// Slugs returns a name for each specification, unlike any other: a second "mixed" is "mixed-2".
func Slugs(specs []AccessSpec) []string {
	names := make([]string, len(specs))
	taken := map[string]bool{}
	for i, s := range specs {
		name := Slug(s.Name)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", Slug(s.Name), n)
		}
		names[i], taken[name] = name, true
	}
	return names
}
