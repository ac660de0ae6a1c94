package rig

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/vm"
)

// Config is what a rig works with.
type Config struct {
	Plan    plan.Plan
	Image   *guest.Image
	Binary  string // QEMU
	Bios    string // firmware of its guests, "" for its own
	Accel   string
	Volumes map[string]provision.Volume // by stack; the host's and its control's among them
	Dir     string                      // for sockets
	Env     []string                    // of all that is started
	Devices []string                    // physical disks under the volumes; none when they cannot be told
	// WriteCache is the devices' own: "write back" when a flush must reach them.
	WriteCache string
	Note       func(string)
	Polite     bool
}

// Rig starts guests and runs windows in them and beside them.
type Rig struct {
	Config
	meter   meter.Meter
	manners manners
}

// New returns a rig. Nothing is started yet.
func New(c Config) *Rig {
	return &Rig{Config: c, meter: meter.Meter{Devices: c.Devices}}
}

// Boot implements measure.Executor.
func (r *Rig) Boot(ctx context.Context, b plan.Boot, reason string) (measure.Session, error) {
	group := r.Plan.Groups[b.Group]
	s := &session{Rig: r, boot: record.Boot{Index: b.Index, Reason: reason}, disks: map[string]string{}, serials: map[string]string{}, unseen: map[string]string{}}
	var disks []cmdline.Disk
	for i, stack := range group.Stacks {
		d := r.disk(i, stack)
		s.serials[stack.Name] = d.Serial
		disks = append(disks, d)
		s.intended = append(s.intended, intended{stack, d, r.Plan.Experiment.Size})
	}
	machine, err := vm.Start(ctx, vm.Config{
		Binary: r.Binary, Bios: r.Bios, Accel: r.Accel, Machine: group.Machine,
		CPUs: r.Plan.Experiment.Guest.CPUs, Memory: r.Plan.Experiment.Guest.Memory,
		Image: r.Image, Dir: r.Dir, Name: "guest", Env: r.Env, Disks: disks,
	})
	if err != nil {
		return nil, fmt.Errorf("the guest did not start: %w", err)
	}
	s.vm = machine
	s.boot.ReadyNS, s.boot.Args = int64(machine.Ready), machine.Args
	if err := s.settle(ctx, group.Stacks); err != nil {
		machine.Close()
		return nil, err
	}
	r.Note(fmt.Sprintf("boot %d of %d: agent ready after %.1f s", b.Index+1, len(r.Plan.Boots), machine.Ready.Seconds()))
	return s, nil
}

// disk attaches a stack's volume; a disk of zero latency has no volume, only its size.
func (r *Rig) disk(i int, stack spec.Stack) cmdline.Disk {
	v, ok := r.Volumes[stack.Name]
	if !ok {
		return cmdline.Disk{Stack: stack, Serial: "iotax-null-" + strconv.Itoa(i), Size: r.Plan.Experiment.Size}
	}
	d := cmdline.Disk{Stack: stack, Serial: v.Serial, Path: v.Path, Block: v.Block}
	if v.Block {
		d.Offset, d.Size = v.Offset, v.Size
	}
	return d
}

// session is one guest beside its host.
type session struct {
	*Rig
	vm       *vm.VM
	boot     record.Boot
	intended []intended
	serials  map[string]string // stack -> serial
	disks    map[string]string // stack -> kernel name in the guest
	unseen   map[string]string // stack -> why the guest does not see its disk
	before   string            // stack of the window before
	stacks   []record.Stack
	policy   proc.Policy
	clock    clock
}

// intended is a stack, the disk that it was given, and the size that the guest should see in bytes.
type intended struct {
	stack spec.Stack
	disk  cmdline.Disk
	size  int64
}

// settle loads drivers, waits for every disk, pins the threads, and finds out what really runs.
func (s *session) settle(ctx context.Context, stacks []spec.Stack) error {
	var drivers []string
	for _, stack := range stacks {
		drivers = append(drivers, guest.Drivers(stack.Bus)...)
	}
	paths, missing := s.Image.Modules(drivers...)
	if len(missing) > 0 { // experiment leaves such stacks out
		return fmt.Errorf("kernel %s has no driver %s", s.Image.Release, strings.Join(missing, ", "))
	}
	if err := s.vm.Agent.Load(ctx, paths); err != nil {
		return s.vm.Explain(err)
	}
	if err := s.findDisks(ctx); err != nil {
		return s.vm.Explain(err)
	}
	var err error
	if s.policy, err = s.vm.Pin(ctx); err != nil {
		return s.vm.Explain(err)
	}
	if s.stacks, err = s.hostStacks(); err != nil {
		return err
	}
	for _, in := range s.intended {
		if why, ok := s.unseen[in.stack.Name]; ok {
			s.Note(in.stack.Title + ": " + why)
			s.stacks = append(s.stacks, record.Stack{
				Name: in.stack.Name, Title: in.stack.Title, Role: in.stack.Role, Durability: record.Unknown, DurabilityWhy: why,
			})
			continue
		}
		found, err := s.inspect(ctx, in)
		if err != nil {
			return s.vm.Explain(err)
		}
		s.stacks = append(s.stacks, found)
	}
	return nil
}

// diskPatience is how long drivers may take to find their disks: LSI's resets its bus for 3 s.
const diskPatience = 30 * time.Second

// findDisks waits until the guest has every disk, told apart by serial. Stacks whose disk does not come are measured
// no further, the others are.
func (s *session) findDisks(ctx context.Context) error {
	start := time.Now()
	for {
		found, err := s.vm.Agent.Disks(ctx)
		if err != nil {
			return err
		}
		byserial := map[string]string{}
		for _, d := range found {
			byserial[d.Serial] = d.Name
		}
		var absent []string
		for stack, serial := range s.serials {
			if s.disks[stack] = byserial[serial]; s.disks[stack] == "" {
				absent = append(absent, stack)
			}
		}
		if len(absent) == 0 {
			return nil
		}
		if waited := time.Since(start); waited > diskPatience {
			for _, stack := range absent {
				s.unseen[stack] = fmt.Sprintf("the guest did not see the disk within %.0f s", waited.Seconds())
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Facts implements measure.Session.
func (s *session) Facts() (record.Boot, []record.Stack) { return s.boot, s.stacks }

// Close implements measure.Session.
func (s *session) Close() error { return s.vm.Close() }

// hostCPUs lists the CPUs that the host's load generator may use: as many as the guest has.
func hostCPUs(n int) (string, error) {
	allowed, err := proc.Allowed()
	if err != nil {
		return "", err
	}
	if len(allowed) > n {
		allowed = allowed[:n]
	}
	var list []string
	for _, c := range allowed {
		list = append(list, strconv.Itoa(c))
	}
	return strings.Join(list, ","), nil
}

// guestCPU is the vCPU on which the guest's load generator runs: the first, which has a host CPU to itself. Where
// the last vCPU has to share its host CPU with QEMU's own threads, a load of one I/O at a time goes there: it and
// they take turns anyway, and waking another CPU at each turn is what makes such figures scatter (3.6 % against
// 10.4 % from window to window on two CPUs).
func guestCPU(p proc.Policy, iodepth int) string {
	last := len(p.VCPUs) - 1
	if iodepth == 1 && last > 0 && slices.Contains(p.Others, p.VCPUs[last]) {
		return strconv.Itoa(last)
	}
	return "0"
}
