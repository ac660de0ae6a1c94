package calibrate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/plan"
)

// quietTrace hardly moves.
func quietTrace() Trace {
	r := rand.New(rand.NewPCG(9, 9))
	return even(100, func(int) float64 { return 5000 * math.Exp(0.005*r.NormFloat64()) })
}

// TestSmall is make calibrate with few runs: the seed is fixed, so what it finds is too.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	traces, err := Traces()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(traces, Small, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	all, stress := sum("", r.Traces), sum("", r.Stress)
	if all.FalseAlarms().Low > mostFalseAlarms || stress.FalseAlarms().Low > mostFalseAlarms {
		t.Errorf("%d of %d and %d of %d runs call a cell different where nothing differs", all.Wrong, all.Alike, stress.Wrong, stress.Alike)
	}
	if all.Coverage().Value < leastCoverage || stress.Coverage().Value < leastCoverage {
		t.Errorf("coverage %+v and %+v", all.Coverage(), stress.Coverage())
	}
	if all.Power().High < leastPower {
		t.Errorf("power %+v", all.Power())
	}
	if share(all.Welch, all.Usual) < 2*mostFalseAlarms {
		t.Errorf("the usual way errs in %d of %d comparisons only: the noise is too tame to tell anything", all.Welch, all.Usual)
	}
}

// TestSameSeed compares two reports of one seed, and one of another.
func TestSameSeed(t *testing.T) {
	traces := []Trace{quietTrace()}
	report := func(seed uint64) string {
		r, err := Run(traces, Sizes{Alike: 1, Lone: 1, Stress: 1, Usual: 30}, seed)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := report(5)
	if again := report(5); again != first {
		t.Errorf("one seed, two reports:\n%s\n%s", first, again)
	}
	if report(6)[len("seed 5"):] == first[len("seed 5"):] {
		t.Error("two seeds, one report")
	}
}

// TestSeesWhatIsWrong makes runs wrong and looks whether that is counted: cells that differ, judged as if they did not.
func TestSeesWhatIsWrong(t *testing.T) {
	all, err := shapes()
	if err != nil {
		t.Fatal(err)
	}
	s := all[3]
	draw := rand.New(rand.NewPCG(3, 4))
	truth := map[plan.Key]float64{{Stack: s.exp.Stacks[0].Name, Workload: s.exp.Workloads[0].Name}: 0.8}
	known, r, err := simulate(s.exp, newDevice(quietTrace(), draw, nil), draw, 0, truth)
	if err != nil {
		t.Fatal(err)
	}
	if !known.found || known.mistaken != 0 || known.covered != known.known || known.equal != 1 {
		t.Errorf("a difference of 20 %% on a quiet device: %+v", known)
	}
	if o := judge(r, nil, 0); o.mistaken != 1 || o.covered == o.known || o.found {
		t.Errorf("taken for equal, it is a false alarm and an interval that misses: %+v", o)
	}
	wrongWay := map[plan.Key]float64{{Stack: s.exp.Stacks[0].Name, Workload: s.exp.Workloads[0].Name}: 1.25}
	if o := judge(r, wrongWay, 0); o.found {
		t.Error("a difference to the wrong side counts as found")
	}
}

func TestBroken(t *testing.T) {
	good := Row{Name: "x", Alike: 100, Wrong: 5, Intervals: 1000, Covered: 940, Lone: 50, Found: 45, Usual: 10, Welch: 4}
	if b := (Report{Traces: []Row{good}, Stress: []Row{good}}).Broken(); len(b) > 0 {
		t.Errorf("all is kept, but: %q", b)
	}
	for want, change := range map[string]func(*Row){
		"over the recorded noise: 6.0 % of the runs in which nothing differs call a cell different": func(r *Row) { r.Wrong = 6 },
		"over the recorded noise: the 95 % intervals cover 93.9 %":                                  func(r *Row) { r.Covered = 939 },
		"over the recorded noise: 88.0 % of the differences are found":                              func(r *Row) { r.Found = 44 },
	} {
		bad := good
		change(&bad)
		r := Report{Traces: []Row{bad}, Stress: []Row{good}}
		if b := r.Broken(); len(b) != 1 || !strings.HasPrefix(b[0], want) {
			t.Errorf("%q, want %q", b, want)
		}
		var out bytes.Buffer
		if err := r.Write(&out); err != nil || !strings.Contains(out.String(), "NOT KEPT: "+want) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
	bad := good
	bad.Wrong = 50
	if b := (Report{Traces: []Row{good}, Stress: []Row{bad}}).Broken(); len(b) != 1 || !strings.HasPrefix(b[0], "under stress: 50.0 %") {
		t.Errorf("%q", b)
	}
}

func TestLine(t *testing.T) {
	r := Report{Seed: 3, Traces: []Row{{
		Name: "x", Alike: 200, Wrong: 4, Intervals: 100, Covered: 97, Lone: 50, Found: 48, Usual: 10, Welch: 4,
		shares: []float64{0.95, 0.99},
	}}}
	want := "calibration: false-alarm 0.020 [0.005, 0.050] coverage 0.970 [0.900, 0.996] power 0.960 [0.863, 0.995] usual-way-false-alarm 0.400"
	if got := r.Line(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil || !strings.HasSuffix(out.String(), "\n"+want+"\n") || strings.Count(out.String(), "calibration: ") != 1 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// Intervals of one run miss together: many of few runs say less than their number.
func TestCoverageCountsRuns(t *testing.T) {
	if c := (Row{Intervals: 1000, Covered: 1000, shares: slices.Repeat([]float64{1}, 10)}).Coverage(); c.Low > 0.8 {
		t.Errorf("ten runs without a miss say %+v", c)
	}
	apart := Row{Intervals: 1000, Covered: 950}
	together := apart
	for i := range 20 {
		apart.shares = append(apart.shares, []float64{0.94, 0.96}[i%2])
		together.shares = append(together.shares, []float64{1, 0.9}[i%2])
	}
	if a, b := apart.Coverage(), together.Coverage(); math.Abs(a.Value-0.95) > 1e-9 || math.Abs(b.Value-0.95) > 1e-9 || b.Low >= a.Low || b.High <= a.High {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestWelch(t *testing.T) {
	// By hand: means 3 and 5, variances 2.5 and 10, so t = -2/sqrt(2.5) and 5.88 degrees of freedom.
	a, b := []float64{1, 2, 3, 4, 5}, []float64{1, 3, 5, 7, 9}
	if p := welchP(a, b); math.Abs(p-0.2538) > 0.0005 {
		t.Errorf("p = %.4f", p)
	}
	if p := welchP([]float64{2, 2, 2}, []float64{2, 2, 2}); p != 1 {
		t.Errorf("p = %g of what does not move", p)
	}
}

// The usual way is not made worse than it is: where the noise has no memory it errs as often as it says.
func TestUsualWayWithoutMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	trace := even(2000, func(int) float64 { return 5000 * math.Exp(0.05*r.NormFloat64()) })
	wrong, eye := 0, 0
	const repeats = 600
	for i := range repeats {
		w, e := usual(trace, rand.New(rand.NewPCG(6, uint64(i))))
		wrong, eye = wrong+one(w), eye+one(e)
	}
	if share := float64(wrong) / repeats; share < 0.02 || share > 0.16 {
		t.Errorf("false alarms in %.3f of the comparisons of noise without memory", share)
	}
	if eye > repeats/50 {
		t.Errorf("by eye %d of %d", eye, repeats)
	}
}
