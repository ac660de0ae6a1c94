package fio

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func randread() Job {
	return Job{
		Name: "rr", Filename: "/dev/disk/by-id/virtio-scratch0", Size: 1 << 30, RW: "randread", BS: 4096,
		IODepth: 32, Direct: true, Runtime: 2 * time.Second, Ramp: 500 * time.Millisecond, RandSeed: 42,
	}
}

func TestJobText(t *testing.T) {
	jobs := map[string]Job{
		"randread": randread(),
		"sync-write": {
			Name: "sync", Filename: "/srv/a:b c.img", Size: 1 << 20, Offset: 4096, RW: "randwrite", BS: 4096, Direct: true,
			Runtime: 1500 * time.Microsecond, FDataSync: 1, RandSeed: 1<<64 - 1, CPUsAllowed: "0,2-3", RateIOPS: 100,
		},
		"mixed": {Name: "mix", Filename: "f", Size: 1 << 20, RW: "randrw", RWMixRead: 70, BS: 8192, NumJobs: 4, IOEngine: "io_uring", Runtime: time.Minute},
		"fill": {
			Name: "fill", Filename: "f", Size: 1 << 20, RW: "write", BS: 1 << 20, Direct: true,
			Extra: map[string]string{"refill_buffers": "1", "end_fsync": "0", "description": "two words"},
		},
	}
	for name, job := range jobs {
		t.Run(name, func(t *testing.T) {
			text, err := job.Text()
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join("testdata/golden", name+".fio"), text)
		})
	}
}

func TestJobFaults(t *testing.T) {
	tests := map[string]struct {
		change func(*Job)
		want   string // part of the error
	}{
		"no name":          {func(j *Job) { j.Name = "" }, "name cannot be a section"},
		"global":           {func(j *Job) { j.Name = "global" }, "name cannot be a section"},
		"bracket":          {func(j *Job) { j.Name = "a]b" }, "name cannot be a section"},
		"no file":          {func(j *Job) { j.Filename = "" }, "filename is missing"},
		"cut by hash":      {func(j *Job) { j.Filename = "/srv/a#b" }, `filename "/srv/a#b" holds a character`},
		"cut by semicolon": {func(j *Job) { j.Filename = "/srv/a;b" }, "filename"},
		"variable":         {func(j *Job) { j.Filename = "/srv/${HOME}" }, "filename"},
		"keyword":          {func(j *Job) { j.Filename = "/srv/$ncpus" }, "filename"},
		"new line":         {func(j *Job) { j.Filename = "/srv/a\nexec_prerun=reboot" }, "filename"},
		"trailing blank":   {func(j *Job) { j.Filename = "/srv/a " }, "filename"},
		"no rw":            {func(j *Job) { j.RW = "" }, "rw is missing"},
		"no block size":    {func(j *Job) { j.BS = 0 }, "bs is 0"},
		"negative size":    {func(j *Job) { j.Size = -1 }, "size -1"},
		"size below bs":    {func(j *Job) { j.Size = 512 }, "size 512 is smaller than bs 4096"},
		"negative depth":   {func(j *Job) { j.IODepth = -1 }, "iodepth"},
		"negative runtime": {func(j *Job) { j.Runtime = -1 }, "runtime"},
		"endless":          {func(j *Job) { j.Runtime, j.Size = 0, 0 }, "needs a runtime or a size"},
		"mix above 100":    {func(j *Job) { j.RWMixRead = 101 }, "rwmixread is 101"},
		"odd option":       {func(j *Job) { j.Extra = map[string]string{"a=b": "c"} }, `"a=b" is not an option name`},
		"odd extra value":  {func(j *Job) { j.Extra = map[string]string{"verify": "x\ny"} }, "verify"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := randread()
			tt.change(&j)
			text, err := j.Text()
			if err == nil || !strings.Contains(err.Error(), tt.want) || text != "" {
				t.Errorf("got %q and error %v, want an error with %q", text, err, tt.want)
			}
		})
	}

	_, err := Job{Name: "x", RWMixRead: -1}.Text()
	if got := strings.Count(err.Error(), "\n") + 1; got != 5 {
		t.Errorf("%d faults at once, want 5 (filename, rw, bs, end, mix):\n%v", got, err)
	}
}

