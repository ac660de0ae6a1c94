package calibrate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/stat"
)

// What the planner assumes where nothing was measured is what whole runs on a shared machine have shown.
func TestAssumedNoise(t *testing.T) {
	traces, err := Traces()
	if err != nil {
		t.Fatal(err)
	}
	all, err := shapes()
	if err != nil {
		t.Fatal(err)
	}
	var seen []float64
	for _, trace := range traces {
		var scatters []float64
		for i := range uint64(5) {
			draw := rand.New(rand.NewPCG(i, 1))
			_, r, err := simulate(all[0].exp, newDevice(trace, draw, nil), draw, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			scatters = append(scatters, r.Scatter())
		}
		t.Logf("%s: shares scatter by %.2f", trace.Name, stat.Median(scatters))
		if strings.HasPrefix(trace.Name, "run-") {
			seen = append(seen, stat.Median(scatters))
		}
	}
	slices.Sort(seen)
	if quietest := seen[0]; plan.Assumed.Scatter < quietest/1.5 || plan.Assumed.Scatter > quietest*1.5 {
		t.Errorf("%.2f is assumed; the quietest run of those recorded shows %.2f", plan.Assumed.Scatter, quietest)
	}
}
