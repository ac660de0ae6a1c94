// Package vm starts one guest of ours and joins its parts: the QEMU process, its monitor, and the agent inside.
package vm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/qemu/qmp"
	"github.com/iotax/iotax/internal/wire"
)

// ErrNotReady says that the guest's agent gave no sign of life in time.
var ErrNotReady = errors.New("the guest did not come up")

// bootPatience bounds a boot: under emulation on a busy host it takes ten seconds, inside another emulated machine a
// minute or two.
const bootPatience = 3 * time.Minute

// kernelArgs are the guest's command line: of its boot, the crypto self-tests are the part worth leaving out.
// Under emulation the kernel mistrusts the TSC and reads the HPET instead, a device of QEMU's: every look at the
// clock, and fio looks twice an I/O, would leave the guest and take QEMU's lock. Nor is it left to find out the TSC's rate:
// it measures that against emulated timers, and on a busy host it was found to be wrong by factors of 8 and 23, with the
// guest's clock, and so every figure. (tsc_early_khz came with Linux 5.11; an older kernel passes it by.) Without no_timer_check, a timer
// that a busy host brings late makes it panic: "IO-APIC + timer doesn't work".
func kernelArgs(accel string, tscKHz int64) string {
	args := "console=ttyS0 quiet panic=-1 cryptomgr.notests"
	if accel == "tcg" {
		args += " no_timer_check tsc=reliable"
		if tscKHz > 0 {
			args += fmt.Sprintf(" tsc_early_khz=%d", tscKHz)
		}
	}
	return args
}

// Config is one guest.
type Config struct {
	Binary, Accel, Machine string
	Bios                   string // firmware, "" for QEMU's own
	CPUs                   int
	Memory                 int64  // bytes
	MemoryBackend          string // what backs it, see cmdline.Config
	Hugepages              int64  // bytes of the pages under it, 0 for ordinary ones
	MemoryFolder           string // for the file of backend "file"
	Image                  *guest.Image
	Dir                    string // for its sockets
	Name                   string // of its sockets, unique in Dir
	Env                    []string
	Patience               time.Duration // with the boot, 0 = three minutes
	Disks                  []cmdline.Disk
}

// VM is a running guest.
type VM struct {
	Agent *guest.Client
	QMP   *qmp.Client
	Proc  *proc.Process
	Args  []string
	Hello wire.Hello
	Ready time.Duration // from QEMU's start to the agent's first word
	files []string
}

// Start boots a guest and returns when its agent has answered. Whatever was started is ended again on failure.
func Start(ctx context.Context, c Config) (*VM, error) {
	start := time.Now()
	v, err := c.start(ctx, c.qemu(), (*VM).dial)
	if err != nil {
		return nil, err
	}
	v.Ready = time.Since(start)
	return v, nil
}

// Try starts QEMU for a guest without letting the guest run, and ends it. The error is that of a QEMU that refuses what
// it was given.
func Try(ctx context.Context, c Config) error {
	q := c.qemu()
	q.Paused = true
	v, err := c.start(ctx, q, (*VM).dialMonitor)
	if err != nil {
		return err
	}
	return v.Close()
}

func (c Config) path(kind string) string { return filepath.Join(c.Dir, c.Name+"."+kind) }

// qemu is the guest as QEMU's arguments are made of it.
func (c Config) qemu() cmdline.Config {
	return cmdline.Config{
		Binary: c.Binary, Accel: c.Accel, Machine: c.Machine, CPUs: c.CPUs,
		Memory: c.Memory, Backend: c.MemoryBackend, Pages: c.Hugepages, Folder: c.MemoryFolder,
		Bios: c.Bios, Kernel: c.Image.Kernel, Initrd: c.Image.Initrd, Append: kernelArgs(c.Accel, tscKHz()),
		QMPSocket: c.path("qmp"), AgentSocket: c.path("agent"), Disks: c.Disks,
	}
}

// ready waits until QEMU, or what runs in it, has answered.
type ready func(*VM, context.Context, cmdline.Config) error

// start starts QEMU and returns when it is ready.
func (c Config) start(ctx context.Context, q cmdline.Config, ready ready) (*VM, error) {
	v := &VM{files: []string{q.QMPSocket, q.AgentSocket}}
	v.removeFiles() // of an earlier guest of this name
	var err error
	if v.Args, err = cmdline.Args(q); err != nil {
		return nil, err
	}
	if v.Proc, err = proc.Start(proc.Config{Args: v.Args, Env: c.Env}); err != nil {
		return nil, err
	}
	limit := cmp.Or(c.Patience, bootPatience)
	patience, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %v", ErrNotReady, limit))
	defer cancel()
	if err := v.await(patience, q, ready); err != nil {
		err = v.Explain(err)
		v.Close()
		return nil, err
	}
	return v, nil
}

