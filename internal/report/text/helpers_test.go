package text

import (
	"bytes"
	"math"
	"testing"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/stat"
)

var inf = math.Inf(1)

func est(v, low, high float64) stat.Estimate { return stat.Estimate{Value: v, Low: low, High: high} }

func one(metric string, e stat.Estimate) map[string]stat.Estimate {
	return map[string]stat.Estimate{metric: e}
}

func write(t *testing.T, r analyse.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
