package analyse

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// part is a cell in a product: its metric raised to a power. A mean over n workloads has powers of 1/n, a
// divisor has negative ones.
type part struct {
	*cell
	power float64
}

// effect is a product of metrics as a run knows it.
type effect struct {
	stat.Contrast
	at     float64 // the value, where it comes from all windows together; 0 for the location of the rounds
	metric string  // of values on their own scale, "" for a product
	exact  bool    // at is a number without chance in it
}

func (e effect) estimate(level float64) stat.Estimate {
	switch {
	case e.exact:
		return exactly(e.at)
	case e.metric != "":
		return bounded(e.metric, e.Plain(level))
	case e.at > 0:
		return e.Ratio(level).Recentred(e.at)
	}
	return e.Ratio(level)
}

// times collects the parts of several terms; a cell in more than one of them is one part.
func times(lists ...[]part) []part {
	var out []part
	for _, list := range lists {
		for _, p := range list {
			if i := slices.IndexFunc(out, func(q part) bool { return q.cell == p.cell }); i >= 0 {
				out[i].power += p.power
				continue
			}
			out = append(out, p)
		}
	}
	return slices.DeleteFunc(out, func(p part) bool { return math.Abs(p.power) < 1e-9 })
}

// inverse is one over the parts.
func inverse(parts []part) []part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].power = -out[i].power
	}
	return out
}

// product is the effect of parts. Cells that share rounds are joined round by round, so that what befalls a round cancels.
// Stacks of different boots never share any: each group of them is taken relative to the host of its own rounds, the
// groups add up as independent effects, and what the host itself has in the product comes from all its rounds.
func (t *table) product(metric string, parts []part) effect {
	if metric == record.CompressRatio {
		return t.compression(parts)
	}
	if joint := joined(metric, parts, false); len(joint) > 1 || len(groups(parts)) < 2 {
		return effect{Contrast: t.movement(metric, parts, false).Contrast(joint), at: pooled(metric, parts, joint, false)}
	}
	var sum stat.Contrast
	value, host := 1.0, map[string]part{}
	add := func(parts []part, relative bool) {
		s := joined(metric, parts, relative)
		c := t.movement(metric, parts, relative).Contrast(s)
		if sum.Rounds() > 0 {
			c = sum.Add(c)
		}
		sum, value = c, value*pooled(metric, parts, s, relative)
	}
	for _, group := range groups(parts) {
		add(group, true)
		for _, p := range group {
			h := host[p.Workload]
			host[p.Workload] = part{t.host(p.cell), h.power + p.power}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !isHost(p.Stack) })
	for _, w := range slices.Sorted(maps.Keys(host)) {
		rest = append(rest, host[w])
	}
	if rest = times(rest); len(rest) > 0 {
		add(rest, false)
	}
	return effect{Contrast: sum, at: value}
}

// compression needs no rounds.
func (t *table) compression(parts []part) effect {
	e := effect{at: 1, exact: true}
	for _, p := range parts {
		ratio, _ := t.compressRatio(p.Stack)
		e.at *= math.Pow(ratio, p.power)
	}
	return e
}

// level is the effect of a derived metric on its own scale, where 0 is a value: the mean over the parts.
func (t *table) level(metric string, parts []part) effect {
	if metric == record.CompressRatio {
		return t.compression(parts)
	}
	var sum stat.Series
	for i, p := range parts {
		s := p.derived(metric).Weigh(1 / float64(len(parts)))
		if sum = sum.Plus(s); i == 0 {
			sum = s
		}
	}
	return effect{Contrast: t.plain[metric][parts[0].guest].Contrast(sum), metric: metric}
}

// joined is the log of a product, round by round; relative divides each part by the host of the same round.
func joined(metric string, parts []part, relative bool) stat.Series {
	var sum stat.Series
	for i, p := range parts {
		s := p.byRound(metric, relative).Weigh(p.power)
		if sum = sum.Plus(s); i == 0 {
			sum = s
		}
	}
	return sum
}

// logsOf is what a series of a cell is of.
type logsOf struct {
	metric   string
	relative bool // to the host
}

// byRound is the log of a metric of a cell by round, or of its ratio to the host of the same round. It is remembered, since
// every stack is compared with every other. It is not to be changed.
func (c *cell) byRound(metric string, relative bool) stat.Series {
	k := logsOf{metric, relative}
	if s, known := c.logged[k]; known {
		return s
	}
	these, hosts := c.windows()
	if !relative {
		hosts = nil
	}
	if c.logged == nil {
		c.logged = map[logsOf]stat.Series{}
	}
	c.logged[k] = c.logs(metric, these, hosts)
	return c.logged[k]
}

// windows are those that a cell's numbers come from, and those of the host in the same rounds.
func (c *cell) windows() (these, hosts []*record.Window) {
	if c.Baseline {
		return c.good, c.good
	}
	for _, p := range c.pairs {
		these, hosts = append(these, p.this), append(hosts, p.host)
	}
	return these, hosts
}

// logs is the function of that name for any metric; "" is the headline.
func (c *cell) logs(metric string, these, hosts []*record.Window) stat.Series {
	if metric == "" {
		metric = Headline(c.workload)
	}
	if !isDerived(metric) {
		return logs(metric, these, hosts)
	}
	var out stat.Series
	for i, w := range these {
		v, _ := ofEvidence(metric, w.Evidence, c.workload, c.compress)
		if hosts != nil {
			over, _ := ofEvidence(metric, hosts[i].Evidence, c.workload, 0)
			v /= over // 0/0 and x/0 are not finite
		}
		if v > 0 && !math.IsInf(v, 0) {
			out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: math.Log(v)})
		}
	}
	return out
}

