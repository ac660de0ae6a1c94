package analyse

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/stat"
)

func TestDominant(t *testing.T) {
	line := func(low float64, names ...string) BillLayer {
		return BillLayer{Names: names, Time: stat.Estimate{Value: 1}, Differs: true, Share: &stat.Estimate{Value: low + 0.1, Low: low, High: low + 0.2}}
	}
	little, unsure := line(0.1, BlockLayer), line(0.6, Transport)
	unsure.Differs = false
	bill := func(stack, workload string, layers ...BillLayer) Bill {
		return Bill{Stack: stack, Workload: workload, Layers: layers}
	}
	for name, tt := range map[string]struct {
		bills []Bill
		want  *Dominant
	}{
		"under all": {
			[]Bill{bill("best", "a", little, line(0.7, Transport)), bill("best", "b", little, line(0.6, Transport)), bill("best", "c", little, line(0.8, Transport))},
			&Dominant{"best", Transport, *line(0.6, Transport).Share, 3},
		},
		"under most": {
			[]Bill{bill("best", "a", little, line(0.7, Transport)), bill("best", "b", little, line(0.6, Transport)), bill("best", "c", little)},
			&Dominant{"best", Transport, *line(0.6, Transport).Share, 2},
		},
		"two that stand together": {
			[]Bill{bill("best", "a", little, line(0.7, Transport, GuestLayer)), bill("best", "b", little, line(0.7, Transport, GuestLayer))},
			&Dominant{"best", Transport + " + " + GuestLayer, *line(0.7).Share, 2},
		},
		"under few":        {[]Bill{bill("best", "a", little, line(0.7, Transport)), bill("best", "b", little), bill("best", "c", little)}, nil},
		"another one":      {[]Bill{bill("best", "a", line(0.7, Transport)), bill("best", "b", line(0.6, Transport)), bill("best", "c", line(0.6, GuestLayer))}, nil},
		"perhaps half":     {[]Bill{bill("best", "a", line(0.5, Transport)), bill("best", "b", line(0.45, Transport))}, nil},
		"from nothing":     {[]Bill{bill("best", "a", little, unsure), bill("best", "b", little, unsure)}, nil},
		"all in one line":  {[]Bill{bill("best", "a", line(1, BlockLayer, Transport)), bill("best", "b", line(1, BlockLayer, Transport))}, nil},
		"another stack":    {[]Bill{bill("other", "a", line(0.7, Transport)), bill("other", "b", line(0.7, Transport))}, nil},
		"not judged on it": {[]Bill{bill("best", "d", line(0.7, Transport)), bill("best", "e", line(0.7, Transport))}, nil},
		"no bills":         {nil, nil},
	} {
		r := Result{Best: &Best{Stack: "best", Workloads: []string{"a", "b", "c"}}, Explanation: &Explanation{Bills: tt.bills}}
		if d := cmp.Diff(tt.want, r.Dominant()); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
	if d := (Result{}).Dominant(); d != nil {
		t.Errorf("of nothing: %+v", d)
	}
}

// Of stacks that cannot be told from the best, the one is explained whose layers were told apart.
func TestClearest(t *testing.T) {
	bill := func(stack string, lines int) Bill {
		return Bill{Stack: stack, Workload: "a", Layers: make([]BillLayer, lines)}
	}
	for name, tt := range map[string]struct {
		bills []Bill
		want  string
	}{
		"no bills":            {nil, "best"},
		"as many":             {[]Bill{bill("best", 2), bill("tied", 2)}, "best"},
		"more":                {[]Bill{bill("best", 1), bill("tied", 2), bill("again", 3)}, "again"},
		"more, but not tied":  {[]Bill{bill("best", 1), bill("worse", 4)}, "best"},
		"more over workloads": {[]Bill{bill("best", 2), bill("tied", 1), bill("tied", 2)}, "tied"},
	} {
		r := Result{Best: &Best{Stack: "best", Tied: []string{"tied", "again"}}, Explanation: &Explanation{Bills: tt.bills}}
		if got := r.Clearest(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := (Result{}).Clearest(); got != "" {
		t.Errorf("of nothing: %s", got)
	}
	r := Result{Best: &Best{Stack: "best"}}
	if got := r.Clearest(); got != "best" {
		t.Errorf("without an explanation: %s", got)
	}
}
