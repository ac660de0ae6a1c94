// Package benchstat writes a result as lines of Go's benchmark format (golang.org/design/14313-benchmark-format), one for
// each counted round of each cell, for benchstat to compute intervals of its own.
package benchstat

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
)

// units are the metrics of a line after its time per I/O, which stands where Go's own benchmarks have it. benchstat takes
// "ns" in a unit for nanoseconds and prints seconds; MB is a million bytes, as in Go.
var units = []struct {
	metric, unit string
	factor       float64
}{
	{record.IOPS, "IOPS", 1},
	{record.Bandwidth, "MB/s", 1e-6},
	{record.ClatMean, "clat-mean-ns", 1},
	{record.ClatP50, "clat-p50-ns", 1},
	{record.ClatP99, "clat-p99-ns", 1},
	{record.ClatP999, "clat-p99.9-ns", 1},
	{record.SyncMean, "sync-mean-ns", 1},
	{record.SyncP99, "sync-p99-ns", 1},
}

// Write writes the facts of the run as comments, what the host is as configuration (which benchstat does not mix), what is better of
// each unit, and the lines. Cells without a number have none. The rounds of a cell and of the host lose their pairing here: benchstat
// compares two heaps of numbers, and takes for noise what iotax takes for a bad minute of both.
//
// A name is BenchmarkDisk/stack=STACK/workload=WORKLOAD-CPUS, so that `benchstat -col /stack -row /workload` compares the
// stacks of one run, and benchstat with two files the same cells of two.
func Write(w io.Writer, r analyse.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# iotax run %s, preset %s, started %s\n", r.Run.ID, oneLine(r.Run.Preset), r.Run.Started.UTC().Format("2006-01-02 15:04:05Z"))
	b.WriteString("# stacks of this run: benchstat -col /stack -row /workload FILE; two runs: benchstat FILE FILE\n")
	for _, c := range []struct{ key, value string }{
		{"cpu", r.Run.Host.CPU}, {"device", r.Run.Host.Device.Model}, {"accelerator", r.Run.Host.Accelerator},
	} {
		if v := oneLine(c.value); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", c.key, v)
		}
	}
	for _, u := range units {
		better := "lower"
		if record.HigherIsBetter(u.metric) {
			better = "higher"
		}
		fmt.Fprintf(&b, "Unit %s better=%s\n", u.unit, better)
	}
	for _, c := range r.Cells {
		if c.Status == record.OK {
			lines(&b, c, max(r.Run.Host.GuestCPUs, 1))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines writes the rounds of a cell. The number at the end of a name is of processors, as Go writes it; without it the
// last part of a workload's name could be taken for one.
func lines(b *strings.Builder, c analyse.Cell, processors int) {
	for _, p := range c.Points {
		iops := p.Metrics[record.IOPS]
		if !(iops > 0) {
			continue
		}
		fmt.Fprintf(b, "BenchmarkDisk/stack=%s/workload=%s-%d\t%d\t%s ns/op", part(c.Stack), part(c.Workload), processors,
			max(int64(math.Round(iops*p.Timed.Seconds())), 1), number(1e9/iops))
		for _, u := range units {
			if v := p.Metrics[u.metric]; v > 0 {
				fmt.Fprintf(b, "\t%s %s", number(v*u.factor), u.unit)
			}
		}
		b.WriteByte('\n')
	}
}

// number writes six digits, which is more than any of these figures has, and never an exponent.
func number(v float64) string {
	s, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		s = v
	}
	return strconv.FormatFloat(s, 'f', -1, 64)
}

// part makes a name safe inside that of a benchmark: no blank ends it, no slash or equals sign divides it.
func part(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_', r == '+':
			return r
		}
		return '_'
	}, name)
}

// oneLine keeps what was found out of a host on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
