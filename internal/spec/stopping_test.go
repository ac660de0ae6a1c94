package spec

import (
	"strings"
	"testing"
	"time"
)

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

// TestOpenBudget holds who says how long a run may take that is to detect something.
func TestOpenBudget(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"extends: quick":                                     220 * time.Second,
		"{extends: quick, detect: 5%}":                       0,
		"{extends: quick, detect: 5%, budget: 9m}":           9 * time.Minute,
		"{extends: controllers, detect: 5%}":                 0,
		"{extends: controllers, detect: 5%, budget: 100m}":   100 * time.Minute,
		"{extends: quick, budget: 5m, target: 2%, boots: 1}": 5 * time.Minute,
	} {
		e, err := Parse("x.yaml", []byte(text))
		if err != nil || e.Budget != want {
			t.Errorf("%s: a budget of %v, want %v; %v", text, e.Budget, want, err)
		}
	}
	e, err := Parse("x.yaml", []byte("{extends: controllers, detect: 5%}"))
	if err == nil {
		e, err = e.AtScale("tiny")
	}
	if err != nil || e.Budget != 0 || e.Scale != "tiny" {
		t.Errorf("a scale gives the budget %v; %v", e.Budget, err)
	}
	if _, err := Parse("x.yaml", []byte("{extends: quick, budget: 0s}")); err == nil || !strings.Contains(err.Error(), "shorter than one round") {
		t.Errorf("without anything to detect there must be a budget; got %v", err)
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
