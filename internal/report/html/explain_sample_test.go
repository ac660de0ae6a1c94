package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// explainedSample is the sample with an explanation that has one of everything.
func explainedSample() analyse.Result {
	r := sample()
	e := &analyse.Explanation{Limit: &analyse.Limit{Metric: record.ClatP99, NS: 5e6}}
	held := spec.Workload{Name: "randread-held", Title: "4 KiB random read, iodepth 32, held", RW: "randread", BS: 4096, IODepth: 32, RateShare: 0.8}
	r.Experiment.Workloads = append(r.Experiment.Workloads, held)
	for i := range r.Cells {
		c := &r.Cells[i]
		w, j := sampleWay(c.Stack), slices.IndexFunc(loads, func(l load) bool { return l.Name == c.Workload })
		if c.Stack == spec.Control {
			continue
		}
		if c.Status == record.OK {
			e.Prices = append(e.Prices, samplePrice(w, loads[j].Workload, loads[j].iops*max(w.shares[j], .01)))
			if j == 1 {
				e.Prices = append(e.Prices, samplePrice(w, held, 6500))
			}
			if w.Role != "ceiling" {
				c.Derived = sampleDerived(w, loads[j].Workload)
			}
		}
		switch {
		case c.Baseline:
		case w.Role == "ceiling":
			e.Ceilings = append(e.Ceilings, sampleCeiling(c.Workload, loads[j].iops*w.shares[j], j))
		default:
			e.Bills = append(e.Bills, sampleBill(*c, w, j))
		}
	}
	for _, l := range loads {
		e.Fronts = append(e.Fronts, sampleFront(l.Name, e.Prices))
	}
	for _, w := range ways {
		if w.Name != spec.Control {
			e.Curves = append(e.Curves, sampleCurve(w))
		}
	}
	r.Explanation = e
	return r
}

func sampleWay(stack string) way {
	return ways[slices.IndexFunc(ways, func(w way) bool { return w.Name == stack })]
}

// sampleBill splits a tax: storage, the image where there is one, the block layer, and what is above it.
func sampleBill(c analyse.Cell, w way, j int) analyse.Bill {
	b := analyse.Bill{Stack: c.Stack, Workload: c.Workload}
	if c.Status != record.OK {
		b.Reason = c.Status + ": " + c.Reason
		return b
	}
	l := loads[j]
	host := 1e9 * float64(l.IODepth) / l.iops
	tax := host/w.shares[j] - host
	b.Host, b.Total, b.Tax = new(estimate(host, .01)), new(estimate(host+tax, .03)), new(estimate(tax, .04))
	layer := func(part, half float64, from, to, detail string, names ...string) {
		b.Layers = append(b.Layers, analyse.BillLayer{
			Names: names, From: from, To: to, Detail: detail, Differs: math.Abs(part) > half,
			Time:  stat.Estimate{Value: part * tax, Low: (part - half) * tax, High: (part + half) * tax},
			Share: &stat.Estimate{Value: part, Low: part - half, High: part + half},
		})
	}
	layer(.004, .012, "host", "raw-on-host", "ext4", analyse.FileSystem)
	switch {
	case w.Format == "qcow2":
		layer(.17, .05, "virtio-blk-writeback", w.Name, "qcow2", analyse.ImageLayer)
		layer(-.11, .03, "raw-on-host", "qemu-img-writeback", "cache=writeback aio=threads", analyse.BlockLayer)
		layer(.936, .06, "qemu-img-writeback", "virtio-blk-writeback", "virtio-blk", analyse.Transport, analyse.GuestLayer)
		b.Advice = []string{"to tell transport and controller from guest, add a stack like virt-manager with format null-co and one with bus null_blk"}
	default:
		layer(.146, .03, "raw-on-host", "qemu-img-"+w.AIO, "cache=none aio="+w.AIO, analyse.BlockLayer)
		layer(.39, .06, "", "", w.Bus, analyse.Transport)
		layer(.46, .05, "", "", "", analyse.GuestLayer)
		b.Check = &analyse.BillCheck{Stack: "null-co", Time: estimate(.83*tax, .04), Agree: w.Bus == "virtio-blk"}
	}
	return b
}

func sampleCeiling(workload string, iops float64, j int) analyse.Ceiling {
	c := analyse.Ceiling{
		Stack: "null-co", Workload: workload, IOPS: estimate(iops, .03),
		Sentence: fmt.Sprintf("this VM path tops out at %.1fk IOPS and virtio-blk-iothread is at 95 %% ± 2 of that: a faster disk will not help; an iothread will (x1.9, 1.8 to 2.0)", iops/1e3),
	}
	for _, w := range ways[1:4] {
		c.Of = append(c.Of, analyse.CeilingUse{Stack: w.Name, Share: estimate(w.shares[j]/sampleWay("null-co").shares[j]*1.25, .04)})
	}
	return c
}

