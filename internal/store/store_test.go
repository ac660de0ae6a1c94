package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

var t0 = time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB) *Store { return open(t, filepath.Join(t.TempDir(), "iotax.db")) }

func testRun(id string, started time.Time) record.Run {
	return record.Run{
		ID: id, Started: started, Status: record.Running, Seed: math.MaxUint64, Preset: "quick", Version: "test",
		Host: record.Host{
			Accelerator: "tcg", AcceleratorReason: "no /dev/kvm", CPUs: 2, Memory: 24 << 30,
			BootSeconds: []record.Boot{{Index: 0, ReadyNS: 2.3e9, Args: []string{"qemu-system-x86_64", "-M", "q35"}}},
		},
		Stacks:   []record.Stack{{Name: "sata", Durability: record.Durable, Effective: map[string]string{"aio": "io_uring"}}},
		Warnings: []string{"one"},
	}
}

func testExperiment() spec.Experiment {
	return spec.Experiment{
		Name: "quick", Size: 1 << 30, Runtime: 2 * time.Second, Target: 0.05,
		Stacks:    []spec.Stack{{Name: "sata", Bus: "sata", Format: "raw", Cache: "none", AIO: "io_uring"}},
		Workloads: []spec.Workload{{Name: "randread-4k-q1", RW: "randread", BS: 4096, IODepth: 1}},
	}
}

func testWindow(round, seq int) record.Window {
	skew := 1e-5
	read := int64(1 << 20)
	bins := make([]hist.Bin, 300)
	for i := range bins {
		bins[i] = hist.Bin{NS: 20_000 + uint64(i*i)*128, Count: uint64(1 + i*7919%5000)}
	}
	return record.Window{
		Boot: 0, Round: round, Seq: seq, Stack: "sata", Workload: "randread-4k-q1", Seed: math.MaxUint64 - uint64(round),
		Discard: round == 0, Status: record.OK, Started: t0.Add(time.Duration(round) * time.Minute),
		Elapsed: 2_100_000_000, Timed: 2_000_000_000,
		Metrics:   map[string]float64{record.IOPS: 19123.456, record.ClatP50: 51_200},
		Histogram: bins,
		Evidence: record.Evidence{
			PathRead: 1 << 20, DeviceRead: &read, Depth: 0.98, ClockSkew: &skew,
			Series: []int64{100, 101, 99}, SeriesStep: 1e8, Warnings: []string{"steal"},
		},
		Raw: []byte(strings.Repeat(`{"fio version": "fio-3.33", "jobs": []}`, 50) + fmt.Sprint(round, seq)),
	}
}

func TestRoundTrip(t *testing.T) {
	s := fresh(t)
	run, exp := testRun("7k2f", t0), testExperiment()
	check(t, s.CreateRun(run, exp))
	bare := record.Window{Round: 2, Stack: spec.Host, Workload: "w", Status: record.Stalled, Reason: "no I/O for 3 s"}
	want := []record.Window{testWindow(0, 0), testWindow(1, 1), bare}
	for _, i := range []int{2, 0, 1} {
		check(t, s.SaveWindow("7k2f", want[i]))
	}

	got, err := s.Windows("7k2f", true)
	check(t, err)
	diff(t, want, got)
	for i := range want {
		want[i].Raw = nil
	}
	got, err = s.Windows("7k2f", false)
	check(t, err)
	diff(t, want, got)

	raw, err := s.Raw("7k2f", 0, 1, 1)
	check(t, err)
	diff(t, string(testWindow(1, 1).Raw), string(raw))
	raw, err = s.Raw("7k2f", 0, 2, 0)
	if err != nil || raw != nil {
		t.Errorf("raw output of a window without: %q, %v", raw, err)
	}
	if _, err = s.Raw("7k2f", 0, 9, 9); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("raw output of no window: %v", err)
	}

	gotExp, err := s.Experiment("7k2f")
	check(t, err)
	diff(t, exp, gotExp)
	run.Status, run.Ended = record.Complete, t0.Add(time.Hour)
	check(t, s.UpdateRun(run))
	gotRun, err := s.Run("7k2f")
	check(t, err)
	diff(t, run, gotRun)
}

