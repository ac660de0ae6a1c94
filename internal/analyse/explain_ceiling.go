package analyse

import (
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// nearCeiling is the share of a ceiling's IOPS from which on a faster disk is not worth its price.
const nearCeiling = 0.8

// ceilings says what each path can do over a disk of zero latency.
func (x *explainer) ceilings() []Ceiling {
	var out []Ceiling
	for _, c := range x.order {
		if s, known := x.intent[c.Stack]; !known || !s.Ceiling() || x.node(c.Stack, c.Workload) == nil || c.workload.Held() {
			continue
		}
		e := Ceiling{Stack: c.Stack, Workload: c.Workload, IOPS: c.Metrics[record.IOPS]}
		for _, other := range x.users(c) {
			e.Of = append(e.Of, CeilingUse{Stack: other.Stack, Share: x.iopsRatio(other.cell, c)})
		}
		e.Sentence = x.ceilingWords(c, e)
		out = append(out, e)
	}
	return out
}

// users lists the stacks with a disk whose I/O takes the path of a zero-latency stack: all of the guest for null_blk, and the
// same controller for null-co.
func (x *explainer) users(c *cell) []*node {
	var out []*node
	path := x.have(c.Stack, c.Workload)
	for _, s := range x.exp.Stacks {
		n, have := x.node(s.Name, c.Workload), x.have(s.Name, c.Workload)
		if n == nil || s.Ceiling() || s.OnHost() || have[GuestLayer] != path[GuestLayer] {
			continue
		}
		if x.intent[c.Stack].InsideGuest() || have[Transport] == path[Transport] {
			out = append(out, n)
		}
	}
	return out
}

// iopsRatio compares the IOPS of two cells, round by round.
func (t *table) iopsRatio(a, b *cell) stat.Estimate {
	return t.product(record.IOPS, times([]part{{a, 1}}, []part{{b, -1}})).estimate(1 - alpha)
}

// ceilingWords is what a buyer should know, said as far as the intervals carry it.
func (x *explainer) ceilingWords(c *cell, e Ceiling) string {
	tops := fmt.Sprintf("this VM path tops out at %s IOPS", unit.IOPS(e.IOPS.Value))
	if x.intent[c.Stack].InsideGuest() {
		tops = fmt.Sprintf("the guest itself tops out at %s IOPS, whatever disk it is given", unit.IOPS(e.IOPS.Value))
	}
	if x.intent[c.Stack].OnHost() {
		return fmt.Sprintf("QEMU's block layer by itself, with neither a disk nor a guest, tops out at %s IOPS", unit.IOPS(e.IOPS.Value))
	}
	best := slices.IndexFunc(e.Of, func(u CeilingUse) bool {
		return !slices.ContainsFunc(e.Of, func(o CeilingUse) bool { return o.Share.Value > u.Share.Value })
	})
	if best < 0 {
		return tops + "; no stack that was measured takes it to a disk"
	}
	near := e.Of[best]
	at := fmt.Sprintf("%s is at %s of that", near.Stack, unit.Part(near.Share.Value, near.Share.Low, near.Share.High))
	switch {
	case !near.Share.Known():
		return tops + "; " + at + ", by a single round: nothing follows from it"
	case near.Share.Low >= 1:
		return tops + " over a disk of zero latency; " + at + ": the path is no limit to it"
	case near.Share.Low >= nearCeiling:
		words := fmt.Sprintf("%s and %s: a faster disk will not help%s", tops, at, atMostMore(near.Share))
		if x.intent[c.Stack].InsideGuest() {
			return words + ", and no other controller will"
		}
		return words + x.remedy(c)
	case near.Share.High < nearCeiling && !x.intent[c.Stack].InsideGuest():
		return fmt.Sprintf("the disk is the limit, or what lies between it and the controller: over a disk of zero latency this VM path does "+
			"%s what %s does, %s IOPS",
			unit.Multiple(1/near.Share.Value, 1/near.Share.High, 1/near.Share.Low), near.Stack, unit.IOPS(e.IOPS.Value))
	case near.Share.High < nearCeiling:
		return fmt.Sprintf("%s; %s: the guest is not the limit", tops, at)
	}
	return tops + "; " + at + ": whether the disk or the path is the limit cannot be told"
}

// atMostMore says how much the fastest of disks could add.
func atMostMore(share stat.Estimate) string {
	more := 100 * (1/share.Low - 1)
	if more < 1 {
		return ""
	}
	return fmt.Sprintf(" (by %.0f %% at most)", more)
}

// remedy is the path that does more: the ceiling that is highest and differs beyond its interval.
func (x *explainer) remedy(c *cell) string {
	var top stat.Estimate
	name := ""
	for _, s := range x.exp.Stacks {
		n := x.node(s.Name, c.Workload)
		if n == nil || s.OnHost() || s.InsideGuest() || s.Name == c.Stack {
			continue
		}
		if r := x.iopsRatio(n.cell, c); r.Known() && r.Low > 1 && r.Value > top.Value {
			top, name = r, s.Name
		}
	}
	if name == "" {
		return ", and no other path that was measured does more"
	}
	return fmt.Sprintf("; %s will: %s as much", x.change(c, name), unit.Multiple(top.Value, top.Low, top.High))
}

// change names what sets one path apart from another: an iothread where it is that alone, else the stack.
func (x *explainer) change(from *cell, to string) string {
	a, b := x.intent[from.Stack], x.intent[to]
	if b.IOThread && !a.IOThread {
		b.IOThread = false
		if x.have(from.Stack, from.Workload)[Transport] == statesOf(x.exp, b, true)[Transport] {
			return "an iothread"
		}
	}
	return "the path of " + to
}
