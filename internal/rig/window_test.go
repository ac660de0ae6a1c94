package rig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/fio"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/hist"
	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// golden compares with testdata/NAME.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	golden.Equal(t, path, got)
}

func TestRequest(t *testing.T) {
	w := plan.Window{Seed: 41, Runtime: 200 * time.Millisecond}
	sync := spec.Workload{Name: "sync", RW: "randwrite", BS: 4096, IODepth: 1, FDataSync: 1}
	for name, tt := range map[string]struct {
		load         spec.Workload
		ramp         time.Duration
		rate         float64
		target       target
		compressible float64
	}{
		"slice-of-a-device": {load: sync, target: target{fio: "/cache/fio", filename: "/dev/sdb", offset: 1 << 20, size: 32 << 20, cpus: "0,1", disk: "sdb"}},
		"mixture": {
			load:         spec.Workload{Name: "oltp", RW: "randrw", BS: 512, IODepth: 1, NumJobs: 8, RWMixRead: 50, BSSplit: "512/25:4k/75,8k/100", PercentageRandom: "12", BSIsSeqRand: true, BlockAlign: 512, ThinkTime: time.Millisecond},
			target:       target{fio: "/bin/fio", filename: "/dev/vda", size: 32 << 20, cpus: "0-1", disk: "vda"},
			compressible: 0.5,
		},
		"held": {
			load:   spec.Workload{Name: "held", RW: "randread", BS: 4096, IODepth: 32, NumJobs: 3, RateShare: 0.8},
			rate:   4200,
			target: target{fio: "/bin/fio", filename: "/dev/vda", size: 32 << 20, cpus: "0", disk: "vda"},
		},
		"held-mixed": {
			load:   spec.Workload{Name: "held", RW: "randrw", BS: 4096, IODepth: 32, RWMixRead: 70, RateShare: 0.8},
			rate:   4201,
			target: target{fio: "/bin/fio", filename: "/dev/vda", size: 32 << 20, cpus: "0", disk: "vda"},
		},
		"nbd": {
			load:   spec.Workload{Name: "sync", RW: "write", BS: 4096, IODepth: 1, FDataSync: 2},
			target: target{fio: "/usr/bin/fio", filename: "iotax-1", size: 32 << 20, cpus: "0", disk: "vda", uri: "nbd+unix:///iotax-1?socket=%2Ftmp%2Fs"},
		},
		"ioping-read": {
			load:   spec.Workload{Name: "ping", Generator: "ioping", RW: "randread", BS: 4096, IODepth: 1, Requests: 10, Interval: time.Second},
			target: target{ioping: "/bin/ioping", filename: "/dev/vda", size: 32 << 20, cpus: "1", disk: "vda"},
		},
		"ioping-write": {
			load:   spec.Workload{Name: "ping", Generator: "ioping", RW: "write", BS: 4 << 20, IODepth: 1, Requests: 10},
			target: target{ioping: "/usr/bin/ioping", filename: "/scratch/host.raw", offset: 1 << 20, size: 32 << 20, cpus: "0,1"},
		},
		"guest-with-ramp": {
			load:   spec.Workload{Name: "mixed", RW: "randrw", BS: 8192, IODepth: 32, RWMixRead: 70},
			ramp:   time.Second,
			target: target{fio: "/bin/fio", filename: "/dev/vda", size: 32 << 20, cpus: "0", disk: "vda"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := w
			w.Rate = tt.rate
			q, err := request(w, tt.load, spec.Experiment{Ramp: tt.ramp, Compressible: tt.compressible}, tt.target)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.ramp + w.Runtime + overtime
			if tt.load.Ioping() {
				want = time.Duration(tt.load.Requests)*tt.load.Interval + overtime
			}
			if q.Timeout != want || q.StallAfter != stallAfter || q.Step != seriesStep || q.Disk != tt.target.disk || q.Paced != (tt.rate > 0) {
				t.Errorf("%+v, want a timeout of %v and the disk %s watched", q, want, tt.target.disk)
			}
			checkGolden(t, "request/"+name+".want", strings.Join(q.Argv, " ")+"\n"+q.Input)
		})
	}
	if _, err := request(w, sync, spec.Experiment{}, target{fio: "fio", filename: "/dev/$(reboot)", size: 1 << 20}); err == nil {
		t.Error("a file name that fio would expand was accepted")
	}
	ping := spec.Workload{Name: "ping", Generator: "ioping", RW: "read", BS: 4096, Requests: 10}
	if _, err := request(w, ping, spec.Experiment{}, target{filename: "/dev/vda", size: 1 << 20}); err == nil || !strings.Contains(err.Error(), "ioping is missing") {
		t.Errorf("a load of ioping without ioping: %v", err)
	}
}

