package analyse

import (
	"fmt"

	"github.com/iotax/iotax/internal/spec"
)

// aboveBlockLayer are the layers that a disk of zero latency measures as well as one that stores.
var aboveBlockLayer = []string{Transport, GuestLayer}

// split divides a step over the transport and the guest, in the proportion that they have over disks of zero latency: the
// guest is what null_blk inside it takes beyond what the host's own load generator and kernel do, the transport is what
// null-co behind the controller takes beyond that.
type split struct {
	nullCo  *node
	whole   *ask         // both, over disks of zero latency
	alone   [2]*ask      // each of aboveBlockLayer there
	parts   [2]splitPart // of the step
	without bool         // no null_blk was measured: there are no parts
}

type splitPart struct{ time, share, against *ask }

// splits is nil where no null-co has the transport of the stack.
func (d *draft) splits(s *chainStep, taxed quantity) *split {
	have := d.have(d.stack.Name, d.workload)
	same := func(layer string, o spec.Stack) bool { return d.have(o.Name, d.workload)[layer] == have[layer] }
	co := d.bestKnown(d.workload, func(o spec.Stack) bool { return o.Ceiling() && same(Transport, o) && same(GuestLayer, o) })
	blk := d.bestKnown(d.workload, func(o spec.Stack) bool { return o.InsideGuest() && same(GuestLayer, o) })
	load := d.loadTime(d.workload)
	if co == nil || load == nil {
		return nil
	}
	name := d.name(co) + " over the load"
	whole := d.time(co).minus(exponential(load))
	out := &split{nullCo: co, whole: d.want("above", name, whole), without: blk == nil}
	if blk == nil {
		return out
	}
	guest := d.time(blk).minus(exponential(load))
	transport := d.time(co).minus(d.time(blk))
	step, against := d.time(s.to).minus(d.time(s.from)), d.relative(s.to).minus(d.relative(s.from))
	for i, q := range []quantity{transport, guest} {
		part := aboveBlockLayer[i] + " of " + d.name(s.from) + " to " + d.name(s.to)
		out.alone[i] = d.want("alone", aboveBlockLayer[i]+" of "+d.name(co)+" and "+d.name(blk), q)
		out.parts[i] = splitPart{
			time:    d.want("part", part, step.times(q.over(whole))),
			against: d.want("part against", part, against.times(q.over(whole))),
			share:   d.want("part share", part+" in "+d.stack.Name, against.over(taxed).times(q.over(whole))),
		}
	}
	return out
}

// possible reports whether the step can be divided: not where a part, or the whole, would be less than nothing beyond its
// interval.
func (s *split) possible() bool {
	if s.without || !s.whole.Known() || s.whole.Low <= 0 {
		return false
	}
	for _, a := range s.alone {
		if a.High < 0 {
			return false
		}
	}
	return true
}

// whyNot says why a step with zero-latency stacks is not divided, "" where it is or where one is missing.
func (s *split) whyNot() string {
	if s.possible() || s.without {
		return ""
	}
	for i, a := range s.alone {
		if a.High < 0 {
			return fmt.Sprintf("%s and %s stand together: over disks of zero latency the %s would take less than nothing, %s",
				Transport, GuestLayer, aboveBlockLayer[i], timeWords(a.Estimate))
		}
	}
	return fmt.Sprintf("%s and %s stand together: what they take over disks of zero latency is not known well enough, %s; more rounds help",
		Transport, GuestLayer, timeWords(s.whole.Estimate))
}

// check compares the step with the way that does not pass the disk.
func (s *split) check(of *chainStep) *BillCheck {
	way, bill := s.whole.Estimate, of.time.Estimate
	if !way.Known() || !bill.Known() {
		return nil
	}
	return &BillCheck{Stack: s.nullCo.Stack, Time: way, Agree: way.Low <= bill.High && bill.Low <= way.High}
}
