package reporttest

import (
	"math"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// Explained is Default with an explanation that has every kind of entry.
func Explained() analyse.Result {
	r := Default()
	r.Experiment.Stacks = append(r.Experiment.Stacks, spec.Stack{Name: "null-blk", Title: "null_blk (guest alone)", Role: "ceiling", Format: "null-co", Bus: "null_blk"})
	r.Explanation = Explanation()
	amplify := func(stack string, reads float64) {
		edit(&r, stack, "randread-4k-q1", func(c *analyse.Cell) {
			c.Derived = map[string]stat.Estimate{record.DeviceReadRatio: {Value: reads, Low: reads - 0.01, High: reads + 0.01}}
		})
	}
	amplify("host", 1)
	amplify("virtio-blk-iothread", 1.002)
	amplify("virt-manager-default", 0.69)
	return r
}

// Explanation has bills that are split, that stand together, that give something back, and that do not exist; a check that
// agrees and one that does not; each kind of ceiling; prices of the host and of guests; a front and curves.
func Explanation() *analyse.Explanation {
	e := &analyse.Explanation{Bills: bills(), Ceilings: ceilings(), Prices: prices(), Curves: curves()}
	e.Fronts = []analyse.Front{
		{Workload: "randread-4k-q1", Stacks: []string{"virtio-blk-iothread", "virtio-blk"}, Beaten: []string{"proxmox-default", "sata"}},
		{Workload: "randread-4k-q32", Stacks: []string{"virtio-blk-iothread", "virtio-blk", "proxmox-default", "sata"}},
	}
	return e
}

// ns is a time of us microseconds, known to half of them.
func ns(us, half float64) stat.Estimate {
	return stat.Estimate{Value: 1e3 * us, Low: 1e3 * (us - half), High: 1e3 * (us + half)}
}

func ptr(e stat.Estimate) *stat.Estimate { return &e }

func bills() []analyse.Bill {
	out := []analyse.Bill{
		{
			Stack: "virtio-blk-iothread", Workload: "randread-4k-q1", Host: ptr(ns(52.4, 0.9)), Total: ptr(ns(238, 5)), Tax: ptr(ns(185.6, 5)),
			Layers: []analyse.BillLayer{
				layer(ns(14.2, 1.1), true, "cache=none aio=io_uring", "host", "bench", analyse.BlockLayer),
				layer(ns(118.9, 6.2), true, "virtio-blk iothread", "", "", analyse.Transport),
				layer(ns(52.5, 4.4), true, "", "", "", analyse.GuestLayer),
			},
			Check: &analyse.BillCheck{Stack: "null-co", Time: ns(166, 5), Agree: true},
		},
		{
			Stack: "virtio-blk-iothread", Workload: "randread-4k-q32", Host: ptr(ns(408, 9)), Total: ptr(ns(1103, 30)), Tax: ptr(ns(695, 31)),
			Layers: []analyse.BillLayer{
				layer(ns(-21, 12), true, "cache=none aio=io_uring", "host", "bench", analyse.BlockLayer),
				layer(ns(716, 33), true, "virtio-blk iothread", "bench", "virtio-blk-iothread", analyse.Transport, analyse.GuestLayer),
			},
			Check: &analyse.BillCheck{Stack: "null-co", Time: ns(590, 20)},
			Advice: []string{"transport and controller and guest stand together: over disks of zero latency the transport and controller " +
				"would take less than nothing, -8.1 us (-13 to -3.2)"},
		},
		{
			Stack: "proxmox-default", Workload: "randread-4k-q1", Host: ptr(ns(52.4, 0.9)), Total: ptr(ns(262, 7)), Tax: ptr(ns(209.6, 7)),
			Layers: []analyse.BillLayer{
				layer(ns(209.6, 7), true, "cache=none aio=io_uring detect_zeroes=on, virtio-scsi-single iothread", "host", "proxmox-default",
					analyse.BlockLayer, analyse.Transport, analyse.GuestLayer),
			},
			Advice: []string{
				"to tell QEMU's block layer from transport and controller + guest, add a stack like proxmox-default with bus host and daemon qemu-img",
				"to tell transport and controller from guest, add a stack like proxmox-default with format null-co and one with bus null_blk",
			},
		},
		{
			Stack: "virt-manager-default", Workload: "randread-4k-q1", Host: ptr(ns(52.4, 0.9)), Total: ptr(ns(218, 8)), Tax: ptr(ns(165.6, 8)),
			Layers: []analyse.BillLayer{
				layer(ns(2.1, 3.3), false, "qcow2", "virtio-blk", "virt-manager-default", analyse.ImageLayer),
				layer(ns(163.5, 8.4), true, "cache=writeback aio=threads, virtio-blk", "host", "virtio-blk", analyse.BlockLayer, analyse.Transport, analyse.GuestLayer),
			},
		},
		{
			Stack: "virt-manager-default", Workload: "randread-4k-q32",
			Reason: "withheld: 97 % of these reads came from the host's RAM: this is not the disk",
		},
		{
			Stack: "sata", Workload: "syncwrite-4k-q1", Host: ptr(ns(476, 15)), Total: ptr(ns(482, 19)), Tax: ptr(ns(6, 21)),
			Layers: []analyse.BillLayer{layer(ns(6, 21), false, "cache=none aio=io_uring, sata", "host", "sata", analyse.BlockLayer, analyse.Transport, analyse.GuestLayer)},
		},
		{Stack: "vhost", Workload: "randread-4k-q1", Reason: "this host cannot offer it: this kernel has no vhost-blk; to have it: modprobe vhost_blk"},
	}
	for i := range out {
		if b := &out[i]; b.Tax != nil && !b.Tax.Contains(0) {
			for j := range b.Layers {
				t := b.Layers[j].Time
				b.Layers[j].Share = &stat.Estimate{Value: t.Value / b.Tax.Value, Low: t.Low / b.Tax.Value, High: t.High / b.Tax.Value}
			}
		}
	}
	return out
}

func layer(t stat.Estimate, differs bool, detail, from, to string, names ...string) analyse.BillLayer {
	return analyse.BillLayer{Names: names, From: from, To: to, Detail: detail, Time: t, Differs: differs}
}

func ceilings() []analyse.Ceiling {
	use := func(stack string, v float64) analyse.CeilingUse {
		return analyse.CeilingUse{Stack: stack, Share: stat.Estimate{Value: v, Low: v - 0.03, High: v + 0.03}}
	}
	return []analyse.Ceiling{
		{
			Stack: "null-co", Workload: "randread-4k-q1", IOPS: around(6685), Of: []analyse.CeilingUse{use("virtio-blk-iothread", 0.63)},
			Sentence: "the disk is the limit, or what lies between it and the controller: over a disk of zero latency this VM path does " +
				"1.6 times (1.5 to 1.7) what virtio-blk-iothread does, 6.7k IOPS",
		},
		{
			Stack: "null-blk", Workload: "randread-4k-q1", IOPS: around(14_700), Of: []analyse.CeilingUse{use("virtio-blk-iothread", 0.29), use("sata", 0.23)},
			Sentence: "the guest itself tops out at 14.7k IOPS, whatever disk it is given; virtio-blk-iothread is at 29 % ± 3 of that: the guest is not the limit",
		},
		{
			Stack: "null-co", Workload: "randread-4k-q32", IOPS: around(51744), Of: []analyse.CeilingUse{use("virtio-blk-iothread", 0.94)},
			Sentence: "this VM path tops out at 51.7k IOPS and virtio-blk-iothread is at 94 % ± 3 of that: a faster disk will not help (by 10 % at most), " +
				"and no other path that was measured does more",
		},
	}
}

func prices() []analyse.Price {
	price := func(stack, workload string, us float64, roles map[string]float64) analyse.Price {
		p := analyse.Price{
			Stack: stack, Workload: workload, CPU: ns(us, us/30), ByRole: map[string]stat.Estimate{},
			Voluntary: around(us / 20), Involuntary: around(0.02), Cores: around(us / 30), IOPS: around(4200),
		}
		for role, us := range roles {
			p.ByRole[role] = ns(us, us/20)
		}
		return p
	}
	out := []analyse.Price{
		price("host", "randread-4k-q1", 21, map[string]float64{record.Load: 21}),
		price("virtio-blk-iothread", "randread-4k-q1", 118, map[string]float64{record.VCPU: 71, record.IOThread: 44, record.MainLoop: 3, record.Worker: 0}),
		price("virtio-blk", "randread-4k-q1", 111, map[string]float64{record.VCPU: 70, record.MainLoop: 41}),
		price("proxmox-default", "randread-4k-q1", 134, map[string]float64{record.VCPU: 88, record.IOThread: 43, record.MainLoop: 3}),
		price("sata", "randread-4k-q1", 164, map[string]float64{record.VCPU: 119, record.MainLoop: 45}),
		price("virtio-blk-iothread", "randread-4k-q32", 41, map[string]float64{record.VCPU: 25, record.IOThread: 16}),
	}
	out[1].GuestCPU, out[1].Cycles, out[1].Exits = ptr(ns(64, 3)), ptr(around(301_000)), ptr(around(2.1))
	out[5].Held = true
	return out
}

func curves() []analyse.Curve {
	point := func(workload string, depth int, iops, us float64) analyse.CurvePoint {
		return analyse.CurvePoint{Workload: workload, IODepth: depth, IOPS: ptr(around(iops)), P99: ptr(ns(us, us/20)), Limited: ptr(ns(us, us/20))}
	}
	withheld := analyse.CurvePoint{
		Workload: "randread-4k-q32", IODepth: 32,
		Reason: "withheld: 97 % of these reads came from the host's RAM: this is not the disk",
	}
	single := point("randread-4k-q1", 1, 3438, 800)
	single.IOPS, single.P99 = ptr(stat.Unknown(3438)), ptr(stat.Estimate{Value: 8e5, High: math.Inf(1)})
	return []analyse.Curve{
		{Stack: "host", Load: "4k rand read", Points: []analyse.CurvePoint{
			point("randread-4k-q1", 1, 19_100, 157), point("randread-4k-q32", 32, 78_400, 1224),
		}},
		{Stack: "virtio-blk-iothread", Load: "4k rand read", Points: []analyse.CurvePoint{
			point("randread-4k-q1", 1, 4202, 714), point("randread-4k-q32", 32, 29_008, 3309),
		}},
		{Stack: "virt-manager-default", Load: "4k rand read", Points: []analyse.CurvePoint{point("randread-4k-q1", 1, 4584, 654), withheld}},
		{Stack: "sata", Load: "4k rand read", Points: []analyse.CurvePoint{single, point("randread-4k-q32", 32, 7840, 12_240)}},
	}
}

// Limited is Explained under a limit that one curve keeps at its end, one in its middle and one nowhere.
func Limited() analyse.Result {
	r := Explained()
	r.Explanation.Limit = &analyse.Limit{Metric: record.ClatP99, NS: 1.5e6}
	c := r.Explanation.Curves
	c[0].Under = &analyse.CurveUnder{IODepth: 32, IOPS: c[0].Points[1].IOPS, Bound: true}
	c[1].Under = &analyse.CurveUnder{IODepth: 1, IOPS: c[1].Points[0].IOPS}
	c[2].Under = &analyse.CurveUnder{IODepth: 1, IOPS: c[2].Points[0].IOPS}
	c[3].Under = &analyse.CurveUnder{Reason: "at iodepth 1 it was measured in a single round: it has no interval"}
	return r
}

// Vague is Explained with cells of which next to nothing is known: a tax that cannot be told and one that can, each with
// intervals wider than the bill; and a layer that takes most of what the best stack loses.
func Vague() analyse.Result {
	r := Explained()
	wide := func(us, low, high float64) stat.Estimate {
		return stat.Estimate{Value: 1e3 * us, Low: 1e3 * low, High: 1e3 * high}
	}
	told := layer(wide(900, 310, 4100), true, "virtio-blk iothread", "bench", "virtio-blk-iothread", analyse.Transport, analyse.GuestLayer)
	told.Share = &stat.Estimate{Value: 3, Low: 1.4, High: 41}
	back := layer(wide(-600, -3900, -120), true, "cache=none aio=io_uring", "host", "bench", analyse.BlockLayer)
	back.Share = &stat.Estimate{Value: -2, Low: -40, High: -0.4}
	r.Explanation.Bills = append(r.Explanation.Bills[:1],
		analyse.Bill{
			Stack: "sata", Workload: "randread-4k-q1", Host: ptr(ns(52.4, 0.9)), Total: ptr(wide(352, 60, 2100)), Tax: ptr(wide(300, 8, 2050)),
			Layers: []analyse.BillLayer{back, told}, Check: &analyse.BillCheck{Stack: "null-co", Time: wide(90, -800, 980)},
		},
		analyse.Bill{
			Stack: "sata", Workload: "randread-4k-q32", Host: ptr(ns(408, 9)), Total: ptr(wide(800, 30, 21_000)), Tax: ptr(wide(392, -2600, 3400)),
			Layers: []analyse.BillLayer{layer(wide(392, -2600, 3400), false, "sata", "host", "sata", analyse.BlockLayer, analyse.Transport, analyse.GuestLayer)},
		},
	)
	r.Explanation.Ceilings[0].Of[0].Share = stat.Estimate{Value: 1.7, Low: 0.09, High: 32}
	r.Best.Workloads = []string{"randread-4k-q1", "randread-4k-q32"}
	return r
}
