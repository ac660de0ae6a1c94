package reporttest

import (
	"fmt"
	"math"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

func run() record.Run {
	found := []record.Stack{{Name: spec.Host, Title: "the host itself", Durability: record.Durable}}
	for _, s := range stacks {
		f := record.Stack{Name: s.Name, Title: s.Title, Role: s.Role, Durability: durability(s.Name)}
		switch s.Name {
		case "virtio-blk-iothread":
			f.Effective = map[string]string{"aio": "io_uring", "cache.direct": "true", "iothreads": "1"}
			f.QEMUArgs = []string{"-device", "virtio-blk-pci,iothread=io0"}
		case "virt-manager-default":
			f.DurabilityWhy = "the host's page cache holds acknowledged writes until the guest flushes"
		case "vhost":
			f.Unavailable, f.Mend = "this kernel has no vhost-blk", "modprobe vhost_blk"
		}
		found = append(found, f)
	}
	return record.Run{
		ID: "7k2f", Started: started, Ended: started.Add(4 * time.Minute), Status: record.Complete, Seed: 41,
		Preset: "quick", Version: "0.1.0", Stacks: found,
		Host: record.Host{
			Accelerator: "tcg", AcceleratorReason: "/dev/kvm opens, but a guest started with it aborts",
			Kernel: "6.18.44", GuestKernel: "6.1.0-56-amd64", QEMU: "7.2.22", Fio: "fio-3.33", CPU: "AMD EPYC", CPUs: 2, Memory: 24 << 30,
			Device:     record.Device{Name: "vda", Model: "virtio", WriteCache: "write back", Scheduler: "none"},
			Neighbours: []string{"db01"}, Virtualised: "kvm", ScratchPath: "/var/tmp/iotax", Filesystem: "ext4",
			GuestCPUs: 2, GuestMemory: 1 << 30, VolumeSize: 1 << 30,
			BootSeconds: []record.Boot{{Index: 0, ReadyNS: 2_400_000_000, Args: []string{"qemu-system-x86_64", "-smp", "2"}}},
		},
	}
}

// Partial is Default ended by Ctrl-C early: half of its cells were never measured, nothing is comparable.
func Partial() analyse.Result {
	r := Default()
	r.Run.Status, r.Run.Reason, r.Run.Ended = record.Partial, "ended by Ctrl-C in round 1", started.Add(time.Minute)
	r.Cells = r.Cells[:4*len(workloads)]
	for i := range r.Cells {
		if c := &r.Cells[i]; !c.Baseline {
			c.Differs, c.Rounds = false, 1
			for name, e := range c.Ratio {
				c.Ratio[name] = stat.Estimate{Value: e.Value, High: math.Inf(1)}
			}
		}
	}
	r.Best, r.Gains, r.Noise = nil, nil, analyse.Noise{}
	return r
}

// Alarm is Default under KVM, with a control that differs from its twin.
func Alarm() analyse.Result {
	r := Default()
	r.Run.Host.Accelerator, r.Run.Host.AcceleratorReason = "kvm", ""
	r.Noise.Low, r.Noise.High, r.Noise.Detectable, r.Noise.Alarm = 0.81, 0.9, 0.22, true
	r.Noise.ByWorkload["randread-4k-q1"] = analyse.Band{Low: 0.7, High: 0.8, Detectable: 0.3, Alarm: true}
	edit(&r, spec.Control, "randread-4k-q1", func(c *analyse.Cell) {
		c.Ratio[record.IOPS] = stat.Estimate{Value: 0.75, Low: 0.7, High: 0.8}
		c.Differs = true
	})
	return r
}

// Large is a result of n stacks under each of the workloads, for benchmarks.
func Large(n int) analyse.Result {
	r := Default()
	r.Cells, r.StackOrder = nil, []string{spec.Host}
	for i := range n {
		name := fmt.Sprintf("stack-%04d", i)
		r.StackOrder = append(r.StackOrder, name)
		for w := range workloads {
			c := cell("virtio-blk", w)
			c.Stack = name
			c.Warnings = []string{fmt.Sprintf("a warning of its own, %d %d", i, w)}
			r.Cells = append(r.Cells, c)
		}
	}
	return r
}
