package analyse

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/unit"
)

// Limits of the lie detector.
const (
	ramWithheld   = 0.5 // share of bytes that never met the device above which the cell is not about the disk
	ramWarned     = 0.05
	depthWithheld = 0.5 // achieved over asked iodepth below which the cell is another workload
	depthWarned   = 0.9
	skewWithheld  = 0.05 // guest clock against the host's: the figures are of another second
	skewWarned    = 0.001
	stealWarned   = 0.02
)

// judgeAll gives every cell its status, its reason, its numbers and its warnings. The host comes first
// in the order, so that its own verdict is there for the cells that depend on it.
func (t *table) judgeAll(latencies bool) {
	for _, c := range t.order {
		c.Rounds = len(c.pairs)
		if c.Baseline {
			c.Rounds = len(c.good)
		}
		c.RAMShare, c.Offered = c.ramShare(), c.offered()
		c.Status, c.Reason = t.judge(c)
		switch c.Status {
		case record.OK:
			c.fill(t.host(c), latencies)
			c.BestOfN = c.bestOf()
			c.warn(t)
		case record.Withheld:
			c.warn(t)
		}
	}
}

// judge returns the status of a cell and why it is not OK. The first that applies wins.
func (t *table) judge(c *cell) (status, reason string) {
	if why := t.found[c.Stack].Unavailable; why != "" {
		return record.Unavailable, why
	}
	if why := t.intent[c.Stack].Skips(c.workload); why != "" {
		return record.Unavailable, why
	}
	bad, why := c.failures()
	if bad > 0 && 3*bad > len(c.counted) {
		return record.Failed, why
	}
	host := t.host(c)
	if !c.Baseline && host.Status == record.Failed {
		return record.Failed, "the host baseline failed: " + host.Reason
	}
	if why := c.doubt(t, t.found[c.Stack]); why != "" {
		return record.Withheld, why
	}
	if why := t.suspect(c); why != "" {
		return record.Withheld, why
	}
	if !c.Baseline && host.Status == record.Withheld {
		return record.Withheld, "the host baseline is withheld: " + host.Reason
	}
	if !c.Baseline && len(c.pairs) == 0 {
		return record.Withheld, "no round holds a number of this cell and one of the host"
	}
	return record.OK, ""
}

// failures counts the windows without a number and says so with the first reason: "stalled in 3 of 6 windows: ...".
func (c *cell) failures() (bad int, why string) {
	stalled, first := 0, ""
	for _, w := range c.counted {
		if hasNumber(w, c.workload) {
			continue
		}
		bad++
		if w.Status == record.Stalled {
			stalled++
		}
		reason := w.Reason
		if w.Status == record.OK && reason == "" {
			reason = "no I/O was completed"
		}
		if first == "" {
			first = reason
		}
	}
	verb := "failed or stalled"
	switch stalled {
	case bad:
		verb = "stalled"
	case 0:
		verb = "failed"
	}
	why = fmt.Sprintf("%s in %d of %s", verb, bad, unit.Count(len(c.counted), "window"))
	if first != "" {
		why += ": " + first
	}
	return bad, why
}

// doubt returns why the cell's numbers cannot mean what they say, "" when they can.
func (c *cell) doubt(t *table, found record.Stack) string {
	switch errors, windows := c.fioErrors(); {
	case len(found.Mismatch) > 0:
		return "the effective configuration is not the intended one: " + strings.Join(found.Mismatch, "; ")
	case len(c.good) == 0:
		return "no counted round of this cell has ended"
	case c.hollow(found.Volume) != "":
		return c.hollow(found.Volume)
	case c.RAMShare != nil && *c.RAMShare > ramWithheld:
		return c.ramWords(*c.RAMShare)
	case errors > 0:
		return fmt.Sprintf("fio reported %s in %d of %s",
			unit.Count(errors, "error"), windows, unit.Count(len(c.counted), "window"))
	}
	if why := c.ownLimit(t); why != "" {
		return why
	}
	if skew := c.skew(); math.Abs(skew) > skewWithheld {
		return skewWords(skew)
	}
	if c.twoSpeeds() {
		return c.trendWords(c.trend) + "; the figure is a mean of two speeds"
	}
	if depth, asked, known := c.depth(); known && depth < depthWithheld*asked {
		return fmt.Sprintf("only %.1f of the %.0f I/Os asked for were in flight", depth, asked)
	}
	return c.short()
}