func TestSaveWindowRefuses(t *testing.T) {
	s := fresh(t)
	check(t, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	check(t, s.SaveWindow("7k2f", testWindow(0, 0)))
	nan := testWindow(1, 0)
	nan.Metrics[record.IOPS] = math.NaN()
	for name, save := range map[string]func() error{
		"FOREIGN KEY": func() error { return s.SaveWindow("none", testWindow(1, 0)) },
		"UNIQUE":      func() error { return s.SaveWindow("7k2f", testWindow(0, 0)) },
		"NaN":         func() error { return s.SaveWindow("7k2f", nan) },
	} {
		err := save()
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "save window boot 0 round") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	got, err := s.Windows("7k2f", true)
	check(t, err)
	diff(t, []record.Window{testWindow(0, 0)}, got)
}

func TestFindRun(t *testing.T) {
	s := fresh(t)
	_, err := s.Run("")
	var missing *NotFoundError
	if !errors.As(err, &missing) || errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("newest of none: %v", err)
	}
	for i, id := range []string{"7k2f", "7k3a", "abcd", "abcde"} {
		check(t, s.CreateRun(testRun(id, t0.Add(-time.Duration(i)*time.Hour)), testExperiment()))
	}
	for give, want := range map[string]string{
		"": "7k2f", "7k2": "7k2f", "7k3a": "7k3a", "7K3": "7k3a", "abcd": "abcd", "abcde": "abcde",
	} {
		got, err := s.Run(give)
		if err != nil || got.ID != want {
			t.Errorf("Run(%q) = %q, %v; want %q", give, got.ID, err, want)
		}
	}
	var many *AmbiguousError
	_, err = s.Run("7k")
	if !errors.As(err, &many) || errkind.CodeOf(err) != errkind.Usage {
		t.Fatalf("ambiguous: %v", err)
	}
	diff(t, `"7k" fits 2 runs: 7k2f, 7k3a; give more of the name`, err.Error())
	for _, id := range []string{"zz", "7k2ff", "%", "_k2f"} {
		if _, err = s.Run(id); !errors.As(err, &missing) || errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("Run(%q): %v", id, err)
		}
	}
	runs, err := s.Runs()
	check(t, err)
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	diff(t, []string{"7k2f", "7k3a", "abcd", "abcde"}, ids)
}

func TestDeleteRun(t *testing.T) {
	s := fresh(t)
	for _, id := range []string{"aaaa", "bbbb"} {
		check(t, s.CreateRun(testRun(id, t0), testExperiment()))
		check(t, s.SaveWindow(id, testWindow(0, 0)))
	}
	check(t, s.DeleteRun("aaaa"))
	for _, err := range []error{s.DeleteRun("aaaa"), s.UpdateRun(testRun("aaaa", t0)), s.DeleteRun("bb")} {
		var missing *NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("got %v, want a NotFoundError", err)
		}
	}
	if _, err := s.Experiment("aaaa"); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("experiment of a deleted run: %v", err)
	}
	for id, want := range map[string]int{"aaaa": 0, "bbbb": 1} {
		got, err := s.Windows(id, false)
		if err != nil || len(got) != want {
			t.Errorf("%d windows of %s, %v; want %d", len(got), id, err, want)
		}
	}
	if err := s.CreateRun(testRun("bbbb", t0), testExperiment()); err == nil {
		t.Error("an id was given twice")
	}
}

func TestNewID(t *testing.T) {
	s := fresh(t)
	for range 200 {
		id, err := s.NewID()
		check(t, err)
		if len(id) < 4 || len(id) > 6 || strings.Trim(id, alphabet) != "" {
			t.Fatalf("bad id %q", id)
		}
		check(t, s.CreateRun(testRun(id, t0), testExperiment()))
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"a newer version": {func(t *testing.T, path string) {
			check(t, open(t, path).Close())
			execute(t, path, "PRAGMA user_version = 99")
		}, "version 99, and this iotax knows versions up to 1"},
		"another program": {func(t *testing.T, path string) { execute(t, path, "CREATE TABLE other (x)") }, "of another program"},
		"no database": {func(t *testing.T, path string) {
			check(t, os.WriteFile(path, bytes.Repeat([]byte("not a database "), 500), 0o600))
		}, "is not a store of iotax"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "iotax.db")
			tt.make(t, path)
			before, err := os.ReadFile(path)
			check(t, err)
			s, err := Open(path)
			if err == nil {
				_ = s.Close()
				t.Fatal("opened")
			}
			if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
			after, err := os.ReadFile(path)
			check(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func TestOpenWhereNoFileCanBe(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, path := range []string{dir, filepath.Join(dir, "file", "iotax.db")} {
		if s, err := Open(path); errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), dir) {
			t.Errorf("Open(%s) = %v, %v", path, s, err)
		}
	}
}

func TestOpenMakesPrivateFilesUnderAnyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a state?x=1 50%41#", "iotax.db")
	s := open(t, path)
	check(t, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	for name, want := range map[string]os.FileMode{
		filepath.Dir(path): 0o700 | os.ModeDir, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		check(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestOpenByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "iotax.db")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.CreateRun(testRun(fmt.Sprintf("run%d", i), t0), testExperiment()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs, err := open(t, path).Runs()
	if err != nil || len(runs) != 8 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check(t, err)
	defer db.Close()
	_, err = db.Exec(statement)
	check(t, err)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
