package analyse

import (
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/record"
)

// pause is how long nothing must have run before a resumed boot for the time not to count as the run's own.
const pause = time.Minute

// efficiency returns the share of wall time from the first window's start to the last one's end that was inside
// windows, discarded and failed ones among them, and the share that fio timed. Boots and everything
// between windows count against it. One thing does not: for each time that a boot was resumed, the
// longest gap before a window of that boot, if it is over a minute, for then the run was not running.
func efficiency(boots []record.Boot, windows []record.Window) (inside, timed float64) {
	order := make([]*record.Window, 0, len(windows))
	for i := range windows {
		if !windows[i].Started.IsZero() {
			order = append(order, &windows[i])
		}
	}
	if len(order) == 0 {
		return 0, 0
	}
	slices.SortStableFunc(order, func(a, b *record.Window) int { return a.Started.Compare(b.Started) })
	var elapsed, fio time.Duration
	start, end := order[0].Started, order[0].Started
	gaps := map[int][]time.Duration{} // by boot, over a minute
	for _, w := range order {
		if gap := w.Started.Sub(end); gap > pause {
			gaps[w.Boot] = append(gaps[w.Boot], gap)
		}
		elapsed += time.Duration(w.Elapsed)
		fio += time.Duration(w.Timed)
		if e := w.Started.Add(time.Duration(w.Elapsed)); e.After(end) {
			end = e
		}
	}
	wall := end.Sub(start) - away(boots, gaps)
	if wall <= 0 {
		return 0, 0
	}
	return min(float64(elapsed)/float64(wall), 1), min(float64(fio)/float64(wall), 1)
}

// away is how long a run was interrupted, from the gaps before windows, by boot. A resumed boot has the
// index of the one that was interrupted or, when that one had no window yet, its own.
func away(boots []record.Boot, gaps map[int][]time.Duration) time.Duration {
	var sum time.Duration
	for _, b := range boots {
		if !strings.Contains(b.Reason, "resumed") || len(gaps[b.Index]) == 0 {
			continue
		}
		longest := slices.Max(gaps[b.Index])
		sum += longest
		i := slices.Index(gaps[b.Index], longest)
		gaps[b.Index] = slices.Delete(gaps[b.Index], i, i+1)
	}
	return sum
}
