package load

import (
	"context"
	"testing"
	"time"
)

func TestParseBusy(t *testing.T) {
	got, err := parseBusy("cpu  300 1 100 40000 10000 50 49 200 90 10\n")
	if err != nil || got != 5*time.Second {
		t.Errorf("%v, %v; want 5s", got, err)
	}
	for _, bad := range []string{"", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu a b c d e f g h\n"} {
		if got, err := parseBusy(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

// TestBusyOfARun has a generator that computes until it has used half a second of a processor.
func TestBusyOfARun(t *testing.T) {
	r, err := Run(context.Background(), request(
		`until set -- $(cat /proc/$$/stat) && [ $((${14} + ${15})) -ge 50 ]; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; done`))
	if err != nil || r.Exit != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Busy < 450*time.Millisecond { // give or take a tick for each of the five sums
		t.Errorf("the processors were busy for %v", r.Busy)
	}
}

func FuzzBusy(f *testing.F) {
	f.Add("cpu  300 1 100 40000 10000 50 49 200 90 10\n")
	f.Fuzz(func(_ *testing.T, line string) { _, _ = parseBusy(line) })
}
