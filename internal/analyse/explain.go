package analyse

import (
	"math"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// explain says where the tax goes. It is made of the estimates of all cells, and of the windows behind them.
func (t *table) explain() *Explanation {
	x := newExplainer(t)
	out := &Explanation{Prices: t.prices()}
	drafts := x.drafts()
	x.asks.answer()
	for _, d := range drafts {
		out.Bills = append(out.Bills, d.bill())
	}
	x.decide(drafts, out.Bills)
	out.Ceilings = x.ceilings()
	out.Fronts = t.fronts(out.Prices)
	out.Curves = t.curves()
	return out
}

// explainer is a table with what bills are made of.
type explainer struct {
	*table
	asks
	nodes  map[key]*node
	states map[bool]map[string]states // under loads that write or do not, by stack
}

func newExplainer(t *table) *explainer {
	x := &explainer{table: t, nodes: map[key]*node{}, states: map[bool]map[string]states{true: {}, false: {}}}
	for _, s := range t.exp.Stacks {
		x.states[true][s.Name], x.states[false][s.Name] = statesOf(t.exp, s, true), statesOf(t.exp, s, false)
	}
	for _, c := range t.order {
		if n := timed(c); n != nil && c.Stack != spec.Control {
			x.nodes[key{c.Stack, c.Workload}] = n
		}
	}
	return x
}

// have is the layers of a stack under a workload.
func (x *explainer) have(stack, workload string) states {
	return x.states[x.cells[key{spec.Host, workload}].workload.Writes()][stack]
}

// node is the time of a stack under a workload, nil where it has no number.
func (x *explainer) node(stack, workload string) *node { return x.nodes[key{stack, workload}] }

// time is that of one I/O of those in flight, in nanoseconds.
func (x *explainer) time(n *node) quantity {
	if n.Baseline {
		return exponential(n)
	}
	return exponential(x.node(spec.Host, n.Workload), n)
}

// relative is the same as a multiple of the host's, of which what befalls a round as a whole is no part.
func (x *explainer) relative(n *node) quantity {
	if n.Baseline {
		return quantity{value: 1}
	}
	return exponential(n)
}

// loadTime is what the load generator and the host's kernel take of the CPU for one I/O, for all that one job has in
// flight: the time of an I/O on the host if there were no disk. It is counted by the threads of the load, else by the share of a CPU
// that fio itself tells. nil where neither is known.
func (x *explainer) loadTime(workload string) *node {
	k := key{"load on the host", workload}
	if n, known := x.nodes[k]; known {
		return n
	}
	host := x.cells[key{spec.Host, workload}]
	counted, told := loadSeries(host, ofThreads), loadSeries(host, toldByFio)
	if len(counted) < min(2, len(told)) {
		counted = told
	}
	x.nodes[k] = nil
	if len(counted) > 0 {
		x.nodes[k] = newNode(host, counted)
		x.nodes[k].what = "load"
	}
	return x.nodes[k]
}

func loadSeries(host *cell, cpu func(*record.Window) float64) stat.Series {
	var out stat.Series
	for _, w := range host.good {
		if v := cpu(w) * float64(host.workload.IODepth); v > 0 && !math.IsInf(v, 0) {
			out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: math.Log(v)})
		}
	}
	return out
}

// ofThreads is the CPU time of the load's threads for one I/O, in nanoseconds; 0 where it was not counted.
func ofThreads(w *record.Window) float64 {
	p := w.Evidence.Price
	if p == nil || p.IOs <= 0 {
		return 0
	}
	u, _ := used(p, record.Load)
	return float64(u.CPU) / p.IOs
}

// toldByFio is the same by fio's own account.
func toldByFio(w *record.Window) float64 { return 1e9 * w.Evidence.FioCPU / w.Metrics[record.IOPS] }