func TestJobKinds(t *testing.T) {
	for rw, want := range map[string][3]bool{ // random, writes, mixed
		"read": {false, false, false}, "write": {false, true, false}, "rw": {false, true, true}, "readwrite": {false, true, true},
		"randread": {true, false, false}, "randwrite": {true, true, false}, "randrw": {true, true, true},
		"randread:8": {true, false, false}, "rw:8": {false, true, true}, "trim": {false, false, false}, "trimwrite": {false, true, false},
	} {
		j := Job{RW: rw}
		if got := [3]bool{j.Random(), j.Writes(), j.Mixed()}; got != want {
			t.Errorf("%s: random, writes, mixed = %v, want %v", rw, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	for path, want := range map[string]string{"": "-", "-": "-", "/run/job.fio": "/run/job.fio"} {
		if d := cmp.Diff([]string{"--output-format=json+", "--eta=never", want}, Args(path)); d != "" {
			t.Errorf("Args(%q): -want +got:\n%s", path, d)
		}
	}
}

// runFio runs a job with the real fio, reading the job from standard input.
func runFio(t *testing.T, job Job) (Output, error) {
	t.Helper()
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	text, err := job.Text()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, fio, Args("")...)
	cmd.Stdin = strings.NewReader(text)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	runErr := cmd.Run()
	out, err := Parse(both.Bytes())
	if err != nil && runErr == nil {
		t.Fatalf("fio ended well and its output does not parse: %v\n%s", err, both.String())
	}
	return out, err
}

func scratch(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "with space:colon.img")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1, 2, 3, 4}, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func realJob(path, rw string) Job {
	return Job{Name: "real", Filename: path, Size: 16 << 20, RW: rw, BS: 4096, IODepth: 4, Runtime: 200 * time.Millisecond, RandSeed: 1<<64 - 1}
}

func TestRealFio(t *testing.T) {
	for _, rw := range []string{"randread", "randwrite", "randrw"} {
		t.Run(rw, func(t *testing.T) {
			job := realJob(scratch(t), rw)
			job.RWMixRead, job.NumJobs = 50, 2
			out, err := runFio(t, job)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Jobs) != 1 {
				t.Fatalf("%d results, want one for the group", len(out.Jobs))
			}
			j := out.Jobs[0]
			if f := j.Fault(); f != "" {
				t.Fatalf("%s %v", f, out.Notes)
			}
			for _, d := range []struct {
				name string
				Direction
				used bool
			}{{"read", j.Read, rw != "randwrite"}, {"write", j.Write, job.Writes()}} {
				if used := d.TotalIOs > 0; used != d.used {
					t.Errorf("%s: %d I/Os", d.name, d.TotalIOs)
				} else if used {
					checkPercentiles(t, d.Clat)
					if d.IOBytes != d.TotalIOs*4096 || d.Runtime < int64(job.Runtime) {
						t.Errorf("%s: %d B for %d I/Os in %d ns", d.name, d.IOBytes, d.TotalIOs, d.Runtime)
					}
				}
			}
		})
	}
}

func TestRealFioCountsDataSyncs(t *testing.T) {
	job := realJob(scratch(t), "randwrite")
	job.IODepth, job.FDataSync = 1, 1
	out, err := runFio(t, job)
	if err != nil {
		t.Fatal(err)
	}
	j := out.Jobs[0]
	if diff := j.Write.TotalIOs - j.SyncIOs; diff < 0 || diff > 1 || j.Sync.Mean <= 0 {
		t.Errorf("%d writes and %d fdatasyncs of %v ns, want as many", j.Write.TotalIOs, j.SyncIOs, j.Sync.Mean)
	}
	if j.Read.ShortIOs != 0 {
		t.Errorf("%d short reads in a job that only writes", j.Read.ShortIOs)
	}
}

// A file that is not there must be a fault and must not be made.
func TestRealFioMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vdz")
	out, err := runFio(t, realJob(path, "randread"))
	if err == nil && out.Jobs[0].Fault() == "" {
		t.Errorf("no fault: %+v", out)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("fio made the file")
	}
}

func TestRealFioRefusal(t *testing.T) {
	job := realJob(scratch(t), "randread")
	job.IOEngine = "nosuch"
	_, err := runFio(t, job)
	if err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got error %v, want fio's own words about the engine", err)
	}
}
