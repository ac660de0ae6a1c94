package analyse

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func terms(t *testing.T, texts ...string) []spec.Term {
	t.Helper()
	var out []spec.Term
	for _, s := range texts {
		term, err := spec.ParseTerm(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, term)
	}
	return out
}

// TestVerdicts: of the synthetic run it is known what is true of it.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name      string
		statement spec.Statement
		change    func(*synthetic)
		want      string
		effect    float64 // 0 = none
		reason    string  // a part of it; "" = there must be none
	}{
		{"a ratio above", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "virt:rw1"), Above: 1.3}, nil, Holds, 1.6, ""},
		{"a ratio not above", spec.Statement{Of: terms(t, "virt:rw1"), Over: terms(t, "fast:rw1"), Above: 1}, nil, DoesNotHold, 0.625, ""},
		{"between two bounds", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "virt:rw1"), Above: 1.4, Below: 1.8}, nil, Holds, 1.6, ""},
		{"above the upper of two", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "virt:rw1"), Above: 1, Below: 1.2}, nil, DoesNotHold, 1.6, ""},
		{"against the host", spec.Statement{Of: terms(t, "virt:sr"), Over: terms(t, "host:sr"), Below: 0.6}, nil, Holds, 0.5, ""},
		{"over all loads", spec.Statement{Of: terms(t, "virt:*"), Over: terms(t, "host:*"), Below: 0.6}, nil, Holds, 0.5, ""},
		{"a product of two", spec.Statement{Of: terms(t, "virt:rw1", "host:rr32"), Over: terms(t, "virt:rr32", "host:rw1"), Above: 0.9, Below: 1.1}, nil, Holds, 1, ""},
		{
			"the latency",
			spec.Statement{Metric: record.ClatMean, Of: terms(t, "virt:rw1"), Over: terms(t, "fast:rw1"), Above: 1.3},
			nil, Holds, 1.6, "",
		},
		{
			"the tail",
			spec.Statement{Metric: record.ClatP99, Of: terms(t, "virt:rw1"), Over: terms(t, "fast:rw1"), Above: 1.3},
			nil, Holds, 1.6, "",
		},
		{"a metric itself", spec.Statement{Metric: record.ClatP99, Of: terms(t, "virt:rw1"), Below: 10e6}, nil, Holds, 4.64e6, ""},
		{"the ceiling", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "null:rw1"), Below: 0.5}, nil, Holds, 0.8 / 3, ""},
		{
			"too near to tell",
			spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "near:rw1"), Above: 1.004},
			nil, CannotTell, 1, "the interval reaches over 1.004",
		},
		{
			"withheld",
			spec.Statement{Of: terms(t, "virt:sr"), Over: terms(t, "host:sr"), Above: 1},
			fromRAM("virt", "sr", 0.97),
			CannotTell, 0, "virt under sr is withheld: 97 % of these reads came from the host's RAM",
		},
		{
			"the share of RAM of a withheld cell",
			spec.Statement{Metric: record.RAMShare, Of: terms(t, "virt:sr"), Above: 0.5, Answer: "it was RAM"},
			fromRAM("virt", "sr", 0.97), Holds, 0.97, "",
		},
		{
			"no share of RAM",
			spec.Statement{Metric: record.RAMShare, Of: terms(t, "virt:sr"), Above: 0.5, Answer: "it was RAM"},
			nil, DoesNotHold, 0, "",
		},
		{
			"a withheld one of three",
			spec.Statement{Of: terms(t, "virt:*"), Over: terms(t, "host:*"), Below: 0.6},
			fromRAM("virt", "sr", 0.97),
			Holds, 0.5, "judged on 2 of 3 workloads: virt under sr is withheld",
		},
		{
			"a withheld one, unlike loads",
			spec.Statement{Of: terms(t, "virt:s*", "virt:r*"), Over: terms(t, "host:*"), Below: 0.6},
			fromRAM("virt", "sr", 0.97),
			CannotTell, 0, "virt under sr is withheld",
		},
		{"unavailable", spec.Statement{Of: terms(t, "prox:rw1"), Over: terms(t, "fast:rw1"), Below: 1}, func(s *synthetic) {
			s.stack("prox").Unavailable, s.stack("prox").Mend = "no volume group", "vgcreate vg /dev/sdb"
		}, CannotTell, 0, "prox is unavailable here: no volume group; to have it: vgcreate vg /dev/sdb"},
		{"failed", spec.Statement{Of: terms(t, "prox:rw1"), Over: terms(t, "fast:rw1"), Below: 1}, func(s *synthetic) {
			s.change("prox", "rw1", func(_ int, w *record.Window) { w.Status, w.Reason = record.Failed, "EIO" })
		}, CannotTell, 0, "prox under rw1: failed in 6 of 6 windows: EIO"},
		{
			"not yet",
			spec.Statement{Of: terms(t, "prox:rw1"), Over: terms(t, "fast:rw1"), Below: 1},
			func(s *synthetic) { s.windows = nil }, CannotTell, 0, "no counted round of prox under rw1 has ended",
		},
		{
			"not what it should be",
			spec.Statement{Metric: record.RAMShare, Of: terms(t, "prox:sr"), Below: 0.5},
			func(s *synthetic) { s.stack("prox").Mismatch = []string{"cache none, not writeback"} }, CannotTell, 0, "prox under sr is withheld: the effective configuration",
		},
		{"one round", spec.Statement{Of: terms(t, "prox:rw1"), Over: terms(t, "fast:rw1"), Below: 1}, func(s *synthetic) {
			s.change("", "", func(_ int, w *record.Window) { w.Discard = w.Round > 0 })
		}, CannotTell, 0.75, "a single round has no interval"},
		{"compression", spec.Statement{Metric: record.CompressRatio, Of: terms(t, "fast:rw1"), Over: terms(t, "near:rw1"), Above: 1}, func(s *synthetic) {
			s.stack("fast").Volume, s.stack("near").Volume = &record.Volume{CompressRatio: new(1.94)}, &record.Volume{CompressRatio: new(1.18)}
		}, Holds, 1.94 / 1.18, ""},
		{
			"no compression",
			spec.Statement{Metric: record.CompressRatio, Of: terms(t, "fast:rw1"), Above: 1},
			nil, CannotTell, 0, "the storage of fast tells no compression",
		},
		{
			"nothing counted",
			spec.Statement{Metric: record.ARCHitShare, Of: terms(t, "fast:sr"), Above: 0.5},
			nil, CannotTell, 0, "arc_hit_share could not be counted for fast under sr",
		},
		{"bytes at the device", spec.Statement{Metric: record.DeviceWriteRatio, Of: terms(t, "virt:rw1"), Over: terms(t, "fast:rw1"), Above: 1.2}, func(s *synthetic) {
			s.change("virt", "rw1", func(_ int, w *record.Window) { *w.Evidence.DeviceWrite += *w.Evidence.DeviceWrite / 2 })
		}, Holds, 1.5, ""},
		{"a run that was disturbed", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "host:rw1"), Below: 0.9}, func(s *synthetic) {
			s.change(spec.Control, "rw1", func(_ int, w *record.Window) { w.Metrics[record.IOPS] *= 0.8 })
		}, CannotTell, 0.8, "conditions changed under the run"},
		{"against itself", spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "fast:rw1"), Above: 1}, nil, CannotTell, 0, "both sides of it are the same"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRun().measured(6)
			s.exp.Statements = []spec.Statement{tt.statement}
			if tt.change != nil {
				tt.change(s)
			}
			v := s.analyse().Verdicts[0]
			if v.Verdict != tt.want || !strings.Contains(v.Reason, tt.reason) || (tt.reason == "") != (v.Reason == "") {
				t.Errorf("got %q because %q", v.Verdict, v.Reason)
			}
			value := 0.0
			if v.Effect != nil {
				value = v.Effect.Value
			}
			if math.Abs(value-tt.effect) > 0.03*tt.effect {
				t.Errorf("the effect is %v, want about %v", v.Effect, tt.effect)
			}
			if want := tt.statement.Answer; (v.Answer == want) != (v.Verdict == Holds || want == "") {
				t.Errorf("the answer is %q", v.Answer)
			}
		})
	}
}

