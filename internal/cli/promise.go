package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/store"
	"github.com/iotax/iotax/internal/unit"
)

// noise is what the newest stored run that tells it says of this host. Without one, and where the store cannot be read,
// it is assumed: a plan has to work where nothing was measured yet.
func (a *app) noise() plan.Noise {
	noise := plan.Assumed
	_ = a.readStore(func(s *store.Store) error {
		runs, err := s.Runs()
		if err != nil {
			return err
		}
		for _, r := range runs {
			result, err := stored(s, r.ID)
			if err != nil {
				return err
			}
			if scatter := result.Scatter(); scatter > 0 {
				noise = plan.Noise{Scatter: scatter, From: r.ID}
				return nil
			}
		}
		return nil
	})
	return noise
}

// planPromise says what the run is expected to find, and by what.
func planPromise(w io.Writer, p plan.Promise) {
	from := "assumed"
	if p.Noise.From != "" {
		from = "as in run " + p.Noise.From
	}
	fmt.Fprintf(w, "noise\t%s\tof a share of the host from round to round, %s\n", percent(p.Noise.Scatter), from)
	difference := percent(p.Difference)
	switch {
	case p.Rounds < 2:
		fmt.Fprintf(w, "finds\tnothing\ttoo few rounds fit\n")
		return
	case p.Difference > 1:
		difference = "> 100 %"
	}
	fmt.Fprintf(w, "finds\t%s\tif a lone cell differs, 9 times in 10, within %s\n", difference, unit.Duration(p.Time))
}

// tooShort says what it takes to find what was asked for where the budget is too short.
func tooShort(pl plan.Plan, p plan.Promise) []string {
	if p.Kept || pl.Experiment.Detect == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the budget of %s is too short to find a difference of %s, 9 times in 10: it takes --budget %s, fewer cells, or a quieter host",
		unit.Duration(pl.Experiment.Budget), percent(p.Difference), wholeMinutes(p.Time))}
}

// wholeMinutes rounds up, and writes a time as --budget takes it.
func wholeMinutes(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Minutes()))) + "m"
}

// percent writes a ratio with as many decimals as it has, one at most, and none from 10 % on.
func percent(ratio float64) string {
	v := math.Round(1000*ratio) / 10
	if v >= 10 {
		v = math.Round(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " %"
}
