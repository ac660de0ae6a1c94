package metrics

import (
	"slices"
	"testing"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// TestEveryMetricIsKnown: none of record's is without a title, a unit and a direction that record agrees with.
func TestEveryMetricIsKnown(t *testing.T) {
	names := slices.Concat(record.MetricNames, record.SyncNames, record.DerivedNames)
	for _, m := range names {
		if Title(m) == m || Unit(m) == "" {
			t.Errorf("%s is called %q in %q", m, Title(m), Unit(m))
		}
		if !slices.Contains(record.DerivedNames, m) && (Better(m) == Higher) != record.HigherIsBetter(m) {
			t.Errorf("%s: %s is better", m, Better(m))
		}
	}
	if len(all) != len(names) {
		t.Errorf("%d metrics are written, %d are known", len(all), len(names))
	}
	if Title("new") != "new" || Better("new") != Neither || Unit("new") != "" {
		t.Error("a metric that is not known is taken for one")
	}
}

func TestFormat(t *testing.T) {
	for _, tc := range []struct {
		metric                string
		e                     stat.Estimate
		value, interval, unit string
	}{
		{record.IOPS, stat.Estimate{Value: 19_100, Low: 18_700, High: 19_500}, "19.1k IOPS", "18.7 to 19.5", "thousands"},
		{record.IOPS, stat.Estimate{Value: 190, Low: 170, High: 210}, "190 IOPS", "170 to 210", "per second"},
		{record.Bandwidth, stat.Estimate{Value: 520e6, Low: 500e6, High: 540e6}, "520 MB/s", "500 to 540", "MB/s"},
		{record.ClatP99, stat.Estimate{Value: 3.71e6, Low: 3.6e6, High: 3.8e6}, "3.7 ms", "3.6 to 3.8", "ms"},
		{record.RAMShare, stat.Estimate{Value: 0.97, Low: 0.95, High: 0.99}, "97 %", "95 to 99", "%"},
		{record.CompressRatio, stat.Estimate{Value: 1.94, Low: 1.94, High: 1.94}, "1.94", "1.94 to 1.94", ""},
		{record.HostCPU, stat.Estimate{Value: 0.81, Low: 0.7, High: 0.9}, "0.8 CPUs", "0.7 to 0.9", ""},
		{record.IOPS, stat.Estimate{Value: 113, Low: 0.1, High: 90_000}, "113 IOPS", "0 to 90000", "per second"},
		{record.IOPS, stat.Unknown(950), "950 IOPS", "", "per second"},
	} {
		if v, i := Format(tc.metric, tc.e), Interval(tc.metric, tc.e); v != tc.value || i != tc.interval {
			t.Errorf("%s %v: %q and %q, want %q and %q", tc.metric, tc.e, v, i, tc.value, tc.interval)
		}
		if u := UnitName(tc.metric, Scale(tc.metric, tc.e)); u != tc.unit {
			t.Errorf("%s: %q, want %q", tc.metric, u, tc.unit)
		}
	}
}