// fromRAM makes reads of a cell come from RAM.
func fromRAM(stack, workload string, share float64) func(*synthetic) {
	return func(s *synthetic) {
		s.change(stack, workload, func(_ int, w *record.Window) {
			*w.Evidence.DeviceRead = int64((1 - share) * float64(w.Evidence.PathRead))
		})
	}
}

// TestVerdictUnits: a metric itself has its unit, a ratio has none.
func TestVerdictUnits(t *testing.T) {
	s := newRun().measured(6)
	s.exp.Statements = []spec.Statement{
		{Text: "a", Of: terms(t, "host:sr"), Above: 1},
		{Text: "b", Of: terms(t, "host:rw1"), Above: 1},
		{Text: "c", Metric: record.RAMShare, Of: terms(t, "host:rw1"), Above: 0.5},
		{Text: "d", Of: terms(t, "virt:sr"), Over: terms(t, "host:sr"), Above: 1},
	}
	want := []string{record.Bandwidth, record.IOPS, record.RAMShare, ""}
	for i, v := range s.analyse().Verdicts {
		if v.Metric != want[i] || v.Statement != s.exp.Statements[i].Text {
			t.Errorf("%s: %q, want %q", v.Statement, v.Metric, want[i])
		}
	}
}

// TestVerdictsAcrossBoots: stacks of different boots meet through the host, and what boots do to them is in the interval.
func TestVerdictsAcrossBoots(t *testing.T) {
	s := newRun()
	s.whole = 0.5 // what befalls a round must cancel though the stacks share none
	for boot := range 4 {
		stacks := []string{spec.Host, spec.Control, "fast", "near"}
		if boot%2 == 1 {
			stacks = []string{spec.Host, spec.Control, "virt", "prox"}
		}
		s.measure(boot, 10*boot, 5, stacks)
	}
	s.exp.Statements = []spec.Statement{
		{Of: terms(t, "fast:*"), Over: terms(t, "virt:*"), Above: 1.3},
		{Of: terms(t, "fast:rw1", "prox:rw1"), Over: terms(t, "near:rw1", "virt:rw1"), Above: 1.1},
		{Metric: record.ClatP99, Of: terms(t, "virt:rw1"), Over: terms(t, "fast:rw1"), Above: 1.3},
		{Of: terms(t, "fast:rw1"), Over: terms(t, "virt:rr32"), Above: 1.3}, // loads do not cancel: what the host has of them is in it
	}
	want := []float64{1.6, 1.2, 1.6, 1.6}
	for i, v := range s.analyse().Verdicts {
		if v.Verdict != Holds || v.Effect == nil || math.Abs(v.Effect.Value/want[i]-1) > 0.05 {
			t.Errorf("%d: %s, %v because %q; want %v", i, v.Verdict, v.Effect, v.Reason, want[i])
		}
	}
	boots := 0.1
	r := rand.New(rand.NewPCG(9, 9))
	moved := map[key]float64{}
	s.change("", "", func(_ int, w *record.Window) {
		k := key{w.Stack, w.Workload + string(rune('0'+w.Boot))}
		if _, ok := moved[k]; !ok && !isHost(w.Stack) {
			moved[k] = math.Exp(boots * r.NormFloat64())
		}
		if m, ok := moved[k]; ok {
			w.Metrics[record.IOPS] *= m
			w.Metrics[record.Bandwidth] *= m
		}
	})
	if v := s.analyse().Verdicts[0]; v.Effect.HalfWidth() < 0.04 {
		t.Errorf("boots move by 10 %%, and the interval is %v", v.Effect)
	}
}

