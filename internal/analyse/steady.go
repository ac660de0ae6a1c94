package analyse

import (
	"fmt"
	"math"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// The rule by which a workload is steady on the host is that of SNIA's Solid State Storage Performance Test
// Specification: over the last five rounds its figure stays within 20 % of their mean, and the straight line
// through them within 10 %.
const (
	steadyRounds = 5
	maxExcursion = 0.2
	maxSlope     = 0.1
)

// driftWarned is the change of the host over the whole run that is worth a warning.
const driftWarned = 0.2

// unsteady says how a cell's figure breaks the rule, "" when it keeps it or has too few rounds to be judged.
func (c *cell) unsteady() string {
	if len(c.good) < steadyRounds {
		return ""
	}
	var figures []float64
	for _, w := range c.good[len(c.good)-steadyRounds:] {
		figures = append(figures, w.Metrics[Headline(c.workload)])
	}
	var faults []string
	excursion, slope := stat.Moved(figures)
	if excursion > maxExcursion {
		faults = append(faults, fmt.Sprintf("it moved by %.1f %% (limit %.0f %%)", 100*excursion, 100*maxExcursion))
	}
	if slope > maxSlope {
		faults = append(faults, fmt.Sprintf("the line through it moved by %.1f %% (limit %.0f %%)", 100*slope, 100*maxSlope))
	}
	if len(faults) == 0 {
		return ""
	}
	return fmt.Sprintf("not steady by the rule: over the last %d rounds %s; shares are paired and still hold",
		steadyRounds, strings.Join(faults, " and "))
}

// driftWarnings says under which workloads the host became slower or faster over the run, by more than driftWarned.
// That is a claim, so it is corrected for the number of workloads; by Holm's method, since what
// befalls a round befalls it under all workloads.
func (t *table) driftWarnings() []string {
	var names []string
	var changes, p []float64
	for _, w := range Ranked(t.exp) {
		if c := t.cells[key{spec.Host, w.Name}]; c.Status == record.OK {
			e, pvalue := c.figures().Trend()
			names, changes, p = append(names, w.Name), append(changes, e.Value-1), append(p, pvalue)
		}
	}
	var slower, faster []string
	for i, q := range stat.Holm(p) {
		if q > trendAlpha || math.Abs(changes[i]) <= driftWarned {
			continue
		}
		words := fmt.Sprintf("by %.0f %% under %s", 100*math.Abs(changes[i]), names[i])
		if changes[i] < 0 {
			slower = append(slower, words)
		} else {
			faster = append(faster, words)
		}
	}
	return append(driftWords("slowed down", slower), driftWords("sped up", faster)...)
}

func driftWords(verb string, under []string) []string {
	if len(under) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("over the run the host itself %s %s: SLC cache, garbage collection, burst credits or a throttle; "+
		"shares are paired and still hold, absolute figures do not", verb, strings.Join(under, ", "))}
}

// figures is the log of a cell's headline metric, round by round.
func (c *cell) figures() stat.Series {
	var out stat.Series
	for _, w := range c.good {
		out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: math.Log(w.Metrics[Headline(c.workload)])})
	}
	return out
}

// sizeWarnings says what volumes smaller than RAM mean, once something was measured.
func (t *table) sizeWarnings() []string {
	h := t.run.Host
	measured, counted := false, false
	for _, c := range t.order {
		measured = measured || len(c.good) > 0
		counted = counted || c.RAMShare != nil
	}
	if !measured || h.VolumeSize <= 0 || h.Memory <= 0 || h.VolumeSize >= h.Memory {
		return nil
	}
	dropped, served := "caches are dropped before each window", "what RAM served is measured for each cell"
	if h.Filesystem == "zfs" { // which need not do what POSIX_FADV_DONTNEED asks
		dropped += " (ZFS may keep its own, the ARC)"
	}
	if !counted {
		served = "what RAM served could not be measured"
	}
	return []string{fmt.Sprintf("the volumes (%s each) are smaller than this host's RAM (%s): %s and %s; "+
		"a cache inside the disk, or under a virtual one, cannot be seen from here",
		unit.Bytes(h.VolumeSize), unit.Bytes(h.Memory), dropped, served)}
}
