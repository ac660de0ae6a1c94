package fio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/hist"
)

// dump writes all of an output that a golden file should hold, one fact per line.
func dump(o Output) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("version %q terse %v", o.Version, o.Terse)
	for _, n := range o.Notes {
		line("note %s", n)
	}
	jobs := o.Jobs
	if o.AllClients != nil {
		jobs = append(slices.Clone(jobs), *o.AllClients)
	}
	for _, j := range jobs {
		line("job %q group %d host %q error %d io errors %d fault %q", j.Name, j.Group, j.Host, j.Error, j.IOErrors, j.Fault())
		line("  options %v", j.Options)
		line("  runtime %d ns threads %d ns cpu user %.6f system %.6f switches %d", j.Runtime, j.ThreadTime, j.UserCPU, j.SystemCPU, j.CtxSwitches)
		line("  depth %v in flight %.3f", j.DepthLevels, j.InFlight())
		for _, d := range []struct {
			name string
			Direction
		}{{"read", j.Read}, {"write", j.Write}, {"trim", j.Trim}, {"mixed", j.Mixed}} {
			if d.IOBytes+d.TotalIOs == 0 {
				continue
			}
			line("  %s %d B %.0f B/s %.6f IOPS %d ns %d I/Os %d short %d dropped", d.name, d.IOBytes, d.Bandwidth, d.IOPS, d.Runtime, d.TotalIOs, d.ShortIOs, d.DropIOs)
			dumpLatency(line, "slat", d.Slat)
			dumpLatency(line, "clat", d.Clat)
			dumpLatency(line, "lat", d.Lat)
		}
		if j.SyncIOs > 0 {
			line("  sync %d", j.SyncIOs)
			dumpLatency(line, "lat", j.Sync)
		}
		if j.Steadystate != nil {
			line("  steadystate %+v", *j.Steadystate)
		}
	}
	for _, u := range o.DiskUtil {
		line("disk %+v", u)
	}
	return b.String()
}

func dumpLatency(line func(string, ...any), name string, l Latency) {
	if l.Max == 0 {
		return
	}
	line("    %s min %.0f max %.0f mean %.6f stddev %.6f N %d", name, l.Min, l.Max, l.Mean, l.StdDev, l.N)
	var ps []string
	for _, p := range slices.Sorted(maps.Keys(l.Percentiles)) {
		ps = append(ps, fmt.Sprintf("%v=%.0f", p, l.Percentiles[p]))
	}
	if len(ps) > 0 {
		line("      percentiles %s", strings.Join(ps, " "))
	}
	if n := len(l.Bins); n > 0 {
		line("      bins %d holding %d from %v to %v", n, hist.Count(l.Bins), l.Bins[0], l.Bins[n-1])
	}
}
