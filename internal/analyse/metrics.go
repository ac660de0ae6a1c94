package analyse

import (
	"math"
	"time"

	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// percentiles are the metrics that come from merged histograms.
var percentiles = map[string]float64{record.ClatP50: 0.5, record.ClatP99: 0.99, record.ClatP999: 0.999}

// wanted is an estimate still to be made, when the series of all cells are known.
type wanted struct {
	into   map[string]stat.Estimate
	metric string
	at     float64 // the value that comes from all windows together; 0 for the location of the series
	series stat.Series
	family family
}

// family is the cells whose series move from boot to boot in comparable ways.
type family struct {
	metric string // "" for IOPS and bandwidth, of which each cell has its headline in the family, but for those of held loads
	ratio  bool
	guest  bool // stacks with a guest, or the host, its twin and the stacks beside them
}

// fill collects what the numbers of a cell that is OK come from: of the host all its windows, of any other cell
// those that have a twin on the host, so that values, ratios and Rounds are about the same windows.
func (c *cell) fill(host *cell, latencies bool) {
	these, hosts := c.good, []*record.Window(nil)
	if !c.Baseline {
		these = make([]*record.Window, len(c.pairs))
		hosts = make([]*record.Window, len(c.pairs))
		for i, p := range c.pairs {
			these[i], hosts[i] = p.this, p.host
		}
	}
	head := Headline(c.workload)
	c.Metrics = map[string]stat.Estimate{}
	if hosts != nil {
		c.Ratio = map[string]stat.Estimate{}
	}
	for _, metric := range []string{record.IOPS, record.Bandwidth} {
		c.want(metric, 0, these, nil)
		if hosts != nil {
			c.want(metric, 0, these, hosts)
		}
	}
	switch {
	case latencies:
		c.latencies(host, these, hosts)
	case c.workload.Held():
		c.meanLatencies(these, hosts)
	}
	for i, w := range these {
		point := Point{Round: w.Round, Boot: w.Boot, Value: w.Metrics[head], Ratio: 1, Metrics: w.Metrics, Timed: time.Duration(w.Timed)}
		if hosts != nil {
			point.Ratio = point.Value / hosts[i].Metrics[head]
			c.series = append(c.series, stat.Point{Round: w.Round, Boot: w.Boot, Log: math.Log(point.Ratio)})
		}
		c.Points = append(c.Points, point)
	}
}

// want asks for the estimate of a metric of these windows or, when hosts are given, of its ratios to those.
func (c *cell) want(metric string, at float64, these, hosts []*record.Window) {
	s := logs(metric, these, hosts)
	if len(s) == 0 && at == 0 {
		return
	}
	w := wanted{into: c.Metrics, metric: metric, at: at, series: s, family: family{metric: metric, ratio: hosts != nil, guest: c.guest}}
	if hosts != nil {
		w.into = c.Ratio
	}
	if (metric == record.IOPS || metric == record.Bandwidth) && !c.workload.Held() {
		w.family.metric = ""
	}
	c.wanted = append(c.wanted, w)
}

// estimate turns the series of all cells into estimates, each with the error between boots of its family. Where a
// value comes from all windows together, the rounds give the width: the mean of the rounds' percentiles
// would be no percentile of anything.
func (t *table) estimate() {
	members := map[family][]stat.Series{}
	for _, c := range t.order {
		for _, w := range c.wanted {
			if w.family.metric != "" || w.metric == Headline(c.workload) {
				members[w.family] = append(members[w.family], w.series)
			}
		}
	}
	t.between = map[family]stat.Between{}
	for f, all := range members {
		t.between[f] = stat.Pool(all)
	}
	for _, c := range t.order {
		for _, w := range c.wanted {
			e := t.between[w.family].Ratio(w.series)
			if w.at > 0 {
				e = e.Recentred(w.at)
			}
			w.into[w.metric] = e
		}
		c.wanted = nil
	}
}

// ratios is by how much a headline ratio moves from boot to boot: of the guests, or of the host's twin and the stacks beside it.
func (t *table) ratios(c *cell) stat.Between {
	f := family{ratio: true, guest: c.guest}
	if c.workload.Held() {
		f.metric = Headline(c.workload)
	}
	return t.between[f]
}

// latencies asks for the mean and the percentiles over all completions of the windows together, and their ratios.
func (c *cell) latencies(host *cell, these, hosts []*record.Window) {
	c.meanLatencies(these, hosts)
	if c.workload.FDataSync > 0 { // the histograms of syncs are not kept: this is the percentile of a typical round
		c.want(record.SyncP99, 0, these, nil)
		if hosts != nil {
			c.want(record.SyncP99, 0, these, hosts)
		}
	}
	all := merge(these)
	twins, others := bothHistograms(these, hosts)
	if c.Baseline {
		c.merged = all
	}
	paired, beside := all, host.merged
	if len(twins) < len(these) {
		paired = merge(twins)
	}
	if len(others) < len(host.good) {
		beside = merge(others)
	}
	for metric, p := range percentiles {
		c.wantLatency(metric, these, hosts, percentile(all, p), percentile(paired, p), percentile(beside, p))
	}
}

// meanLatencies asks for the means, which takes no histograms.
func (c *cell) meanLatencies(these, hosts []*record.Window) {
	for _, metric := range []string{record.ClatMean, record.SyncMean} {
		if mean := meanLatency(metric, these); metric == record.ClatMean || c.workload.FDataSync > 0 {
			c.wantLatency(metric, these, hosts, mean, mean, meanLatency(metric, hosts))
		}
	}
}

// wantLatency asks for a latency, and its ratio of over to host.
func (c *cell) wantLatency(metric string, these, hosts []*record.Window, value, over, host float64) {
	if value > 0 {
		c.want(metric, value, these, nil)
	}
	if over > 0 && host > 0 {
		c.want(metric, over/host, these, hosts)
	}
}

// bothHistograms leaves out the windows that lack a histogram, or whose twin does.
func bothHistograms(these, hosts []*record.Window) (a, b []*record.Window) {
	for i, host := range hosts {
		if len(these[i].Histogram) > 0 && len(host.Histogram) > 0 {
			a, b = append(a, these[i]), append(b, host)
		}
	}
	return a, b
}

// logs returns the logs of a metric by window, or of its ratio to the host's; windows that lack it are left out.
func logs(metric string, these, hosts []*record.Window) stat.Series {
	out := make(stat.Series, 0, len(these))
	for i, w := range these {
		v := ofWindow(w, metric)
		if hosts != nil {
			v /= ofWindow(hosts[i], metric) // 0/0 and x/0 are not finite
		}
		if v > 0 && !math.IsInf(v, 0) {
			out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: math.Log(v)})
		}
	}
	return out
}

