package meter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	modern = "  100 10 800 20 50 40 1600 54 2 20420 76709 1 2 3 4 7 17\n" // 5.5 and later
	before = "100 10 800 20 50 40 1600 54 2 20420 76709\n"                // before 4.18
	middle = "100 10 800 20 50 40 1600 54 2 20420 76709 1 2 3 4\n"        // 4.18 to 5.4
)

func ptr(n int64) *int64 { return &n }

func TestParseDisk(t *testing.T) {
	want := Disk{Reads: 100, ReadBytes: 409600, Writes: 50, WriteBytes: 819200, InFlight: 2, Busy: 20420 * time.Millisecond}
	for text, flushes := range map[string]*int64{modern: ptr(7), before: nil, middle: nil} {
		want.Flushes = flushes
		got, err := parseDisk([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for _, bad := range []string{"", "1 2 3", strings.Replace(modern, "800", "x", 1)} {
		if _, err := parseDisk([]byte(bad)); err == nil {
			t.Errorf("took %q", bad)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	all, each, err := parseCPUs([]byte("cpu  300 0 100 400 100 50 50 200 90 10\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu12 10 0 0 0 0 0 0 0\nintr 99\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(CPU{Busy: 5 * time.Second, Idle: 5 * time.Second, Steal: 2 * time.Second}, all); diff != "" {
		t.Error(diff)
	}
	want := map[int]CPU{0: {Busy: 190 * time.Millisecond, Idle: 90 * time.Millisecond, Steal: 80 * time.Millisecond}, 12: {Busy: 100 * time.Millisecond}}
	if diff := cmp.Diff(want, each); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "intr 1\n", "cpu 1 2 3\n", "cpu a b c d e f g h\n", "cpux 1 2 3 4 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 8\n"} {
		if _, _, err := parseCPUs([]byte(bad)); err == nil {
			t.Errorf("took %q", bad)
		}
	}
}

// host writes a host with two disks and a /proc/stat with a long tail.
func host(t *testing.T, sda, sdb, cpu string) Meter {
	t.Helper()
	m := Meter{Root: t.TempDir(), Devices: []string{"sda", "sdb"}}
	for path, text := range map[string]string{
		"sys/class/block/sda/stat": sda, "sys/class/block/sdb/stat": sdb,
		"proc/stat": cpu + "intr " + strings.Repeat("0 ", 20000) + "\n",
	} {
		path = filepath.Join(m.Root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func snapshot(t *testing.T, m Meter) Snapshot {
	t.Helper()
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDelta(t *testing.T) {
	a := snapshot(t, host(t, modern, "0 0 0 0 0 0 0 0 0 4294967290 0 0 0 0 0 1 0",
		"cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 50 0 0 0 0\n"))
	b := snapshot(t, host(t, "110 10 808 20 51 40 1608 54 1 20430 76709 1 2 3 4 9 17", "5 0 40 0 0 0 0 0 3 4 0 0 0 0 0 2 0",
		"cpu 50 0 0 100 0 0 0 50\ncpu0 75 0 0 25 0 0 0 0\ncpu1 20 0 0 40 20 0 0 60\ncpu2 9 9 9 9 9 9 9 9\n"))
	b.At = a.At.Add(2 * time.Second)
	got, err := b.Sub(a)
	if err != nil {
		t.Fatal(err)
	}
	want := Delta{
		Elapsed: 2 * time.Second, HasDisks: true,
		Disk: Disk{Reads: 15, ReadBytes: 48 * 512, Writes: 1, WriteBytes: 8 * 512, Flushes: ptr(3), InFlight: 4, Busy: 20 * time.Millisecond},
		All:  CPU{Busy: 500 * time.Millisecond, Idle: time.Second, Steal: 500 * time.Millisecond},
		CPUs: map[int]CPU{
			0: {Busy: 750 * time.Millisecond, Idle: 250 * time.Millisecond},
			1: {Busy: 200 * time.Millisecond, Idle: 100 * time.Millisecond, Steal: 600 * time.Millisecond},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.StealShare() != 0.25 || got.BusyShare(0) != 0.75 || got.BusyShare(9) != 0 {
		t.Errorf("shares %v %v %v", got.StealShare(), got.BusyShare(0), got.BusyShare(9))
	}
	if cpu, busy := got.Busiest(); cpu != 0 || busy != 0.75 {
		t.Errorf("busiest: %d, %v", cpu, busy)
	}
	if diff := cmp.Diff([]int{0, 1}, got.Online()); diff != "" {
		t.Error(diff)
	}
}

func TestDeltaDoubts(t *testing.T) {
	const cpu = "cpu 0 0 0 0 0 0 0 0\n"
	a := snapshot(t, host(t, modern, modern, cpu))
	// One device whose flushes are not counted makes their sum unknown, in whatever order.
	for _, disks := range [][2]string{{modern, before}, {before, modern}} {
		s := snapshot(t, host(t, disks[0], disks[1], cpu))
		if d, err := s.Sub(s); err != nil || d.Disk.Flushes != nil {
			t.Errorf("flushes %v, %v; want unknown", d.Disk.Flushes, err)
		}
	}
	if _, err := snapshot(t, host(t, modern, "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", cpu)).Sub(a); !errors.Is(err, ErrBackwards) {
		t.Errorf("a replaced disk: %v", err)
	}
	if _, err := (Snapshot{}).Sub(a); err == nil {
		t.Error("snapshots of different devices were subtracted")
	}
	d, err := (Snapshot{}).Sub(Snapshot{})
	if err != nil || d.HasDisks || d.StealShare() != 0 {
		t.Errorf("nothing to count: %+v, %v", d, err)
	}
	if cpu, _ := d.Busiest(); cpu != -1 {
		t.Errorf("busiest of none: %d", cpu)
	}
	gone := host(t, modern, modern, cpu)
	gone.Devices = []string{"sdz"}
	if _, err := gone.Snapshot(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
}

func TestThisHost(t *testing.T) {
	s := snapshot(t, Meter{})
	if s.All.Total() <= 0 || len(s.CPUs) == 0 {
		t.Errorf("%+v", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(modern))
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = parseDisk(text)
		if _, each, err := parseCPUs(text); err == nil && each == nil {
			t.Error("no processors and no error")
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	devices, _ := filepath.Glob("/sys/block/*")
	m := Meter{}
	for _, d := range devices {
		m.Devices = append(m.Devices, filepath.Base(d))
	}
	for b.Loop() {
		if _, err := m.Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
}
