package xen

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/qemu/proc"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/wire"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// ErrNotReady says that the domain's agent gave no sign of life in time.
var ErrNotReady = errors.New("the domain did not come up")

// Patience with a start: under emulation on a busy machine it takes a minute, half of it xl and its scripts, which
// have limits of their own. An HVM domain reads its kernel and root file system through an I/O port of its QEMU's
// (linuxboot.bin, without fw_cfg's DMA), which under emulation takes many minutes.
const (
	bootPatience    = 3 * time.Minute
	slowPatience    = 15 * time.Minute
	consolePatience = 10 * time.Second
	servePatience   = 15 * time.Second
	poll            = 20 * time.Millisecond
)

// console is the port of every domain: the paravirtual console, which Xen's own daemon serves for all types of
// domain. A second one (xl's channels) would need a QEMU beside a PV or PVH domain.
const console = "hvc0"

// Config is one domain.
type Config struct {
	Host    Host   // as Look found it
	Type    string // one of xlcfg.Types
	CPUs    int
	Memory  int64 // bytes
	Image   *guest.Image
	Disks   []xlcfg.Disk
	Pin     bool   // each vCPU to a physical CPU
	Dir     string // for its configuration
	Name    string // unique among the domains of the run
	Journal *revert.Journal
	Runner  sys.Runner
}

// Domain is a running guest.
type Domain struct {
	Agent *guest.Client
	Hello wire.Hello
	Ready time.Duration // from xl's start to the agent's first word
	Args  []string      // the command that made it
	Text  string        // its configuration, as xl read it

	c       Config
	cfg     xlcfg.Config
	id      string
	policy  proc.Policy
	console *listener
	entry   revert.Entry
	file    string
}

// Start boots a domain and returns when its agent has answered. Whatever was started is ended again on failure.
func Start(ctx context.Context, c Config) (*Domain, error) {
	if why, mend := c.Host.Lacks(c.Type, c.Memory, c.Disks...); why != "" {
		return nil, errkind.WithHint(errkind.Userf("%s", why), "%s", mend)
	}
	d := &Domain{c: c, console: newListener(), file: filepath.Join(c.Dir, c.Name+".cfg")}
	d.configure()
	var err error
	if d.Text, err = xlcfg.Text(d.cfg); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.file, []byte(d.Text), 0o600); err != nil {
		return nil, err
	}
	var paths []string
	for _, disk := range c.Disks {
		paths = append(paths, disk.Path)
	}
	if d.entry, err = c.Journal.Add(revert.Domain(d.cfg.Name, d.cfg.UUID, paths...)); err != nil {
		return nil, errors.Join(err, os.Remove(d.file))
	}
	start := time.Now()
	limit := bootPatience
	if c.Type == "hvm" && c.Host.Emulated {
		limit = slowPatience
	}
	patience, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %v", ErrNotReady, limit))
	defer cancel()
	if err := d.boot(patience); err != nil {
		if cause := context.Cause(patience); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		if ctx.Err() == nil {
			err = d.Explain(err)
		}
		return nil, errors.Join(err, d.Close())
	}
	d.Ready = time.Since(start)
	return d, nil
}

// configure turns what is asked for into what xl is told.
func (d *Domain) configure() {
	c := d.c
	d.cfg = xlcfg.Config{
		Name: revert.DomainName(c.Journal.Run(), c.Name), UUID: newUUID(), Type: c.Type, CPUs: c.CPUs, Memory: c.Memory,
		Kernel: c.Image.Kernel, Initrd: c.Image.Initrd, Append: kernelArgs(c.Disks), Disks: c.Disks,
	}
	if c.Type == "hvm" {
		d.cfg.Kernel = c.Image.BzImage // QEMU loads it, as a PC's boot loader does
	}
	cpus := make([]int, c.Host.CPUs)
	for i := range cpus {
		cpus[i] = i
	}
	d.policy = proc.Decide(cpus, c.CPUs)
	if c.Pin {
		d.cfg.Pins = d.policy.VCPUs
	}
	if c.Host.Emulated {
		// Xen trusts an emulated TSC no more than Linux does, and would trap every look at the clock. Nor can it
		// emulate RDTSCP on a CPU that does not tell how long an instruction is, and a domain that
		// uses it never ends its first one ("SVM Insn len emulation failed").
		d.cfg.TSCMode = "native"
		if c.Type != "pv" {
			d.cfg.CPUID = "host,rdtscp=0"
		}
	}
}

// kernelArgs are the guest's command line. The kernel says nothing on the console that carries the agent's words
// unless it panics, and even that would be kept back at loglevel 0 (console_verbose in Linux's printk.h).
func kernelArgs(disks []xlcfg.Disk) string {
	args := fmt.Sprintf("console=%s %s=%s loglevel=1 panic=-1 cryptomgr.notests", console, wire.ConsoleArg, console)
	if len(disks) > 0 && disks[0].Emulated() {
		args += " xen_emul_unplug=never"
	}
	return args
}

// boot creates the domain paused, so that nothing it says is lost, and lets it run once its console is open.
func (d *Domain) boot(ctx context.Context) error {
	d.Args = []string{"xl", "create", "-q", "-e", "-p", d.file}
	if _, err := d.run(ctx, d.Args...); err != nil {
		return d.qemuSaid(fmt.Errorf("xl cannot create the domain: %w", err))
	}
	out, err := d.run(ctx, "xl", "domid", d.cfg.Name)
	if err != nil {
		return err
	}
	d.id = strings.TrimSpace(out)
	if err := d.served(ctx); err != nil {
		return err
	}
	tty, err := d.tty(ctx)
	if err != nil {
		return err
	}
	port, err := wire.OpenConsole(tty, d.console)
	if err != nil {
		return fmt.Errorf("the domain's console: %w", err)
	}
	d.Agent = guest.NewClient(port)
	if _, err := d.run(ctx, "xl", "unpause", d.id); err != nil {
		return err
	}
	d.Hello, err = d.Agent.Hello(ctx)
	return err
}

// served waits until QEMU serves the disks that are its own. xl does not wait for that, and a guest whose disk is not
// served waits for five minutes in its driver.
func (d *Domain) served(ctx context.Context) error {
	if !slices.ContainsFunc(d.c.Disks, func(x xlcfg.Disk) bool { return x.Backend == "qdisk" }) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, servePatience)
	defer cancel()
	for {
		back, err := d.list(ctx, "/local/domain/0/backend")
		if err != nil {
			return err
		}
		missing := unserved(back.sub("qdisk").sub(d.id))
		if missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return d.qemuSaid(fmt.Errorf("disk %s is not served by Xen's QEMU", missing))
		case <-time.After(poll):
		}
	}
}

// tty waits until Xen's console daemon has noticed the domain and says which terminal its console is.
func (d *Domain) tty(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, consolePatience, errors.New("nobody serves the domain's console: is xenconsoled running?"))
	defer cancel()
	for {
		out, err := d.run(ctx, "xenstore-read", "/local/domain/"+d.id+"/console/tty")
		if tty := strings.TrimSpace(out); err == nil && tty != "" {
			return tty, nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// Close destroys the domain.
func (d *Domain) Close() error {
	if d.Agent != nil {
		d.Agent.Close()
	}
	os.Remove(d.file)
	return d.c.Journal.UndoEntry(context.Background(), d.entry)
}

func (d *Domain) run(ctx context.Context, argv ...string) (string, error) {
	out, err := d.c.Runner.Run(ctx, sys.Command{Argv: argv})
	return string(out), err
}

// newUUID makes a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
