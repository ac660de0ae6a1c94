package rig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/record"
)

// counters writes a host whose disk has written so many sectors.
func counters(t *testing.T, root, sectors string) {
	t.Helper()
	for path, text := range map[string]string{
		"sys/class/block/sda/stat": "0 0 0 0 1 0 " + sectors + " 0 0 0 0\n", "proc/stat": "cpu 0 0 0 0 0 0 0 0\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrained(t *testing.T) {
	for name, tt := range map[string]struct {
		drain func(root string) error // nil: the storage holds nothing back
		want  int64
		warns bool
	}{
		"holds nothing":   {nil, 1 << 9, false},
		"holds a part":    {func(root string) error { counters(t, root, "24"); return nil }, 24 << 9, false},
		"cannot be asked": {func(string) error { return errors.New("no such pool") }, 1 << 9, true},
		"disk is gone":    {func(root string) error { return os.RemoveAll(filepath.Join(root, "sys")) }, 1 << 9, true},
	} {
		root := t.TempDir()
		watch := meter.Meter{Root: root, Devices: []string{"sda"}}
		counters(t, root, "0")
		before, err := watch.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		s := &session{Rig: &Rig{}}
		if tt.drain != nil {
			s.Drain = map[string]func(context.Context) error{"a": func(context.Context) error { return tt.drain(root) }}
		}
		var w record.Window
		got := s.drained(t.Context(), &w, "a", watch, before, meter.Delta{Disk: meter.Disk{WriteBytes: 1 << 9}})
		warned := len(w.Evidence.Warnings) == 1 && strings.Contains(w.Evidence.Warnings[0], "held back")
		if got.Disk.WriteBytes != tt.want || warned != tt.warns {
			t.Errorf("%s: %d bytes, warnings %q", name, got.Disk.WriteBytes, w.Evidence.Warnings)
		}
	}
}
