package analyse

import (
	"slices"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/stat"
)

// defaults are the roles that the best stack is held against.
var defaults = []string{"virt-manager", "proxmox"}

// gains compares the best stack with each usual default, workload by workload and overall. Differs is corrected over
// all of these together (Benjamini and Hochberg).
func (t *table) gains(best string) []Gain {
	var gains []Gain
	var p []float64
	apart := t.apart(best)
	for _, s := range t.stacks {
		role := t.role(s)
		if s == best || !slices.Contains(defaults, role) {
			continue
		}
		gain, ps := t.gain(best, s, apart)
		gain.Role = role
		gains, p = append(gains, gain), append(p, ps...)
	}
	adjusted := stat.BenjaminiHochberg(p)
	next := func() bool {
		differs := adjusted[0] <= alpha
		adjusted = adjusted[1:]
		return differs
	}
	for i := range gains {
		g := &gains[i]
		for i := range g.Workloads {
			if g.Workloads[i].Ratio != nil {
				g.Workloads[i].Differs = next()
			}
		}
		if g.Overall != nil {
			g.Differs = next()
		}
	}
	return gains
}

// apart is by how much a stack's difference to the others of its boots moves from boot to boot, under one workload.
func (t *table) apart(stack string) stat.Between {
	var all []stat.Series
	for _, c := range t.order {
		if c.guest && c.Stack != stack && !c.workload.Held() {
			all = append(all, t.cells[key{stack, c.Workload}].series.Minus(c.series))
		}
	}
	return stat.Pool(all)
}

// gain compares two stacks; the p-values are of its workloads with a ratio, in their order, then of them overall.
func (t *table) gain(best, over string, apart stat.Between) (Gain, []float64) {
	g := Gain{Over: over}
	var p []float64
	var both []string
	for _, w := range Ranked(t.exp) {
		line := GainCell{Workload: w.Name}
		this, that := t.cells[key{best, w.Name}], t.cells[key{over, w.Name}]
		switch {
		case that.Status != record.OK:
			line.Reason = that.Status + ": " + that.Reason
		case this.Status != record.OK:
			line.Reason = best + " is " + this.Status + ": " + this.Reason
		default:
			ratio, q := contrast(this.series, that.series, t.ratios(this), apart)
			line.Ratio = &ratio
			p = append(p, q)
			both = append(both, w.Name)
		}
		g.Workloads = append(g.Workloads, line)
	}
	if len(both) > 0 {
		ratio, q := t.overall(best, over, both)
		g.Overall, p = &ratio, append(p, q)
	}
	return g, p
}

// overall is the ratio of the geometric means of two stacks over the same workloads, with its p-value.
func (t *table) overall(best, over string, workloads []string) (stat.Estimate, float64) {
	m := t.means(workloads)
	ratio, p := contrast(m.rounds[best], m.rounds[over], m.between, m.apart(best))
	if ratio.Known() {
		return ratio, p
	}
	return stat.Unknown(m.ratio(best).Value / m.ratio(over).Value), 1
}
