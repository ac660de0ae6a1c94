package plan

import (
	"math"
	"testing"
	"time"
)

func TestPromise(t *testing.T) {
	e := preset(t, "quick")
	p := make1(t, e, 1)
	quiet, noisy := p.Promise(Noise{Scatter: 0.01}), p.Promise(Noise{Scatter: 0.1, From: "x"})
	if quiet.Typical >= noisy.Typical || quiet.Lone >= noisy.Lone || quiet.Lone < e.Target || noisy.Noise.From != "x" {
		t.Errorf("in the budget of quick, %+v and %+v", quiet, noisy)
	}
	if quiet.Typical >= quiet.Lone || noisy.Typical >= noisy.Lone {
		t.Errorf("a cell among many must be easier to find than a lone one: %+v and %+v", quiet, noisy)
	}
	if d := p.Describe(); noisy.Time != d.Measure || noisy.Rounds != int(d.Rounds) || !noisy.Kept {
		t.Errorf("%+v of %+v", noisy, d)
	}
	e.Budget *= 100
	e.MaxRounds = 1000
	if p := make1(t, e, 1).Promise(Noise{Scatter: 0.1}); p.Lone > noisy.Lone/4 || p.Lone < e.Target {
		t.Errorf("with a hundred times the budget and more, %+v; the target alone should bound it", p)
	}
	e = preset(t, "quick")
	e.Budget, e.MinRounds = time.Minute, 2 // one round and no more
	if p := make1(t, e, 1).Promise(Assumed); !math.IsInf(p.Typical, 1) || !math.IsInf(p.Lone, 1) || p.Kept {
		t.Errorf("of a single round, %+v is promised", p)
	}
}

func TestPromiseToDetect(t *testing.T) {
	e := preset(t, "quick")
	short := make1(t, e, 1).Promise(Noise{Scatter: 0.1})
	e.Detect = 0.05
	quiet, noisy := make1(t, e, 1).Promise(Noise{Scatter: 0.001}), make1(t, e, 1).Promise(Noise{Scatter: 0.1})
	if quiet.Rounds < e.Stopping().Least || noisy.Rounds < 10*quiet.Rounds || noisy.Time < 10*quiet.Time {
		t.Errorf("a hundred times the noise takes many times the rounds; got %+v and %+v", quiet, noisy)
	}
	if noisy.Kept || noisy.Typical != short.Typical || noisy.Lone != short.Lone {
		t.Errorf("a budget that is too short finds what it finds, %+v; got %+v", short, noisy)
	}
	if e.Budget = noisy.Time; !make1(t, e, 1).Promise(Noise{Scatter: 0.1}).Kept {
		t.Error("the budget that was asked for does not do")
	}
	if p := make1(t, e, 1).Promise(Noise{Scatter: 0.1}); p.Lone != e.Detect || p.Typical >= p.Lone {
		t.Errorf("%+v is not what was asked for", p)
	}
	e.Detect = 0.1
	if p := make1(t, e, 1).Promise(Noise{Scatter: 0.1}); p.Time >= noisy.Time/2 {
		t.Errorf("twice the difference takes %v, the single one %v", p.Time, noisy.Time)
	}
	if p := make1(t, e, 1).Promise(Noise{Scatter: 100}); p.Rounds != e.Stopping().Most {
		t.Errorf("what can never be found takes %+v", p)
	}
	e.Budget = 0 // left to what is to be detected
	if p := make1(t, e, 1).Promise(Noise{Scatter: 0.1}); p.Kept || p.Time < time.Minute || p.Rounds < e.Stopping().Least {
		t.Errorf("without a budget, %+v", p)
	}
}
