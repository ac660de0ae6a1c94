package spec

import (
	"strings"
	"testing"
	"time"
)

// What a program cannot do of a workload is not measured, with the reason; what it can is.
func TestSkips(t *testing.T) {
	read, write := Workload{RW: "randread", BS: 4096, IODepth: 32}, Workload{RW: "write", BS: 4096, IODepth: 4}
	with := func(w Workload, change func(*Workload)) Workload { change(&w); return w }
	bench, nbd := Stack{Bus: "host", Daemon: "qemu-img"}, Stack{Bus: "host", Protocol: "nbd"}
	ioping := with(read, func(w *Workload) { w.Generator = "ioping" })
	mixed := with(read, func(w *Workload) { w.RW = "randrw" })
	for name, tt := range map[string]struct {
		stack Stack
		load  Workload
		want  string // "" where it is measured
	}{
		"bench reads":            {bench, read, ""},
		"bench writes":           {bench, write, ""},
		"bench, sync":            {bench, with(write, func(w *Workload) { w.FDataSync, w.IODepth = 1, 1 }), ""},
		"bench, sync at depth":   {bench, with(write, func(w *Workload) { w.FDataSync = 4 }), ""},
		"bench, sync in between": {bench, with(write, func(w *Workload) { w.FDataSync = 3 }), "as many writes as are in flight"},
		"bench, warm":            {bench, with(read, func(w *Workload) { w.Warm = true }), ""},
		"bench by ioping":        {bench, ioping, "not ioping"},
		"bench, mixed":           {bench, mixed, "mix of reads and writes"},
		"bench, jobs":            {bench, with(read, func(w *Workload) { w.NumJobs = 2 }), "second job"},
		"bench, sizes":           {bench, with(read, func(w *Workload) { w.BSSplit = "4k/100" }), "mix of block sizes"},
		"bench, partly random":   {bench, with(read, func(w *Workload) { w.PercentageRandom = "50" }), "choice of offsets"},
		"bench, aligned":         {bench, with(read, func(w *Workload) { w.BlockAlign = 512 }), "choice of offsets"},
		"bench, waits":           {bench, with(read, func(w *Workload) { w.ThinkTime = time.Millisecond }), "waits"},
		"bench, held":            {bench, with(read, func(w *Workload) { w.RateShare = 0.8 }), "limit to its rate"},
		"nbd":                    {nbd, mixed, ""},
		"nbd by ioping":          {nbd, ioping, "does not speak NBD"},
		"plain by ioping":        {Stack{Bus: "host"}, ioping, ""},
		"inside a guest":         {Stack{Bus: "null_blk"}, mixed, ""},
		"a guest":                {Stack{Bus: "virtio-blk"}, mixed, ""},
	} {
		if got := tt.stack.Skips(tt.load); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Stacks without QEMU's block layer have none of its defaults.
func TestCompleteWithoutGuest(t *testing.T) {
	e := Complete(Experiment{Stacks: []Stack{
		{Name: "plain", Bus: "host"},
		{Name: "bench", Bus: "host", Daemon: "qemu-img", Format: "qcow2"},
		{Name: "inside", Bus: "null_blk"},
		{Name: "null", Bus: "host", Daemon: "qemu-img", Format: "null-co"},
	}})
	for i, want := range []Stack{
		{Name: "plain", Title: "plain", Bus: "host", Format: "raw", Storage: "file"},
		{Name: "bench", Title: "bench", Bus: "host", Daemon: "qemu-img", Format: "qcow2", Storage: "file", Preallocation: "off", Cache: "writeback", AIO: "threads", Discard: "ignore", DetectZeroes: "off"},
		{Name: "inside", Title: "inside", Role: "ceiling", Bus: "null_blk", Format: "null-co"},
		{Name: "null", Title: "null", Role: "ceiling", Bus: "host", Daemon: "qemu-img", Format: "null-co", Cache: "writeback", AIO: "threads", Discard: "ignore", DetectZeroes: "off"},
	} {
		got := e.Stacks[i]
		if got != want {
			t.Errorf("%+v,\nwant %+v", got, want)
		}
		if got.OnHost() != (want.Bus == "host") || got.Ceiling() != (want.Role == "ceiling") || got.Served() != "" {
			t.Errorf("%s: on the host %v, a ceiling %v, served by %q", got.Name, got.OnHost(), got.Ceiling(), got.Served())
		}
	}
	if nbd := (Stack{Bus: "host", Protocol: "nbd"}); nbd.Served() != "qemu-storage-daemon" || nbd.Plain() || nbd.Bench() || !nbd.BlockLayer() {
		t.Errorf("an export on the host is served by %q", nbd.Served())
	}
}
