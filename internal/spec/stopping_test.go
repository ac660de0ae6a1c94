package spec

import "testing"

func TestStopping(t *testing.T) {
	e, err := Preset("quick")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Stopping(), (Stopping{Width: e.Target, Least: e.MinRounds, Most: e.MaxRounds}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	e.Detect = 0.05
	got := e.Stopping()
	if got.Width < 0.015 || got.Width > 0.025 || got.Least != roundsToDetect || got.Most != mostRounds {
		t.Errorf("to find 5 %%: %+v", got)
	}
	e.Workloads = e.Workloads[:1]
	if few := e.Stopping(); few.Width <= got.Width {
		t.Errorf("fewer comparisons need no width as narrow: %+v after %+v", few, got)
	}
	e.MinRounds = 40
	if got := e.Stopping(); got.Least != 40 {
		t.Errorf("%+v, want at least 40 rounds", got)
	}
}

func TestComparisons(t *testing.T) {
	e := Experiment{
		Stacks:    []Stack{{Name: "a", Format: "raw", Bus: "virtio-blk"}, {Name: "b", Format: "raw", Bus: "sata"}},
		Workloads: []Workload{{Name: "r", RW: "randread"}, {Name: "w", RW: "randwrite"}},
	}
	if n := e.Comparisons(); n != 6 {
		t.Errorf("%d comparisons of two stacks and the control under two loads, want 6", n)
	}
	e.Stacks[0].Empty = true // never read
	if n := e.Comparisons(); n != 5 {
		t.Errorf("%d comparisons where one is skipped, want 5", n)
	}
}
