package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
)

// crashEnv holds the path of the store that the helper process of TestKillLosesNothing writes to.
const crashEnv = "IOTAX_STORE_CRASH"

// TestKillLosesNothing kills, without warning, a process that saves windows as fast as it can: each one
// that it reported as saved must be there, whole.
func TestKillLosesNothing(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		saveForever(t, path)
	}
	path := filepath.Join(t.TempDir(), "iotax.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillLosesNothing$")
	cmd.Env = append(os.Environ(), crashEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	saved := -1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "saved %d", &saved); err != nil {
			t.Errorf("the helper said %q", lines.Text())
			break
		}
		if saved == 50 {
			check(t, cmd.Process.Kill()) // and read on: what it said before it died counts
		}
	}
	_ = cmd.Wait()
	if saved < 50 {
		t.Fatalf("the helper ended after window %d", saved)
	}
	windows, err := open(t, path).Windows("7k2f", true)
	check(t, err)
	if len(windows) <= saved {
		t.Errorf("%d windows were saved, %d are there", saved+1, len(windows))
	}
	for i, got := range windows {
		diff(t, testWindow(i, 0), got)
	}
}

func saveForever(t *testing.T, path string) {
	s, err := Open(path)
	check(t, err)
	check(t, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	for i := 0; ; i++ {
		check(t, s.SaveWindow("7k2f", testWindow(i, 0)))
		fmt.Printf("saved %d\n", i)
	}
}

// TestReopenWithoutClose reads what a store holds that was never closed, in the same process.
func TestReopenWithoutClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "iotax.db")
	s := open(t, path)
	check(t, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	check(t, s.SaveWindow("7k2f", testWindow(0, 0)))
	got, err := open(t, path).Windows("7k2f", true)
	check(t, err)
	if len(got) != 1 || !cmp.Equal(testWindow(0, 0), got[0]) {
		t.Errorf("got %+v", got)
	}
}

// TestReadWhileWriting reads from a second store on the same file while the first one writes: a reader
// sees whole windows only, in an unbroken row, and never fewer than before.
func TestReadWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "iotax.db")
	writer, reader := open(t, path), open(t, path)
	check(t, writer.CreateRun(testRun("7k2f", t0), testExperiment()))
	const n = 100
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if err := writer.SaveWindow("7k2f", testWindow(i, 0)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	seen := 0
	for ended := false; !ended; {
		select {
		case err := <-done:
			check(t, err)
			ended = true
		default:
		}
		got, err := reader.Windows("7k2f", false)
		check(t, err)
		if len(got) < seen {
			t.Fatalf("a reader saw %d windows, then %d", seen, len(got))
		}
		seen = len(got)
		for i, w := range got {
			if w.Round != i || len(w.Histogram) != 300 {
				t.Fatalf("window %d is %+v", i, w)
			}
		}
	}
	if seen != n {
		t.Errorf("%d windows at the end, want %d", seen, n)
	}
}

// TestFullDisk fills a real, tiny file system.
func TestFullDisk(t *testing.T) {
	dir := tinyMount(t)
	path, ballast := filepath.Join(dir, "iotax.db"), filepath.Join(dir, "ballast")
	check(t, os.WriteFile(ballast, make([]byte, 512<<10), 0o600))
	s := open(t, path)
	check(t, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	saved := 0
	var err error
	for ; saved < 10_000; saved++ {
		if err = s.SaveWindow("7k2f", testWindow(saved, 0)); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free space") {
		t.Fatalf("after %d windows: %v", saved, err)
	}
	if errkind.CodeOf(err) != errkind.Bug {
		t.Errorf("code %d", errkind.CodeOf(err))
	}
	for _, reader := range []*Store{s, open(t, path)} {
		got, err := reader.Windows("7k2f", true)
		check(t, err)
		if saved == 0 || len(got) != saved {
			t.Fatalf("%d windows were saved, %d are there", saved, len(got))
		}
		diff(t, testWindow(saved-1, 0), got[saved-1])
	}
	check(t, os.Remove(ballast))
	check(t, s.SaveWindow("7k2f", testWindow(saved, 0))) // with space again, the same store goes on
}

func tinyMount(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system of 2 MiB")
	}
	dir := t.TempDir()
	if err := syscall.Mount("iotax-test", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a tmpfs here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(dir, 0)) })
	return dir
}
