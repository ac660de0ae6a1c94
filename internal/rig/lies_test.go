package rig

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/guest"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// lies lists what the lie detector must catch, and the test that makes each of them happen for real: real programs and
// disks, the windows of this package, and the verdict of package analyse.
var lies = []struct{ lie, test string }{
	{"reads of qcow2 clusters that were never written", "TestLiesOfVolumes"},
	{"a working set in the host's RAM behind cache=writeback", "TestLiesOfVolumes"},
	{"qcow2 clusters that are zeros by a note alone", "TestLiesOfVolumes"},
	{"blocks that the guest gave back during the run", "TestLiesOfVolumes"},
	{"a fill that ZFS compresses, and one that it makes holes of", "TestLiesOnZFS"},
	{"a disk that is throttled after a burst, inside the window", "TestLiesOfVolumes"},
	{"aio=native that QEMU gave up for its thread pool", "TestLiesOfQEMU"},
	{"aio that QEMU cannot have at all", "TestRefusedAIO"},
	{"an iothread that a shared controller ignores", "TestLiesOfQEMU"},
	{"a guest's clock that is a little wrong", "TestLiesOfQEMU"},
	{"a guest's clock that is grossly wrong", "TestLieOfTheClock"},
	{"a load generator that is its own bottleneck", "TestLieOfTheGenerator"},
	{"another process that hammers the disk", "TestLieOfTheNeighbour"},
	{"others that take the guest's CPUs", "TestLieOfTheBusyHost"},
	{"threads that did what aio=native or an iothread was to do", "TestRealPrice"},
}

// TestLies holds the list above to the tests that there are.
func TestLies(t *testing.T) {
	var tests []string
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				tests = append(tests, f.Name.Name)
			}
		}
	}
	for _, l := range lies {
		if !slices.Contains(tests, l.test) {
			t.Errorf("%s is said to be shown by %s, which does not exist", l.lie, l.test)
		}
	}
}

// lieTime is how long a window of these tests lasts.
const lieTime = 1200 * time.Millisecond

// reads is the load of most of these tests: enough bytes to read a small volume several times over.
var reads = spec.Workload{Name: "reads", RW: "randread", BS: 64 << 10, IODepth: 1}

// trial collects the windows of a session, and has them judged.
type trial struct {
	*session
	exp     spec.Experiment
	windows []record.Window
	busy    bool // that others take the guest's CPUs is the lie
}

