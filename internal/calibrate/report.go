package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/iotax/iotax/internal/stat"
)

// What is promised.
const (
	mostFalseAlarms = 0.05 // of runs in which nothing differs, those that call a cell different
	leastCoverage   = 0.94 // of 95 % intervals
	leastPower      = stat.Power
)

// Report is what was counted, by trace and by disturbance.
type Report struct {
	Seed   uint64
	Traces []Row
	Stress []Row
	Live   *Row // on this host; nil where none was asked for
}

// Row counts runs of one kind of noise.
type Row struct {
	Name               string
	Alike              int // runs in which nothing differs
	Wrong              int // of these, those that called some cell different
	Alarms             int // and those that said that the host had changed
	Intervals          int
	Covered            int       // intervals that hold the truth
	shares             []float64 // covered intervals of each run
	Lone, Found        int       // runs in which one cell differs, and those that found it in time
	Hopeless           int       // that were not even begun, since too long was promised
	Promised           []time.Duration
	Took               []time.Duration
	Usual, Welch, Eyes int // comparisons in the usual way of a disk with itself, and those that found a difference
}

func (r *Row) add(t tally) {
	r.Alike, r.Wrong, r.Alarms = r.Alike+t.alike, r.Wrong+t.wrong, r.Alarms+t.alarms
	r.Intervals, r.Covered = r.Intervals+t.known, r.Covered+t.covered
	r.Lone, r.Found, r.Hopeless = r.Lone+t.lone, r.Found+t.found, r.Hopeless+t.hopeless
	r.Usual, r.Welch, r.Eyes = r.Usual+t.usual, r.Welch+t.welch, r.Eyes+t.eye
	if t.known > 0 {
		r.shares = append(r.shares, float64(t.covered)/float64(t.known))
	}
	if t.lone > 0 {
		r.Promised, r.Took = append(r.Promised, t.promised), append(r.Took, t.took)
	}
}

// FalseAlarms is the share of runs in which nothing differs that called some cell different.
func (r Row) FalseAlarms() stat.Estimate { return stat.Proportion(float64(r.Wrong), float64(r.Alike)) }

// Power is the share of runs with a difference that found it within the time that was promised.
func (r Row) Power() stat.Estimate { return stat.Proportion(float64(r.Found), float64(r.Lone)) }

// Coverage is the share of intervals that hold the truth. Those of one run share its host and miss together: they count for as
// many independent ones as the spread between runs shows, and for as many as there are runs where they show none.
func (r Row) Coverage() stat.Estimate {
	if r.Intervals == 0 {
		return stat.Proportion(0, 0)
	}
	n, runs := float64(r.Intervals), float64(len(r.shares))
	share := float64(r.Covered) / n
	var squares float64
	for _, s := range r.shares {
		squares += (s - share) * (s - share)
	}
	independent := runs
	if squares > 0 && runs > 1 {
		independent = share * (1 - share) * runs * (runs - 1) / squares
	}
	independent = min(max(independent, 1), n)
	return stat.Proportion(share*independent, independent)
}

// sum is all rows together.
func sum(name string, rows []Row) Row {
	all := Row{Name: name}
	for _, r := range rows {
		all.Alike, all.Wrong, all.Alarms = all.Alike+r.Alike, all.Wrong+r.Wrong, all.Alarms+r.Alarms
		all.Intervals, all.Covered = all.Intervals+r.Intervals, all.Covered+r.Covered
		all.Lone, all.Found, all.Hopeless = all.Lone+r.Lone, all.Found+r.Found, all.Hopeless+r.Hopeless
		all.Usual, all.Welch, all.Eyes = all.Usual+r.Usual, all.Welch+r.Welch, all.Eyes+r.Eyes
		all.shares = append(all.shares, r.shares...)
		all.Promised, all.Took = append(all.Promised, r.Promised...), append(all.Took, r.Took...)
	}
	return all
}

