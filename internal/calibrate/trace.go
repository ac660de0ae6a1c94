// Package calibrate shows whether the statistics of iotax keep what they promise: it runs whole experiments through the
// real planner, the real measuring loop and the real analysis, over the recorded noise of real disks, and counts how often
// they are wrong.
package calibrate

import (
	"bufio"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed traces/*.csv
var recordings embed.FS

// Trace is how fast a disk was under one load, window after window.
type Trace struct {
	Name   string // of its file, without the extension
	Points []Point
}

// Point is one window: when its middle was, from the start of the recording, and its I/Os a second.
type Point struct {
	At   time.Duration
	IOPS float64
}

// header is the first line of a trace's file.
var header = []string{"seconds", "iops"}

// Traces returns the recordings that are part of the program, by name.
func Traces() ([]Trace, error) {
	files, err := recordings.ReadDir("traces")
	if err != nil {
		return nil, err
	}
	var all []Trace
	for _, f := range files {
		file, err := recordings.Open(path.Join("traces", f.Name()))
		if err != nil {
			return nil, err
		}
		t, err := ReadTrace(strings.TrimSuffix(f.Name(), path.Ext(f.Name())), file)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// least is how many windows a trace has at least: with fewer there is no telling drift from noise.
const least = 25

// ReadTrace reads a trace as Write writes it. The error names the line at fault.
func ReadTrace(name string, r io.Reader) (Trace, error) {
	t := Trace{Name: name}
	lines := csv.NewReader(bufio.NewReader(r))
	lines.FieldsPerRecord = len(header)
	lines.ReuseRecord = true
	for n := 1; ; n++ {
		fields, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return t, fmt.Errorf("trace %s: %w", name, err)
		}
		if n == 1 {
			if fields[0] != header[0] || fields[1] != header[1] {
				return t, fmt.Errorf("trace %s: its first line is %q, want %q", name, strings.Join(fields, ","), strings.Join(header, ","))
			}
			continue
		}
		p, err := point(fields)
		if err != nil {
			return t, fmt.Errorf("trace %s, line %d: %w", name, n, err)
		}
		t.Points = append(t.Points, p)
	}
	return t, t.check()
}

// check says what keeps a trace from being of use.
func (t Trace) check() error {
	for i := range t.Points {
		if i > 0 && t.Points[i].At <= t.Points[i-1].At {
			return fmt.Errorf("trace %s: window %d is not after the one before", t.Name, i+1)
		}
	}
	if len(t.Points) < least {
		return fmt.Errorf("trace %s has %d windows, want at least %d", t.Name, len(t.Points), least)
	}
	return nil
}

// longest is the latest time that a trace may hold, in seconds.
const longest = 1e6

func point(fields []string) (Point, error) {
	seconds, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || !(seconds >= 0 && seconds <= longest) {
		return Point{}, fmt.Errorf("%q is no time in seconds", fields[0])
	}
	iops, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || !(iops > 0 && iops < 1e12) {
		return Point{}, fmt.Errorf("%q is no number of I/Os a second", fields[1])
	}
	return Point{At: time.Duration(seconds * float64(time.Second)), IOPS: iops}, nil
}

// Write writes the trace as CSV, times to the millisecond. One that is of no use is refused.
func (t Trace) Write(w io.Writer) error {
	if err := t.check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	for _, p := range t.Points {
		line := []string{strconv.FormatFloat(p.At.Seconds(), 'f', 3, 64), strconv.FormatFloat(p.IOPS, 'f', 1, 64)}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
