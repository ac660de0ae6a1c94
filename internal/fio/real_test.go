package fio

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// realFiles returns the results that other people's fio wrote, where they are at hand.
func realFiles(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	files, err := filepath.Glob(filepath.Join(dir, "fio", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s/fio: %v", dir, err)
	}
	return files
}

// edited are files of the collection that were changed by hand: their figures contradict each other.
var edited = []string{"vc__TestResources_Results_FIO.json", "vc__UnitTests_TestFioJson.txt"}

func TestParseRealFiles(t *testing.T) {
	for _, path := range realFiles(t) {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Parse(data)
			if strings.Contains(name, "Results_FIO_Error") || strings.Contains(name, "Verification_Error") {
				var none *NoResultError
				if !errors.As(err, &none) || len(none.Said) == 0 {
					t.Errorf("got %+v and error %v, want a NoResultError with fio's words", out, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.Version == "" || len(out.Jobs) == 0 {
				t.Fatalf("version %q, %d jobs", out.Version, len(out.Jobs))
			}
			for _, e := range edited {
				if name == e {
					return
				}
			}
			for _, j := range out.Jobs {
				checkJob(t, j, strings.Contains(name, "enospc"))
			}
		})
	}
}

// checkJob tests a result against itself, which shows a wrong unit at once.
func checkJob(t *testing.T, j JobResult, fails bool) {
	t.Helper()
	if fault := j.Fault(); (fault != "") != fails {
		t.Errorf("fault %q", fault)
	}
	for _, d := range []Direction{j.Read, j.Write, j.Trim} {
		if d.Runtime == 0 {
			continue
		}
		seconds := float64(d.Runtime) / 1e9
		if want := float64(d.IOBytes) / seconds; math.Abs(d.Bandwidth-want) > 1024 {
			t.Errorf("bandwidth %v B/s, but %d B in %v s", d.Bandwidth, d.IOBytes, seconds)
		}
		if want := float64(d.TotalIOs) / seconds; want > 0 && math.Abs(d.IOPS-want) > 0.01*want+0.01 {
			t.Errorf("%v IOPS, but %d I/Os in %v s", d.IOPS, d.TotalIOs, seconds)
		}
		for _, l := range []Latency{d.Clat, d.Lat} {
			if !(l.Min <= l.Mean && l.Mean <= l.Max) || l.Max > float64(d.Runtime)+1e10 {
				t.Errorf("latency min %v, mean %v, max %v in a run of %v s", l.Min, l.Mean, l.Max, seconds)
			}
		}
		if len(d.Clat.Bins) > 0 {
			checkPercentiles(t, d.Clat)
		}
	}
	jobs, _ := strconv.ParseFloat(orDefault(j.Options["numjobs"], "1"), 64)
	if depth, err := strconv.ParseFloat(j.Options["iodepth"], 64); err == nil {
		if n := j.InFlight(); n > depth*jobs*1.05 || (n < depth*0.4 && j.Options["ioengine"] != "psync" && j.Runtime > 0) {
			t.Errorf("%v I/Os in flight, but %v jobs of iodepth %v", n, jobs, depth)
		}
	}
	for level, share := range j.DepthLevels {
		if share < 0 || share > 2.01 {
			t.Errorf("depth level %s has share %v", level, share)
		}
	}
}

// figures are in the units of Direction; -1 is not compared.
type figures struct {
	version                   string
	jobs, job                 int
	direction                 string
	bytes                     int64
	bandwidth, iops           float64
	runtime, ios              int64
	clatMean, clatMax, p50    float64
	p99, slatMean, user, sys  float64
	switches, samples, syncs  int64
	diskName                  string
	diskReadIOs, diskWriteIOs int64
}

// handRead was read off the files by eye: two files or more of each major version.
var handRead = map[string]figures{
	"pkb__fio-parser-sample-result.json": {
		version: "fio-2.1.4", jobs: 5, job: 0, direction: "write",
		bytes: 361984 << 10, bandwidth: 68118 << 10, iops: 133, runtime: 5314e6, clatMean: 477734840, clatMax: 869891e3, p50: 444416e3,
		p99: 823296e3, slatMean: 1001720, user: 0, sys: 0, switches: -1, diskName: "sdb", diskReadIOs: 19464, diskWriteIOs: 10508,
	},
	"fio-plot__fio-2.18-59-g618e_test-data03_randread-16-16.json": {
		version: "fio-2.18-59-g618e", jobs: 1, direction: "read",
		bytes: 638804 << 10, bandwidth: 63714 << 10, iops: 15928.685418, runtime: 10026e6, ios: 159701, clatMean: 15434614.611, clatMax: 87877e3,
		p50: 12864e3, p99: 41216e3, slatMean: 615326.673, switches: -1, diskName: "sdf", diskReadIOs: 157689, diskWriteIOs: 0,
	},
	"fio-plot__fio-3.1_RG10_SATA_AHCI_SAMSUNG_PM833_MZ7LH480HAHQ_randread-2-16.json": {
		version: "fio-3.1", jobs: 1, direction: "read",
		bytes: 17942327296, bandwidth: 291996 << 10, iops: 72999.000117, runtime: 60007e6, ios: 4380451, clatMean: 415827.713477, clatMax: 22456137,
		p50: 288768, p99: 2670592, slatMean: 13471.576947, user: 0.01735717, sys: 0.10512111, switches: 2667572, diskName: "sda", diskReadIOs: 4377639,
	},
	"gen_fio3.41-fsync.json": {
		version: "fio-3.41", jobs: 1, direction: "write",
		bytes: 126533632, bandwidth: 126407224, iops: 7715.284715, runtime: 1001e6, ios: 7723, clatMean: 11431.028616, clatMax: 3956858,
		p50: 7456, p99: 43264, user: 0.013, sys: 0.286, switches: 15893, samples: 7723, syncs: 7723, diskName: "vda", diskReadIOs: 8, diskWriteIOs: 17287,
	},
	"gen_fio3.33-einval-direct-3k.txt": {
		version: "fio-3.33", jobs: 1, direction: "read",
		bytes: 1047552, bandwidth: 40290461, iops: 13115.384615, runtime: 26e6, ios: 341, clatMean: 73101.114370, clatMax: 2506934,
		p50: 43264, p99: 1859584, user: 0, sys: 0.48, switches: 341, samples: 341, diskName: "vda",
	},
	"gen_fio3.33-terse3.txt": {
		version: "fio-3.33", jobs: 1, direction: "read",
		bytes: 67320 << 10, bandwidth: 67252 << 10, iops: 16813, runtime: 1001e6, clatMean: 58384.590, clatMax: 1551e3,
		p50: 59e3, p99: 78e3, user: 0.005, sys: 0.431, switches: 16804,
	},
	"gen_fio3.33-client-server.json": {
		version: "fio-3.33", jobs: 2, job: 1, direction: "write",
		bytes: 1487118336, bandwidth: 1485632703, iops: 362703.296703, runtime: 1001e6, ios: 363066, clatMean: 2085.670468, clatMax: 112142,
		p50: -1, p99: -1, switches: -1, samples: 363066, diskName: "vda", diskReadIOs: 4915, diskWriteIOs: 2351,
	},
	"gen_fio3.41-mix-jsonplus-warning-stdout.txt": {
		version: "fio-3.41", jobs: 1, direction: "read",
		bytes: 1697038336, bandwidth: 848095120, iops: 103527.236382, runtime: 2001e6, ios: 207158, clatMean: 29277.800939, clatMax: 5426542,
		p50: 1800, p99: 171008, switches: -1, samples: 207158, diskName: "vda", diskReadIOs: 50629, diskWriteIOs: 13189,
	},
}

func TestRealFilesByHand(t *testing.T) {
	byName := map[string]string{}
	for _, path := range realFiles(t) {
		byName[filepath.Base(path)] = path
	}
	for name, want := range handRead {
		t.Run(name, func(t *testing.T) {
			if byName[name] == "" {
				t.Skip("this file is not in the collection")
			}
			out := parseFile(t, byName[name])
			if out.Version != want.version || len(out.Jobs) != want.jobs {
				t.Fatalf("version %s, %d jobs; want %s, %d", out.Version, len(out.Jobs), want.version, want.jobs)
			}
			j := out.Jobs[want.job]
			d := map[string]Direction{"read": j.Read, "write": j.Write}[want.direction]
			check := func(what string, got, want float64) {
				t.Helper()
				if want >= 0 && math.Abs(got-want) > 1e-9*math.Abs(want) { // -1: not compared
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			check("bytes", float64(d.IOBytes), float64(want.bytes))
			check("bandwidth", d.Bandwidth, want.bandwidth)
			check("IOPS", d.IOPS, want.iops)
			check("runtime", float64(d.Runtime), float64(want.runtime))
			check("I/Os", float64(d.TotalIOs), float64(want.ios))
			check("clat mean", d.Clat.Mean, want.clatMean)
			check("clat max", d.Clat.Max, want.clatMax)
			check("clat p50", d.Clat.Percentiles[0.5], want.p50)
			check("clat p99", d.Clat.Percentiles[0.99], want.p99)
			check("slat mean", d.Slat.Mean, want.slatMean)
			check("samples", float64(d.Clat.N), float64(want.samples))
			check("syncs", float64(j.SyncIOs), float64(want.syncs))
			if want.switches >= 0 {
				check("user CPU", j.UserCPU, want.user)
				check("system CPU", j.SystemCPU, want.sys)
				check("switches", float64(j.CtxSwitches), float64(want.switches))
			}
			if want.diskName != "" {
				check("disk reads", float64(out.DiskUtil[0].ReadIOs), float64(want.diskReadIOs))
				check("disk writes", float64(out.DiskUtil[0].WriteIOs), float64(want.diskWriteIOs))
			}
		})
	}
}
