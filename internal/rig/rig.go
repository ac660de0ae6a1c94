package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/measure"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/wire"
	"github.com/iotax/iotax/internal/xen"
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
	Ioping  string                      // on the host, "" when there is none
	Fio     string                      // the host's own, with the engines that the guest's copy has forgotten
	QEMUImg string
	Env     []string        // of all that is started
	Journal *revert.Journal // of what a boot changes on the host
	// Devices are the physical disks under each volume, by stack, the host and its control among them; none when they
	// cannot be told. WriteCache is those disks' own: "write back" when a flush must reach them.
	Devices    map[string][]string
	WriteCache map[string]string
	Layers     map[string][]string // what lies between each volume and its disks (hostenv.Storage), by stack
	Serve      Serve               // starts the servers of disks that QEMU does not open itself; nil where there are none
	// Unwritten tells how much of a volume is not on the disk (provision.Mapper), by stack, the host and its control among
	// them; without those that are to be empty, and those whose storage does not tell.
	Unwritten map[string]func(ctx context.Context) (float64, error)
	Refresh   map[string]func(ctx context.Context) error // by stack, for volumes that change as they are written to
	Drain     map[string]func(ctx context.Context) error // by stack, for storage that holds back what was written
	Xen       *xen.Host                                  // nil where this host does not run under Xen
	Runner    sys.Runner                                 // of Xen's tools
	Health    map[string]func(ctx context.Context) error // by stack, for volumes whose storage can run out of room
	Note      func(string)
	Polite    bool
}

// Rig starts guests and runs windows in them and beside them.
type Rig struct {
	Config
	meter   meter.Meter // of every disk
	manners manners
}

// New returns a rig. Nothing is started yet.
func New(c Config) *Rig {
	var all []string
	for _, devices := range c.Devices {
		all = append(all, devices...)
	}
	slices.Sort(all)
	return &Rig{Config: c, meter: meter.Meter{Devices: slices.Compact(all)}}
}

// meterOf counts what happens to the disks under a stack's volume.
func (r *Rig) meterOf(stack string) meter.Meter { return meter.Meter{Devices: r.Devices[stack]} }

// Boot implements measure.Executor.
func (r *Rig) Boot(ctx context.Context, b plan.Boot, reason string) (measure.Session, error) {
	return anew(ctx, r.Note, reason, func(reason string) (measure.Session, error) {
		s, err := r.tryBoot(ctx, b, reason)
		if err != nil { // not a session that is nil
			return nil, err
		}
		return s, nil
	})
}