// await waits until what was started is ready, or has ended.
func (v *VM) await(ctx context.Context, q cmdline.Config, ready ready) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a QEMU that has ended never answers
		select {
		case <-v.Proc.Done():
			cancel(v.Proc.Err())
		case <-ctx.Done():
		}
	}()
	err := ready(v, ctx, q)
	if deadline, ok := ctx.Deadline(); err != nil && ok && !time.Now().Before(deadline) {
		<-ctx.Done() // a dial that is bounded by the same deadline may end a moment earlier
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

func (v *VM) dialMonitor(ctx context.Context, q cmdline.Config) (err error) {
	if v.QMP, err = qmp.Dial(ctx, q.QMPSocket); err != nil {
		return fmt.Errorf("QEMU's monitor: %w", err)
	}
	return nil
}

// dial joins the monitor and the agent as soon as each is there.
func (v *VM) dial(ctx context.Context, q cmdline.Config) error {
	if err := v.dialMonitor(ctx, q); err != nil {
		return err
	}
	conn, err := qmp.DialSocket(ctx, q.AgentSocket)
	if err != nil {
		return fmt.Errorf("the agent's port: %w", err)
	}
	v.Agent = guest.NewClient(conn)
	v.Hello, err = v.Agent.Hello(ctx)
	return err
}

// Lost returns why the guest can do nothing more, nil when it lives and err was about something else.
func (v *VM) Lost(err error) error {
	select {
	case <-v.Agent.Gone():
		return v.Explain(err)
	case <-v.Proc.Done():
		return v.Explain(err)
	default:
		return nil
	}
}

// grace is how long the process of a guest that fell silent gets to end by itself, so that its own words can be told.
const grace = 300 * time.Millisecond

// Explain adds to an error what the guest's console and QEMU's end say about it: a panic, a signal, a complaint.
func (v *VM) Explain(err error) error {
	if err == nil || v.Proc == nil {
		return err
	}
	select {
	case <-v.Proc.Done():
	case <-time.After(grace):
	}
	if cause := v.Proc.Err(); cause != nil {
		if errors.Is(err, cause) {
			return err
		}
		return fmt.Errorf("%w (%w)", cause, err)
	}
	if line := v.Proc.Panic(); line != "" {
		return fmt.Errorf("the guest said: %s (%w)", line, err)
	}
	if errors.Is(err, guest.ErrStuck) {
		if tasks := v.blocked(); tasks != "" {
			return fmt.Errorf("%w; its kernel shows what waits:\n%s", err, tasks)
		}
	}
	return err
}

// blocked asks the kernel of a guest that is stuck which tasks wait without end, and where (SysRq w); "" when it does
// not say.
func (v *VM) blocked() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if v.Agent == nil {
		return ""
	}
	for _, key := range []string{"8", "w"} { // first: what is shown may reach the console, which is quiet
		if v.Agent.WriteFile(ctx, "/proc/sysrq-trigger", key) != nil {
			return ""
		}
	}
	for ctx.Err() == nil {
		time.Sleep(grace) // the console is slower than the answer
		_, tasks, shown := strings.Cut(v.Proc.Console(), "Show Blocked State\n")
		if shown {
			return strings.TrimSpace(tasks)
		}
	}
	return ""
}

// Close ends the guest within a second and a half, and removes its sockets.
func (v *VM) Close() error {
	if v.Agent != nil {
		v.Agent.Close()
	}
	var err error
	if v.Proc != nil {
		err = v.Proc.Stop(v.QMP)
	}
	if v.QMP != nil {
		v.QMP.Close()
	}
	v.removeFiles()
	return err
}

// Pin puts the guest's threads on the host CPUs that this process may use, so that figures repeat.
func (v *VM) Pin(ctx context.Context) (proc.Policy, error) {
	allowed, err := proc.Allowed()
	if err != nil {
		return proc.Policy{}, err
	}
	threads, err := proc.Threads(ctx, v.Proc.PID(), v.QMP)
	if err != nil {
		return proc.Policy{}, err
	}
	policy := proc.Decide(allowed, v.Hello.CPUs)
	return policy, proc.Pin(threads, policy)
}

// OpenDirect reports whether QEMU holds a file open with O_DIRECT.
func (v *VM) OpenDirect(path string) (bool, error) {
	files, err := proc.Effective(v.Proc.PID(), path)
	if err != nil {
		return false, err
	}
	for _, f := range files {
		if !f.Direct {
			return false, nil
		}
	}
	return true, nil
}

func (v *VM) removeFiles() {
	for _, f := range v.files {
		os.Remove(f)
	}
}
