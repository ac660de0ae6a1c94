// Package provisiontest is the conformance suite that each driver of volumes must pass.
package provisiontest

import (
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

// clean checks that neither the scratch folder nor the journal is left.
func (p place) clean(t *testing.T) {
	t.Helper()
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

func (s Suite) life(t *testing.T) {
	ctx, p, d := t.Context(), newPlace(t), s.New(t)
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
	if err := d.Verify(ctx, v); err == nil {
		t.Error("Verify passes a volume that was never filled")
	} else if strings.Contains(err.Error(), "\n") {
		t.Errorf("Verify says more than one line: %v", err)
	}
	s.fill(t, d, v)
	if err := d.Verify(ctx, v); err != nil {
		t.Error(err)
	}
	if err := provision.DropCache(v); err != nil {
		t.Error(err)
	}
	incompressible(t, s.Content(t, v))
	if path, err := d.Resolve(v); err != nil || !exists(path) {
		t.Errorf("Resolve: %q, %v", path, err)
	}
	real, err := d.RealSize(v)
	if err != nil || real < Size {
		t.Errorf("RealSize %d, %v", real, err)
	}
	if need > 0 && real > need {
		t.Errorf("the volume takes %d bytes, Need said %d", real, need)
	}
	for range 2 {
		if err := d.Destroy(ctx, v); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	}
	if !v.Block && exists(v.Path) {
		t.Errorf("%s is left by Destroy", v.Path)
	}
	if err := p.journal.Undo(ctx); err != nil {
		t.Error(err)
	}
	p.clean(t)
}

// fill fills a volume and checks what progress is told.
func (s Suite) fill(t *testing.T, d provision.Driver, v provision.Volume) {
	t.Helper()
	last := int64(0)
	err := d.Fill(t.Context(), v, 1, func(n int64) {
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
	p, d := newPlace(t), s.New(t)
	var blocks [][]byte
	for i, name := range []string{"one", "two"} {
		v, err := d.Create(t.Context(), p.journal, p.request(s, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Fill(t.Context(), v, uint64(i), nil); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, s.Content(t, v))
	}
	incompressible(t, append(blocks[0], blocks[1]...))
	if err := p.journal.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	p.clean(t)
}

func (s Suite) badRequests(t *testing.T) {
	p, d := newPlace(t), s.New(t)
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
	p, d := newPlace(t), s.New(t)
	v, err := d.Create(t.Context(), p.journal, p.request(s, "cancelled"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = d.Fill(ctx, v, 1, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Fill after a cancel: %v", err)
	}
	// The process ends here, and the next start cleans up.
	p.replay(t)
	p.clean(t)
}

func (p place) replay(t *testing.T) {
	t.Helper()
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

// stopped is the panic that ends a life at a journal entry.
type stopped struct{}

// killed ends the making of a volume after the first journal entry, after the second and so on, before the act that
// the entry undoes, and once when all is made; then it replays the journal.
func (s Suite) killed(t *testing.T) {
	for step := 1; ; step++ {
		p, d := newPlace(t), s.New(t)
		seen := 0
		p.journal.After = func(revert.Entry) {
			if seen++; seen == step {
				panic(stopped{})
			}
		}
		died := s.make(t, d, p)
		p.journal.After = nil
		p.replay(t)
		p.clean(t)
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
	if err := d.Fill(t.Context(), v, 1, nil); err != nil {
		t.Fatal(err)
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
