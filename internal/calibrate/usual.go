package calibrate

import (
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// What the usual way takes: all of A, a change of disks, all of B.
const (
	usualTime   = 30 * time.Second
	usualWindow = time.Second // of which fio's log has a line each
	usualChange = 10 * time.Second
	byEye       = 0.05 // a difference of means that a person takes for one
)

// usual compares a disk with itself in the usual way, and tells whether that finds a difference: by Welch's test of the
// seconds of the one against those of the other, and by eye.
func usual(t Trace, draw *rand.Rand) (welch, eye bool) {
	d := newDevice(t, draw, nil)
	side := func(from time.Duration) []float64 {
		var seconds []float64
		for at := from + usualWindow/2; at < from+usualTime; at += usualWindow {
			seconds = append(seconds, usualIOPS*d.speed(at))
		}
		return seconds
	}
	a, b := side(0), side(usualTime+usualChange)
	ratio := stat.Mean(b, nil) / stat.Mean(a, nil)
	return welchP(a, b) < 0.05, math.Abs(ratio-1) > byEye
}

// welchP is the two-sided p-value of Welch's test of equal means.
func welchP(a, b []float64) float64 {
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	sa, sb := va/float64(len(a)), vb/float64(len(b))
	if sa+sb == 0 {
		return 1
	}
	df := (sa + sb) * (sa + sb) / (sa*sa/float64(len(a)-1) + sb*sb/float64(len(b)-1))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-math.Abs(ma-mb)/math.Sqrt(sa+sb))
}
