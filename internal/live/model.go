package live

import (
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// booting is what measure notes when it starts a guest. On a terminal the live part shows it for as long as it
// lasts, and no line is kept.
const booting = measure.Booting

// model is all that a view knows. Its methods take the time and return the lines to keep.
type model struct {
	exp    spec.Experiment
	names  names
	plain  bool
	stage  stage
	at     place
	result *analyse.Result // the latest estimates, nil before the first
}

// stage is a step of preparation; without a name there is none.
type stage struct {
	name        string
	done, total int64 // bytes
	began       time.Time
}

// place is where the measuring stands; boots is 0 before it begins.
type place struct {
	boot, boots   int // from 1
	round, rounds int
	done, planned int // windows
	cell          plan.Key
	priming       bool
	note          string // in the place of a cell while there is none
	left          time.Duration
	told          time.Time // when left was true
	blockEnded    bool      // nothing has begun since
}

// running reports whether a window is known to have begun in this boot.
func (p place) running() bool { return p.cell != plan.Key{} }

// remaining is the time left at now, and false when nobody said.
func (p place) remaining(now time.Time) (time.Duration, bool) {
	return max(0, p.left-now.Sub(p.told)), !p.told.IsZero()
}

func newModel(exp spec.Experiment, plain bool) *model {
	return &model{exp: exp, plain: plain, names: newNames(exp)}
}

// setStage takes over how far a stage is. A line is kept when it ends.
func (m *model) setStage(name string, done, total int64, now time.Time) []string {
	name = clean(name)
	if m.stage.name != name {
		m.stage = stage{name: name, began: now}
	}
	over := m.stage.total > 0 && m.stage.done >= m.stage.total
	m.stage.done, m.stage.total = done, total
	if total <= 0 || done < total || over {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s in %s", name, unit.Bytes(total), unit.Duration(now.Sub(m.stage.began)))}
}

// stageShown reports whether a stage is under way.
func (m *model) stageShown() bool {
	return m.stage.name != "" && (m.stage.total <= 0 || m.stage.done < m.stage.total)
}

// setProgress takes over where the measuring stands. A Progress that names no cell says nothing of the round, and
// nothing of the boot unless it begins one.
func (m *model) setProgress(p measure.Progress, now time.Time) (kept []string) {
	m.stage = stage{}
	was, is := m.at, m.at
	named := p.Cell != plan.Key{}
	is.boots, is.boot = p.Boots, max(is.boot, p.Boot+1) // boots only go up
	is.done, is.planned = p.Done, p.Planned
	if named {
		is.cell, is.priming, is.round, is.rounds = p.Cell, p.Discard, p.Round, p.Rounds
		is.note, is.blockEnded = "", false
	}
	if named || p.Left > 0 {
		is.left, is.told = p.Left, now
	}
	if p.Note != "" {
		is.cell, is.note = plan.Key{}, clean(p.Note)
	}
	if p.BlockEnded {
		is.blockEnded = true
	}
	newRound := named && was.running() && (was.round != is.round || was.priming != is.priming)
	if newRound || was.round > 0 && was.boot != is.boot {
		kept = append(kept, m.roundLine(was, p, now)...)
	}
	if p.Note != "" && (m.plain || p.Note != booting) {
		kept = append(kept, bootOf(is)+": "+is.note)
	}
	m.at = is
	return kept
}

// roundLine is what plain output keeps of a round that has ended.
func (m *model) roundLine(of place, p measure.Progress, now time.Time) []string {
	if !m.plain {
		return nil
	}
	of.done, of.planned = p.Done, p.Planned
	line := bootOf(of) + ", " + roundOf(of) + ": " + windowsOf(of)
	if p.Left > 0 {
		of.left, of.told = p.Left, now
	}
	if left, known := of.remaining(now); known {
		line += ", " + unit.Clock(left) + " left"
	}
	return []string{line}
}

// end returns the line of the last round, when it was not cut short.
func (m *model) end(now time.Time) []string {
	if !m.at.blockEnded {
		return nil
	}
	return m.roundLine(m.at, measure.Progress{Done: m.at.done, Planned: m.at.planned}, now)
}

func bootOf(p place) string { return fmt.Sprintf("boot %d of %d", p.boot, max(p.boot, p.boots)) }

func roundOf(p place) string {
	switch {
	case p.priming:
		return "priming"
	case p.rounds > 0:
		return fmt.Sprintf("round %d of ~%d", p.round, max(p.round, p.rounds))
	}
	return fmt.Sprintf("round %d", p.round)
}

func windowsOf(p place) string {
	if p.planned > 0 {
		return fmt.Sprintf("%d of %d windows", p.done, max(p.done, p.planned))
	}
	return fmt.Sprintf("%d windows", p.done)
}
