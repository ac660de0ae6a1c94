package analyse

import (
	"fmt"
	"math"
	"strings"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// noise reads the floor of the run off the A/A control: the host measured a second time under another name.
// The floor of a workload is its control's 95 % interval, made symmetric around 1; that of the run is the widest of
// them. An alarm is a claim, so its intervals are corrected for the number of workloads (Bonferroni), and a
// quiet run raises a false one at most once in twenty times. The band of a held load is of its latency and no part of the
// floor of the run.
func (t *table) noise() Noise {
	n := Noise{ByWorkload: map[string]Band{}}
	comparisons := 0
	for _, w := range t.exp.Workloads {
		if len(t.cells[key{spec.Control, w.Name}].series) > 1 {
			comparisons++
		}
	}
	corrected := 1 - alpha/float64(max(comparisons, 1))
	for _, w := range t.exp.Workloads {
		c := t.cells[key{spec.Control, w.Name}]
		b := band(t.ratios(c), c.series, corrected)
		if b.High == 0 {
			continue
		}
		n.ByWorkload[w.Name] = b
		if w.Held() {
			continue
		}
		if b.High > n.High {
			n.Low, n.High = b.Low, b.High
		}
		n.Detectable = max(n.Detectable, b.Detectable)
		n.Alarm = n.Alarm || b.Alarm
	}
	return n
}

// band is the noise floor that a series of the control shows: the largest deviation from 1 that its 95 % interval
// allows, to either side. It is zero when the interval is not known. The alarm is judged at its own level.
func band(between stat.Between, s stat.Series, alarmLevel float64) Band {
	e, detectable := between.Ratio(s), between.Detectable(s)
	low, high := e.Band()
	if math.IsInf(high, 1) || math.IsInf(detectable, 1) {
		return Band{}
	}
	return Band{Low: low, High: high, Detectable: detectable, Alarm: !between.Interval(s, alarmLevel).Contains(1)}
}

// noiseWarnings says where the host differs from itself, and where nothing is known of that.
func (t *table) noiseWarnings(n Noise) []string {
	var out, unknown []string
	for _, w := range t.exp.Workloads {
		b, known := n.ByWorkload[w.Name]
		if b.Alarm {
			of := ""
			if w.Held() {
				of = " in latency"
			}
			out = append(out, fmt.Sprintf("under %s the host, measured twice, differs from itself by up to %.0f %%%s: conditions changed "+
				"under the run, and smaller differences are not taken for real", w.Name, 100*(b.High-1), of))
		}
		if !known && t.anyNumber(w.Name) {
			unknown = append(unknown, w.Name)
		}
	}
	if len(unknown) > 0 {
		out = append(out, "the noise floor is not known under "+strings.Join(unknown, ", ")+
			": the host's twin has fewer than two rounds there, so no difference is claimed")
	}
	return out
}

// anyNumber reports whether some stack has a ratio to the host under the workload.
func (t *table) anyNumber(workload string) bool {
	for _, c := range t.order {
		if c.Workload == workload && !isHost(c.Stack) && len(c.series) > 0 {
			return true
		}
	}
	return false
}
