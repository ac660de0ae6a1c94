package analyse

import (
	"math"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// isDerived reports whether a metric comes from the evidence of windows, and so survives a withheld number.
func isDerived(metric string) bool { return slices.Contains(record.DerivedNames, metric) }

// ofEvidence returns a derived metric of one window; false where the window does not tell it. compress is the ratio of the
// volume's storage, 0 where that is not known.
func ofEvidence(metric string, e record.Evidence, load spec.Workload, compress float64) (float64, bool) {
	switch metric {
	case record.RAMShare:
		return ramShare(e, load, compress)
	case record.DeviceReadRatio:
		return over(e.DeviceRead, e.PathRead, load.Reads())
	case record.DeviceWriteRatio:
		return over(e.DeviceWrite, e.PathWrite, load.Writes())
	case record.ARCHitShare:
		if e.ARCHits == nil || e.ARCMisses == nil {
			return 0, false
		}
		return over(e.ARCHits, *e.ARCHits+*e.ARCMisses, true)
	case record.DeviceRequestRatio:
		return requestRatio(e, load)
	case record.FlushRatio:
		return flushRatio(e, load)
	case record.HostCPUPerIO:
		return hostCPUPerIO(e)
	case record.HostCPU:
		return told(e.HostCPU)
	case record.GuestCPU:
		return told(e.GuestCPU)
	}
	return 0, false
}

func told(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

func over(part *int64, whole int64, wanted bool) (float64, bool) {
	if part == nil || whole <= 0 || !wanted {
		return 0, false
	}
	return float64(*part) / float64(whole), true
}

// ramShare is the share of the bytes that never met the device, what others moved there not counted. Where the storage
// compresses, each of them takes only a part of one there.
func ramShare(e record.Evidence, load spec.Workload, compress float64) (float64, bool) {
	var path, device int64
	if load.Reads() {
		if e.DeviceRead == nil {
			return 0, false
		}
		path, device = path+e.PathRead, device+ours(*e.DeviceRead, e.ForeignRead)
	}
	if load.Writes() {
		if e.DeviceWrite == nil {
			return 0, false
		}
		path, device = path+e.PathWrite, device+ours(*e.DeviceWrite, e.ForeignWrite)
	}
	if path <= 0 {
		return 0, false
	}
	return min(max(1-max(compress, 1)*float64(device)/float64(path), 0), 1), true
}

// ours is what is left of bytes at the device when those of others are taken off, where they are known.
func ours(device int64, foreign *int64) int64 {
	if foreign == nil {
		return device
	}
	return max(device-*foreign, 0)
}

// derived is a derived metric of a cell by round: the values themselves, for they may be 0. A disk of zero latency has
// no device behind it, and a cell that failed, or whose stack is not what it should be, has no evidence worth the name; nor
// tells the device of a load beside which others had much of it.
func (c *cell) derived(metric string) stat.Series {
	device := slices.Contains([]string{record.RAMShare, record.DeviceReadRatio, record.DeviceWriteRatio, record.DeviceRequestRatio, record.FlushRatio}, metric)
	if c.mismatch || c.Status == record.Failed || c.ceiling && device {
		return nil
	}
	if device && metric != record.RAMShare && c.foreign() > foreignWithheld {
		return nil // what reached the device is mostly not this load's
	}
	var out stat.Series
	for _, w := range c.good {
		if v, ok := ofEvidence(metric, w.Evidence, c.workload, c.compress); ok {
			out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: v})
		}
	}
	return out
}

// derive estimates the derived metrics of all cells, those of withheld numbers too: the evidence stands.
func (t *table) derive() {
	for _, metric := range record.DerivedNames {
		members := map[bool][]stat.Series{}
		all := make([]stat.Series, len(t.order))
		for i, c := range t.order {
			all[i] = c.derived(metric)
			members[c.guest] = append(members[c.guest], all[i])
		}
		between := map[bool]stat.Between{true: stat.Pool(members[true]), false: stat.Pool(members[false])}
		for i, c := range t.order {
			e := bounded(metric, between[c.guest].Contrast(all[i]).Plain(0.95))
			ratio, tells := t.compressRatio(c.Stack)
			switch {
			case metric == record.CompressRatio && tells:
				c.put(metric, exactly(ratio))
			case len(all[i]) > 0:
				c.put(metric, e)
			}
		}
		t.plain[metric] = between
	}
}

func (c *cell) put(metric string, e stat.Estimate) {
	if c.Derived == nil {
		c.Derived = map[string]stat.Estimate{}
	}
	c.Derived[metric] = e
}

// compressRatio is what the storage of a stack's volume tells: one number, without chance in it.
func (t *table) compressRatio(stack string) (float64, bool) {
	v := t.found[stack].Volume
	if v == nil || v.CompressRatio == nil || len(t.found[stack].Mismatch) > 0 {
		return 0, false
	}
	return *v.CompressRatio, true
}

func exactly(v float64) stat.Estimate { return stat.Estimate{Value: v, Low: v, High: v} }

// bounded keeps an interval where its metric can be: shares end at 1, and none is below 0.
func bounded(metric string, e stat.Estimate) stat.Estimate {
	e.Low = max(e.Low, 0)
	if e.Known() && (metric == record.RAMShare || metric == record.ARCHitShare) {
		e.High = min(e.High, 1)
	}
	return e
}

// bestOf is what a program that reports the best of N rounds would have said.
func (c *cell) bestOf() *BestOfN {
	windows := c.good
	if !c.Baseline {
		windows = nil
		for _, p := range c.pairs {
			windows = append(windows, p.this)
		}
	}
	if len(windows) == 0 || c.workload.Held() {
		return nil
	}
	best := &BestOfN{N: len(windows), ClatMean: math.Inf(1)}
	for _, w := range windows {
		best.Headline = max(best.Headline, w.Metrics[Headline(c.workload)])
		if clat := w.Metrics[record.ClatMean]; clat > 0 {
			best.ClatMean = min(best.ClatMean, clat)
		}
	}
	if math.IsInf(best.ClatMean, 1) {
		best.ClatMean = 0
	}
	return best
}
