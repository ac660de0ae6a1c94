package html

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// load is a workload of the sample with what the host does under it: I/Os per second and mean latency.
type load struct {
	spec.Workload
	iops, lat float64
}

var loads = []load{
	{spec.Workload{Name: "randread-q1", Title: "4 KiB random read, iodepth 1", RW: "randread", BS: 4096, IODepth: 1}, 19100, 51e3},
	{spec.Workload{Name: "randread-q32", Title: "4 KiB random read, iodepth 32", RW: "randread", BS: 4096, IODepth: 32}, 78400, 406e3},
	{spec.Workload{Name: "randwrite-q1", Title: "4 KiB random write, iodepth 1", RW: "randwrite", BS: 4096, IODepth: 1}, 20700, 47e3},
	{spec.Workload{Name: "randwrite-q32", Title: "4 KiB random write, iodepth 32", RW: "randwrite", BS: 4096, IODepth: 32}, 62500, 510e3},
	{spec.Workload{Name: "read-256k", Title: "256 KiB sequential read, iodepth 8", RW: "read", BS: 256 << 10, IODepth: 8}, 5120, 1.56e6},
	{spec.Workload{Name: "write-256k", Title: "256 KiB sequential write, iodepth 8", RW: "write", BS: 256 << 10, IODepth: 8}, 3890, 2.05e6},
	{spec.Workload{Name: "syncwrite", Title: "4 KiB synchronous write, fdatasync", RW: "write", BS: 4096, IODepth: 1, FDataSync: 1}, 2140, 466e3},
}

// way is a stack of the sample with its shares of the host, in the order of loads.
type way struct {
	spec.Stack
	durability string
	shares     [7]float64
}

