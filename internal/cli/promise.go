package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/spec"
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

// budgeted gives an experiment that says what it is to detect, and not how long that may take, the time that it takes.
func (a *app) budgeted(e spec.Experiment) (spec.Experiment, error) {
	if e.Budget > 0 {
		return e, nil
	}
	p, err := plan.Make(e, 0) // whatever the seed, it takes as long
	if err != nil {
		return e, err
	}
	promise := p.Promise(a.noise())
	if promise.Rounds == e.Stopping().Most || promise.Time > spec.MostBudget {
		return e, errkind.Userf("to find a difference of %s, 9 times in 10, under a noise of %s takes more than %s; ask for a larger one, "+
			"fewer cells, or give --budget", percent(e.Detect), percent(promise.Noise.Scatter), unit.Duration(min(promise.Time, spec.MostBudget)))
	}
	e.Budget = time.Duration(math.Ceil(promise.Time.Minutes())) * time.Minute
	return e, nil
}

// planPromise says what the run is expected to find, and by what: as it was asked for, or else as losses, since no cell
// can lose more than all.
func planPromise(w io.Writer, e spec.Experiment, p plan.Promise) {
	from := "assumed"
	if p.Noise.From != "" {
		from = "as in run " + p.Noise.From
	}
	fmt.Fprintf(w, "noise\t%s\tof a share of the host from round to round, %s\n", percent(p.Noise.Scatter), from)
	switch {
	case e.Detect > 0 && p.Kept:
		fmt.Fprintf(w, "finds\t%s\tif a lone cell differs, 9 times in 10, within %s\n", percent(p.Lone), unit.Duration(p.Time))
	case loss(p.Typical) >= most:
		fmt.Fprintf(w, "finds\tnothing\ttoo few rounds fit\n")
	default:
		fmt.Fprintf(w, "finds\t%s\tof loss, 9 times in 10, if half of the cells differ\n", percent(loss(p.Typical)))
		worst := percent(loss(p.Lone))
		if loss(p.Lone) >= most {
			worst = "nothing"
		}
		fmt.Fprintf(w, "worst\t%s\tif a cell is the only one that differs\n", worst)
	}
}

// Losses of the host's speed.
const (
	weak = 0.5  // from which on the plan says why so little is found
	most = 0.99 // from which on nothing is
)

// loss is a difference as what a cell lacks of the host's speed, in whole percent rounded up: 1 where none can be found.
func loss(difference float64) float64 {
	return math.Ceil(100*(1-1/(1+difference))-1e-9) / 100
}

// doubts are notes to a promise: what it takes to find what was asked for where the budget is too short, else why little is found.
func doubts(pl plan.Plan, p plan.Promise) []string {
	e := pl.Experiment
	switch {
	case e.Detect > 0 && !p.Kept:
		return []string{fmt.Sprintf("the budget of %s is too short to find a difference of %s, 9 times in 10: it takes --budget %s, fewer cells, or a quieter host",
			unit.Duration(e.Budget), percent(e.Detect), wholeMinutes(p.Time))}
	case e.Detect == 0 && loss(p.Typical) < most && loss(p.Lone) >= weak:
		pl.Experiment.Detect = 0.2
		return []string{fmt.Sprintf("a cell that is the only one to differ is hard to tell from chance: it has to stand out among %d comparisons, and how noisy "+
			"it is itself is known from %d rounds only. Fewer cells or more rounds mend that: --detect 20%% measures for %s at most",
			e.Comparisons(), p.Rounds, unit.Duration(pl.Promise(p.Noise).Time))}
	}
	return nil
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
