package analyse

import (
	"math"
	"testing"

	"github.com/iotax/iotax/internal/record"
)

// TestScatter makes cells whose shares scatter by known amounts.
func TestScatter(t *testing.T) {
	var r Result
	for i, sd := range []float64{0.01, 0.02, 0.03, 0.4} { // the last is an exception
		c := Cell{Stack: string(rune('a' + i)), Status: record.OK}
		for k := range 5 {
			z := []float64{-1.2649, -0.6325, 0, 0.6325, 1.2649}[(2*k)%5] // of standard deviation 1
			c.Points = append(c.Points, Point{Round: k, Ratio: math.Exp(-0.7 + sd*z)})
		}
		r.Cells = append(r.Cells, c)
	}
	if got := r.Scatter(); math.Abs(got-0.03) > 1e-3 {
		t.Errorf("%g, want that of three quarters of the cells, 0.03", got)
	}
	for i := range r.Cells {
		r.Cells[i].Points = r.Cells[i].Points[:2]
	}
	if got := r.Scatter(); got != 0 {
		t.Errorf("%g from two rounds", got)
	}
	if got := (Result{Cells: []Cell{{Baseline: true, Status: record.OK, Points: make([]Point, 9)}}}).Scatter(); got != 0 {
		t.Errorf("%g from the host alone", got)
	}
}
