package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/bench"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// pretended is a qemu-img that does nothing, says that it did eight requests in a millisecond, and keeps its command lines.
const pretended = `#!/bin/sh
echo "$*" >> "$0.calls"
what=read
for word; do
	case $last in -c) n=$word;; -d) d=$word;; -s) s=$word;; -o) o=$word;; -S) t=$word;; esac
	case $word in -w) what=write;; esac
	last=$word
done
echo "Sending $n $what requests, $s bytes each, $d in parallel (starting at offset $o, step size $t)"
printf 'Run completed in %d.%03d seconds.\n' $((n / 8000)) $((n / 8 % 1000))
`

// benchSession is a session of one stack of qemu-img bench, with a program in the place of qemu-img.
func benchSession(t *testing.T, program, cache string) (*session, intended) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "qemu-img")
	if err := os.WriteFile(path, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	stack := spec.Stack{Name: "bench", Bus: "host", Daemon: "qemu-img", Format: "raw", Cache: cache, AIO: "threads"}
	in := intended{stack, cmdline.Disk{Stack: stack, Serial: "disk0", Path: "/volume"}, 64 << 20}
	s := New(Config{QEMUImg: path, Note: func(string) {}}).session(plan.Group{Guest: spec.Guest{CPUs: 2}})
	s.beside = []intended{in}
	return s, in
}

// calls are the counts of requests that the program was asked for.
func calls(t *testing.T, s *session) (counts []string) {
	t.Helper()
	text, err := os.ReadFile(s.QEMUImg + ".calls")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		counts = append(counts, strings.Fields(line)[2])
	}
	return counts
}