// TestFalseVerdicts counts how often a verdict is wrong when nothing is as stated, and when half of it is.
func TestFalseVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const repeats = 150
	for _, tt := range []struct {
		name   string
		true   int // statements that are far from their bound
		rounds int
	}{{"nothing as stated", 0, 6}, {"half of it", 6, 6}, {"nothing as stated, long", 0, 14}} {
		wrong, shares, told := 0, 0.0, 0
		for i := range repeats {
			s := newRun()
			s.whole = 0.05
			for j := range 12 {
				load := loads[j%len(loads)].Name
				st := spec.Statement{Of: terms(t, "fast:"+load), Over: terms(t, []string{"near:", "virt:", "prox:", "host:"}[j/3]+load)}
				st.Above = []float64{1, 1.6, 0.8 / 0.6, 0.8}[j/3] // the truth itself: any verdict is false
				if j < tt.true {
					st.Above *= 0.5
				}
				s.exp.Statements = append(s.exp.Statements, st)
			}
			s.measure(1000+i, 0, tt.rounds, append([]string{spec.Host, spec.Control}, s.guests()...))
			false_, all := 0, 0
			for j, v := range s.analyse().Verdicts {
				if v.Verdict != CannotTell {
					all++
					if j >= tt.true || v.Verdict != Holds {
						false_++
					}
				}
			}
			if told += all; false_ > 0 {
				wrong++
				shares += float64(false_) / float64(all)
			}
		}
		t.Logf("%s: %d verdicts in %d runs; of those given %.3f are false on average, and %d runs have a false one",
			tt.name, told, repeats, shares/repeats, wrong)
		if rate := shares / repeats; rate > 0.07 {
			t.Errorf("%s: the share of false verdicts is %.3f", tt.name, rate)
		}
		if tt.true > 0 && told < tt.true*repeats {
			t.Errorf("%s: only %d verdicts", tt.name, told)
		}
	}
}

