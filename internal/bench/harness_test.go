package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// How much BenchmarkHarness does: so many boots of each guest, each with one pair of mirrored rounds.
const (
	boots    = 12
	priming  = 300 * time.Millisecond // of a window that is thrown away: emulation translates fio when it first runs
	patience = 90 * time.Second       // with a boot, and with a window
)

// The guests of BenchmarkHarness: ours, one that is made by hand, and another such as the control.
var guests = []string{"ours", "by-hand", "again"}

// BenchmarkHarness asks whether the harness slows the guest: fio in a guest of ours, with its agent, its signs of life
// and its watch over the disk, against the same fio in a guest that runs a shell script and nothing else. Kernel, QEMU
// and its arguments are the same but for the paths of the initrd, the sockets and the volume.
//
// All three guests are there at once and all but one are stopped. Boots differ from each other more than windows of
// one boot do, so a boot is one observation. Guests and volumes are paired anew at each boot.
func BenchmarkHarness(b *testing.B) {
	l := newLab(b)
	got := results{}
	for boot := range boots {
		if err := l.boot(b.Context(), boot, got); err != nil {
			b.Fatal(err)
		}
	}
	for _, w := range workloads {
		r := got[w.name]
		report(b, w.name, r["ours"], r["by-hand"], ratio(r["again"], r["by-hand"]))
	}
}

// lab is what all boots share.
type lab struct {
	config  vm.Config // of our guest
	initrd  string    // of the others
	args    []string  // QEMU's, of our guest on the first volume
	volumes []string
}

func newLab(b *testing.B) *lab {
	l := &lab{config: vmtest.Config(b)}
	l.config.Memory, l.config.Name = 512<<20, "ours"
	l.initrd = handInitrd(b, l.config.Dir, l.config.Image)
	for i := range guests {
		l.volumes = append(l.volumes, filledFile(b, filepath.Join(l.config.Dir, fmt.Sprintf("volume-%d", i))))
	}
	l.config.Disks = []cmdline.Disk{{Serial: "bench", Stack: spec.Stack{
		Name: "bench", Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "io_uring", IOThread: true,
	}}}
	l.config.Disks[0].Path = l.volumes[0]
	machine, err := vm.Start(b.Context(), l.config)
	if err != nil {
		b.Fatal(err)
	}
	l.args = machine.Args
	machine.Close()
	return l
}

// filledFile makes a volume and fills it with incompressible data.
func filledFile(b *testing.B, path string) string {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	if err := provision.Write(b.Context(), path, []provision.Extent{{At: 0, Length: volumeSize}}, provision.Content{Seed: 1}, nil); err != nil {
		b.Fatal(err)
	}
	return path
}

// runner is a guest that runs fio.
type runner interface {
	run(ctx context.Context, w workload, job string) (output []byte, err error)
	monitor() *qmp.Client
	close() error
}

// boot starts all guests, runs one pair of mirrored rounds, and ends them.
func (l *lab) boot(ctx context.Context, boot int, got results) error {
	started := map[int]runner{}
	defer func() {
		for _, g := range started {
			g.close()
		}
	}()
	for _, i := range order(2*boot, len(guests)) {
		g, err := l.start(ctx, guests[i], l.volumes[(i+boot)%len(l.volumes)])
		if err != nil {
			return err
		}
		started[i] = g
		for _, w := range workloads {
			if _, err := window(ctx, g, w, 1, priming); err != nil {
				return fmt.Errorf("%s: %w", guests[i], err)
			}
		}
	}
	for _, g := range started { // only now: ours counts as dead when it is silent for long
		if err := g.monitor().Call(ctx, "stop", nil, nil); err != nil {
			return err
		}
	}
	for round := 2 * boot; round < 2*boot+2; round++ {
		if err := l.round(ctx, round, started, got); err != nil {
			return err
		}
	}
	return nil
}

// round runs each workload in each guest.
func (l *lab) round(ctx context.Context, round int, started map[int]runner, got results) error {
	for turn := range workloads {
		w := workloads[(turn+round)%len(workloads)]
		for _, i := range order(round, len(guests)) {
			value, err := alone(ctx, started[i], w, uint64(round+1))
			if err != nil {
				return fmt.Errorf("%s: %w", guests[i], err)
			}
			got.add(w.name, guests[i], value)
		}
	}
	return nil
}

func (l *lab) start(ctx context.Context, name, volume string) (runner, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if name == "ours" {
		return startOurs(ctx, l.config, volume)
	}
	path := func(name, kind string) string { return filepath.Join(l.config.Dir, name+"."+kind) }
	other := strings.NewReplacer(
		path("ours", "qmp"), path(name, "qmp"), path("ours", "agent"), path(name, "agent"),
		l.config.Image.Initrd, l.initrd, l.volumes[0], volume,
	)
	var args []string
	for _, a := range l.args {
		args = append(args, other.Replace(a))
	}
	return startByHand(ctx, args, path(name, "qmp"), path(name, "agent"), l.config.CPUs)
}

// alone runs a window in a guest that is stopped before and after.
func alone(ctx context.Context, g runner, w workload, seed uint64) (float64, error) {
	if err := g.monitor().Cont(ctx); err != nil {
		return 0, err
	}
	value, err := window(ctx, g, w, seed, runtime)
	if err != nil {
		return 0, err
	}
	return value, g.monitor().Call(ctx, "stop", nil, nil)
}

func window(ctx context.Context, g runner, w workload, seed uint64, runtime time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	job, err := w.job("/dev/vda", w.vcpu, seed, runtime)
	if err != nil {
		return 0, err
	}
	output, err := g.run(ctx, w, job)
	if err != nil {
		return 0, err
	}
	return iops(output)
}

// ours is a guest as package rig has it.
type ours struct{ vm *vm.VM }

func startOurs(ctx context.Context, c vm.Config, volume string) (runner, error) {
	disk := c.Disks[0]
	disk.Path = volume
	c.Disks = []cmdline.Disk{disk}
	machine, err := vm.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	modules, _ := c.Image.Modules(guest.Drivers("virtio-blk")...)
	err = machine.Agent.Load(ctx, modules)
	if err == nil {
		_, err = machine.Pin(ctx)
	}
	if err != nil {
		err = machine.Explain(err)
		machine.Close()
		return nil, err
	}
	return ours{machine}, nil
}

func (g ours) run(ctx context.Context, w workload, job string) ([]byte, error) {
	r, err := g.vm.Agent.Window(ctx, load.Request{
		Argv: append([]string{guest.FioPath}, fio.Args("-")...), Input: job, Disk: "vda",
		Timeout: patience, StallAfter: 4 * time.Second, Step: 100 * time.Millisecond,
	})
	if err != nil {
		return nil, g.vm.Explain(err)
	}
	if r.Stalled != "" {
		return nil, fmt.Errorf("%s: %s", w.name, r.Stalled)
	}
	return r.Output, nil
}

func (g ours) monitor() *qmp.Client { return g.vm.QMP }

func (g ours) close() error { return g.vm.Close() }
