// Package provisiontest is the conformance suite that each driver of volumes must pass.
package provisiontest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
)

// Size of the volumes of the suite, in bytes: not a multiple of the blocks in which volumes are written.
const Size = 8<<20 + provision.Align

// Suite says how a driver is tried.
type Suite struct {
	New   func(t *testing.T) provision.Driver // a new driver; skips the test when this host cannot
	Stack spec.Stack                          // format and options of the volumes; the name is set by the suite

	// Content returns what the guest would read. nil: the bytes of the volume's file or device.
	Content func(t *testing.T, v provision.Volume) []byte

	// NewIn is New for a driver whose ground is made in a folder: it is given the run's scratch folder. One of the two
	// is set.
	NewIn func(t *testing.T, dir string) provision.Driver

	// Ended closes what the driver holds open, as a run does at its end and the kernel does for one that was killed,
	// before its journal is undone. nil: it holds nothing.
	Ended func()

	// Left names what volumes left on the host beside files and loop devices, such as volume groups. nil: they make
	// no such thing.
	Left func(t *testing.T) []string
}

// driver makes a new driver for a place.
func (s Suite) driver(t *testing.T, p place) provision.Driver {
	t.Helper()
	if s.NewIn != nil {
		return s.NewIn(t, p.scratch)
	}
	return s.New(t)
}

// Run tries the driver.
func Run(t *testing.T, s Suite) {
	if s.Content == nil {
		s.Content = content
	}
	t.Run("life", s.life)
	t.Run("two volumes differ", s.twoDiffer)
	t.Run("bad requests", s.badRequests)
	t.Run("cancelled", s.cancelled)
	t.Run("killed at every step", s.killed)
}

// place is a run's journal and scratch folder.
type place struct {
	journals, parent string
	journal          *revert.Journal
	scratch          string
}

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{journals: t.TempDir(), parent: t.TempDir()}
	var err error
	if p.journal, err = revert.Open(p.journals, "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.journal.Close() })
	if p.scratch, err = p.journal.Scratch(p.parent); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) request(s Suite, name string) provision.Request {
	stack := s.Stack
	stack.Name = name
	return provision.Request{Dir: p.scratch, Stack: stack, Size: Size, Serial: "serial-" + name}
}

// clean checks that neither the scratch folder nor the journal is left, nor anything on the host.
func (s Suite) clean(t *testing.T, p place) {
	t.Helper()
	for _, loop := range loops(t, p.parent) {
		t.Errorf("%s is left, bound to a file in %s", loop, p.parent)
	}
	if s.Left != nil {
		for _, left := range s.Left(t) {
			t.Errorf("%s is left", left)
		}
	}
	for _, dir := range []string{p.parent, p.journals} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
}

// loops names the loop devices that are bound to files below a folder.
func loops(t *testing.T, dir string) (bound []string) {
	t.Helper()
	paths, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), dir+"/") {
			bound = append(bound, strings.Split(path, "/")[3])
		}
	}
	return bound
}

