package ioping

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/golden"
)

// The files in testdata/output are what ioping 1.3 printed for runs of ours; error-* hold no result.
func TestParseGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/output/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	want := map[string]bool{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		golden := filepath.Join("testdata/golden", name+".json")
		want[golden] = true
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Parse(data)
			if isError := strings.HasPrefix(name, "error-"); isError != (err != nil) {
				t.Errorf("Parse gives error %v", err)
			}
			var got []byte
			if err != nil {
				got, _ = json.MarshalIndent(err.Error(), "", "  ")
			} else {
				got, _ = json.MarshalIndent(r, "", "  ")
			}
			compareGolden(t, golden, string(got)+"\n")
		})
	}
	goldens, _ := filepath.Glob("testdata/golden/*")
	for _, g := range goldens {
		if !want[g] {
			t.Errorf("%s belongs to no file in testdata/output", g)
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	golden.Equal(t, path, got)
}

// Formats of versions that are not at hand, and odd ends.
func TestParseText(t *testing.T) {
	tests := map[string]struct {
		in   string
		want Result
	}{
		"0.6": {`4096 bytes from . (ext4 /dev/sda2): request=1 time=0.2 ms
4096 bytes from . (ext4 /dev/sda2): request=2 time=0.4 ms

--- . (ext4 /dev/sda2) ioping statistics ---
2 requests completed in 1001.0 ms, 3333 iops, 13.0 mb/s
min/avg/max/mdev = 0.2/0.3/0.4/0.1 ms
`, Result{
			Target: ".", FSType: "ext4", Device: "/dev/sda2",
			Requests: []Request{{Index: 1, Operation: "read", Size: 4096, TimeNS: 2e5}, {Index: 2, Operation: "read", Size: 4096, TimeNS: 4e5}},
			Stat:     Stat{Count: 2, TimeNS: 6e5, IOPS: 3333, Bandwidth: 13 << 20, Min: 2e5, Avg: 3e5, Max: 4e5, MDev: 1e5},
			Load:     Load{Count: 2, TimeNS: 1001e6, IOPS: 2 / 1.001},
		}},
		"0.8, no requests": {`--- /dev/sda (device 465.8 gb) ioping statistics ---
0 requests completed in 10.0 ms, nan iops, -nan mb/s
min/avg/max/mdev = 0.0/-nan/0.0/-nan ms
`, Result{Target: "/dev/sda", FSType: "device", DeviceSize: 500148941619, Load: Load{TimeNS: 1e7}}},
		"0.8 raw, microseconds": {
			"100 26694 3746 15344272 188 267 1923 228\n",
			Result{Stat: Stat{Count: 100, Bytes: 409600, TimeNS: 26694e3, IOPS: 3746, Bandwidth: 15344272, Min: 188e3, Avg: 267e3, Max: 1923e3, MDev: 228e3}},
		},
		"0.6 raw, latencies alone": {
			"188 267 1923 228\n",
			Result{Stat: Stat{Min: 188e3, Avg: 267e3, Max: 1923e3, MDev: 228e3}},
		},
		"limits, hours, path with brackets": {`--- /a (b) c (nfs server:/x y 1 TiB) ioping statistics ---
2 k requests completed in 1.50 hour, 7.81 MiB written, 0 iops, 1.52 KiB/s
3 too fast, 1.2 k too slow, generated 3.20 k requests in 2 hour, 12.5 MiB, 0 iops, 1.78 KiB/s
min/avg/max/mdev = 900 ns / 2.70 s / 1.25 min / 15 us
`, Result{
			Target: "/a (b) c", FSType: "nfs", Device: "server:/x y", DeviceSize: 1 << 40, TooFast: 3, TooSlow: 1200,
			Stat: Stat{Count: 2000, Bytes: 8189379, TimeNS: 5400e9, Bandwidth: 1556.48, Min: 900, Avg: 2.7e9, Max: 75e9, MDev: 15e3},
			Load: Load{Count: 3200, Bytes: 13107200, TimeNS: 7200e9, Bandwidth: 1822.72},
		}},
		"notes": {`512 B >>> d (xfs /dev/b 1 GiB): request=1 time=1 us (warmup)
0 B <<< d (xfs /dev/b 1 GiB): request=2 time=2 us (EAGAIN)
512 B <<< d (xfs /dev/b 1 GiB): request=3 time=3 us (slow)
2026-11-20 12:00 512 B <<< d (xfs /dev/b 1 GiB): request=4 time=4 us (too slow)
1 requests completed in 3 us, 512 B, 333.3 k iops, 162.8 MiB/s
generated 4 requests in 10 us, 2 KiB, 400 k iops, 195.3 MiB/s
min/avg/max/mdev = 3 us / 3 us / 3 us / 0
`, Result{
			Target: "d", FSType: "xfs", Device: "/dev/b", DeviceSize: 1 << 30,
			Requests: []Request{
				{Index: 1, Operation: "write", Size: 512, TimeNS: 1e3, Ignored: true, Note: "warmup"},
				{Index: 2, Operation: "read", TimeNS: 2e3, Ignored: true, Note: "EAGAIN"},
				{Index: 3, Operation: "read", Size: 512, TimeNS: 3e3, Note: "slow"},
				{Index: 4, Operation: "read", Size: 512, TimeNS: 4e3, Ignored: true, Note: "too slow"},
			},
			Stat: Stat{Count: 1, Bytes: 512, TimeNS: 3e3, IOPS: 333300, Bandwidth: 162.8 * (1 << 20), Min: 3e3, Avg: 3e3, Max: 3e3},
			Load: Load{Count: 4, Bytes: 2048, TimeNS: 1e4, IOPS: 400e3, Bandwidth: 195.3 * (1 << 20)},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-9, 0)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// Batch with periods ends in a total; quiet with periods does not, and the periods are summed.
func TestRawTotals(t *testing.T) {
	const p1 = "2 4000 500000 2048000000 1000 2000 3000 1000 3 20000\n"
	const p2 = "2 6000 333333 1365333333 3000 3000 3000 0 2 20000\n"
	const both = "4 10000 400000 1638400000 1000 2500 3000 866 5 40000\n"
	tests := map[string]struct {
		in      string
		periods int
	}{
		"total":    {p1 + p2 + both, 2},
		"no total": {p1 + p2, 2},
	}
	want := Stat{Count: 4, Bytes: 16384, TimeNS: 10000, IOPS: 400000, Bandwidth: 1638400000, Min: 1000, Avg: 2500, Max: 3000, MDev: 866}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, r.Stat, cmpopts.EquateApprox(1e-3, 0)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if len(r.Periods) != tt.periods || r.Load.Count != 5 || r.Load.TimeNS != 40000 {
				t.Errorf("%d periods, load %+v", len(r.Periods), r.Load)
			}
		})
	}
	r, err := Parse([]byte(p1 + p1))
	if err != nil || len(r.Periods) != 1 || r.Count != 2 {
		t.Errorf("one period as long as the run: %+v, error %v", r, err)
	}
}

func TestParseNoResult(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"empty":          {"", "ioping gave no result: its output is empty"},
		"error":          {"ioping: stat \"x\" failed: No such file or directory\n", "ioping gave no result: ioping: stat \"x\" failed: No such file or directory"},
		"usage":          {"ioping: invalid option -- 'Z'\n\n Usage: ioping\n", "ioping gave no result: ioping: invalid option -- 'Z'"},
		"other program":  {"sh: ioping: not found\n", "ioping gave no result: sh: ioping: not found"},
		"killed":         {"4 KiB <<< . (ext4 /dev/sda 1 GiB): request=1 time=3 ms\n", "ioping's output is truncated: it has no statistics: 4 KiB <<< . (ext4 /dev/sda 1 GiB): request=1 time=3 ms"},
		"killed in JSON": {"[{\n  \"io\": { \"request\": 1 }\n},{", "ioping's output is truncated: it has no statistics: [{; \"io\": { \"request\": 1 }"},
		"failed in JSON": {"[{\n  \"io\": { \"request\": 1 }\n}ioping: x\nioping: request failed: Input/output error\n", "ioping's output is truncated: it has no statistics: ioping: request failed: Input/output error"},
		"empty JSON":     {"[]", "ioping gave no result: []"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := Parse([]byte(tt.in))
			var none *NoResultError
			if !errors.As(err, &none) {
				t.Fatalf("got %+v and error %v, want a NoResultError", r, err)
			}
			if none.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", none, tt.want)
			}
		})
	}
}