var ways = []way{
	{spec.Stack{Name: spec.Host, Title: "the bare host, baseline"}, record.Durable, [7]float64{1, 1, 1, 1, 1, 1, 1}},
	{spec.Stack{Name: "virtio-blk-iothread", Title: "virtio-blk, iothread, raw, cache none, io_uring", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring", IOThread: true}, record.Durable, [7]float64{.222, .371, .214, .425, .864, .823, .882}},
	{spec.Stack{Name: "virtio-blk-native", Title: "virtio-blk, iothread, raw, cache none, native", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "native", IOThread: true}, record.Durable, [7]float64{.219, .352, .211, .418, .851, .811, .876}},
	{spec.Stack{Name: "virtio-blk-threads", Title: "virtio-blk, iothread, raw, cache none, threads", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads", IOThread: true}, record.Durable, [7]float64{.187, .301, .180, .344, .792, .774, .861}},
	{spec.Stack{Name: "virtio-blk", Title: "virtio-blk, raw, cache none, io_uring", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring"}, record.Durable, [7]float64{.208, .203, .201, .231, .771, .742, .871}},
	{spec.Stack{Name: "virt-manager", Title: "virtio-blk, qcow2, cache writeback, threads", Role: "virt-manager", Format: "qcow2", Bus: "virtio-blk", Cache: "writeback", AIO: "threads"}, record.Durable, [7]float64{.241, .262, .223, .301, .70, .693, .862}},
	{spec.Stack{Name: "proxmox", Title: "virtio-scsi-single, raw, cache none, io_uring", Role: "proxmox", Format: "raw", Bus: "virtio-scsi-single", Cache: "none", AIO: "io_uring"}, record.Durable, [7]float64{.199, .241, .193, .222, .744, .721, .849}},
	{spec.Stack{Name: "virtio-scsi", Title: "one controller shared by all disks", Format: "raw", Bus: "virtio-scsi", Cache: "none", AIO: "io_uring"}, record.Durable, [7]float64{.194, .224, .188, .215, .73, .713, .85}},
	{spec.Stack{Name: "nvme", Title: "emulated NVMe, raw, cache none, io_uring", Format: "raw", Bus: "nvme", Cache: "none", AIO: "io_uring"}, record.Durable, [7]float64{.205, .267, .196, .288, .781, .752, .979}},
	{spec.Stack{Name: "sata", Title: "AHCI, raw, cache none, io_uring", Format: "raw", Bus: "sata", Cache: "none", AIO: "io_uring"}, record.Durable, [7]float64{.181, .104, .174, .153, .612, .544, .841}},
	{spec.Stack{Name: "writeback-unsafe", Title: "virtio-blk, raw, cache unsafe, threads", Format: "raw", Bus: "virtio-blk", Cache: "unsafe", AIO: "threads"}, record.Unsafe, [7]float64{.231, .282, .26, .371, .941, 1.22, 1.63}},
	{spec.Stack{Name: "ide", Title: "PIIX3 IDE, raw, cache none, threads", Format: "raw", Bus: "ide", Cache: "none", AIO: "threads", Machine: "pc"}, record.Unknown, [7]float64{}},
	{spec.Stack{Name: spec.Control, Title: "the bare host again, control"}, record.Durable, [7]float64{1.004, .992, 1.006, .989, 1.002, 1.008, .994}},
	{spec.Stack{Name: "null-co", Title: "virtio-blk, iothread, no disk at all", Role: "ceiling", Format: "null-co", Bus: "virtio-blk", IOThread: true}, record.Unknown, [7]float64{.294, .448, .306, .472, 1.41, 1.62, 2.31}},
}

// sample is a whole run under software emulation as the default preset would give it, with one of every doubt.
func sample() analyse.Result {
	rng := rand.New(rand.NewPCG(41, 7))
	r := analyse.Result{Run: sampleRun(), Efficiency: .87, TimedShare: .81}
	r.Experiment = spec.Experiment{Name: "default", Title: "The usual ways", Runtime: 2 * time.Second, Ramp: 500 * time.Millisecond}
	for _, l := range loads {
		r.Experiment.Workloads = append(r.Experiment.Workloads, l.Workload)
	}
	for i, w := range ways {
		r.StackOrder = append(r.StackOrder, w.Name)
		r.Run.Stacks = append(r.Run.Stacks, sampleStack(w, i))
		if w.Name != spec.Host && w.Name != spec.Control {
			r.Experiment.Stacks = append(r.Experiment.Stacks, w.Stack)
		}
		for j, l := range loads {
			r.Cells = append(r.Cells, sampleCell(rng, w, l, j, 8))
		}
	}
	doubts(r.Cells)
	r.Noise = sampleNoise(r.Cells)
	best := []string{}
	for _, l := range loads {
		best = append(best, l.Name)
	}
	r.Best = &analyse.Best{Stack: "virtio-blk-iothread", Ratio: estimate(.471, .021), Workloads: best, Tied: []string{"virtio-blk-native"}}
	r.Gains = []analyse.Gain{sampleGain("virt-manager", 5, 1.21), sampleGain("proxmox", 6, 1.31)}
	r.Warnings = []string{"Other I/O was seen on vda during 3 of 784 windows; those windows were left out."}
	return r
}

func estimate(v, rel float64) stat.Estimate {
	return stat.Estimate{Value: v, Low: v * (1 - rel), High: v * (1 + rel)}
}

func sampleCell(rng *rand.Rand, w way, l load, j, rounds int) analyse.Cell {
	metric, value := record.IOPS, l.iops
	if l.Sequential() {
		metric, value = record.Bandwidth, l.iops*float64(l.BS)
	}
	s := w.shares[j]
	spread := .018 + .02*rng.Float64()
	half := 2.4 * spread / math.Sqrt(float64(rounds))
	lat := l.lat / s
	c := analyse.Cell{
		Stack: w.Name, Workload: l.Name, Baseline: w.Name == spec.Host, Status: record.OK, Rounds: rounds, Durability: w.durability,
		RAMShare: new(.001 + .01*rng.Float64()),
		Metrics: map[string]stat.Estimate{
			record.IOPS: estimate(l.iops*s, half), metric: estimate(value*s, half), record.ClatMean: estimate(lat, half),
			record.ClatP50: estimate(lat*.86, half), record.ClatP99: estimate(lat*2.9, 2*half), record.ClatP999: estimate(lat*7.4, 5*half),
		},
	}
	for i := range rounds {
		k := s * math.Exp(spread*rng.NormFloat64())
		c.Points = append(c.Points, analyse.Point{Round: 1 + i, Value: value * k, Ratio: k})
	}
	if !c.Baseline {
		c.Ratio = map[string]stat.Estimate{metric: estimate(s, half), record.ClatMean: estimate(1/s, half)}
		c.Differs = math.Abs(math.Log(s)) > half
	}
	return c
}

// doubts gives cells of the sample a warning, a withheld figure, a failure, and a stack that is not to be had.
func doubts(cells []analyse.Cell) {
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Stack == "ide":
			*c = analyse.Cell{Stack: c.Stack, Workload: c.Workload, Status: record.Unavailable, Reason: "IDE disks need machine type pc, and this experiment boots q35 only.", Durability: record.Unknown}
		case c.Stack == "virt-manager" && c.Workload == "read-256k":
			*c = analyse.Cell{Stack: c.Stack, Workload: c.Workload, Status: record.Withheld, Durability: c.Durability, RAMShare: new(.97), Reason: "97 % of these reads came from the host\u2019s RAM: this is not the disk."}
		case c.Stack == "virt-manager" && c.Workload == "randread-q1":
			c.RAMShare = new(.31)
			c.Warnings = []string{"31 % of these reads came from the host\u2019s RAM, not from the disk."}
		case c.Stack == "nvme" && c.Workload == "write-256k":
			*c = analyse.Cell{Stack: c.Stack, Workload: c.Workload, Status: record.Failed, Durability: c.Durability, Reason: "fio reported an I/O error in every round (nvme0: I/O 769 timeout)."}
		case c.Stack == "nvme" && c.Workload == "syncwrite":
			c.Differs = false
		case c.Stack == "sata" && c.Workload == "randwrite-q32":
			c.Warnings = []string{"Speed fell by 14 % over the rounds: the device was not in a steady state."}
		}
	}
}

func sampleNoise(cells []analyse.Cell) analyse.Noise {
	n := analyse.Noise{Low: .983, High: 1.019, Detectable: .031, ByWorkload: map[string]analyse.Band{}}
	for i, l := range loads {
		for _, c := range cells {
			if c.Stack != spec.Control || c.Workload != l.Name {
				continue
			}
			e := c.Ratio[analyse.Headline(l.Workload)]
			n.ByWorkload[l.Name] = analyse.Band{Low: e.Low, High: e.High, Detectable: .024 + .003*float64(i)}
		}
	}
	return n
}

func sampleGain(role string, over int, overall float64) analyse.Gain {
	e := estimate(overall, .03)
	g := analyse.Gain{Over: ways[over].Name, Role: role, Overall: &e, Differs: true}
	for j, l := range loads {
		e := estimate(ways[1].shares[j]/ways[over].shares[j], .028)
		c := analyse.GainCell{Workload: l.Name, Ratio: &e, Differs: e.Low > 1 || e.High < 1}
		if role == "virt-manager" && l.Name == "read-256k" {
			c = analyse.GainCell{Workload: l.Name, Reason: "withheld: these reads came from RAM"}
		}
		g.Workloads = append(g.Workloads, c)
	}
	return g
}

func sampleStack(w way, i int) record.Stack {
	s := record.Stack{Name: w.Name, Title: w.Title, Role: w.Role, Durability: w.durability}
	switch w.Name {
	case spec.Host, spec.Control:
		return s
	case "ide":
		s.Unavailable, s.Mend = "IDE disks need machine type pc, and this experiment boots q35 only.", "iotax run --preset default --machine pc"
		return s
	}
	s.DurabilityWhy = "a flush of the guest reached vda as a flush (probed)"
	if w.durability == record.Unsafe {
		s.DurabilityWhy = "no-flush is on: a flush of the guest reached nothing (probed)"
	}
	s.Effective = map[string]string{
		"aio": w.AIO, "cache.direct": fmt.Sprint(w.Cache == "none"), "cache.no-flush": fmt.Sprint(w.Cache == "unsafe"),
		"bus": w.Bus, "format": w.Format, "iothread": fmt.Sprint(w.IOThread), "guest write cache": "write back", "num-queues": "2", "scheduler": "none",
	}
	s.QEMUArgs = []string{
		"-blockdev", fmt.Sprintf("driver=file,node-name=f%d,filename=/var/tmp/iotax/7k2f/v%d.img,aio=%s,cache.direct=on", i, i, w.AIO),
		"-blockdev", fmt.Sprintf("driver=%s,node-name=n%d,file=f%d,cache.direct=on", w.Format, i, i),
		"-object", fmt.Sprintf("iothread,id=io%d", i),
		"-device", fmt.Sprintf("virtio-blk-pci,drive=n%d,iothread=io%d,serial=iotax%02d", i, i, i),
	}
	return s
}

func sampleRun() record.Run {
	return record.Run{
		ID: "7k2f", Started: time.Date(2026, 11, 20, 9, 41, 0, 0, time.UTC), Status: record.Complete, Seed: 41, Preset: "default", Version: "0.1.0",
		Host: record.Host{
			Accelerator: "tcg", AcceleratorReason: "/dev/kvm opens, but a guest started with it does not boot", Kernel: "6.18.44", GuestKernel: "6.1.0-56-amd64",
			QEMU: "7.2.22", Fio: "3.33", CPU: "AMD EPYC", CPUs: 2, Memory: 24 << 30, Virtualised: "Firecracker", ScratchPath: "/var/tmp/iotax", Filesystem: "ext4",
			Device: record.Device{Name: "vda", WriteCache: "write back", Scheduler: "none"}, GuestCPUs: 2, GuestMemory: 512 << 20, VolumeSize: 1 << 30,
			BootSeconds: []record.Boot{
				{Index: 0, ReadyNS: 2_410_000_000, Args: []string{"qemu-system-x86_64", "-accel", "tcg,thread=multi", "-M", "q35", "-smp", "2", "-m", "512"}},
				{Index: 1, ReadyNS: 2_380_000_000, Reason: "the guest panicked in round 5", Args: []string{"qemu-system-x86_64", "-accel", "tcg,thread=multi", "-M", "q35", "-smp", "2", "-m", "512"}},
			},
		},
	}
}

// big is a result of stacks x workloads cells with rounds points each.
func big(stacks, workloads, rounds int) analyse.Result {
	rng := rand.New(rand.NewPCG(1, 1))
	r := analyse.Result{Run: sampleRun(), Noise: analyse.Noise{Low: .98, High: 1.02, Detectable: .03}}
	r.Experiment.Workloads = make([]spec.Workload, workloads)
	for j := range workloads {
		w := loads[j%len(loads)].Workload
		w.Name = fmt.Sprintf("%s-%d", w.Name, j)
		r.Experiment.Workloads[j] = w
	}
	for i := range stacks {
		w := ways[1+i%9]
		w.Name = fmt.Sprintf("%s-%d", w.Name, i)
		if i == 0 {
			w = ways[0]
		}
		r.StackOrder = append(r.StackOrder, w.Name)
		r.Run.Stacks = append(r.Run.Stacks, sampleStack(w, i))
		for j := range workloads {
			c := sampleCell(rng, w, loads[j%len(loads)], j%len(loads), rounds)
			c.Workload = r.Experiment.Workloads[j].Name
			if (i*workloads+j)%20 == 1 {
				c.Warnings = []string{fmt.Sprintf("Speed fell by %d %% over the rounds: the device was not in a steady state.", i)}
			}
			r.Cells = append(r.Cells, c)
		}
	}
	return r
}
