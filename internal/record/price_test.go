package record

import (
	"testing"
	"time"
)

func TestSteady(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name          string
		series        []int64
		ramp, runtime time.Duration
		timed, steady [2]int
	}{
		{name: "nothing was counted"},
		{name: "nothing was done", series: []int64{0, 0, 0}},
		{name: "start, load, flush", series: []int64{0, 2, 40, 100, 100, 100, 60, 1, 0}, runtime: 400 * ms, timed: [2]int{2, 7}, steady: [2]int{3, 6}},
		{name: "a flush of many", series: []int64{0, 40, 100, 100, 60, 80, 80, 80, 9}, runtime: 300 * ms, timed: [2]int{1, 5}, steady: [2]int{2, 4}},
		{name: "it came to a stand", series: []int64{40, 100, 100, 0, 0}, runtime: 400 * ms, timed: [2]int{0, 3}, steady: [2]int{1, 2}},
		{name: "one that ends by itself", series: []int64{0, 1, 1, 0, 1, 1, 0}, timed: [2]int{1, 6}, steady: [2]int{2, 5}},
		{name: "ramp time", series: []int64{0, 40, 100, 100, 100, 100, 100, 1}, ramp: 200 * ms, runtime: 300 * ms, timed: [2]int{3, 7}, steady: [2]int{4, 6}},
		{name: "ramp time that ends inside an interval", series: []int64{0, 40, 100, 100, 100, 100, 100, 1}, ramp: 150 * ms, runtime: 400 * ms, timed: [2]int{2, 7}, steady: [2]int{4, 6}},
		{name: "more ramp time than load", series: []int64{50, 50}, ramp: time.Second, runtime: time.Second, timed: [2]int{2, 2}},
		{name: "one interval", series: []int64{50}, runtime: 100 * ms, timed: [2]int{0, 1}, steady: [2]int{1, 1}},
	}
	for _, tt := range tests {
		e := Evidence{Series: tt.series, SeriesStep: int64(100 * ms)}
		if first, last := e.Timed(tt.ramp, tt.runtime); [2]int{first, last} != tt.timed {
			t.Errorf("%s: timed from %d to %d, want %v", tt.name, first, last, tt.timed)
		}
		if begin, end := e.Steady(tt.ramp, tt.runtime); [2]int{begin, end} != tt.steady {
			t.Errorf("%s: steady from %d to %d, want %v", tt.name, begin, end, tt.steady)
		}
	}
	if first, last := (Evidence{Series: []int64{5, 5, 5}}).Timed(0, 0); first != last {
		t.Error("a series without a step has a timed part")
	}
}