// groups sorts the parts into those that share rounds: the stacks of one guest, and those on the host that go with it.
func groups(parts []part) [][]part {
	var out [][]part
	var rounds []map[int]bool
	for _, p := range parts {
		if isHost(p.Stack) {
			continue
		}
		mine := map[int]bool{}
		for _, w := range p.good {
			mine[w.Round] = true
		}
		i := slices.IndexFunc(rounds, func(others map[int]bool) bool {
			for r := range mine {
				if others[r] {
					return true
				}
			}
			return false
		})
		if i < 0 {
			i, out, rounds = len(out), append(out, nil), append(rounds, mine)
		}
		out[i] = append(out[i], p)
		maps.Copy(rounds[i], mine)
	}
	return out
}

// movement is by how much a product moves from boot to boot: as a share of the host does, as the difference of two stacks
// of one guest does, or as a figure itself does. Stacks without a guest move with the host.
func (t *table) movement(metric string, parts []part, relative bool) stat.Between {
	var guests, others []string
	for _, p := range parts {
		these := &others
		if p.guest {
			these = &guests
		}
		if !slices.Contains(*these, p.Stack) {
			*these = append(*these, p.Stack)
		}
	}
	switch held := len(parts) > 0 && parts[0].workload.Held(); {
	case held && metric == "":
		metric = Headline(parts[0].workload)
	case !held && (metric == record.IOPS || metric == record.Bandwidth):
		metric = ""
	}
	if len(guests) > 1 {
		return t.apartUnder(guests[0], metric)
	}
	return t.between[family{metric: metric, ratio: relative || len(guests)+len(others) > 1, guest: len(guests) > 0}]
}

// apartUnder is by how much a stack's difference to the others of its boots moves from boot to boot, in a metric.
func (t *table) apartUnder(stack, metric string) stat.Between {
	k := key{stack, metric}
	if b, ok := t.aparts[k]; ok {
		return b
	}
	if !t.rebooted() { // then nothing can be known of it, and there is much to compare
		t.aparts[k] = stat.Pool(nil)
		return t.aparts[k]
	}
	var all []stat.Series
	for _, c := range t.order {
		mixed := metric == "" && c.workload.Held() // of which another metric is the headline
		if c.guest && c.Stack != stack && c.Status == record.OK && !mixed {
			this := t.cells[key{stack, c.Workload}]
			all = append(all, this.byRound(metric, false).Minus(c.byRound(metric, false)))
		}
	}
	t.aparts[k] = stat.Pool(all)
	return t.aparts[k]
}

// pooled is the value of a product of latencies over all completions of the rounds of a series together, since means of
// percentiles are means of nothing; 0 where the metric is none, or a window lacks what it takes.
func pooled(metric string, parts []part, rounds stat.Series, relative bool) float64 {
	if _, tail := percentiles[metric]; !tail && metric != record.ClatMean && metric != record.SyncMean {
		return 0
	}
	in := map[int]bool{}
	for _, p := range rounds {
		in[p.Round] = true
	}
	value := 1.0
	for _, p := range parts {
		these, hosts := p.windows()
		v := together(metric, these, in)
		if relative {
			v /= together(metric, hosts, in)
		}
		value *= math.Pow(v, p.power)
	}
	if !(value > 0) || math.IsInf(value, 0) {
		return 0
	}
	return value
}

// together is a latency over all completions of the windows of some rounds.
func together(metric string, windows []*record.Window, rounds map[int]bool) float64 {
	var these []*record.Window
	for _, w := range windows {
		if rounds[w.Round] {
			these = append(these, w)
		}
	}
	if p, ok := percentiles[metric]; ok {
		return percentile(merge(these), p)
	}
	return meanLatency(metric, these)
}

// whyNot says why a cell has no such metric, "" when it has it.
func (t *table) whyNot(c *cell, metric string) string {
	where := c.Stack + " under " + c.Workload
	if found := t.found[c.Stack]; found.Unavailable != "" {
		return c.Stack + " is unavailable here: " + strings.TrimSuffix(found.Unavailable, ".") + mending(found.Mend)
	}
	if _, ok := c.Derived[metric]; ok && !c.mismatch {
		return ""
	}
	switch {
	case len(c.counted) == 0 && metric != record.CompressRatio:
		return "no counted round of " + where + " has ended"
	case c.Status == record.Withheld:
		return where + " is withheld: " + c.Reason
	case c.Status != record.OK:
		return where + ": " + c.Reason
	case metric == record.CompressRatio:
		return "the storage of " + c.Stack + " tells no compression"
	case isDerived(metric):
		return metric + " could not be counted for " + where
	}
	if len(c.byRound(metric, false)) == 0 {
		return where + " has no " + metric
	}
	return ""
}

func mending(mend string) string {
	if mend == "" {
		return ""
	}
	return "; to have it: " + mend
}

// matching returns the cells of a term, by workload in the order of the experiment.
func (t *table) matching(term spec.Term) []*cell {
	var out []*cell
	for _, w := range t.named(term.Workload) {
		if c := t.cells[key{term.Stack, w}]; c != nil {
			out = append(out, c)
		}
	}
	return out
}

// mean is the geometric mean of a metric over cells, as parts of a product.
func mean(cells []*cell) []part {
	out := make([]part, len(cells))
	for i, c := range cells {
		out[i] = part{c, 1 / float64(len(cells))}
	}
	return out
}
