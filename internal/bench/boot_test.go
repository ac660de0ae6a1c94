package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// bootsTimed is how many boots a median is of.
const bootsTimed = 9

// BenchmarkBoot asks how soon a guest is ready under software emulation: with one disk, and with all those of the
// default preset on their seven kinds of controller.
func BenchmarkBoot(b *testing.B) {
	one := spec.Stack{Name: "one", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads", IOThread: true}
	own := vmtest.Config(b).Bios
	b.Run("one-disk", func(b *testing.B) { timeBoots(b, own, "q35", []spec.Stack{one}) })
	b.Run("default-preset", func(b *testing.B) {
		e, err := spec.Preset("default")
		if err != nil {
			b.Fatal(err)
		}
		p, err := plan.Make(e, 1)
		if err != nil {
			b.Fatal(err)
		}
		for name, bios := range map[string]string{"qboot": own, "seabios": ""} {
			b.Run(name, func(b *testing.B) { timeBoots(b, bios, p.Groups[0].Machine, p.Groups[0].Stacks) })
		}
	})
}

// timeBoots reports medians: s/boot from QEMU's start to the agent's first word, s/modules to insert the drivers of
// the disks, and s/disks until each disk is there.
func timeBoots(b *testing.B, bios, machine string, stacks []spec.Stack) {
	c := vmtest.Config(b)
	c.Bios, c.Machine, c.Memory = bios, machine, 512<<20
	var drivers []string
	for i, s := range stacks {
		c.Disks = append(c.Disks, emptyDisk(b, c.Dir, i, s))
		drivers = append(drivers, guest.Drivers(s.Bus)...)
	}
	modules, missing := c.Image.Modules(drivers...)
	if len(missing) > 0 {
		b.Skipf("kernel %s lacks %v", c.Image.Release, missing)
	}
	var boot, load, disks []float64
	for b.Loop() {
		for range bootsTimed {
			ready, inserted, there := timeBoot(b, c, modules)
			boot, load, disks = append(boot, ready.Seconds()), append(load, inserted.Seconds()), append(disks, there.Seconds())
		}
	}
	b.ReportMetric(0, "ns/op") // leaves it out
	b.ReportMetric(median(boot), "s/boot")
	b.ReportMetric(median(load), "s/modules")
	b.ReportMetric(median(disks), "s/disks")
	b.ReportMetric(float64(len(stacks)), "disks")
}

// emptyDisk is a disk of 16 MiB that is never read. The format on the host is nothing to a guest that boots.
func emptyDisk(b *testing.B, dir string, i int, s spec.Stack) cmdline.Disk {
	d := cmdline.Disk{Stack: s, Serial: fmt.Sprintf("bench-%d", i), Size: 16 << 20}
	if s.Ceiling() {
		return d
	}
	d.Stack.Format, d.Stack.Preallocation, d.Size = "raw", "", 0
	d.Path = filepath.Join(dir, d.Serial)
	if err := os.WriteFile(d.Path, make([]byte, 16<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	return d
}

func timeBoot(b *testing.B, c vm.Config, modules []string) (ready, inserted, there time.Duration) {
	machine, err := vm.Start(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer machine.Close()
	start := time.Now()
	if err := machine.Agent.Load(b.Context(), modules); err != nil {
		b.Fatal(machine.Explain(err))
	}
	inserted = time.Since(start)
	for {
		disks, err := machine.Agent.Disks(b.Context())
		if err != nil {
			b.Fatal(machine.Explain(err))
		}
		there = time.Since(start)
		if len(disks) == len(c.Disks) {
			return machine.Ready, inserted, there
		}
		if there > time.Minute {
			b.Fatalf("the guest sees %d disks of %d after a minute", len(disks), len(c.Disks))
		}
	}
}