// experimentOf is a small experiment of these stacks.
func experimentOf(t *testing.T, loads []spec.Workload, stacks ...spec.Stack) plan.Plan {
	t.Helper()
	p, err := plan.Make(spec.Experiment{
		Name: "lies", Size: 16 << 20, Runtime: lieTime, Budget: time.Minute, Target: 0.1, MinRounds: 2, MaxRounds: 3, Boots: 1,
		Guest: spec.Guest{CPUs: 2, Memory: 256 << 20}, Stacks: stacks, Workloads: loads,
	}, 41)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lyingRig has filled volumes on a disk of its own; binary runs its guests, "" for QEMU itself.
func lyingRig(t *testing.T, binary string, stacks ...spec.Stack) *Rig {
	t.Helper()
	c := Config{
		Plan: experimentOf(t, []spec.Workload{reads}, stacks...), Image: vmtest.Image(t), Binary: vmtest.QEMU(t), Accel: "tcg",
		Bios: vmtest.Config(t).Bios, Dir: vmtest.Dir(t),
	}
	if binary != "" {
		c.Binary = binary
	}
	return equipped(t, c)
}

// equipped gives a rig its journal, and its volumes on a disk that nobody else uses.
func equipped(t *testing.T, c Config) *Rig {
	t.Helper()
	folder, device := ramDisk(t)
	journal, err := revert.Open(t.TempDir(), "lies")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := journal.Undo(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c.Journal, c.Note = journal, func(line string) { t.Log(line) }
	c.Volumes = volumes(t, journal, folder, c.Plan.Experiment)
	c.Devices, c.Layers, c.Unwritten = map[string][]string{}, map[string][]string{}, map[string]func(context.Context) (float64, error){}
	for stack, v := range c.Volumes {
		c.Devices[stack], c.Layers[stack] = []string{device}, []string{"ext4", device}
		var m provision.Mapper = raw.Driver{}
		if v.Format == "qcow2" {
			m = qcow2.Driver{Run: sys.Exec{}}
		}
		c.Unwritten[stack] = func(ctx context.Context) (float64, error) { return m.Unwritten(ctx, v) }
	}
	return New(c)
}

// onHost is a session without a guest.
func onHost(t *testing.T, c Config) trial {
	t.Helper()
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip(err)
	}
	c.Image = &guest.Image{Fio: fio}
	s := New(c).session(c.Plan.Groups[0])
	if s.stacks, err = s.hostStacks(); err != nil {
		t.Fatal(err)
	}
	return trial{session: s, exp: c.Plan.Experiment}
}

// window measures one window of a cell, the next round of it, and returns it.
func (l *trial) window(t *testing.T, stack string, load spec.Workload) record.Window {
	t.Helper()
	round := 0
	for _, w := range l.windows {
		if w.Stack == stack && w.Workload == load.Name {
			round++
		}
	}
	w, err := l.Window(t.Context(), plan.Window{Stack: stack, Workload: load.Name, Seed: uint64(round), Runtime: lieTime}, load)
	if err != nil {
		t.Fatalf("%s: %v", stack, err)
	}
	if w.Status != record.OK {
		t.Fatalf("%s: %s: %s", stack, w.Status, w.Reason)
	}
	w.Stack, w.Workload, w.Round = stack, load.Name, round
	if !l.busy {
		w.Evidence.Robbed = nil // that the host is busy with others is another test's lie, and may be true
	}
	l.windows = append(l.windows, w)
	e := w.Evidence
	t.Logf("%s under %s, round %d: %.0f IOPS, asked for %d and %d bytes, fio %.2f and %.2f CPUs, %+v", stack, load.Name, round,
		w.Metrics[record.IOPS], e.PathRead, e.PathWrite, e.FioCPU, e.FioUser, e.Price)
	return w
}

// cell is what a report says of a cell.
func (l *trial) cell(t *testing.T, stack string, load spec.Workload) analyse.Cell {
	t.Helper()
	run := record.Run{Status: record.Running, Stacks: l.stacks, Host: record.Host{GuestCPUs: l.exp.Guest.CPUs}}
	for _, c := range analyse.Analyse(run, l.exp, l.windows).Cells {
		if c.Stack == stack && c.Workload == load.Name {
			return c
		}
	}
	t.Fatalf("no cell of %s under %s", stack, load.Name)
	return analyse.Cell{}
}

// withheld wants a cell without a number, for a reason in these words.
func (l *trial) withheld(t *testing.T, stack string, load spec.Workload, words string) {
	t.Helper()
	c := l.cell(t, stack, load)
	if c.Status != record.Withheld || !strings.Contains(c.Reason, words) || len(c.Metrics) > 0 || len(c.Ratio) > 0 {
		t.Errorf("%s under %s is %s: %q, %v; want %s for %q", stack, load.Name, c.Status, c.Reason, c.Metrics, record.Withheld, words)
		return
	}
	t.Logf("%s under %s is withheld: %s", stack, load.Name, c.Reason)
}

// stands wants a cell with a number.
func (l *trial) stands(t *testing.T, stack string, load spec.Workload) analyse.Cell {
	t.Helper()
	c := l.cell(t, stack, load)
	if c.Status != record.OK || c.Metrics[record.IOPS].Value <= 0 {
		t.Errorf("%s under %s is %s: %q, want %s", stack, load.Name, c.Status, c.Reason, record.OK)
	}
	return c
}

// TestLiesOfVolumes has one guest with disks that are not what they seem, beside an honest one.
func TestLiesOfVolumes(t *testing.T) {
	direct := spec.Stack{Format: "raw", Bus: "virtio-blk", Cache: "none", AIO: "threads"}
	of := func(name string, change func(*spec.Stack)) spec.Stack {
		s := direct
		s.Name = name
		if change != nil {
			change(&s)
		}
		return s
	}
	image := func(s *spec.Stack) { s.Format = "qcow2" }
	r := lyingRig(t, "",
		of("honest", nil), of("qcow2", image), of("never", image), of("zeros", image), of("throttled", nil),
		of("ram", func(s *spec.Stack) { s.Cache = "writeback" }),
		of("trimmed", func(s *spec.Stack) { s.Discard, s.DetectZeroes = "unmap", "unmap" }),
	)
	program(t, "qemu-img", "create", "-q", "-f", "qcow2", r.Volumes["never"].Path, "16M")
	program(t, "qemu-io", "-f", "qcow2", "-c", "write -q -z 0 12M", r.Volumes["zeros"].Path)
	l := trial{session: boot(t, r), exp: r.Plan.Experiment}

	for range 2 {
		l.window(t, spec.Host, reads)
		l.window(t, "honest", reads)
	}
	// How many rounds tell a trend from noise is a matter of how busy this machine is.
	for n := 0; n < 4 || n < 12 && l.cell(t, "throttled", reads).Status == record.OK; n++ {
		l.throttled(t, "throttled")
	}
	for _, stack := range []string{"qcow2", "never", "zeros", "ram", "trimmed"} {
		l.window(t, stack, reads)
	}
	l.stands(t, "trimmed", reads)
	disk := "/dev/" + l.disks["trimmed"].Name
	if err := l.agent().Discard(t.Context(), load.Discard{Path: disk, Size: 8 << 20}); err != nil {
		t.Fatal(err)
	}
	l.window(t, "trimmed", reads)

	for _, stack := range []string{spec.Host, "honest", "qcow2"} {
		for _, w := range l.stands(t, stack, reads).Warnings {
			if strings.Contains(w, "written") || strings.Contains(w, "clock") {
				t.Errorf("%s is honest, and has the footnote %q", stack, w)
			}
		}
	}
	l.withheld(t, "never", reads, "100 % of this volume was never written")
	l.withheld(t, "zeros", reads, "75 % of this volume was never written, or is zeros that are stored nowhere")
	l.withheld(t, "trimmed", reads, "50 % of this volume was never written")
	l.withheld(t, "ram", reads, "of these reads came from the host's RAM: this is not the disk")
	l.withheld(t, "throttled", reads, "inside a window: the device or a throttle changes while it is measured; the figure is a mean of two speeds")
}

// throttled measures a window in which a disk becomes slower and slower, as one whose burst credits run out: QEMU lets it
// serve 2000 I/Os a second when the load begins, and ten from half of the window on. It begins when it does, so that a busy
// machine makes no other window of it.
func (l *trial) throttled(t *testing.T, stack string) {
	t.Helper()
	qdev, before := l.served(t, stack)
	limit := func(iops float64) error {
		limits := map[string]any{"id": qdev, "bps": 0, "bps_rd": 0, "bps_wr": 0, "iops": int(iops), "iops_rd": 0, "iops_wr": 0}
		return qemuOf(l.session).QMP.Call(t.Context(), "block_set_io_throttle", limits, nil)
	}
	ended, set := make(chan struct{}), make(chan error)
	go func() {
		var err error
		var began time.Time
		for err == nil {
			select {
			case <-ended:
				set <- limit(0)
				return
			case <-time.After(20 * time.Millisecond):
			}
			if _, now := l.served(t, stack); began.IsZero() && now > before+20 {
				began = time.Now()
			}
			if !began.IsZero() {
				err = limit(max(2000*math.Exp(-10*time.Since(began).Seconds()/lieTime.Seconds()), 10))
			}
		}
		set <- err
	}()
	l.window(t, stack, reads)
	close(ended)
	if err := <-set; err != nil {
		t.Fatal(err)
	}
}

// served is by what QEMU knows a disk of the guest, and how many reads it has served of it.
func (l *trial) served(t *testing.T, stack string) (qdev string, n int64) {
	t.Helper()
	var stats []struct {
		QDev  string `json:"qdev"`
		Stats struct {
			Reads int64 `json:"rd_operations"`
		} `json:"stats"`
	}
	if err := qemuOf(l.session).QMP.Call(t.Context(), "query-blockstats", nil, &stats); err != nil {
		t.Error(err)
		return "", math.MaxInt64
	}
	for _, d := range stats {
		if strings.Contains(d.QDev, "/disk-"+stack+"/") {
			return d.QDev, d.Stats.Reads
		}
	}
	t.Errorf("no disk of %s in %+v", stack, stats)
	return "", math.MaxInt64
}

// TestLieOfTheGenerator has a fio that computes a checksum of all that it writes, which takes longer than a disk in memory.
func TestLieOfTheGenerator(t *testing.T) {
	writes := spec.Workload{Name: "writes", RW: "write", BS: 1 << 20, IODepth: 8}
	p := experimentOf(t, []spec.Workload{writes, reads}, spec.Stack{Name: "null-co", Format: "null-co", Bus: "virtio-blk"})
	l := onHost(t, equipped(t, Config{Plan: p}).Config)
	slow, plain := filepath.Join(vmtest.Dir(t), "fio"), l.Image.Fio
	script := "#!/bin/sh\n{ cat; echo verify=sha3-512; echo do_verify=0; echo verify_state_save=0; } >\"$0.job\"\nexec " + plain + " \"$@\" <\"$0.job\"\n"
	if err := os.WriteFile(slow, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.Image.Fio = slow
		l.window(t, spec.Host, writes)
		l.Image.Fio = plain
		l.window(t, spec.Host, reads)
	}
	l.withheld(t, spec.Host, writes, "of the time: this is its own speed, not the disk's")
	l.stands(t, spec.Host, reads)
}