// TestFalseVerdictsAcrossBoots is the same for stacks that never share a boot, of which each boot moves every cell by about 5 %.
func TestFalseVerdictsAcrossBoots(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	const repeats = 150
	shares, told := 0.0, 0
	for i := range repeats {
		s := newRun()
		s.whole = 0.05
		for boot := range 4 {
			stacks := [][]string{{spec.Host, spec.Control, "fast", "near"}, {spec.Host, spec.Control, "virt", "prox"}}[boot%2]
			s.measure(10*i+boot, 10*boot, 6, stacks)
		}
		r := rand.New(rand.NewPCG(77, uint64(i)))
		moved := map[[3]any]float64{}
		s.change("", "", func(_ int, w *record.Window) {
			k := [3]any{w.Boot, w.Stack, w.Workload}
			if _, ok := moved[k]; !ok {
				moved[k] = 1
				if !isHost(w.Stack) {
					moved[k] = math.Exp(0.05 * r.NormFloat64())
				}
			}
			w.Metrics[record.IOPS] *= moved[k]
			w.Metrics[record.Bandwidth] *= moved[k]
		})
		for _, load := range loads {
			for _, st := range []struct {
				of, over string
				truth    float64
			}{{"fast", "virt", 1.6}, {"near", "prox", 0.8 / 0.6}, {"virt", "host", 0.5}, {"fast", "near", 1}} {
				s.exp.Statements = append(s.exp.Statements, spec.Statement{Of: terms(t, st.of+":"+load.Name), Over: terms(t, st.over+":"+load.Name), Above: st.truth})
			}
		}
		for _, v := range s.analyse().Verdicts {
			if v.Verdict != CannotTell {
				told++
				shares += 1.0 / repeats // any verdict is false: all that are given in a run are
				break
			}
		}
	}
	t.Logf("%d of %d runs have a false verdict", told, repeats)
	if shares > 0.09 {
		t.Errorf("the share of false verdicts is %.3f", shares)
	}
}

// TestMoreIsWidened: the same statement is judged more carefully among many that cannot be told.
func TestMoreIsWidened(t *testing.T) {
	one := newRun().measured(6)
	st := spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "near:rw1"), Above: 1}
	one.exp.Statements = []spec.Statement{st}
	alone := one.analyse().Verdicts[0].Effect
	for range 19 {
		one.exp.Statements = append(one.exp.Statements, st)
	}
	among := one.analyse().Verdicts[0].Effect
	if among.HalfWidth() < 1.5*alone.HalfWidth() || among.Value != alone.Value {
		t.Errorf("alone %v, among 20 %v", alone, among)
	}
	far := spec.Statement{Of: terms(t, "fast:rw1"), Over: terms(t, "virt:rw1"), Above: 1}
	for i := range 19 {
		one.exp.Statements[i+1] = far
	}
	if told := one.analyse().Verdicts[0].Effect; told.HalfWidth() > 1.1*alone.HalfWidth() {
		t.Errorf("alone %v, among 19 that can be told %v", alone, told)
	}
}

// TestWouldTake: what would tell is said in rounds, in boots, or given up.
func TestWouldTake(t *testing.T) {
	series := func(loc, spread float64) stat.Series {
		var s stat.Series
		for i := range 8 {
			s = append(s, stat.Point{Round: i, Log: loc + spread*float64(i%2*2-1)})
		}
		return s
	}
	var restless stat.Series
	for i := range 12 {
		restless = append(restless, stat.Point{Round: i, Boot: i / 4, Log: 0.2*float64(i/4) + 0.001*float64(i%2)})
	}
	s := spec.Statement{Above: 1}
	few := effect{Contrast: (stat.Between{}).Contrast(series(0.04, 0.05)[:3])}
	if got := wouldTake(s, few, few.estimate(0.99), 0.99); !strings.Contains(got, "3 rounds are too few") {
		t.Errorf("three rounds: %q", got)
	}
	apart := effect{Contrast: stat.Pool([]stat.Series{restless, restless, restless}).Contrast(series(0.04, 0.001))}
	if got := wouldTake(s, apart, apart.estimate(0.99), 0.99); !strings.Contains(got, "boots differ by more than that") {
		t.Errorf("restless boots: %q", got)
	}
	for _, tt := range []struct {
		loc, spread float64
		want        string
	}{
		{0.04, 0.05, "more rounds would tell"},
		{0.0001, 0.05, "too near"},
	} {
		e := effect{Contrast: (stat.Between{}).Contrast(series(tt.loc, tt.spread))}
		if got := wouldTake(s, e, e.estimate(0.99), 0.99); !strings.Contains(got, tt.want) {
			t.Errorf("%v ± %v: %q, want %q", tt.loc, tt.spread, got, tt.want)
		}
	}
}