// skew is by how much the guest's clock typically ran faster than the host's, as a share; 0 where it is not known.
func (c *cell) skew() float64 {
	skew, _ := c.typical(func(e record.Evidence) (float64, bool) {
		if e.ClockSkew == nil {
			return 0, false
		}
		return *e.ClockSkew, true
	})
	return skew
}

func skewWords(skew float64) string {
	if skew < 0 {
		return fmt.Sprintf("the guest's clock ran %.2f %% slower than the host's", -100*skew)
	}
	return fmt.Sprintf("the guest's clock ran %.2f %% faster than the host's", 100*skew)
}

func (c *cell) ramWords(share float64) string {
	percent := fmt.Sprintf("%.0f %%", 100*share)
	switch {
	case !c.workload.Writes():
		return percent + " of these reads came from the host's RAM: this is not the disk"
	case !c.workload.Reads():
		return percent + " of these writes never reached the device during the window"
	}
	return percent + " of these reads and writes never met the device during the window"
}

// warn adds the footnotes of a cell whose number stands, or is withheld for another reason.
func (c *cell) warn(t *table) {
	add := func(yes bool, format string, args ...any) {
		if yes {
			c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
		}
	}
	if bad, why := c.failures(); bad > 0 {
		add(true, "%s", why)
	}
	if s := c.RAMShare; s != nil && *s >= ramWarned && *s <= ramWithheld {
		add(true, "%s", c.ramWords(*s))
	}
	if depth, asked, known := c.depth(); known && depth >= depthWithheld*asked && depth < depthWarned*asked {
		add(true, "%.1f of the %.0f I/Os asked for were in flight on average", depth, asked)
	}
	skew := c.skew()
	add(math.Abs(skew) > skewWarned && math.Abs(skew) <= skewWithheld, "%s", skewWords(skew))
	steal, _ := c.typical(func(e record.Evidence) (float64, bool) { return e.Steal, true })
	add(steal > stealWarned, "%.1f %% of the host's CPU time was stolen from it", 100*steal)
	c.warnOfVolume(t.found[c.Stack].Volume, add)
	c.warnOfGenerator(t, add)
	c.warnOfSuspects(add)
	add(c.trend != 0 && !c.twoSpeeds(), "%s", c.trendWords(c.trend))
	if c.Status == record.OK {
		c.warnOfWidth(t, add)
		if c.Baseline && !c.workload.Held() {
			why := c.unsteady()
			add(why != "", "%s", why)
		}
	}
	c.Warnings = append(c.Warnings, c.evidenceWarnings()...)
}

func (c *cell) warnOfWidth(t *table, add func(yes bool, format string, args ...any)) {
	add(c.Rounds == 1, "a single round: there is no interval")
	least := t.least
	if c.workload.Held() { // its rounds are a fixed number
		least = t.exp.MinRounds
	}
	add(c.Rounds > 1 && c.Rounds < least, "%d rounds, fewer than the %d asked for", c.Rounds, least)
}

// emptyWarnings says, once for the whole run, how many cells its time was not enough for.
func (t *table) emptyWarnings() []string {
	cells, empty := 0, 0
	for _, c := range t.order {
		if c.Status == record.Unavailable {
			continue
		}
		cells++
		if len(c.counted) == 0 {
			empty++
		}
	}
	if empty == 0 || t.run.Status != record.Complete {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d cells have no counted round: it takes more time (--budget)", empty, cells)}
}

// widthWarnings says, once for the whole run, how many cells are known less precisely than was asked: the table shows
// each interval anyway.
func (t *table) widthWarnings() []string {
	target := t.exp.Stopping().Width
	cells, wide := 0, 0
	for _, c := range t.order {
		ratio, has := c.Ratio[Headline(c.workload)]
		if !has || c.Status != record.OK || c.workload.Held() { // a held load has its rounds and no target
			continue
		}
		cells++
		if !ratio.Known() || ratio.HalfWidth() > target {
			wide++
		}
	}
	if wide == 0 || target <= 0 {
		return nil
	}
	mend := "more time (--budget) narrows them"
	if t.rebooted() {
		mend = "more time (--budget) or more boots narrow them"
	}
	return []string{fmt.Sprintf("%d of %d intervals are wider than the target of ±%s: %s", wide, cells, percentage(target), mend)}
}

// percentage writes a ratio with no more decimals than it has, one at most: "5 %", "2.1 %".
func percentage(ratio float64) string {
	return strconv.FormatFloat(math.Round(1000*ratio)/10, 'f', -1, 64) + " %"
}