func samplePrice(w way, l spec.Workload, iops float64) analyse.Price {
	p := analyse.Price{Stack: w.Name, Workload: l.Name, Held: l.Held(), IOPS: estimate(iops, .02), ByRole: map[string]stat.Estimate{}}
	cost := 1 + .2*float64(len(w.Name)%5)
	switch {
	case w.Name == spec.Host:
		p.ByRole[record.Load] = estimate(9_400, .02)
	default:
		p.ByRole[record.VCPU] = estimate(61_000*cost, .03)
		p.ByRole[record.MainLoop] = estimate(1_900, .1)
		if w.IOThread {
			p.ByRole[record.IOThread] = estimate(14_300*cost, .03)
		} else {
			p.ByRole[record.MainLoop] = estimate(17_800*cost, .03)
		}
		if w.AIO == "threads" {
			p.ByRole[record.Worker] = estimate(11_700, .05)
		}
		p.GuestCPU = new(estimate(44_000*cost, .04))
	}
	sum := 0.0
	for _, e := range p.ByRole {
		sum += e.Value
	}
	p.CPU, p.Voluntary, p.Involuntary = estimate(sum, .025), estimate(2.41*cost, .05), estimate(.072, .2)
	p.Cores = estimate(sum*iops/1e9, .03)
	return p
}

func sampleDerived(w way, l spec.Workload) map[string]stat.Estimate {
	d := map[string]stat.Estimate{}
	if l.Reads() {
		d[record.DeviceReadRatio] = estimate(1.002, .003)
	}
	if l.Writes() {
		d[record.DeviceWriteRatio] = estimate(1.05, .02)
		if w.Format == "qcow2" {
			d[record.DeviceWriteRatio] = estimate(1.61, .05)
		}
	}
	d[record.DeviceRequestRatio] = estimate(1.01, .01)
	if l.FDataSync > 0 {
		d[record.FlushRatio] = estimate(1.98, .02)
	}
	return d
}

// sampleFront is those that none beats nominally, by falling IOPS.
func sampleFront(workload string, prices []analyse.Price) analyse.Front {
	var these []analyse.Price
	for _, p := range prices {
		if p.Workload == workload && p.Stack != spec.Host && p.Stack != "null-co" {
			these = append(these, p)
		}
	}
	slices.SortStableFunc(these, func(a, b analyse.Price) int { return cmp.Compare(b.IOPS.Value, a.IOPS.Value) })
	f, least := analyse.Front{Workload: workload}, math.Inf(1)
	for _, p := range these {
		if p.Cores.Value < least || p.Stack == "virtio-blk-iothread" {
			f.Stacks, least = append(f.Stacks, p.Stack), min(least, p.Cores.Value)
		} else {
			f.Beaten = append(f.Beaten, p.Stack)
		}
	}
	return f
}

func sampleCurve(w way) analyse.Curve {
	c := analyse.Curve{Stack: w.Name, Load: "4 KiB random read", Under: &analyse.CurveUnder{}}
	top := 92_000 * w.shares[1]
	for depth := 1; depth <= 256; depth *= 4 {
		p := analyse.CurvePoint{Workload: fmt.Sprintf("randread-q%d", depth), IODepth: depth}
		switch {
		case w.Name == "ide":
			p.Reason = "unavailable: IDE disks need machine type pc, and this experiment boots q35 only."
		case w.Name == "virt-manager" && depth < 8:
			p.Reason = "withheld: 97 % of these reads came from the host's RAM: this is not the disk"
		default:
			iops := top * float64(depth) / (float64(depth) + 5)
			p.IOPS, p.P99 = new(estimate(iops, .03)), new(estimate(2.2e9*float64(depth)/iops, .12))
			p.Limited = p.P99
			if p.P99.High < 5e6 {
				c.Under.IODepth, c.Under.IOPS = depth, p.IOPS
			}
		}
		c.Points = append(c.Points, p)
	}
	switch {
	case c.Under.IOPS == nil:
		c.Under.Reason = cmp.Or(c.Points[0].Reason, "at iodepth 1 it is 5.2 ms, and up to 5.8 ms")
	case c.Under.IODepth == 256:
		c.Under.Bound = true
	}
	return c
}