// Broken lists the promises that were not kept, in words.
func (r Report) Broken() []string {
	var out []string
	judge := func(of Row, what string) {
		if v := of.FalseAlarms().Value; v > mostFalseAlarms {
			out = append(out, fmt.Sprintf("%s: %s of the runs in which nothing differs call a cell different, more than %s", what, percent(v), percent(mostFalseAlarms)))
		}
		if v := of.Coverage().Value; of.Intervals > 0 && v < leastCoverage {
			out = append(out, fmt.Sprintf("%s: the 95 %% intervals cover %s, less than %s", what, percent(v), percent(leastCoverage)))
		}
		if v := of.Power().Value; of.Lone > 0 && v < leastPower {
			out = append(out, fmt.Sprintf("%s: %s of the differences are found in the time that was promised, less than %s", what, percent(v), percent(leastPower)))
		}
	}
	all := sum("", r.Traces)
	judge(all, "over the recorded noise")
	if all.Lone == 0 && all.Hopeless > 0 {
		out = append(out, fmt.Sprintf("over the recorded noise: a difference of %.0f %% is promised nowhere", 100*Difference))
	}
	judge(sum("", r.Stress), "under stress")
	return out
}

// Write writes the tables, what was not kept, and at the end the one line.
func (r Report) Write(w io.Writer) error {
	fmt.Fprintf(w, "seed %d\n\n", r.Seed)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "RECORDED NOISE\tRUNS\tFALSE ALARMS\tCOVERAGE\tWITH %.0f %%\tFOUND\tPROMISED IN\tTOOK\tNO PROMISE\tUSUAL WAY: WELCH\tBY EYE\n", 100*Difference)
	for _, row := range append(slices.Clone(r.Traces), sum("all", r.Traces)) {
		found := "-"
		if row.Lone > 0 {
			found = brief(row.Power())
		}
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%s\t%s\n", row.Name, row.Alike, brief(row.FalseAlarms()), brief(row.Coverage()), row.Lone, found,
			middle(row.Promised), middle(row.Took), row.Hopeless, percent(share(row.Welch, row.Usual)), percent(share(row.Eyes, row.Usual)))
	}
	fmt.Fprintf(out, "\t\t\t\t\t\t\t\t\t\t\nWITH MORE ADDED\tRUNS\tFALSE ALARMS\tCOVERAGE\n")
	for _, row := range append(slices.Clone(r.Stress), sum("all", r.Stress)) {
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\n", row.Name, row.Alike, brief(row.FalseAlarms()), brief(row.Coverage()))
	}
	if r.Live != nil {
		fmt.Fprintf(out, "\t\t\t\nLIVE\tRUNS\tFALSE ALARMS\tCOVERAGE\n%s\t%d\t%s\t%s\n", r.Live.Name, r.Live.Alike, brief(r.Live.FalseAlarms()), brief(r.Live.Coverage()))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range r.Broken() {
		fmt.Fprintln(w, "NOT KEPT:", line)
	}
	_, err := fmt.Fprintln(w, r.Line())
	return err
}

// Line is the one line at the end.
func (r Report) Line() string {
	all := sum("", r.Traces)
	return fmt.Sprintf("calibration: false-alarm %s coverage %s power %s usual-way-false-alarm %.3f",
		exact(all.FalseAlarms()), exact(all.Coverage()), exact(all.Power()), share(all.Welch, all.Usual))
}

func exact(e stat.Estimate) string { return fmt.Sprintf("%.3f [%.3f, %.3f]", e.Value, e.Low, e.High) }

func brief(e stat.Estimate) string {
	return fmt.Sprintf("%s (%.1f-%.1f)", percent(e.Value), 100*e.Low, 100*e.High)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func share(k, n int) float64 { return float64(k) / math.Max(float64(n), 1) }

// middle is the median of times, "-" of none.
func middle(times []time.Duration) string {
	if len(times) == 0 {
		return "-"
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2].Round(time.Second).String()
}