// ofWindow returns a metric of one window, from its own histogram where fio did not give it, 0 where neither has it.
func ofWindow(w *record.Window, metric string) float64 {
	v := w.Metrics[metric]
	if p, ok := percentiles[metric]; ok && v == 0 {
		v = percentile(w.Histogram, p)
	}
	return v
}

// percentile is hist.Percentile, and 0 where there are fewer than 1/(1-p) completions: such a histogram
// has a slowest completion, but no such percentile.
func percentile(bins []hist.Bin, p float64) float64 {
	if float64(hist.Count(bins))*(1-p) < 1-1e-9 {
		return 0
	}
	ns, _ := hist.Percentile(bins, p)
	return float64(ns)
}

// meanLatency is the mean of a latency over all completions of the windows, 0 when none knows it. (Syncs are as many
// as completions, or one for each so many.)
func meanLatency(metric string, windows []*record.Window) float64 {
	var sum, n float64
	for _, w := range windows {
		if mean := w.Metrics[metric]; mean > 0 {
			count := completions(w)
			sum, n = sum+mean*count, n+count
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// completions is how many I/Os a window completed: fio's rate over its timed part. (The histogram counts them
// exactly but is not always there, and the two must not be mixed.)
func completions(w *record.Window) float64 {
	return w.Metrics[record.IOPS] * float64(max(w.Timed, 1)) / 1e9
}