// A first window finds its pace by short runs, the next ones have it.
func TestBenchLoad(t *testing.T) {
	s, in := benchSession(t, pretended, "none")
	l := spec.Workload{Name: "rr", RW: "randread", BS: 4096, IODepth: 32}
	w := plan.Window{Stack: "bench", Workload: "rr", Seed: 9, Runtime: time.Second}
	for i, want := range []int64{64 + 512 + 8000, 8000, 8000} {
		r, err := s.benchLoad(t.Context(), w, l, in, target{size: in.size})
		if err != nil {
			t.Fatal(err)
		}
		var out record.Window
		s.fold(&out, r, l, w)
		if out.Status != record.OK || out.Evidence.PathReads != want {
			t.Errorf("window %d: %+v, want %d requests", i, out, want)
		}
		if diff := cmp.Diff(map[string]float64{record.IOPS: 8000, record.Bandwidth: 8000 * 4096, record.ClatMean: 4e6}, out.Metrics); diff != "" {
			t.Errorf("window %d (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff([]string{"64", "512", "8000", "8000", "8000"}, calls(t, s)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	w.Workload, w.Seed = "other", 10
	if _, err := s.benchLoad(t.Context(), w, l, in, target{size: in.size}); err != nil {
		t.Fatal(err)
	}
	if all := calls(t, s); all[5] != "64" {
		t.Errorf("another cell begins with the pace of this one: %q", all)
	}
}

// What is asked of the program follows from the workload.
func TestBenchJob(t *testing.T) {
	for name, tt := range map[string]struct {
		load  spec.Workload
		has   string
		lacks string
	}{
		"random":     {spec.Workload{RW: "randwrite", BS: 4096, IODepth: 4}, fmt.Sprintf("-d 4 -s 4096 -o %d -S %d -t none -i threads -w", bench.Start(9, 64<<20, 4096), bench.Stride(64<<20, 4096)), "flush"},
		"sequential": {spec.Workload{RW: "read", BS: 256 << 10, IODepth: 1}, "-s 262144 -o 0 -S 262144", "-w"},
		"synced":     {spec.Workload{RW: "write", BS: 8192, IODepth: 1, FDataSync: 1}, "--flush-interval=1", "-n"},
		"deep":       {spec.Workload{RW: "randread", BS: 4096, IODepth: 512}, "-c 512 -d 512", "-w"},
	} {
		s, in := benchSession(t, pretended, "none")
		w := plan.Window{Stack: "bench", Workload: name, Seed: 9, Runtime: 10 * time.Millisecond}
		if _, err := s.benchLoad(t.Context(), w, tt.load, in, target{size: in.size}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(s.QEMUImg + ".calls")
		if first, _, _ := strings.Cut(string(text), "\n"); err != nil || !strings.Contains(first, tt.has) || strings.Contains(first, tt.lacks) {
			t.Errorf("%s: %q, %v; want %q and not %q", name, first, err, tt.has, tt.lacks)
		}
	}
}

// Writes through the page cache are paid for when the program closes the volume, its start is not.
func TestBenchPaysForItsFlush(t *testing.T) {
	s, in := benchSession(t, pretended+"case \" $* \" in *\" -w \"*) sleep 0.2;; esac\n", "writeback")
	w := plan.Window{Stack: "bench", Workload: "rw", Seed: 9, Runtime: 100 * time.Millisecond}
	l := spec.Workload{Name: "rw", RW: "randwrite", BS: 4096, IODepth: 1}
	if _, err := s.benchLoad(t.Context(), w, l, in, target{size: in.size}); err != nil {
		t.Fatal(err)
	}
	if timed := s.paces[w.Key()].timed; timed < 150*time.Millisecond {
		t.Errorf("of 0.2 s that it took to close the volume, %v counted", timed)
	}
	for i, tt := range []struct {
		cache string
		load  spec.Workload
		want  bool
	}{
		{"writeback", l, true},
		{"writeback", spec.Workload{RW: "randread"}, false},
		{"writeback", spec.Workload{RW: "write", FDataSync: 1}, false},
		{"unsafe", l, false},
		{"none", l, false},
	} {
		if got := closing(spec.Stack{Cache: tt.cache}, tt.load); got != tt.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

func TestBenchFails(t *testing.T) {
	s, in := benchSession(t, "#!/bin/sh\necho 'qemu-img: Failed request: Input/output error' >&2\nexit 1\n", "none")
	l := spec.Workload{Name: "rr", RW: "randread", BS: 4096, IODepth: 1}
	w := plan.Window{Stack: "bench", Workload: "rr", Runtime: 100 * time.Millisecond}
	r, err := s.benchLoad(t.Context(), w, l, in, target{size: in.size})
	if err != nil {
		t.Fatal(err)
	}
	var out record.Window
	s.fold(&out, r, l, w)
	if out.Status != record.Failed || !strings.Contains(out.Reason, "Input/output error") || out.Metrics != nil {
		t.Errorf("%+v", out)
	}
}

func TestFoldBench(t *testing.T) {
	const runs = "Sending 64 write requests, 4096 bytes each, 4 in parallel (starting at offset 0, step size 4096)\n" +
		"Sending flush every 8 requests\nRun completed in 0.004 seconds.\n" +
		"Sending 1000 write requests, 4096 bytes each, 4 in parallel (starting at offset 0, step size 4096)\n" +
		"Sending flush every 8 requests\nRun completed in 0.100 seconds.\n"
	for name, tt := range map[string]struct {
		r      load.Result
		timed  time.Duration
		status string
		reason string
	}{
		"good":       {load.Result{Output: []byte(runs)}, 100 * time.Millisecond, record.OK, ""},
		"stalled":    {load.Result{Output: []byte(runs), Stalled: "nothing moves"}, 0, record.Stalled, "nothing moves"},
		"killed":     {load.Result{Exit: -1, Stderr: "qemu-img: no"}, 0, record.Failed, "qemu-img: no"},
		"silent":     {load.Result{}, 0, record.Failed, "said nothing"},
		"no time":    {load.Result{Output: []byte(runs)}, 0, record.Failed, "too soon"},
		"half of it": {load.Result{Output: []byte(runs[:len(runs)-32])}, 1, record.Failed, "did not complete"},
	} {
		var w record.Window
		foldBench(&w, tt.r, tt.timed)
		if w.Status != tt.status || !strings.Contains(w.Reason, tt.reason) || (w.Metrics == nil) != (tt.status != record.OK) {
			t.Errorf("%s: %s, %q, %v", name, w.Status, w.Reason, w.Metrics)
		}
		if tt.status != record.OK {
			continue
		}
		if diff := cmp.Diff(map[string]float64{record.IOPS: 10000, record.Bandwidth: 4096e4}, w.Metrics); diff != "" {
			t.Errorf("%s (-want +got): a load that flushes has no latency of its writes\n%s", name, diff)
		}
		e := w.Evidence
		if e.PathWrite != 1064*4096 || e.PathWrites != 1064 || e.PathFlush != 8+125 || e.PathRead != 0 || e.Depth != 4 || w.Timed != 1e8 {
			t.Errorf("%s: %+v", name, w)
		}
	}
}
