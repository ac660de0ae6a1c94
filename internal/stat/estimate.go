// Package stat is the mathematics of comparing: robust intervals of paired ratios, corrections for
// many comparisons, what a series can detect and when it may stop. It knows nothing of disks.
package stat

import (
	"encoding/json"
	"math"
)

// Estimate is a value with its 95 % interval, all in the unit of the value.
//
// An interval that is not known (a single round, or a spread beyond floating point) is Low 0 and
// High +Inf. JSON has no infinity: there such an estimate has a value and neither low nor high.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Known reports whether the interval is known.
func (e Estimate) Known() bool { return !math.IsInf(e.High, 1) }

// Contains reports whether x is inside the interval; any x is inside one that is not known.
func (e Estimate) Contains(x float64) bool { return e.Low <= x && x <= e.High }

// HalfWidth returns the relative half-width of the interval on the log scale: 0.05 stands for a
// factor of 1.05 either way. It is +Inf for an interval that is not known.
func (e Estimate) HalfWidth() float64 {
	switch {
	case !e.Known(), e.Low <= 0 && e.High > 0:
		return math.Inf(1)
	case e.High <= 0:
		return 0
	}
	return math.Sqrt(e.High/e.Low) - 1
}

// Recentred returns the estimate moved, on the log scale, to another value: the interval keeps its factors.
func (e Estimate) Recentred(value float64) Estimate {
	if !e.Known() || e.Value == 0 {
		return Unknown(value)
	}
	return Estimate{Value: value, Low: value * (e.Low / e.Value), High: value * (e.High / e.Value)}
}

// Band returns the interval around 1 that reaches as far as the estimate's most distant end, both
// ways alike on the log scale; (0, +Inf) for an interval that is not known.
func (e Estimate) Band() (low, high float64) {
	if !e.Known() || e.Low <= 0 {
		return 0, math.Inf(1)
	}
	high = max(e.High, 1/e.Low)
	return 1 / high, high
}

// Unknown is an estimate whose interval is not known.
func Unknown(value float64) Estimate { return Estimate{Value: value, High: math.Inf(1)} }

// wire is an Estimate in JSON.
type wire struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// MarshalJSON leaves low and high out when the interval is not known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Known() {
		return json.Marshal(wire{Value: e.Value})
	}
	return json.Marshal(wire{Value: e.Value, Low: &e.Low, High: &e.High})
}

// UnmarshalJSON takes a missing low or high for an interval that is not known.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Unknown(w.Value)
	if w.Low != nil && w.High != nil {
		e.Low, e.High = *w.Low, *w.High
	}
	return nil
}
