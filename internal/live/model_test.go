package live

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/measure"
)

func TestStageIsKeptOnceWhenItEnds(t *testing.T) {
	m := newModel(preset(t, "quick"), true)
	var kept []string
	for i, step := range []struct {
		name        string
		done, total int64
	}{
		{"filling 2 volumes", 0, 1 << 30},
		{"filling 2 volumes", 1 << 29, 1 << 30},
		{"filling 2 volumes", 1 << 30, 1 << 30},
		{"filling 2 volumes", 1 << 30, 1 << 30},
		{"never ends", 5, 0},
		{"is overtaken", 5, 10},
		{"filling 3 volumes", 1 << 31, 1 << 30}, // more than was announced
	} {
		kept = append(kept, m.setStage(step.name, step.done, step.total, noon.Add(time.Duration(i)*20*time.Second))...)
	}
	want := []string{"filling 2 volumes: 1.0 GiB in 40 s", "filling 3 volumes: 1.0 GiB in 0 s"}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What measure reports between windows names neither the cell nor the boot; the view must not jump for it.
func TestBlockEndKeepsThePlace(t *testing.T) {
	m := newModel(preset(t, "quick"), false)
	p := progress(m.exp, 5, 92)
	p.Boot = 1
	m.setProgress(p, noon)
	before := m.at
	m.setProgress(measure.Progress{Boots: 2, Round: 5, Done: 92, Planned: 168, BlockEnded: true}, noon.Add(time.Second))
	before.blockEnded = true
	if m.at != before {
		t.Errorf("at %+v, was at %+v", m.at, before)
	}
}

func TestMeasuringEndsTheStage(t *testing.T) {
	m := newModel(preset(t, "quick"), false)
	m.setStage("filling", 1, 2, noon)
	m.setProgress(measure.Progress{Boots: 1, Note: booting}, noon)
	if m.stageShown() {
		t.Error("the stage is still shown")
	}
}

// An interrupted run does not claim a round that it has not finished.
func TestEndOfTheLastRound(t *testing.T) {
	for _, plain := range []bool{true, false} {
		m := newModel(preset(t, "quick"), plain)
		m.setProgress(progress(m.exp, 5, 92), noon)
		if got := m.end(noon); len(got) > 0 {
			t.Errorf("in the middle of a round: %q", got)
		}
		m.setProgress(measure.Progress{Boots: 2, Round: 5, Done: 93, Planned: 168, BlockEnded: true}, noon)
		var want []string
		if plain {
			want = []string{"boot 1 of 2, round 5 of ~7: 93 of 168 windows, 1:02 left"}
		}
		if diff := cmp.Diff(want, m.end(noon.Add(10*time.Second))); diff != "" {
			t.Errorf("plain %v: -want +got:\n%s", plain, diff)
		}
	}
}

func TestTerminalKeepsNoBootNorRounds(t *testing.T) {
	m := newModel(preset(t, "quick"), false)
	var kept []string
	for _, p := range []measure.Progress{
		{Boots: 2, Note: booting},
		progress(m.exp, 1, 0), progress(m.exp, 2, 8),
		{Boots: 2, Note: "guest lost: it \x1b[31mpanicked\n"},
		{Boots: 2, Note: booting},
		{Boots: 2, Boot: 1, Note: booting},
	} {
		kept = append(kept, m.setProgress(p, noon)...)
	}
	if diff := cmp.Diff([]string{"boot 1 of 2: guest lost: it panicked"}, kept); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
