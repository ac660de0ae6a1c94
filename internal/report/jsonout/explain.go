package jsonout

import (
	"github.com/iotax/iotax/internal/analyse"
)

// Explanation is where the tax goes and what it costs.
type Explanation struct {
	Bills    []Bill    `json:"bills"`
	Ceilings []Ceiling `json:"ceilings"`
	Prices   []Price   `json:"prices"`
	Fronts   []Front   `json:"fronts"`
	Curves   []Curve   `json:"curves"`
	Limit    *Limit    `json:"limit"`
}

// Bill takes the time of a stack's I/O apart.
type Bill struct {
	Stack    string      `json:"stack"`
	Workload string      `json:"workload"`
	Reason   string      `json:"reason"`
	Host     *Estimate   `json:"host_ns"`
	Total    *Estimate   `json:"total_ns"`
	Tax      *Estimate   `json:"tax_ns"`
	Layers   []BillLayer `json:"layers"`
	Check    *BillCheck  `json:"check"`
	Advice   []string    `json:"advice"`
}

// BillLayer is what one layer adds, or several that stand together.
type BillLayer struct {
	Names   []string  `json:"names"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Detail  string    `json:"detail"`
	Time    *Estimate `json:"time_ns"`
	Share   *Estimate `json:"share"`
	Differs bool      `json:"differs"`
}

// BillCheck is the way that does not pass the disk.
type BillCheck struct {
	Stack string    `json:"stack"`
	Time  *Estimate `json:"time_ns"`
	Agree bool      `json:"agree"`
}

// Ceiling is the most that a path can do.
type Ceiling struct {
	Stack    string       `json:"stack"`
	Workload string       `json:"workload"`
	IOPS     *Estimate    `json:"iops"`
	Of       []CeilingUse `json:"of"`
	Sentence string       `json:"sentence"`
}

// CeilingUse is how near a stack comes to a ceiling.
type CeilingUse struct {
	Stack string    `json:"stack"`
	Share *Estimate `json:"share"`
}

// Price is what a cell's I/O costs in CPU.
type Price struct {
	Stack       string              `json:"stack"`
	Workload    string              `json:"workload"`
	Held        bool                `json:"held"`
	CPU         *Estimate           `json:"cpu_ns"`
	ByRole      map[string]Estimate `json:"by_role_ns"`
	Voluntary   *Estimate           `json:"voluntary"`
	Involuntary *Estimate           `json:"involuntary"`
	GuestCPU    *Estimate           `json:"guest_cpu_ns"`
	Cycles      *Estimate           `json:"cycles"`
	Exits       *Estimate           `json:"exits"`
	Cores       *Estimate           `json:"cores"`
	IOPS        *Estimate           `json:"iops"`
}

// Front is IOPS against cores.
type Front struct {
	Workload string   `json:"workload"`
	Stacks   []string `json:"stacks"`
	Beaten   []string `json:"beaten"`
}

// Curve is IOPS against latency over iodepth.
type Curve struct {
	Stack  string       `json:"stack"`
	Load   string       `json:"load"`
	Points []CurvePoint `json:"points"`
	Under  *CurveUnder  `json:"under"`
}

// CurvePoint is one iodepth.
type CurvePoint struct {
	Workload string    `json:"workload"`
	IODepth  int       `json:"iodepth"`
	IOPS     *Estimate `json:"iops"`
	P99      *Estimate `json:"clat_p99_ns"`
	Limited  *Estimate `json:"limited_ns"`
	Reason   string    `json:"reason"`
}

// CurveUnder is the most IOPS that keep the limit.
type CurveUnder struct {
	IODepth int       `json:"iodepth"`
	IOPS    *Estimate `json:"iops"`
	Bound   bool      `json:"bound"`
	Reason  string    `json:"reason"`
}

// Limit is the latency that was asked to be kept.
type Limit struct {
	Metric string   `json:"metric"`
	NS     *float64 `json:"ns"`
}

func explanation(e *analyse.Explanation) *Explanation {
	if e == nil {
		return nil
	}
	out := &Explanation{
		Bills: list(e.Bills, bill), Ceilings: list(e.Ceilings, ceiling), Prices: list(e.Prices, price), Curves: list(e.Curves, curve),
		Fronts: list(e.Fronts, func(f analyse.Front) Front {
			return Front{Workload: f.Workload, Stacks: all(f.Stacks), Beaten: all(f.Beaten)}
		}),
	}
	if l := e.Limit; l != nil {
		out.Limit = &Limit{Metric: l.Metric, NS: number(l.NS)}
	}
	return out
}

func bill(b analyse.Bill) Bill {
	out := Bill{
		Stack: b.Stack, Workload: b.Workload, Reason: b.Reason, Host: estimate(b.Host), Total: estimate(b.Total), Tax: estimate(b.Tax),
		Advice: all(b.Advice),
		Layers: list(b.Layers, func(l analyse.BillLayer) BillLayer {
			return BillLayer{
				Names: all(l.Names), From: l.From, To: l.To, Detail: l.Detail, Time: estimate(&l.Time), Share: estimate(l.Share), Differs: l.Differs,
			}
		}),
	}
	if c := b.Check; c != nil {
		out.Check = &BillCheck{Stack: c.Stack, Time: estimate(&c.Time), Agree: c.Agree}
	}
	return out
}

func ceiling(c analyse.Ceiling) Ceiling {
	return Ceiling{
		Stack: c.Stack, Workload: c.Workload, IOPS: estimate(&c.IOPS), Sentence: c.Sentence,
		Of: list(c.Of, func(u analyse.CeilingUse) CeilingUse { return CeilingUse{Stack: u.Stack, Share: estimate(&u.Share)} }),
	}
}

func price(p analyse.Price) Price {
	return Price{
		Stack: p.Stack, Workload: p.Workload, Held: p.Held, CPU: estimate(&p.CPU), ByRole: estimates(p.ByRole),
		Voluntary: estimate(&p.Voluntary), Involuntary: estimate(&p.Involuntary), GuestCPU: estimate(p.GuestCPU),
		Cycles: estimate(p.Cycles), Exits: estimate(p.Exits), Cores: estimate(&p.Cores), IOPS: estimate(&p.IOPS),
	}
}

func curve(c analyse.Curve) Curve {
	out := Curve{Stack: c.Stack, Load: c.Load, Points: list(c.Points, func(p analyse.CurvePoint) CurvePoint {
		return CurvePoint{Workload: p.Workload, IODepth: p.IODepth, IOPS: estimate(p.IOPS), P99: estimate(p.P99), Limited: estimate(p.Limited), Reason: p.Reason}
	})}
	if u := c.Under; u != nil {
		out.Under = &CurveUnder{IODepth: u.IODepth, IOPS: estimate(u.IOPS), Bound: u.Bound, Reason: u.Reason}
	}
	return out
}