func (s Suite) life(t *testing.T) {
	ctx, p := t.Context(), newPlace(t)
	d := s.driver(t, p)
	r := p.request(s, "life")
	need, err := d.Need(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.Create(ctx, p.journal, r)
	if err != nil {
		t.Fatal(err)
	}
	if v.Stack != "life" || v.Size != Size || v.Serial != r.Serial || v.Format == "" || !filepath.IsAbs(v.Path) {
		t.Errorf("volume %+v", v)
	}
	wipe(t, v)
	if err := d.Verify(ctx, v); err == nil {
		t.Error("Verify passes a volume that was never filled")
	} else if strings.Contains(err.Error(), "\n") {
		t.Errorf("Verify says more than one line: %v", err)
	}
	mapped(t, d, v, func(share float64) bool { return share > 0 && share <= 1 })
	s.fill(t, d, v)
	if err := d.Verify(ctx, v); err != nil {
		t.Error(err)
	}
	mapped(t, d, v, func(share float64) bool { return share == 0 })
	if err := provision.DropCache(v); err != nil {
		t.Error(err)
	}
	incompressible(t, s.Content(t, v))
	s.refresh(t, d, v)
	paths, err := d.Resolve(ctx, v)
	if err != nil || len(paths) == 0 || !exists(paths[0]) {
		t.Errorf("Resolve: %q, %v", paths, err)
	}
	report, err := d.Report(ctx, v)
	if err != nil || report.RealSize < Size {
		t.Errorf("Report %+v, %v", report, err)
	}
	if need > 0 && report.RealSize > need {
		t.Errorf("the volume takes %d bytes, Need said %d", report.RealSize, need)
	}
	for range 2 {
		if err := d.Destroy(ctx, v); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	}
	if !v.Block && exists(v.Path) {
		t.Errorf("%s is left by Destroy", v.Path)
	}
	s.end()
	if err := p.journal.Undo(ctx); err != nil {
		t.Error(err)
	}
	s.clean(t, p)
}

// mapped checks what a driver tells of how much of a volume is not there.
func mapped(t *testing.T, d provision.Driver, v provision.Volume, right func(share float64) bool) {
	t.Helper()
	m, ok := d.(provision.Mapper)
	if !ok {
		return
	}
	if share, err := m.Unwritten(t.Context(), v); err != nil || !right(share) {
		t.Errorf("Unwritten: %v, %v", share, err)
	}
}

// refresh brings a volume that changes back into its state while it is open, as a guest has it, and checks that it
// still holds what it held.
func (s Suite) refresh(t *testing.T, d provision.Driver, v provision.Volume) {
	t.Helper()
	r, ok := d.(provision.Refresher)
	if !ok {
		return
	}
	guest, err := os.OpenFile(v.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close()
	before := s.Content(t, v)
	for range 2 {
		if err := r.Refresh(t.Context(), v); err != nil {
			t.Errorf("Refresh: %v", err)
		}
	}
	if err := provision.DropCache(v); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(before, s.Content(t, v)) {
		t.Error("Refresh changed what the volume holds")
	}
	if err := d.Verify(t.Context(), v); err != nil {
		t.Errorf("after Refresh: %v", err)
	}
}

// fill fills a volume and checks what progress is told.
func (s Suite) fill(t *testing.T, d provision.Driver, v provision.Volume) {
	t.Helper()
	last := int64(0)
	err := d.Fill(t.Context(), v, provision.Content{Seed: 1}, func(n int64) {
		if n <= last {
			t.Errorf("progress went from %d to %d", last, n)
		}
		last = n
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != v.Size {
		t.Errorf("progress ended at %d of %d", last, v.Size)
	}
}

func (s Suite) twoDiffer(t *testing.T) {
	p := newPlace(t)
	d := s.driver(t, p)
	var blocks [][]byte
	for i, name := range []string{"one", "two"} {
		v, err := d.Create(t.Context(), p.journal, p.request(s, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Fill(t.Context(), v, provision.Content{Seed: uint64(i)}, nil); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, s.Content(t, v))
	}
	incompressible(t, append(blocks[0], blocks[1]...))
	s.end()
	if err := p.journal.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	s.clean(t, p)
}

func (s Suite) badRequests(t *testing.T) {
	p := newPlace(t)
	d := s.driver(t, p)
	for _, size := range []int64{-1, 0, 1000, Size + 512} {
		r := p.request(s, "bad")
		r.Size = size
		if _, err := d.Need(r); err == nil {
			t.Errorf("Need took the size %d", size)
		}
		if _, err := d.Create(t.Context(), p.journal, r); err == nil {
			t.Errorf("Create took the size %d", size)
		}
	}
	entries, err := os.ReadDir(p.scratch)
	if err != nil || len(entries) != 1 { // the marker
		t.Errorf("refused requests left %v, %v", entries, err)
	}
}

func (s Suite) cancelled(t *testing.T) {
	p := newPlace(t)
	d := s.driver(t, p)
	v, err := d.Create(t.Context(), p.journal, p.request(s, "cancelled"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = d.Fill(ctx, v, provision.Content{Seed: 1}, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Fill after a cancel: %v", err)
	}
	// The process ends here, and the next start cleans up.
	s.replay(t, p)
	s.clean(t, p)
}

func (s Suite) replay(t *testing.T, p place) {
	t.Helper()
	s.end()
	if err := p.journal.Close(); err != nil {
		t.Fatal(err)
	}
	dead, err := revert.Dead(p.journals)
	if err != nil || len(dead) != 1 {
		t.Fatalf("Dead = %v, %v; want one", dead, err)
	}
	if err := revert.Replay(t.Context(), dead[0].Path); err != nil {
		t.Fatal(err)
	}
}

func (s Suite) end() {
	if s.Ended != nil {
		s.Ended()
	}
}

// stopped is the panic that ends a life at a journal entry.
type stopped struct{}

// killed ends the making of a volume after the first journal entry, after the second and so on, before the act that
// the entry undoes, and once when all is made; then it replays the journal.
func (s Suite) killed(t *testing.T) {
	for step := 1; ; step++ {
		p := newPlace(t)
		d := s.driver(t, p)
		seen := 0
		p.journal.After = func(revert.Entry) {
			if seen++; seen == step {
				panic(stopped{})
			}
		}
		died := s.make(t, d, p)
		p.journal.After = nil
		s.replay(t, p)
		s.clean(t, p)
		if !died {
			return
		}
	}
}

// make makes and fills a volume and reports whether it was stopped.
func (s Suite) make(t *testing.T, d provision.Driver, p place) (died bool) {
	t.Helper()
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case stopped:
			died = true
		default:
			panic(r)
		}
	}()
	v, err := d.Create(t.Context(), p.journal, p.request(s, "killed"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Fill(t.Context(), v, provision.Content{Seed: 1}, nil); err != nil {
		t.Fatal(err)
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// NeedLoop skips the test where no loop device can be made.
func NeedLoop(t *testing.T) {
	t.Helper()
	if f, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0); err != nil {
		t.Skipf("no loop device to be had: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Loop makes a loop device on a file of so many bytes that are not written, and frees it when the test ends. The
// test is skipped where there is none.
func Loop(t *testing.T, size int64) (device string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device to be had: %v %s", err, out)
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", device).CombinedOutput(); err != nil {
			t.Errorf("losetup -d %s: %v %s", device, err, out)
		}
	})
	return device
}
