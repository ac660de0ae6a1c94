package html

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// estimates calls do with every estimate of a value.
func estimates(v reflect.Value, do func(reflect.Value)) {
	if v.Type() == reflect.TypeFor[stat.Estimate]() {
		do(v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			estimates(v.Elem(), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			estimates(v.Index(i), do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			estimates(v.Field(i), do)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Set(v.MapIndex(k))
			estimates(one, do)
			v.SetMapIndex(k, one)
		}
	}
}

// TestOddExplanation: what is no number is not drawn, and breaks no template.
func TestOddExplanation(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, -1e300, 5e-324} {
		for _, e := range []stat.Estimate{{Value: v, Low: v, High: v}, {Value: 5, Low: v, High: 6}, {Value: 5, Low: 4, High: v}, stat.Unknown(v)} {
			r, i := explainedSample(), 0
			few := r.Explanation
			r.Cells, few.Bills, few.Prices, few.Ceilings = nil, few.Bills[:9], few.Prices[:25], few.Ceilings[:2]
			estimates(reflect.ValueOf(r.Explanation), func(at reflect.Value) {
				if i++; i%3 > 0 { // a third stays as it is
					at.Set(reflect.ValueOf(e))
				}
			})
			out := render(t, r)
			parse(t, out)
			for _, s := range []string{"NaN", "Inf", "ZgotmplZ"} {
				if bytes.Contains(out, []byte(s)) {
					t.Errorf("with %v the page has %q", e, s)
				}
			}
		}
	}
}

// TestSingleRoundOfExplanation: without intervals nothing but values is drawn.
func TestSingleRoundOfExplanation(t *testing.T) {
	r := explainedSample()
	estimates(reflect.ValueOf(r.Explanation), func(at reflect.Value) {
		at.Set(reflect.ValueOf(stat.Unknown(at.Interface().(stat.Estimate).Value)))
	})
	page := parse(t, render(t, r))
	for _, id := range []string{"why", "cost", "curves"} {
		section := page.byID(id)
		for _, n := range section.all("") {
			if c := n.attr["class"]; c == "reach" || c == "shade" || c == "whisk" && n.attr["d"] != "" {
				t.Errorf("%s draws an interval that is not known: %q", id, c)
			}
		}
		if !strings.Contains(section.words(), unknown) {
			t.Errorf("%s does not say that intervals are not known", id)
		}
	}
}

func TestHostileExplanation(t *testing.T) {
	const evil = `</title></desc><script>alert("x")</script>&{{.}}`
	r := explainedSample()
	e := r.Explanation
	b := &e.Bills[0]
	b.Advice, b.Check = []string{evil}, &analyse.BillCheck{Stack: evil}
	b.Layers[0] = analyse.BillLayer{Names: []string{evil}, From: evil, To: evil, Detail: evil}
	e.Bills[1].Stack, e.Bills[1].Reason = evil, evil
	e.Ceilings[0] = analyse.Ceiling{Stack: evil, Workload: evil, Sentence: evil, Of: []analyse.CeilingUse{{Stack: evil}}}
	e.Prices[0].Stack, e.Prices[0].Workload, e.Prices[1].Stack = evil, evil, evil
	e.Prices[1].ByRole[evil] = estimate(1, .1)
	e.Fronts[1].Stacks = append(e.Fronts[1].Stacks, evil)
	e.Curves[0].Stack, e.Curves[0].Load, e.Curves[1].Points[0].Reason = evil, evil, evil
	e.Limit.Metric = evil
	out := render(t, r)
	page := parse(t, out)
	if n := len(page.all("script")); n != 0 || bytes.Contains(out, []byte("<script")) || bytes.Contains(out, []byte("ZgotmplZ")) {
		t.Errorf("%d hostile elements got through, or one was escaped into nothing", n)
	}
}

// TestEmptyExplanation: parts without anything in them are a page all the same.
func TestEmptyExplanation(t *testing.T) {
	r := sample()
	for _, e := range []*analyse.Explanation{
		{},
		{Bills: []analyse.Bill{{}}, Ceilings: []analyse.Ceiling{{}}, Prices: []analyse.Price{{}}, Fronts: []analyse.Front{{}}, Curves: []analyse.Curve{{}}},
		{Bills: []analyse.Bill{{Reason: "no"}}, Curves: []analyse.Curve{{Points: []analyse.CurvePoint{{}}}}, Limit: &analyse.Limit{}},
	} {
		r.Explanation = e
		parse(t, render(t, r))
	}
	r.Run, r.Experiment, r.Cells, r.StackOrder = record.Run{}, spec.Experiment{}, nil, nil
	parse(t, render(t, r))
}

// TestExplanationSize: the promise of 5 MB for 10,000 cells holds with an explanation, and what is left out is said.
func TestExplanationSize(t *testing.T) {
	r := big(100, 100, 12)
	small := explainedSample().Explanation
	e := &analyse.Explanation{}
	for i, c := range r.Cells {
		b, p, top := small.Bills[0], small.Prices[1], small.Ceilings[0]
		b.Stack, b.Workload, p.Stack, p.Workload, top.Stack, top.Workload = c.Stack, c.Workload, c.Stack, c.Workload, c.Stack, c.Workload
		curve := small.Curves[1]
		curve.Stack, curve.Load = c.Stack, fmt.Sprint("load ", i%100)
		e.Bills, e.Prices, e.Ceilings, e.Curves = append(e.Bills, b), append(e.Prices, p), append(e.Ceilings, top), append(e.Curves, curve)
		r.Cells[i].Derived = map[string]stat.Estimate{record.DeviceReadRatio: estimate(1, .01)}
	}
	for _, w := range r.Experiment.Workloads {
		e.Fronts = append(e.Fronts, analyse.Front{Workload: w.Name, Stacks: r.StackOrder[:50], Beaten: r.StackOrder[50:]})
	}
	r.Explanation = e
	out := render(t, r)
	text := parse(t, out).all("main")[0].words()
	for _, s := range []string{"80 of 10000 bills", "40 of 10000 ceilings", "150 of 10000 cells", "1 of 100 workloads", "1 of 100 loads", "6 of 100 workloads"} {
		if !strings.Contains(text, "Here are "+s) {
			t.Errorf("the page does not say that it has %s", s)
		}
	}
	if len(out) >= 5_000_000 {
		t.Errorf("%d bytes, want less than 5 MB", len(out))
	}
}
