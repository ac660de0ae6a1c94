package analyse

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// climbing is a run whose steps are worth 1.5, 1.1 and 1.2 together, and less in other company.
func climbing() *synthetic {
	s := newRun()
	s.truth = map[string]float64{
		spec.Host: 1, spec.Control: 1, "base": 0.3, "one": 0.45, "two": 0.495, "three": 0.594,
		"two-alone": 0.36, "three-alone": 0.33, "without-one": 0.4, "without-two": 0.55, "risky": 0.9,
	}
	s.exp.Stacks, s.run.Stacks = nil, nil
	for _, name := range []string{"base", "one", "two", "three", "two-alone", "three-alone", "without-one", "without-two", "risky"} {
		s.exp.Stacks = append(s.exp.Stacks, spec.Stack{Name: name, Format: "raw"})
		s.run.Stacks = append(s.run.Stacks, record.Stack{Name: name, Durability: record.Durable})
	}
	s.exp.Figures = []spec.Figure{{Title: "the bill", Kind: spec.Ladder, Base: "base", Steps: []spec.Step{
		{Title: "first", Together: "one", Without: "without-one"},
		{Title: "second", Alone: "two-alone", Together: "two", Without: "without-two"},
		{Title: "apart", Alone: "risky"},
		{Title: "third", Alone: "three-alone", Together: "three"},
	}}}
	return s
}

func about(t *testing.T, what string, w Worth, want float64) {
	t.Helper()
	if w.Factor == nil || math.Abs(w.Factor.Value/want-1) > 0.02 || !w.Factor.Known() || !w.Factor.Contains(w.Factor.Value) {
		t.Errorf("%s is %v (%s), want %v", what, w.Factor, w.Reason, want)
	}
}

func addsUp(t *testing.T, b *LadderBill) {
	t.Helper()
	product, shares := 1.0, 0.0
	for _, s := range b.Steps {
		if s.Together.Factor != nil {
			product *= s.Together.Factor.Value
		}
		if s.Share != nil {
			shares += *s.Share
		}
	}
	if math.Abs(product/b.Total.Value-1) > 1e-9 || math.Abs(shares-1) > 1e-9 {
		t.Errorf("the steps multiply to %v and have %v of a total of %v", product, shares, b.Total)
	}
}

func TestLadder(t *testing.T) {
	b := climbing().measured(7).analyse().Figures[0].Ladder
	if b.Base != "base" || b.Top != "three" || len(b.Workloads) != 3 || len(b.LeftOut) != 0 || b.Reason != "" {
		t.Fatalf("the bill is %+v", b)
	}
	about(t, "first together", b.Steps[0].Together, 1.5)
	about(t, "first alone", b.Steps[0].Alone, 1.5)
	about(t, "without the first", b.Steps[0].Without, 0.594/0.4)
	about(t, "second together", b.Steps[1].Together, 1.1)
	about(t, "second alone", b.Steps[1].Alone, 1.2)
	about(t, "without the second", b.Steps[1].Without, 0.594/0.55)
	about(t, "measured apart", b.Steps[2].Alone, 3)
	about(t, "third together", b.Steps[3].Together, 1.2)
	about(t, "without the third", b.Steps[3].Without, 1.2)
	if d := cmp.Diff(Worth{}, b.Steps[2].Together); d != "" || b.Steps[2].Share != nil {
		t.Errorf("a step that is not in the ladder has a worth in it: %s", d)
	}
	about(t, "the total", Worth{Factor: b.Total}, 1.98)
	about(t, "the interaction", Worth{Factor: b.Interaction}, 1.98/(1.5*1.2*1.1))
	addsUp(t, b)
}

// TestLadderAcrossBoots: the upper half needs another guest.
func TestLadderAcrossBoots(t *testing.T) {
	s := climbing()
	for boot := range 4 {
		stacks := []string{spec.Host, spec.Control, "base", "one", "two-alone"}
		if boot%2 == 1 {
			stacks = []string{spec.Host, spec.Control, "two", "three", "three-alone"}
		}
		s.measure(boot, 10*boot, 5, stacks)
	}
	b := s.analyse().Figures[0].Ladder
	about(t, "first together", b.Steps[0].Together, 1.5)
	about(t, "second together", b.Steps[1].Together, 1.1)
	about(t, "the total", Worth{Factor: b.Total}, 1.98)
	addsUp(t, b)
	if w := b.Steps[0].Without; w.Factor != nil || !strings.Contains(w.Reason, "no counted round of without-one") {
		t.Errorf("what was not measured is %+v", w)
	}
}

// TestLadderWithGaps: steps without a number keep their row, and their neighbours are compared across them.
func TestLadderWithGaps(t *testing.T) {
	s := climbing().measured(7)
	s.stack("two").Unavailable, s.stack("two").Mend = "no 1 GiB pages", "sysctl vm.nr_hugepages=2"
	b := s.analyse().Figures[0].Ladder
	if d := cmp.Diff(Worth{Stack: "two", Reason: "no 1 GiB pages", Mend: "sysctl vm.nr_hugepages=2"}, b.Steps[1].Together); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	about(t, "third together", b.Steps[3].Together, 1.32)
	if d := cmp.Diff([]string{"second"}, b.Steps[3].Together.Across); d != "" {
		t.Errorf("across: %s", d)
	}
	addsUp(t, b)
	if b.Interaction != nil || !strings.Contains(b.Reason, `"third"`) {
		t.Errorf("interaction %v because %q", b.Interaction, b.Reason)
	}

	s = climbing().measured(7)
	s.stack("three").Unavailable = "no KVM"
	b = s.analyse().Figures[0].Ladder
	about(t, "the total of what is there", Worth{Factor: b.Total}, 1.65)
	if w := b.Steps[0].Without; b.Top != "two" || w.Factor != nil || !strings.Contains(w.Reason, "top of the ladder") {
		t.Errorf("top %s, without the first %+v", b.Top, w)
	}
}

// TestLadderLeavesLoadsOut: what is from RAM at one stack is out for all, so that like is compared with like.
func TestLadderLeavesLoadsOut(t *testing.T) {
	s := climbing().measured(7)
	fromRAM("base", "sr", 0.97)(s)
	b := s.analyse().Figures[0].Ladder
	if d := cmp.Diff([]string{"rr32", "rw1"}, b.Workloads); d != "" || len(b.LeftOut) != 1 || !strings.Contains(b.LeftOut[0], "RAM") {
		t.Errorf("workloads %v, left out %q", b.Workloads, b.LeftOut)
	}
	addsUp(t, b)

	s = climbing().measured(7)
	s.stack("base").Unavailable = "no volume group"
	b = s.analyse().Figures[0].Ladder
	if b.Total != nil || !strings.Contains(b.Reason, "no volume group") {
		t.Errorf("without a base: %+v", b)
	}
	for _, st := range b.Steps {
		if st.Together.Factor != nil || st.Together.Stack != "" && st.Together.Reason == "" {
			t.Errorf("without a base: %+v", st)
		}
	}
	if b := climbing().analyse().Figures[0].Ladder; b.Total != nil || b.Reason == "" || len(b.Steps) != 4 {
		t.Errorf("before the first window: %+v", b)
	}
}

// TestLadderOfNothing: a gain that cannot be told has no shares.
func TestLadderOfNothing(t *testing.T) {
	s := climbing()
	for name := range s.truth {
		s.truth[name] = 1
	}
	for _, st := range s.measured(7).analyse().Figures[0].Ladder.Steps {
		if st.Share != nil {
			t.Errorf("%s has %v of nothing", st.Title, *st.Share)
		}
	}
}