func TestFold(t *testing.T) {
	inputs := map[string]bool{}
	for name, tt := range map[string]struct {
		output string // file of testdata/fold, "" for none
		result load.Result
	}{
		"randread":          {"randread.json", load.Result{Series: []int64{900, 1100}}},
		"flush-at-the-end":  {"sync.json", load.Result{}},
		"mixed":             {"mixed.json", load.Result{}},
		"error-exit-0":      {"error.json", load.Result{Stderr: "fio: io_u error on file /dev/vda: Input/output error\nmore\n"}},
		"no-io":             {"nothing.json", load.Result{Exit: 1, Stderr: "fio: cannot open /dev/vdz\n"}},
		"exit-status-alone": {"randread.json", load.Result{Exit: 3}},
		"stalled":           {"randread.json", load.Result{Exit: -1, Stalled: "32 I/Os in flight and none ended for 4.0 s", Series: []int64{5, 0, 0}}},
		"not-fio":           {"", load.Result{Output: []byte("sh: fio: not found\n"), Exit: 127, Stderr: "sh: fio: not found"}},
		"silent":            {"", load.Result{Exit: -1, Stderr: "Killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.output != "" {
				inputs[tt.output] = true
				var err error
				if tt.result.Output, err = os.ReadFile(filepath.Join("testdata/fold", tt.output)); err != nil {
					t.Fatal(err)
				}
			}
			var w record.Window
			fold(&w, tt.result, spec.Workload{}, 200*time.Millisecond)
			if diff := cmp.Diff(string(tt.result.Output), string(w.Raw)); diff != "" {
				t.Errorf("the raw output is not kept:\n%s", diff)
			}
			text, err := json.MarshalIndent(w, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, "fold/"+name+".want", string(text)+"\n")
		})
	}
	files, err := filepath.Glob("testdata/fold/*.json")
	if err != nil || len(files) != len(inputs) {
		t.Errorf("%d files of testdata/fold are used, there are %d, %v", len(inputs), len(files), err)
	}
}

func TestDepth(t *testing.T) {
	// 1000 a second that take 4 ms each: four in flight
	job := fio.JobResult{Read: fio.Direction{IOPS: 1000, Lat: fio.Latency{Mean: 4e6}}}
	for name, tt := range map[string]struct {
		runtime, asked time.Duration
		want           float64
	}{
		"on time":                {time.Second, time.Second, 4},
		"flushed for as long":    {2 * time.Second, time.Second, 8},
		"ended early":            {time.Second, 2 * time.Second, 4},
		"no runtime was printed": {0, time.Second, 4},
		"no runtime was asked":   {time.Second, 0, 4},
	} {
		job.Runtime = int64(tt.runtime)
		if got := depth(job, tt.asked); got != tt.want {
			t.Errorf("%s: depth %v, want %v", name, got, tt.want)
		}
	}
}

func TestMetricsWithoutIO(t *testing.T) {
	want := map[string]float64{record.IOPS: 0, record.Bandwidth: 0}
	if diff := cmp.Diff(want, metrics(fio.JobResult{}, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMetricsOfSyncs: the flush at the end of a load makes it none that syncs, and few syncs have no 99th percentile.
func TestMetricsOfSyncs(t *testing.T) {
	for n, want := range map[int64]map[string]float64{
		0: {}, 1: {}, 2: {record.SyncMean: 700}, 99: {record.SyncMean: 700},
		100: {record.SyncMean: 700, record.SyncP99: 500},
	} {
		job := fio.JobResult{Sync: fio.Latency{Mean: 700, N: n}}
		if n > 0 {
			job.Sync.Bins = []hist.Bin{{NS: 500, Count: uint64(n)}}
		}
		got := metrics(job, nil)
		delete(got, record.IOPS)
		delete(got, record.Bandwidth)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d syncs (-want +got):\n%s", n, diff)
		}
	}
}

func TestNotes(t *testing.T) {
	got := notes([]string{
		"note: both iodepth >= 1 and synchronous I/O engine are selected", "engine falling back to psync",
		"fio: this platform does not support process shared mutexes", "fio: iodepth may only be 1 here",
	})
	want := []string{"fio: engine falling back to psync", "fio: this platform does not support process shared mutexes", "fio: iodepth may only be 1 here"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSaid(t *testing.T) {
	for _, tt := range []struct{ fault, stderr, want string }{
		{"it failed", "", "it failed"},
		{"it failed", "\n  fio: no such file\nsecond line\n", "it failed: fio: no such file"},
		{"fio ended: out of memory", "out of memory\n", "fio ended: out of memory"},
	} {
		if got := said(tt.fault, tt.stderr); got != tt.want {
			t.Errorf("said(%q, %q) = %q, want %q", tt.fault, tt.stderr, got, tt.want)
		}
	}
}
