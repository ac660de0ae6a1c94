package analyse

import (
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// scatterRounds is how many rounds a cell must have for its scatter to be taken for that of the next run.
const scatterRounds = 3

// Scatter is by how much the shares of most cells that tell speed scatter from round to round: three quarters of the cells have a
// standard deviation of their logs of at most this (0.1 is about 10 %). It is 0 where no cell has rounds enough.
func (r Result) Scatter() float64 {
	var all []float64
	for _, c := range r.Cells {
		if c.Baseline || c.Offered > 0 || c.Status != record.OK || len(c.Points) < scatterRounds {
			continue
		}
		logs := make([]float64, len(c.Points))
		for i, p := range c.Points {
			logs[i] = math.Log(p.Ratio)
		}
		all = append(all, stat.Scatter(logs))
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(3*len(all)-1)/4]
}
