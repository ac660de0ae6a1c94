package calibrate

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// openHost is a small scratch file on a disk that takes direct I/O.
func openHost(t *testing.T) *Host {
	t.Helper()
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("fio is missing")
	}
	h, err := OpenHost(t.TempDir(), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = h.window(t.Context(), recorded[0], 50*time.Millisecond, 1)
	if err != nil && strings.Contains(err.Error(), "Invalid argument") {
		t.Skip("the temporary folder takes no direct I/O")
	}
	return h
}

func TestHostWindow(t *testing.T) {
	h := openHost(t)
	for _, load := range recorded {
		w, err := h.window(t.Context(), load, 100*time.Millisecond, 7)
		if err != nil {
			t.Fatalf("%s: %v", load.Name, err)
		}
		if w.Status != record.OK || !(w.Metrics[record.IOPS] > 0) || w.Timed < int64(100*time.Millisecond) || w.Elapsed < w.Timed {
			t.Errorf("%s: %+v", load.Name, w)
		}
	}
	if _, err := h.window(t.Context(), spec.Workload{Name: "x", RW: "nonsense", BS: 4096}, time.Second, 1); err == nil {
		t.Error("a load that fio refuses gives no error")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.window(gone, recorded[0], time.Minute, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted window gives %v", err)
	}
}

func TestRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("windows of half a second")
	}
	h := openHost(t)
	var names []string
	err := h.Record(t.Context(), time.Millisecond, 1, func(trace Trace) error {
		names = append(names, trace.Name)
		if len(trace.Points) != 1 || !(trace.Points[0].IOPS > 0) || trace.Points[0].At <= 0 {
			t.Errorf("%+v", trace)
		}
		return nil
	})
	if got := strings.Join(names, " "); err != nil || got != "host-randread-4k-q1 host-randread-4k-q32 host-randwrite-4k-q32 host-read-256k-q4" {
		t.Errorf("%v: %s", err, got)
	}
}

func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("real windows")
	}
	e, err := spec.Parse("live.yaml", []byte(liveExperiment))
	if err != nil {
		t.Fatal(err)
	}
	e.Runtime, e.MinRounds, e.MaxRounds, e.Budget = 100*time.Millisecond, 2, 3, time.Hour
	h := openHost(t)
	row, err := h.compare(t.Context(), e, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if row.Alike != 1 || row.Intervals != 6 { // three names beside the host, under two loads
		t.Errorf("%+v", row)
	}
}

func TestNoPlaceForAScratchFile(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("fio is missing")
	}
	if _, err := OpenHost("/proc", 1<<20); err == nil || !strings.Contains(err.Error(), "no scratch file can be made in /proc") {
		t.Errorf("%v", err)
	}
}
