package load

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func request(script string) Request {
	return Request{Argv: []string{"sh", "-c", script}, Timeout: 20 * time.Second}
}

func TestRunKeepsWhatTheGeneratorSays(t *testing.T) {
	q := request("cat; echo oops >&2; exit 3")
	q.Input = "[job]"
	r, err := Run(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Output) != "[job]" || r.Stderr != "oops\n" || r.Exit != 3 || r.Stalled != "" {
		t.Errorf("got %+v", r)
	}
}

func TestRunWithoutProgram(t *testing.T) {
	q := Request{Argv: []string{"/nowhere/fio", "-"}, Timeout: time.Second}
	if _, err := Run(context.Background(), q); err == nil || !strings.Contains(err.Error(), "/nowhere/fio -") {
		t.Errorf("got %v, want the command in the error", err)
	}
}

func TestRunKillsTheWholeGroupAtTheTimeout(t *testing.T) {
	pidfile := filepath.Join(t.TempDir(), "pid")
	q := request("sleep 600 & echo $! > " + pidfile + "; wait")
	q.Timeout = 500 * time.Millisecond
	r, err := Run(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Stalled, "did not end within 500ms") || r.Exit != -1 {
		t.Errorf("got %+v", r)
	}
	pid, err := os.ReadFile(pidfile)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // the kill has been sent; the child's end is the kernel's business
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the generator's child survived")
}

// TestStalledDisk has a disk whose counters stand still with one I/O in flight.
func TestStalledDisk(t *testing.T) {
	fakeDisk(t, "100 0 800 0 0 0 0 0 1 0 0 0 0 0 0 4 0")
	q := request("sleep 600")
	q.Disk, q.Step, q.StallAfter = "vdx", 10*time.Millisecond, 100*time.Millisecond
	r, err := Run(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Stalled, "1 I/Os in flight and none ended") {
		t.Errorf("stalled: %q", r.Stalled)
	}
}

// TestIdleDisk has nothing in flight: a generator that thinks for long is no stalled disk.
func TestIdleDisk(t *testing.T) {
	fakeDisk(t, "100 0 800 0 0 0 0 0 0 0 0 0 0 0 0 4 0")
	q := request("sleep 0.4")
	q.Disk, q.Step, q.StallAfter = "vdx", 10*time.Millisecond, 50*time.Millisecond
	r, err := Run(context.Background(), q)
	if err != nil || r.Stalled != "" {
		t.Errorf("stalled %q, error %v", r.Stalled, err)
	}
	if len(r.Series) == 0 {
		t.Error("no series")
	}
}

func fakeDisk(t *testing.T, stat string) {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "vdx"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "vdx", "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	old := sysBlock
	sysBlock = root
	t.Cleanup(func() { sysBlock = old })
}

func TestParseStat(t *testing.T) {
	s, err := parseStat("  84344 6458 2201114 8324 10328 8393 1906944 4166 3 6980 12770 3638 27 236984 228 1183 51\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Stat{Reads: 84344, ReadBytes: 2201114 * 512, Writes: 10328, WriteBytes: 1906944 * 512, InFlight: 3, Flushes: 1183}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	old, err := parseStat("1 0 8 0 2 0 16 0 0 0 0")
	if err != nil || old.Flushes != -1 {
		t.Errorf("a kernel without flush counts: %+v, %v", old, err)
	}
	if d := s.Sub(old); d.Flushes != -1 || d.Reads != 84343 {
		t.Errorf("difference: %+v", d)
	}
	for _, bad := range []string{"", "1 2 3", "1 0 8 0 2 0 16 0 0 0 x"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
