package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/calibrate"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/store"
)

func TestFaults(t *testing.T) {
	for want, args := range map[string][]string{
		`iotax-calibrate takes no arguments, got "x"`:        {"x"},
		`iotax-calibrate record takes no arguments, got "x"`: {"record", "x"},
		"no scratch file can be made in /nowhere":            {"record", "-scratch", "/nowhere"},
		"flag provided but not defined: -y":                  {"extract", "-y"},
	} {
		if err := command(t.Context(), &bytes.Buffer{}, args); err == nil || !strings.Contains(err.Error(), want) {
			if strings.Contains(want, "scratch") && err != nil && strings.Contains(err.Error(), "fio is missing") {
				continue
			}
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	if err := command(t.Context(), &bytes.Buffer{}, []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

// TestExtract stores a run and takes its trace out again.
func TestExtract(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "iotax.db"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1e9, 0).UTC()
	if err := s.CreateRun(record.Run{ID: "abcd", Started: start, Status: record.Complete}, spec.Experiment{}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		w := record.Window{
			Round: i, Stack: "host", Workload: "w", Status: record.OK, Started: start.Add(time.Duration(i) * time.Second), Elapsed: 1e9,
			Metrics: map[string]float64{record.IOPS: 100 + float64(i)},
		}
		if err := s.SaveWindow("abcd", w); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"extract", "-store", s.Path(), "-run", "abcd", "-name", "run-x", "-into", dir}
	if err := command(t.Context(), &out, args); err != nil || !strings.HasSuffix(out.String(), "run-x.csv: 40 windows\n") {
		t.Fatalf("%v: %s", err, out.String())
	}
	f, err := os.Open(filepath.Join(dir, "run-x.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if trace, err := calibrate.ReadTrace("run-x", f); err != nil || len(trace.Points) != 40 || trace.Points[3].At != 3500*time.Millisecond {
		t.Errorf("%v: %+v", err, trace)
	}
	if err := command(t.Context(), &out, append(args, "-stacks", "sata")); err == nil || !strings.Contains(err.Error(), "has 0 windows") {
		t.Errorf("of a stack that the run has not: %v", err)
	}
}
