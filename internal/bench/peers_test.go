package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// peers is what the other ways to the answer of BenchmarkAnswer measure with: our own guest, which boots in seconds and so
// favours them, and volumes that are filled already.
type peers struct {
	config  vm.Config
	stacks  []spec.Stack
	volumes map[string]string // by stack; the host has one too
}

func newPeers(b *testing.B) *peers {
	e, err := spec.Parse("question.yaml", fmt.Appendf(nil, question, 1))
	if err != nil {
		b.Fatal(err)
	}
	p := &peers{config: vmtest.Config(b), stacks: e.Stacks, volumes: map[string]string{}}
	p.config.Memory = e.Guest.Memory
	for i, w := range e.Workloads {
		if w.Name != workloads[i].name || w.IODepth != workloads[i].depth || e.Size != volumeSize {
			b.Fatalf("the peers have the load %+v, iotax %+v on %d bytes", workloads[i], w, e.Size)
		}
	}
	for _, name := range append([]string{spec.Host}, names(p.stacks)...) {
		p.volumes[name] = filledFile(b, filepath.Join(p.config.Dir, name))
	}
	return p
}

func names(stacks []spec.Stack) (out []string) {
	for _, s := range stacks {
		out = append(out, s.Name)
	}
	return out
}

// onHost is a window on the host, as that of a run.
func (p *peers) onHost(b *testing.B, w workload, runtime time.Duration) float64 {
	ctx, cancel := within(b, runtime)
	defer cancel()
	path := p.volumes[spec.Host]
	value, err := fresh(ctx, path, way{spec.Host, baseline(b, p.config.Image.Fio, path, runtime)}, w, uint64(time.Now().UnixNano()))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// started is a guest with the disks of some stacks.
type started struct {
	*vm.VM
	disks map[string]string // kernel names by stack
}

func (p *peers) start(b *testing.B, stacks ...spec.Stack) started {
	c := p.config
	var drivers []string
	for _, s := range stacks {
		c.Disks = append(c.Disks, cmdline.Disk{Stack: s, Serial: s.Name, Path: p.volumes[s.Name]})
		drivers = append(drivers, guest.Drivers(s.Bus)...)
	}
	modules, missing := c.Image.Modules(drivers...)
	if len(missing) > 0 {
		b.Skipf("kernel %s lacks %v", c.Image.Release, missing)
	}
	ctx, cancel := within(b, 0)
	defer cancel()
	machine, err := vm.Start(ctx, c)
	if err != nil {
		b.Fatal(err)
	}
	g := started{machine, map[string]string{}}
	if err = machine.Agent.Load(ctx, modules); err == nil {
		_, err = machine.Pin(ctx)
	}
	for err == nil && len(g.disks) < len(stacks) {
		found, problem := machine.Agent.Disks(ctx)
		err = problem
		for _, d := range found {
			g.disks[d.Serial] = d.Name
		}
	}
	if err != nil {
		err = machine.Explain(err)
		machine.Close()
		b.Fatal(err)
	}
	return g
}

func (g started) close(b *testing.B) {
	if err := g.Close(); err != nil {
		b.Error(err)
	}
}

// inGuest is a window in a guest.
func (p *peers) inGuest(b *testing.B, g started, s spec.Stack, w workload, runtime time.Duration) float64 {
	ctx, cancel := within(b, runtime)
	defer cancel()
	if err := provision.DropCache(provision.Volume{Path: p.volumes[s.Name]}); err != nil {
		b.Fatal(err)
	}
	disk := g.disks[s.Name]
	job, err := w.job("/dev/"+disk, w.vcpu, uint64(time.Now().UnixNano()), runtime)
	if err != nil {
		b.Fatal(err)
	}
	r, err := g.Agent.Window(ctx, load.Request{
		Argv: slices.Concat([]string{guest.FioPath}, fio.Args("-")), Input: job, Disk: disk,
		Timeout: runtime + patience, StallAfter: 4 * time.Second, Step: 100 * time.Millisecond,
	})
	if err == nil && r.Stalled != "" {
		err = fmt.Errorf("%s in %s: %s", w.name, s.Name, r.Stalled)
	}
	if err != nil {
		b.Fatal(g.Explain(err))
	}
	value, err := iops(r.Output)
	if err != nil {
		b.Fatal(err)
	}
	return value
}
