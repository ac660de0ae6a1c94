package ioping

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Figures read off real files by eye, for every format and age in the collection.
var realFiles = map[string]struct {
	target, fstype, device string
	requests, periods      int
	stat                   Stat
	load                   Load
}{
	"gen_v1.3_batch_B.txt": {
		"", "", "", 0, 0,
		Stat{19, 77824, 2016024, 9424, 38602715, 77496, 106107, 123514, 10963},
		Load{20, 81920, 190209445, 20 / 0.190209445, 81920 / 0.190209445},
	},
	"gen_v1.3_dir_direct.txt": {"/var/tmp/bench/d", "ext4", "/dev/vda", 6, 0, Stat{5, 20480, 1e6, 4990, 19.5 * (1 << 20), 175.7e3, 200.3e3, 215.7e3, 14.5e3}, Load{6, 24576, 500.4e6, 11, 48 * 1024}},
	"gen_v1.3_dir_write.txt":  {"/var/tmp/bench/d", "ext4", "/dev/vda", 5, 0, Stat{4, 16384, 15.1e6, 265, 1.04 * (1 << 20), 3.76e6, 3.77e6, 3.77e6, 4670}, Load{5, 20480, 403.9e6, 12, 49.5 * 1024}},
	"gen_v1.3_json_J.json":    {"/var/tmp/bench/d", "ext4", "/dev/vda", 6, 0, Stat{5, 20480, 1051086, 4756.984681, 19484609, 176032, 210217, 259096, 32146}, Load{6, 24576, 250345427, 23.966885, 98168}},
	"gen_v1.3_json_J_quiet.json": {
		"/var/tmp/bench/d", "ext4", "/dev/vda", 0, 0,
		Stat{19, 77824, 2556305, 7432.602917, 30443942, 96483, 134542, 527816, 94140},
		Load{20, 81920, 192169824, 104.074613, 426290},
	},
	"gen_v1.3_period5.txt":    {"/var/tmp/bench/d", "ext4", "/dev/vda", 10, 1, Stat{9, 36864, 5.79e6, 1550, 6.08 * (1 << 20), 183.1e3, 643e3, 3.75e6, 1.1e6}, Load{10, 40960, 450.3e6, 22, 88.8 * 1024}},
	"gen_v1.3_pingpong_G.txt": {"/var/tmp/bench/d", "ext4", "/dev/vda", 5, 0, Stat{4, 16384, 5.77e6, 692, 2.71 * (1 << 20), 160.9e3, 1.44e6, 3.78e6, 1.48e6}, Load{5, 20480, 203.9e6, 24, 98.1 * 1024}},
	"gen_v1.3_with_time.txt":  {"/var/tmp/bench/d", "ext4", "/dev/vda", 5, 0, Stat{4, 16384, 828.8e3, 4830, 18.9 * (1 << 20), 181.1e3, 207.2e3, 231.1e3, 18e3}, Load{5, 20480, 200.3e6, 24, 99.8 * 1024}},
	"old0.7-0.8_linear_RL.txt": {
		"/dev/sda", "device", "", 0, 0,
		Stat{837, 0, 837 * 3.4e6, 292, 72.9 * (1 << 20), 2e6, 3.4e6, 28.9e6, 2e6},
		Load{837, 0, 3004.1e6, 837 / 3.0041, 0},
	},
	"old0.7-0.8_seekrate_R.txt": {
		"/dev/sda", "device", "", 0, 0,
		Stat{186, 0, 186 * 16e6, 62, 0.2 * (1 << 20), 6.4e6, 16e6, 26.8e6, 4.7e6},
		Load{186, 0, 3004.6e6, 186 / 3.0046, 0},
	},
	"v1.x_mysql_write.txt": {
		"/var/lib/mysql", "ext4", "/dev/dm-0", 0, 0,
		Stat{19, 76 << 10, 2.99e6, 6340, 24.8 * (1 << 20), 131.8e3, 157.6e3, 185.3e3, 13e3},
		Load{20, 80 << 10, 3.32e6, 6030, 23.6 * (1 << 20)},
	},
	"v1.x_nvme_write_512_sync.txt": {"/dev/nvme0n1", "block", "device", 10, 0, Stat{9, 4608, 9.54e6, 943, 471.9 * 1024, 388.1e3, 1.06e6, 1.83e6, 487.4e3}, Load{10, 5120, 9e9, 1, 568}},
	"v1.x_sdf_rapid_lkml.txt": {
		"/dev/sdf", "block", "device", 0, 0,
		Stat{70700, 289721549, 2.97e9, 23800, 93.1 * (1 << 20), 33.1e3, 41.9e3, 87.9e6, 452.6e3},
		Load{70700, 289826406, 3e9, 23600, 92.1 * (1 << 20)},
	},
	"v1.x_virtiofs.txt": {".", "virtiofs", "virtiofs0", 4, 0, Stat{9, 36864, 3.01e6, 2990, 11.7 * (1 << 20), 254.2e3, 334.5e3, 396.4e3, 46.5e3}, Load{10, 40960, 9e9, 1, 4.44 * 1024}},
}

// Every file in the collection must parse, agree with itself, and match the figures above where it is listed.
func TestParseRealFiles(t *testing.T) {
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	files, err := filepath.Glob(filepath.Join(dir, "ioping", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s/ioping: %v", dir, err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Parse(data)
			if name == "gen_v1.3_error.txt" {
				var none *NoResultError
				if !errors.As(err, &none) || none.Truncated || len(none.Said) != 1 {
					t.Errorf("got error %v, want ioping's one line", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkStat(t, r)
			want, listed := realFiles[name]
			if !listed {
				return
			}
			if r.Target != want.target || r.FSType != want.fstype || r.Device != want.device {
				t.Errorf("target %q %q %q, want %q %q %q", r.Target, r.FSType, r.Device, want.target, want.fstype, want.device)
			}
			if len(r.Requests) != want.requests || len(r.Periods) != want.periods {
				t.Errorf("%d requests, %d periods; want %d, %d", len(r.Requests), len(r.Periods), want.requests, want.periods)
			}
			if d := cmp.Diff(want.stat, r.Stat, cmpopts.EquateApprox(1e-9, 0)); d != "" {
				t.Errorf("statistics: -want +got:\n%s", d)
			}
			if d := cmp.Diff(want.load, r.Load, cmpopts.EquateApprox(1e-9, 0)); d != "" {
				t.Errorf("load: -want +got:\n%s", d)
			}
		})
	}
}

// checkStat tests figures against each other within what three printed digits leave, which shows a wrong unit.
func checkStat(t *testing.T, r Result) {
	t.Helper()
	s := r.Stat
	if s.Count <= 0 || !(0 < s.Min && s.Min <= s.Avg && s.Avg <= s.Max) {
		t.Fatalf("%+v", s)
	}
	near := func(what string, a, b float64) {
		t.Helper()
		if math.Abs(a-b) > 0.05*math.Max(a, b) {
			t.Errorf("%s: %v and %v", what, a, b)
		}
	}
	near("time and average", s.TimeNS, s.Avg*float64(s.Count))
	near("IOPS and average", s.IOPS, 1e9/s.Avg)
	if s.Bytes > 0 {
		near("bandwidth and bytes", s.Bandwidth, float64(s.Bytes)*1e9/s.TimeNS)
	}
	if r.Load.TimeNS < s.TimeNS*0.95 {
		t.Errorf("requests took %v ns in a run of %v ns", s.TimeNS, r.Load.TimeNS)
	}
}
