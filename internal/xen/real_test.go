package xen_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm/vmtest"
	"github.com/iotax/iotax/internal/wire"
	"github.com/iotax/iotax/internal/xen"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

const size = 16 << 20 // bytes of every disk

// slowEnv asks for the tests that take many minutes.
const slowEnv = "IOTAX_TEST_SLOW"

// host is this machine as a host of domains; elsewhere the test is skipped with the reason.
func host(t *testing.T) xen.Host {
	t.Helper()
	if testing.Short() {
		t.Skip("starts domains: not with -short")
	}
	h, why, mend := xen.Look(t.Context(), "/", sys.Exec{})
	if why != "" {
		t.Skipf("%s (%s)", why, mend)
	}
	return h
}

// config is a domain of this type without disks, with a journal of its own.
func config(t *testing.T, kind string) xen.Config {
	t.Helper()
	c := xen.Config{Host: host(t), Type: kind, CPUs: 2, Memory: 256 << 20, Pin: true, Name: "guest", Runner: sys.Exec{}}
	if why, mend := c.Host.Lacks(kind, c.Memory); why != "" {
		t.Skipf("%s (%s)", why, mend)
	}
	if kind == "hvm" && c.Host.Emulated && os.Getenv(slowEnv) == "" {
		t.Skip("under emulation an HVM domain takes nine minutes to boot; set " + slowEnv + "=1 to wait for it")
	}
	c.Image = vmtest.Image(t)
	c.Dir = vmtest.Dir(t)
	var err error
	if c.Journal, err = revert.Open(filepath.Join(c.Dir, "journal"), "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Journal.Undo(context.Background()); err != nil {
			t.Error(err)
		}
		checkNothingLeft(t, c.Dir)
	})
	return c
}

// checkNothingLeft looks for domains of ours, and loop devices of files in a folder.
func checkNothingLeft(t *testing.T, dir string) {
	t.Helper()
	domains, err := exec.Command("xl", "list").Output()
	if err != nil || bytes.Contains(domains, []byte("iotax-")) {
		t.Errorf("domains: %s, %v", domains, err)
	}
	loops, err := exec.Command("losetup", "-a").Output()
	if err != nil || bytes.Contains(loops, []byte(dir)) {
		t.Errorf("loop devices: %s, %v", loops, err)
	}
	if logs, _ := filepath.Glob("/var/log/xen/*iotax-*"); len(logs) > 0 {
		t.Errorf("logs: %v", logs)
	}
}

// file makes a disk that is a file of zeros.
func file(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// device makes a block device of zeros: a loop device with direct I/O.
func device(t *testing.T, dir, name string) string {
	t.Helper()
	out, err := exec.Command("losetup", "-f", "--show", "--direct-io=on", file(t, dir, name)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", path).Run() })
	return path
}

// start boots the domain and loads the drivers of a bus; it ends with the test.
func start(t *testing.T, c xen.Config, bus string) *xen.Domain {
	t.Helper()
	d, err := xen.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		begun := time.Now()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("ready after %.1f s (its kernel: %.1f s), destroyed in %.1f s", d.Ready.Seconds(), d.Hello.Uptime.Seconds(), time.Since(begun).Seconds())
	})
	if d.Hello.CPUs != c.CPUs || d.Hello.Release != c.Image.Release || d.Hello.Memory > c.Memory {
		t.Errorf("hello %+v", d.Hello)
	}
	paths, missing := c.Image.Modules(guest.Drivers(bus)...)
	if len(missing) > 0 {
		t.Fatalf("the kernel lacks %v", missing)
	}
	if err := d.Agent.Load(t.Context(), paths); err != nil {
		t.Fatal(d.Explain(err))
	}
	return d
}

// seen waits until the guest has all disks, and gives them by their serials.
func seen(t *testing.T, d *xen.Domain, n int) map[string]wire.Disk {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		disks, err := d.Agent.Disks(t.Context())
		if err != nil {
			t.Fatal(d.Explain(err))
		}
		if len(disks) >= n {
			bySerial := map[string]wire.Disk{}
			for _, disk := range disks {
				bySerial[disk.Serial] = disk
			}
			return bySerial
		}
		if time.Now().After(end) {
			t.Fatalf("the guest sees %+v, want %d disks", disks, n)
		}
	}
}

