package analyse

import (
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// prices says of each cell that is OK, and whose windows have counters of threads, what an I/O costs, in the order of the
// cells. Estimates are those of derived metrics: the location of the rounds, with the error between boots of the guests' cells,
// or of those without a guest.
func (t *table) prices() []Price {
	var cells []*cell
	for _, c := range t.order {
		if c.Status == record.OK && len(c.perIO(cpuOf)) > 0 {
			cells = append(cells, c)
		}
	}
	out := make([]Price, len(cells))
	for i, c := range cells {
		out[i] = Price{Stack: c.Stack, Workload: c.Workload, Held: c.workload.Held(), ByRole: map[string]stat.Estimate{}, IOPS: c.Metrics[record.IOPS]}
	}
	each := func(of costOf, put func(p *Price, e stat.Estimate)) {
		for i, e := range estimatesOf(cells, of) {
			if e != nil {
				put(&out[i], *e)
			}
		}
	}
	each(cpuOf, func(p *Price, e stat.Estimate) { p.CPU = e })
	for _, role := range record.Roles {
		each(cpuOfRole(role), func(p *Price, e stat.Estimate) { p.ByRole[role] = e })
	}
	each(switchesOf(func(u record.ThreadUse) int64 { return u.Voluntary }), func(p *Price, e stat.Estimate) { p.Voluntary = e })
	each(switchesOf(func(u record.ThreadUse) int64 { return u.Involuntary }), func(p *Price, e stat.Estimate) { p.Involuntary = e })
	each(guestCPUOf, func(p *Price, e stat.Estimate) { p.GuestCPU = &e })
	each(eventsOf(func(p *record.Price) *float64 { return p.Cycles }), func(p *Price, e stat.Estimate) { p.Cycles = &e })
	each(eventsOf(func(p *record.Price) *float64 { return p.Exits }), func(p *Price, e stat.Estimate) { p.Exits = &e })
	each(coresOf, func(p *Price, e stat.Estimate) { p.Cores = e })
	return out
}

// costOf is a cost of one window, false where it was not counted.
type costOf func(record.Evidence) (float64, bool)

// perIO is a cost of a cell by round; of windows without counters of threads there is none.
func (c *cell) perIO(of costOf) stat.Series {
	var out stat.Series
	for _, w := range c.good {
		if p := w.Evidence.Price; p == nil || p.IOs <= 0 || p.Span <= 0 {
			continue
		}
		if v, ok := of(w.Evidence); ok {
			out = append(out, stat.Point{Round: w.Round, Boot: w.Boot, Log: v})
		}
	}
	return out
}

// estimatesOf estimates a cost of several cells, nil for one that has none. No cost is below 0.
func estimatesOf(cells []*cell, of costOf) []*stat.Estimate {
	all := make([]stat.Series, len(cells))
	members := map[bool][]stat.Series{}
	for i, c := range cells {
		all[i] = c.perIO(of)
		members[c.guest] = append(members[c.guest], all[i])
	}
	between := map[bool]stat.Between{true: stat.Pool(members[true]), false: stat.Pool(members[false])}
	out := make([]*stat.Estimate, len(cells))
	for i, c := range cells {
		if len(all[i]) > 0 {
			e := bounded("", between[c.guest].Contrast(all[i]).Plain(0.95))
			out[i] = &e
		}
	}
	return out
}

// cpuTime is what all threads of a window together took, in nanoseconds, without the waiting of a held load.
func cpuTime(e record.Evidence) (total float64) {
	for _, u := range e.Price.Threads {
		total += float64(u.CPU)
	}
	return max(total-waiting(e), 0)
}

func cpuOf(e record.Evidence) (float64, bool) { return cpuTime(e) / e.Price.IOs, true }

func coresOf(e record.Evidence) (float64, bool) {
	return cpuTime(e) / float64(e.Price.Span), true
}

// used is the threads of one role, false where there were none.
func used(p *record.Price, role string) (record.ThreadUse, bool) {
	for _, u := range p.Threads {
		if u.Role == role {
			return u, true
		}
	}
	return record.ThreadUse{}, false
}

func cpuOfRole(role string) costOf {
	return func(e record.Evidence) (float64, bool) {
		u, ok := used(e.Price, role)
		cpu := float64(u.CPU)
		if role == generatorRole(e.Price) {
			cpu = max(cpu-waiting(e), 0)
		}
		return cpu / e.Price.IOs, ok
	}
}

func switchesOf(count func(record.ThreadUse) int64) costOf {
	return func(e record.Evidence) (float64, bool) {
		total := int64(0)
		for _, u := range e.Price.Threads {
			total += count(u)
		}
		return float64(total) / e.Price.IOs, true
	}
}

func eventsOf(count func(*record.Price) *float64) costOf {
	return func(e record.Evidence) (float64, bool) {
		n := count(e.Price)
		if n == nil {
			return 0, false
		}
		return *n / e.Price.IOs, true
	}
}

// guestCPUOf is what the guest's own kernel counted as busy, in nanoseconds for one I/O. It was counted from the start of the
// load generator to its end, and its mean stands for that of the steady part.
func guestCPUOf(e record.Evidence) (float64, bool) {
	if e.GuestCPU == nil {
		return 0, false
	}
	return max(*e.GuestCPU*float64(e.Price.Span)-waiting(e), 0) / e.Price.IOs, true
}

// hostCPUPerIO is cpuOf as a derived metric.
func hostCPUPerIO(e record.Evidence) (float64, bool) {
	if e.Price == nil || e.Price.IOs <= 0 {
		return 0, false
	}
	return cpuOf(e)
}

// requestRatio is how many requests the device got for each of the load. It is below 1 where requests were merged on their way.
func requestRatio(e record.Evidence, load spec.Workload) (float64, bool) {
	var device, path int64
	for _, side := range []struct {
		wanted bool
		device *int64
		path   int64
	}{{load.Reads(), e.DeviceReads, e.PathReads}, {load.Writes(), e.DeviceWrites, e.PathWrites}} {
		if !side.wanted {
			continue
		}
		if side.device == nil {
			return 0, false
		}
		device, path = device+*side.device, path+side.path
	}
	return over(&device, path, true)
}

// flushRatio is how many flushes the device got for each of the load. Loads that flush only at their end tell nothing of it:
// of two or three flushes one that is somebody else's would double it.
func flushRatio(e record.Evidence, load spec.Workload) (float64, bool) {
	return over(e.DeviceFlush, e.PathFlush, load.FDataSync > 0 || load.Ioping() && load.Writes())
}
