package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/iotax/iotax/internal/stat"
)

// device is a disk of the imagination whose speed moves as that of a recorded one did. A trace is taken apart into what
// moves from window to window (its median over a few) and what is left of each single window. The former is
// the same for all who use the device at a moment; the latter is drawn anew for each window, from windows of that part of the
// recording, so that restless minutes stay restless.
type device struct {
	at         []time.Duration
	slow, left []float64 // logs
	from       time.Duration
	draw       *rand.Rand
	disturb    disturbance // nil for none
}

const (
	together = 5  // windows whose median is what moves
	around   = 10 // windows to either side from which the rest is drawn
)

func newDevice(t Trace, draw *rand.Rand, disturb disturbance) *device {
	d := &device{draw: draw, disturb: disturb}
	logs := make([]float64, len(t.Points))
	for i, p := range t.Points {
		logs[i] = math.Log(p.IOPS)
		d.at = append(d.at, p.At-t.Points[0].At)
	}
	middle := stat.Median(logs)
	for i, v := range logs {
		slow := stat.Median(logs[max(0, i-together/2):min(len(logs), i+together/2+1)])
		d.slow, d.left = append(d.slow, slow-middle), append(d.left, v-slow)
	}
	d.from = time.Duration(draw.Float64() * float64(2*d.length()))
	return d
}

func (d *device) length() time.Duration { return d.at[len(d.at)-1] }

// speed is the factor by which the device is faster than usual in a window whose middle is at a time of the run. A run that is
// longer than the recording goes through it back and forth: what moves slowly has no seam.
func (d *device) speed(t time.Duration) float64 {
	at := (d.from + t) % (2 * d.length())
	if at > d.length() {
		at = 2*d.length() - at
	}
	next := min(max(sort.Search(len(d.at), func(i int) bool { return d.at[i] > at }), 1), len(d.at)-1)
	share := float64(at-d.at[next-1]) / float64(d.at[next]-d.at[next-1])
	log := d.slow[next-1]*(1-share) + d.slow[next]*share
	near := d.left[max(0, next-around):min(len(d.left), next+around)]
	log += near[d.draw.IntN(len(near))]
	if d.disturb != nil {
		log += d.disturb(t)
	}
	return math.Exp(log)
}

// disturbance is what comes on top of a recording: the log of a factor at a time of the run.
type disturbance func(at time.Duration) float64

// disturbances make what is worse than the recordings, for a run of about so long.
var disturbances = []struct {
	name string
	make func(draw *rand.Rand, span time.Duration) disturbance
}{
	{"a step", func(draw *rand.Rand, span time.Duration) disturbance {
		when, size := time.Duration(draw.Float64()*float64(span)), 0.4*sign(draw)
		return func(at time.Duration) float64 {
			if at < when {
				return 0
			}
			return size
		}
	}},
	{"a drift", func(draw *rand.Rand, span time.Duration) disturbance {
		size := math.Ln2 * sign(draw)
		return func(at time.Duration) float64 { return size * float64(at) / float64(span) }
	}},
	{"outliers", func(draw *rand.Rand, _ time.Duration) disturbance {
		return func(time.Duration) float64 {
			if draw.Float64() < 0.05 {
				return -1
			}
			return 0
		}
	}},
	{"a neighbour", neighbour},
}

// neighbour takes a part of the device now and then, for seconds to a minute.
func neighbour(draw *rand.Rand, span time.Duration) disturbance {
	var turns []time.Duration
	for at := time.Duration(0); at < 2*span; {
		at += time.Duration((5 + 55*draw.Float64()) * float64(time.Second))
		turns = append(turns, at)
	}
	return func(at time.Duration) float64 {
		if passed, _ := slices.BinarySearch(turns, at); passed%2 == 1 {
			return -0.5
		}
		return 0
	}
}

func sign(draw *rand.Rand) float64 {
	if draw.IntN(2) == 0 {
		return -1
	}
	return 1
}