func (r *Rig) tryBoot(ctx context.Context, b plan.Boot, reason string) (*session, error) {
	s := r.session(r.Plan.Groups[b.Group])
	s.boot = record.Boot{Index: b.Index, Reason: reason}
	for i, stack := range s.group.Stacks {
		in := intended{stack, r.disk(i, stack), r.diskSize(stack)}
		if stack.OnHost() {
			s.beside = append(s.beside, in)
			continue
		}
		s.intended = append(s.intended, in)
	}
	err := s.start(ctx)
	if err == nil {
		s.stacks, err = s.hostStacks()
	}
	if err == nil && s.machine != nil {
		err = s.settle(ctx)
	}
	if err == nil {
		err = s.settleHost(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.stacks = append(s.stacks, s.absentStacks()...)
	place := fmt.Sprintf("boot %d of %d: ", b.Index+1, len(r.Plan.Boots))
	if s.machine == nil {
		r.Note(place + s.noMachine())
		return s, nil
	}
	ready, argv := s.machine.facts()
	s.boot.ReadyNS, s.boot.Args = int64(ready), argv
	r.Note(place + fmt.Sprintf("agent ready after %.1f s", ready.Seconds()))
	return s, nil
}

// disk attaches a stack's volume; a disk of zero latency has no volume, only its size.
func (r *Rig) disk(i int, stack spec.Stack) cmdline.Disk {
	v, ok := r.Volumes[stack.Name]
	if !ok {
		return cmdline.Disk{Stack: stack, Serial: "iotax-null-" + strconv.Itoa(i), Size: r.Plan.Experiment.Size}
	}
	d := cmdline.Disk{Stack: stack, Serial: v.Serial, Path: v.Path, Base: v.Base, Block: v.Block}
	if v.Block {
		d.Offset, d.Size = v.Offset, v.Size
	}
	d.Socket = r.socket(d)
	return d
}

// session is one guest beside its host.
type session struct {
	*Rig
	group    plan.Group
	machine  machine // nil when this host can offer none of the group's stacks
	boot     record.Boot
	intended []intended           // without those that are absent
	beside   []intended           // on the host, without those that are absent
	paces    map[plan.Key]pace    // of qemu-img bench
	absent   map[string]absence   // by stack
	servers  map[string]Server    // by stack
	disks    map[string]wire.Disk // stack -> its disk as the guest sees it
	hardware findings
	before   string          // stack of the window before
	restored map[string]bool // stack -> its volume is in the state in which a window is to find it
	mapped   map[string]bool // stack -> all of its volume was found to be written, and it cannot have changed since
	stacks   []record.Stack
	policy   proc.Policy
	clock    clock
	qemu     meter.Process // its threads by role; zero until a window asked for them
	account  *account      // of the window under way
	undos    undos
}

func (r *Rig) session(g plan.Group) *session {
	return &session{
		Rig: r, group: g, absent: map[string]absence{}, servers: map[string]Server{},
		disks: map[string]wire.Disk{}, paces: map[plan.Key]pace{}, restored: map[string]bool{}, mapped: map[string]bool{},
	}
}

// agent talks to the guest.
func (s *session) agent() *guest.Client { return s.machine.agent() }

// intended is a stack, the disk that it was given, and the size that the guest should see in bytes.
type intended struct {
	stack spec.Stack
	disk  cmdline.Disk
	size  int64
}

// Facts implements measure.Session.
func (s *session) Facts() (record.Boot, []record.Stack) { return s.boot, s.stacks }

// Close implements measure.Session: the guest first, then those that serve its disks, then its memory.
func (s *session) Close() error {
	var err error
	if s.machine != nil {
		err = s.machine.Close()
	}
	err = errors.Join(err, s.closeServers(), s.undos.all())
	s.undos = nil
	return err
}

// hostCPUs lists the CPUs that the host's load generator may use: as many as the guest has.
func hostCPUs(n int) (string, error) {
	allowed, err := proc.Allowed()
	if err != nil {
		return "", err
	}
	if len(allowed) > n {
		allowed = allowed[:n]
	}
	return cpuList(allowed), nil
}

// cpuList writes CPUs as fio does: "0,2".
func cpuList(cpus []int) string {
	var list []string
	for _, c := range cpus {
		list = append(list, strconv.Itoa(c))
	}
	return strings.Join(list, ",")
}

// guestCPUs lists the vCPUs on which the guest's load generator runs. A single job has one: the first, which has a host
// CPU to itself. Where the last vCPU has to share its host CPU with QEMU's own threads, a load of one I/O at a time goes
// there: it and they take turns anyway, and waking another CPU at each turn is what makes such figures scatter (3.6 %
// against 10.4 % from window to window on two CPUs). Several jobs have all
// cpus of the guest. Without a policy no vCPU has a place, and the first is as good as any.
func guestCPUs(p proc.Policy, cpus int, l spec.Workload) string {
	last := len(p.VCPUs) - 1
	switch {
	case l.Jobs() > 1 && cpus > 1:
		return "0-" + strconv.Itoa(cpus-1)
	case l.IODepth == 1 && last > 0 && slices.Contains(p.Others, p.VCPUs[last]):
		return strconv.Itoa(last)
	}
	return "0"
}
