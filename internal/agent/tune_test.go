package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/wire"
)

// TestTune has files in the place of sysfs: they take everything, and show what they were given.
func TestTune(t *testing.T) {
	root := t.TempDir()
	scheduler, readAhead := filepath.Join(root, "vda/queue/scheduler"), filepath.Join(root, "vda/queue/read_ahead_kb")
	for _, tt := range []struct {
		q               wire.Tune
		scheduler, size string
	}{
		{wire.Tune{Disk: "vda"}, "[none] bfq", "128"},
		{wire.Tune{Disk: "vda", Scheduler: "bfq"}, "bfq", "128"},
		{wire.Tune{Disk: "vda", ReadAhead: "0"}, "[none] bfq", "0"},
		{wire.Tune{Disk: "vda", Scheduler: "none", ReadAhead: "4096"}, "none", "4096"},
	} {
		write(t, scheduler, "[none] bfq")
		write(t, readAhead, "128")
		if err := tune(root, tt.q); err != nil {
			t.Errorf("%+v: %v", tt.q, err)
		}
		if got, size := read(scheduler), read(readAhead); got != tt.scheduler || size != tt.size {
			t.Errorf("%+v: scheduler %q, read-ahead %q", tt.q, got, size)
		}
	}
	if err := tune(root, wire.Tune{Disk: "vdz", ReadAhead: "8"}); err == nil || !strings.Contains(err.Error(), "read-ahead 8 of vdz") {
		t.Errorf("a disk that is not there: %v", err)
	}
	if err := tune(root, wire.Tune{Disk: "../vda", Scheduler: "bfq"}); err != nil || read(scheduler) != "bfq" {
		t.Errorf("a path in the place of a name leads elsewhere: %v", err)
	}
}