// window runs fio on a disk of the guest for a second.
func window(t *testing.T, d *xen.Domain, disk wire.Disk) {
	t.Helper()
	job := fio.Job{
		Name: "window", Filename: "/dev/" + disk.Name, Size: size, RW: "randrw", BS: 4096, IODepth: 4, RWMixRead: 50, Direct: true,
		Runtime: time.Second, RandSeed: 1, Extra: map[string]string{"clocksource": "clock_gettime", "disk_util": "0"},
	}
	text, err := job.Text()
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Agent.Window(t.Context(), load.Request{
		Argv: append([]string{guest.FioPath}, fio.Args("-")...), Input: text, Disk: disk.Name,
		Timeout: time.Minute, StallAfter: 20 * time.Second, Step: 100 * time.Millisecond,
	})
	if err != nil || r.Stalled != "" {
		t.Fatal(d.Explain(err), r.Stalled)
	}
	out, err := fio.Parse(r.Output)
	if err != nil {
		t.Fatal(err, r.Stderr)
	}
	sum := fio.Sum(out.Jobs)
	if fault := sum.Fault(); fault != "" || sum.Read.TotalIOs+sum.Write.TotalIOs == 0 {
		t.Errorf("%s: %q, %d reads, %d writes", disk.Name, fault, sum.Read.TotalIOs, sum.Write.TotalIOs)
	}
	t.Logf("%s: %.0f IOPS, %d bytes of output", disk.Name, sum.Read.IOPS+sum.Write.IOPS, len(r.Output))
}

// TestDomain gives a domain a block device, a file, and a file by way of QEMU.
func TestDomain(t *testing.T) {
	for _, kind := range []string{"pv", "pvh", "hvm"} {
		t.Run(kind, func(t *testing.T) {
			c := config(t, kind)
			c.Disks = []xlcfg.Disk{
				{VDev: "xvda", Path: device(t, c.Dir, "device"), Format: "raw", Backend: "phy"},
				{VDev: "xvdb", Path: file(t, c.Dir, "file"), Format: "raw", Backend: "phy"},
				{VDev: "xvdc", Path: file(t, c.Dir, "qdisk"), Format: "raw", Backend: "qdisk"},
			}
			if why, _ := c.Host.Lacks(kind, c.Memory, c.Disks...); why != "" {
				t.Log(why)
				c.Disks = c.Disks[:2]
			}
			d := start(t, c, "blkfront")
			disks := seen(t, d, len(c.Disks))
			facts, err := d.Disks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, asked := range c.Disks {
				disk, found := disks[asked.Serial()], facts[asked.VDev]
				if disk.Name != asked.VDev || disk.Size != size || disk.WriteCache != "write back" {
					t.Errorf("the guest sees %+v, want %s", disk, asked.VDev)
				}
				if wrong := found.Mismatch(asked); len(wrong) > 0 {
					t.Errorf("%s: %v", asked.VDev, wrong)
				}
				t.Logf("%s: %v", asked.VDev, found.Effective())
				window(t, d, disk)
				checkArrives(t, d, disk, asked)
			}
			if direct := facts["xvda"].LoopDirect; direct == nil || !*direct {
				t.Errorf("the device is a loop device with direct I/O, found %v", direct)
			}
			if direct := facts["xvdb"].LoopDirect; direct == nil {
				t.Error("the file has no loop device below it")
			}
			checkPin(t, d, c.CPUs)
		})
	}
}

// checkArrives writes a known block synchronously in the guest, and finds it on dom0's side.
func checkArrives(t *testing.T, d *xen.Domain, disk wire.Disk, asked xlcfg.Disk) {
	t.Helper()
	if _, err := d.Agent.Probe(t.Context(), load.Probe{Path: "/dev/" + disk.Name, Disk: disk.Name, Size: size, Count: 1}); err != nil {
		t.Fatal(d.Explain(err))
	}
	data, err := os.ReadFile(asked.Path)
	if err != nil || len(bytes.TrimLeft(data, "\x00")) == 0 {
		t.Errorf("%s: nothing of what the guest wrote is in %s: %v", asked.VDev, asked.Path, err)
	}
}

func checkPin(t *testing.T, d *xen.Domain, cpus int) {
	t.Helper()
	policy, err := d.Pin(t.Context())
	if err != nil || len(policy.VCPUs) != cpus {
		t.Errorf("policy %+v, %v", policy, err)
	}
	if where, err := d.Dom0(t.Context()); err != nil || !strings.Contains(where, "vCPU") {
		t.Errorf("dom0: %q, %v", where, err)
	}
}

