package provision_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// run is a journal and a scratch folder in parent.
func run(t *testing.T, parent string) (*revert.Journal, string) {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(context.Background()); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	return j, scratch
}

func job(d provision.Driver, dir, name string, size int64) provision.Job {
	return provision.Job{Driver: d, Request: provision.Request{
		Dir: dir, Stack: spec.Stack{Name: name}, Size: size, Serial: name,
	}}
}

func images(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != revert.Marker {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestPrepare(t *testing.T) {
	j, dir := run(t, t.TempDir())
	jobs := []provision.Job{job(raw.Driver{}, dir, "a", 2<<20), job(raw.Driver{}, dir, "b", 1<<20)}
	var last, of int64
	volumes, err := provision.Prepare(t.Context(), j, jobs, provision.Content{Seed: 1}, func(done, total int64) {
		if done <= last {
			t.Errorf("progress from %d to %d", last, done)
		}
		last, of = done, total
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(volumes) != 2 || last != 3<<20 || of != 3<<20 {
		t.Errorf("%d volumes, progress %d of %d", len(volumes), last, of)
	}
	first, _ := os.ReadFile(volumes[0].Path)
	second, _ := os.ReadFile(volumes[1].Path)
	if len(second) != 1<<20 || string(first[:1<<20]) == string(second) {
		t.Error("two volumes hold the same data")
	}
}

func TestPrepareNamesAllFaultsAndTouchesNothing(t *testing.T) {
	j, dir := run(t, t.TempDir())
	jobs := []provision.Job{
		job(raw.Driver{}, dir, "a", 1<<20), job(raw.Driver{}, dir, "a", 1<<20), job(raw.Driver{}, dir, "odd", 1000),
		job(raw.Driver{}, dir, strings.Repeat("x", 21), 4096),
	}
	_, err := provision.Prepare(t.Context(), j, jobs, provision.Content{Seed: 1}, nil)
	if errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("exit code of %v", err)
	}
	for _, want := range []string{"two volumes for one stack", `serial "a" must be unique`, "size 1000", "1 to 20 bytes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if left := images(t, dir); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

func TestPrepareChecksSpaceFirst(t *testing.T) {
	parent := provisiontest.Tmpfs(t, "size=8m")
	j, dir := run(t, parent)
	// 7.8 MiB would fit into the 8 MiB, without the reserve.
	jobs := []provision.Job{job(raw.Driver{}, dir, "a", 4<<20), job(raw.Driver{}, dir, "b", 3<<20+800<<10)}
	_, err := provision.Prepare(t.Context(), j, jobs, provision.Content{Seed: 1}, nil)
	if errkind.CodeOf(err) != errkind.Usage || strings.Contains(err.Error(), "\n") {
		t.Errorf("too little space: %v", err)
	}
	for _, want := range []string{"8.0 MiB free", "need 8.2 MiB", "smaller size"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if left := images(t, dir); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

// Somebody else fills the disk after the check. The images are sparse until they are filled.
func TestPrepareUndoesEverythingWhenTheDiskFillsUp(t *testing.T) {
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("qemu-img is not installed")
	}
	parent := provisiontest.Tmpfs(t, "size=32m")
	j, dir := run(t, parent)
	hog := filepath.Join(parent, "hog")
	d := qcow2.Driver{Run: sys.Exec{}}
	jobs := []provision.Job{job(d, dir, "a", 8<<20), job(d, dir, "b", 8<<20)}
	filled := false
	_, err := provision.Prepare(t.Context(), j, jobs, provision.Content{Seed: 1}, func(int64, int64) {
		if !filled {
			filled = true
			provisiontest.FillUp(t, hog)
		}
	})
	if !errors.Is(err, unix.ENOSPC) || errkind.CodeOf(err) != errkind.Usage || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if left := images(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := os.Remove(hog); err != nil {
		t.Error(err)
	}
}

// unfilled is a driver whose Fill does nothing.
type unfilled struct{ raw.Driver }

func (unfilled) Fill(context.Context, provision.Volume, provision.Content, func(int64)) error {
	return nil
}

func TestPrepareBelievesNoDriver(t *testing.T) {
	j, dir := run(t, t.TempDir())
	_, err := provision.Prepare(t.Context(), j, []provision.Job{job(unfilled{}, dir, "a", 1<<20)}, provision.Content{Seed: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "is not filled") {
		t.Errorf("%v", err)
	}
	if left := images(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestFreeOfNowhere(t *testing.T) {
	if _, err := provision.Free(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
