package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Result is what one run said of itself.
type Result struct {
	Load
	Took time.Duration // from its first request to the end of its last, in whole milliseconds; start and end of the program are not in it
}

// The lines of qemu-img bench since QEMU 2.6 (qemu-img.c, img_bench); the step came with 2.6 too.
var (
	sending  = regexp.MustCompile(`^Sending ([0-9]+) (read|write) requests, ([0-9]+) bytes each, ([0-9]+) in parallel \(starting at offset ([0-9]+), step size ([0-9]+)\)$`)
	flushing = regexp.MustCompile(`^Sending flush every ([0-9]+) (?:in-flight )?requests$`)
	ended    = regexp.MustCompile(`^Run completed in ([0-9]{1,9}\.[0-9]{3}) seconds\.$`)
)

// Parse reads what one or more runs, one after another, wrote to standard output. A run that did not complete, and
// anything that is not theirs, is an error.
func Parse(out []byte) ([]Result, error) {
	var all []Result
	var open *Result
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			continue
		}
		var err error
		switch m := sending.FindStringSubmatch(line); {
		case m != nil && open == nil:
			open, err = begun(m)
		case open == nil || m != nil:
			err = fmt.Errorf("not expected here")
		default:
			var done bool
			if done, err = open.read(line); done && err == nil {
				all, open = append(all, *open), nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("qemu-img bench: line %q: %w", line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("qemu-img bench: %w", err)
	}
	if open != nil {
		return nil, fmt.Errorf("qemu-img bench did not complete its run of %d requests", open.Count)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("qemu-img bench said nothing")
	}
	return all, nil
}

// begun reads the first line of a run.
func begun(m []string) (*Result, error) {
	var n [5]int64
	for i, text := range []string{m[1], m[3], m[4], m[5], m[6]} {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		n[i] = v
	}
	depth, err := strconv.Atoi(m[4])
	return &Result{Load: Load{Write: m[2] == "write", Count: n[0], BlockSize: n[1], Depth: depth, Offset: n[3], Step: n[4]}}, err
}

// read takes a further line of the run; done is true when it was the last.
func (r *Result) read(line string) (done bool, err error) {
	if m := flushing.FindStringSubmatch(line); m != nil && r.FlushEvery == 0 {
		r.FlushEvery, err = strconv.Atoi(m[1])
		return false, err
	}
	m := ended.FindStringSubmatch(line)
	if m == nil {
		return false, fmt.Errorf("not expected here")
	}
	seconds, err := strconv.ParseFloat(m[1], 64)
	r.Took = time.Duration(seconds*1000+0.5) * time.Millisecond
	return true, err
}

// Flushes is how many flushes the run sent.
func (r Result) Flushes() int64 {
	if r.FlushEvery == 0 {
		return 0
	}
	return r.Count / int64(r.FlushEvery)
}

// Next returns how many requests the next run needs to last for want, after one of count that took so long. A run that was
// too short to tell its pace says only that many more are needed.
func Next(count int64, took, want time.Duration) int64 {
	if took < want/20 {
		return min(count*8, MaxCount)
	}
	return min(max(int64(float64(count)*float64(want)/float64(took)), 1), MaxCount)
}