// TestEmulated has no paravirtual disk: two on IDE.
func TestEmulated(t *testing.T) {
	c := config(t, "hvm")
	c.Disks = []xlcfg.Disk{
		{VDev: "hda", Path: device(t, c.Dir, "device"), Format: "raw", Backend: "phy"},
		{VDev: "hdb", Path: file(t, c.Dir, "file"), Format: "raw", Backend: "phy"},
	}
	d := start(t, c, "ide")
	disks := seen(t, d, len(c.Disks))
	facts, err := d.Disks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range c.Disks {
		disk, ok := disks[asked.Serial()]
		if !ok || disk.Size != size {
			t.Fatalf("%s: %+v among %+v", asked.VDev, disk, disks)
		}
		if f := facts[asked.VDev]; f.Backend != "ide" || f.ODirect == nil || len(f.Mismatch(asked)) > 0 {
			t.Errorf("%s: %+v, %v", asked.VDev, f, f.Mismatch(asked))
		}
		t.Logf("%s: %v", asked.VDev, facts[asked.VDev].Effective())
		window(t, d, disk)
	}
}

func TestPanicIsExplained(t *testing.T) {
	d := start(t, config(t, "pv"), "blkfront")
	err := d.Agent.WriteFile(t.Context(), "/proc/sysrq-trigger", "c")
	if err == nil {
		t.Fatal("the guest survived")
	}
	if lost := d.Lost(err); lost == nil || !strings.Contains(lost.Error(), "Kernel panic") {
		t.Errorf("Lost = %v", lost)
	}
}

func TestTroubleFromOutside(t *testing.T) {
	c := config(t, "pv")
	d := start(t, c, "blkfront")
	if lost := d.Lost(errors.New("no module of that name")); lost != nil {
		t.Errorf("a living guest is taken for lost: %v", lost)
	}
	name := revert.DomainName("test", c.Name)
	if out, err := exec.Command("xl", "pause", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, err := d.Agent.Clock(t.Context())
	if lost := d.Lost(err); !errors.Is(err, guest.ErrSilent) || lost == nil || !strings.Contains(lost.Error(), "is paused") {
		t.Errorf("paused: %v, Lost = %v", err, lost)
	}
	if out, err := exec.Command("xl", "destroy", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if lost := d.Lost(err); lost == nil || !strings.Contains(lost.Error(), "destroyed from outside") {
		t.Errorf("destroyed: Lost = %v", lost)
	}
}

// Of a domain that does not come up, nothing may be left.
func TestFailedStarts(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*testing.T, *xen.Config)
		says   string
		code   errkind.Code
	}{
		"too large":    {func(_ *testing.T, c *xen.Config) { c.Memory = 1 << 40 }, "of memory left", errkind.Usage},
		"no such type": {func(_ *testing.T, c *xen.Config) { c.Type = "vmx" }, "no vmx domains", errkind.Usage},
		"no such disk": {func(_ *testing.T, c *xen.Config) {
			c.Disks = []xlcfg.Disk{{VDev: "xvda", Path: filepath.Join(c.Dir, "gone"), Format: "raw", Backend: "phy"}}
		}, "xl cannot create the domain", errkind.Bug},
		"no kernel": {func(t *testing.T, c *xen.Config) {
			image := *c.Image
			image.Kernel = file(t, c.Dir, "kernel")
			c.Image = &image
		}, "xl cannot create the domain", errkind.Bug},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "pv")
			tt.change(t, &c)
			d, err := xen.Start(t.Context(), c)
			if err == nil {
				d.Close()
				t.Fatal("the domain came up")
			}
			if !strings.Contains(err.Error(), tt.says) || errkind.CodeOf(err) != tt.code {
				t.Errorf("exit code %d, %v; want %d, %q", errkind.CodeOf(err), err, tt.code, tt.says)
			}
		})
	}
}

func TestInterruptedStart(t *testing.T) {
	for _, after := range []time.Duration{0, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second} {
		c := config(t, "pv")
		c.Disks = []xlcfg.Disk{{VDev: "xvda", Path: file(t, c.Dir, "file"), Format: "raw", Backend: "phy"}}
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupt := errors.New("Ctrl-C")
		time.AfterFunc(after, func() { cancel(interrupt) })
		switch d, err := xen.Start(ctx, c); {
		case err == nil: // a quick machine
			d.Close()
		case !errors.Is(err, interrupt):
			t.Errorf("after %v: got %v, want the cause of the cancellation", after, err)
		}
		if err := c.Journal.Undo(t.Context()); err != nil {
			t.Error(err)
		}
		checkNothingLeft(t, c.Dir)
	}
}
