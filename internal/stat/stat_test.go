package stat

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var near = cmpopts.EquateApprox(1e-9, 1e-9)

func TestIntervalEdges(t *testing.T) {
	inf := math.Inf(1)
	cases := []struct {
		name  string
		logs  []float64
		level float64
		want  Estimate
	}{
		{"nothing", nil, 0.95, Estimate{0, 0, inf}},
		{"one round", []float64{math.Log(0.5)}, 0.95, Estimate{0.5, 0, inf}},
		{"one round and rubbish", []float64{math.Log(0.5), math.NaN(), math.Inf(-1)}, 0.95, Estimate{0.5, 0, inf}},
		{"no spread", []float64{math.Log(2), math.Log(2), math.Log(2)}, 0.95, Estimate{2, 2, 2}},
		{"two rounds too far apart for an interval", []float64{-300, 300}, 0.999, Estimate{1, 0, inf}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, Interval(c.logs, c.level), near); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestIntervalByHand follows the definition on seven rounds: one value trimmed at each end.
func TestIntervalByHand(t *testing.T) {
	logs := []float64{0.00, 0.04, -0.02, 0.90, 0.01, -0.01, 0.02} // 0.90 becomes 0.04, -0.02 becomes -0.01
	winsorized := []float64{0.00, 0.04, -0.01, 0.04, 0.01, -0.01, 0.02}
	location := (0.00 + 0.04 + 0.01 - 0.01 + 0.02) / 5
	variance, lag1 := spread(winsorized)
	r := (7*lag1 + 1.5 + 15*0.25) / (7 + 15)
	half := 2.7764451051977987 * math.Sqrt(variance/7) / (5.0 / 7) * math.Sqrt((1+r)/(1-r))
	want := Estimate{math.Exp(location), math.Exp(location - half), math.Exp(location + half)}
	if diff := cmp.Diff(want, Ratio(logs), near); diff != "" {
		t.Error(diff)
	}
	if logs[3] != 0.90 || logs[2] != -0.02 {
		t.Error("the caller's slice was changed")
	}
}

func TestOrderMatters(t *testing.T) {
	up := []float64{-0.05, -0.04, -0.03, 0.03, 0.04, 0.05, -0.05, -0.04, -0.03, 0.03, 0.04, 0.05}
	mixed := []float64{-0.05, 0.05, -0.04, 0.04, -0.03, 0.03, -0.05, 0.05, -0.04, 0.04, -0.03, 0.03}
	if a, b := Ratio(up).HalfWidth(), Ratio(mixed).HalfWidth(); a <= b {
		t.Errorf("a serially correlated series has half-width %g, the same values alternating %g", a, b)
	}
}

func TestTrim(t *testing.T) {
	for n, want := range map[int]int{1: 0, 6: 0, 7: 1, 15: 1, 16: 2, 24: 3, 30: 3} {
		even := make([]float64, n)
		for i := range even {
			even[i] = float64(i)
		}
		if got := trim(even); got != want {
			t.Errorf("%d even values: trim %d, want %d", n, got, want)
		}
	}
	for name, c := range map[string]struct {
		sorted []float64
		want   int
	}{
		"one accident of five":  {[]float64{-4, -0.03, -0.01, 0.01, 0.02}, 1},
		"a wide one of five":    {[]float64{-0.15, -0.03, -0.01, 0.01, 0.02}, 0},
		"one accident of six":   {[]float64{-0.03, -0.02, 0, 0.01, 0.02, 3}, 1},
		"one accident of four":  {[]float64{-4, -0.01, 0.01, 0.02}, 0},
		"five times the same":   {[]float64{1, 1, 1, 1, 1}, 0},
		"all but one the same":  {[]float64{1, 1, 1, 1, 2}, 1},
		"two groups, no hiccup": {[]float64{0, 0.3, 1, 1.3, 1.6}, 0},
	} {
		if got := trim(c.sorted); got != c.want {
			t.Errorf("%s: trim %d, want %d", name, got, c.want)
		}
	}
}

func TestPValueAgreesWithInterval(t *testing.T) {
	base := []float64{0.031, 0.052, 0.008, 0.044, 0.027, 0.019, 0.061, 0.035}
	inside, outside := 0, 0
	for shift := -0.10; shift < 0.10; shift += 0.001 {
		logs := slices.Clone(base)
		for i := range logs {
			logs[i] += shift
		}
		differs := !Ratio(logs).Contains(1)
		if p := PValue(logs); (p < 0.05) != differs {
			t.Errorf("shift %g: p = %g, interval %v", shift, p, Ratio(logs))
		}
		if differs {
			outside++
		} else {
			inside++
		}
	}
	if inside == 0 || outside == 0 {
		t.Fatalf("the shifts do not cross the border: %d inside, %d outside", inside, outside)
	}
	for name, c := range map[string]struct {
		logs []float64
		want float64
	}{"none": {nil, 1}, "one": {[]float64{3}, 1}, "all 1": {[]float64{0, 0, 0}, 1}, "all 2": {[]float64{1, 1, 1}, 0}} {
		if got := PValue(c.logs); got != c.want {
			t.Errorf("%s: p = %g, want %g", name, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	a := []float64{0.50, 0.52, 0.49, 0.51, 0.50}
	b := []float64{0.40, 0.41, 0.39, 0.42, 0.40, 0.41}
	e, p := Compare(a, b)
	if want := math.Exp(mean(a) - mean(b)); math.Abs(e.Value-want) > 1e-12 || e.Contains(1) || p >= 0.05 {
		t.Errorf("%v with p = %g, want %g and a clear difference", e, p, want)
	}
	if e, p = Compare(a, a); !e.Contains(1) || p != 1 {
		t.Errorf("a series against itself: %v with p = %g", e, p)
	}
	if e, p = Compare(a, b[:1]); e.Known() || p != 1 {
		t.Errorf("against a single round: %v with p = %g", e, p)
	}
	if e, p = Compare(nil, b); e.Known() || p != 1 {
		t.Errorf("of nothing: %v with p = %g", e, p)
	}
	if e, p = Compare([]float64{1, 1}, []float64{0, 0}); e.Low != math.E || p != 0 {
		t.Errorf("of constants: %v with p = %g", e, p)
	}
}

// TestCorrections holds the adjusted values of R's p.adjust(p, "holm") and p.adjust(p, "BH").
func TestCorrections(t *testing.T) {
	p := []float64{0.04, 0.001, 0.3, 0.01, 0.02}
	before := slices.Clone(p)
	if diff := cmp.Diff([]float64{0.08, 0.005, 0.3, 0.04, 0.06}, Holm(p), near); diff != "" {
		t.Errorf("Holm: %s", diff)
	}
	if diff := cmp.Diff([]float64{0.05, 0.005, 0.3, 0.025, 0.1 / 3}, BenjaminiHochberg(p), near); diff != "" {
		t.Errorf("Benjamini-Hochberg: %s", diff)
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("the caller's slice was changed: %s", diff)
	}
	if len(Holm(nil)) != 0 || len(BenjaminiHochberg(nil)) != 0 {
		t.Error("nothing to correct gives something")
	}
	if diff := cmp.Diff([]float64{1, 1}, Holm([]float64{0.7, 0.9})); diff != "" {
		t.Errorf("an adjusted p-value above 1: %s", diff)
	}
}

func TestDetectable(t *testing.T) {
	if d := Detectable([]float64{0.1}); !math.IsInf(d, 1) {
		t.Errorf("one round detects %g", d)
	}
	if d := Detectable([]float64{0.5, 0.5, 0.5}); d != 0 {
		t.Errorf("rounds without spread detect %g", d)
	}
	logs := []float64{0.01, -0.01, 0.02, -0.02, 0.00, 0.01}
	if d, h := Detectable(logs), Ratio(logs).HalfWidth(); d <= h {
		t.Errorf("detectable %g is not above the half-width %g", d, h)
	}
}

func TestDecided(t *testing.T) {
	quiet := []float64{0.010, 0.012, 0.008, 0.011, 0.009, 0.010}
	cases := []struct {
		name string
		logs []float64
		want bool
	}{
		{"quiet for three looks", quiet, true},
		{"quiet far from 1", shifted(quiet, 3), true},
		{"too short to have been looked at three times", quiet[:3], false},
		{"narrow only now", []float64{0.03, 0.00, 0.04, 0.02, 0.03}, false},
		{"wide", []float64{0.5, -0.5, 0.4, -0.4, 0.3, -0.3}, false},
		{"nothing", nil, false},
	}
	for _, c := range cases {
		if got := Decided(c.logs, 0.05); got != c.want {
			t.Errorf("%s: %v (half-width %g)", c.name, got, Ratio(c.logs).HalfWidth())
		}
	}
	narrow := cases[3].logs
	if h := Ratio(narrow).HalfWidth(); h > 0.05 {
		t.Errorf("the case of one narrow look has half-width %g", h)
	}
}

func shifted(logs []float64, by float64) []float64 {
	out := slices.Clone(logs)
	for i := range out {
		out[i] += by
	}
	return out
}

func TestSeries(t *testing.T) {
	a := Series{{0, 5, 1}, {1, 5, 2}, {3, 6, 4}}
	b := Series{{1, 5, 0.5}, {2, 5, 9}, {3, 6, 1}}
	if diff := cmp.Diff(Series{{1, 5, 1.5}, {3, 6, 3}}, a.Minus(b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Series{{1, 5, 1.25}, {3, 6, 2.5}}, GeoMean(a, b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(a, GeoMean(a)); diff != "" {
		t.Error(diff)
	}
	if a[0] != (Point{0, 5, 1}) {
		t.Error("the caller's series was changed")
	}
	if got := GeoMean(a, Series{{7, 6, 1}}); len(got) != 0 {
		t.Errorf("no common round, and yet %v", got)
	}
	if GeoMean() != nil {
		t.Error("a mean of nothing")
	}
	if diff := cmp.Diff([]float64{1, 2, 4}, a.Logs()); diff != "" {
		t.Error(diff)
	}
}

func TestEstimateJSON(t *testing.T) {
	for text, e := range map[string]Estimate{
		`{"value":0.5,"low":0.4,"high":0.6}`: {0.5, 0.4, 0.6},
		`{"value":0,"low":0,"high":0}`:       {},
		`{"value":0.5}`:                      {0.5, 0, math.Inf(1)},
	} {
		b, err := json.Marshal(map[string]Estimate{"x": e})
		if err != nil || string(b) != `{"x":`+text+`}` {
			t.Errorf("%v became %s, %v; want %s", e, b, err, text)
		}
		var back Estimate
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != e {
			t.Errorf("%s became %v, %v", text, back, err)
		}
	}
	var e Estimate
	if err := json.Unmarshal([]byte(`{"value":"x"}`), &e); err == nil {
		t.Error("a word was taken for a value")
	}
}

func TestEstimateMethods(t *testing.T) {
	e := Estimate{1, 1 / 1.1, 1.1}
	if h := e.HalfWidth(); math.Abs(h-0.1) > 1e-12 {
		t.Errorf("half-width %g", h)
	}
	if diff := cmp.Diff(Estimate{4, 4 / 1.1, 4.4}, e.Recentred(4), near); diff != "" {
		t.Error(diff)
	}
	if Unknown(1).Recentred(3) != Unknown(3) || !math.IsInf(Unknown(1).HalfWidth(), 1) || (Estimate{}).HalfWidth() != 0 {
		t.Error("an interval that is not known, or one of nothing")
	}
	for _, c := range []struct {
		e         Estimate
		low, high float64
	}{{Estimate{1, 0.9, 1.05}, 0.9, 1 / 0.9}, {Estimate{1, 0.99, 1.25}, 0.8, 1.25}, {Unknown(1), 0, math.Inf(1)}} {
		if low, high := c.e.Band(); math.Abs(low-c.low) > 1e-12 || high != c.high && math.Abs(high-c.high) > 1e-12 {
			t.Errorf("band of %v: %g, %g", c.e, low, high)
		}
	}
}
