package experiment

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/caps"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vm/vmtest"
)

// small is an experiment with one stack of each format.
func small() spec.Experiment {
	return spec.Complete(spec.Experiment{
		Name: "small", Size: 1 << 20, Runtime: 100 * time.Millisecond, Budget: 10 * time.Second, Target: 0.1,
		MinRounds: 2, MaxRounds: 2, Boots: 1, Guest: spec.Guest{CPUs: 2, Memory: 256 << 20},
		Stacks: []spec.Stack{
			{Name: "raw", Bus: "virtio-blk", Cache: "none"},
			{Name: "image", Format: "qcow2", Bus: "virtio-blk"},
			{Name: "null-co", Format: "null-co", Bus: "virtio-blk"},
		},
		Workloads: []spec.Workload{{Name: "read", RW: "randread", BS: 4096, IODepth: 1}},
	})
}

// bare is a host without any program.
type bare struct{ sys.Runner }

func (bare) LookPath(name string) (string, error) {
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Whatever can be known to be wrong with a request is said at once, and nothing is touched.
func TestAllFaultsAtOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	large := small()
	large.Guest.Memory, large.Size = 1<<50, 1<<50
	for name, tt := range map[string]struct {
		o    Options
		want []string
	}{
		"no tools": {Options{Scratch: dir}, []string{
			"qemu-system-x86_64 is missing", "fio is missing",
			"qemu-img is missing; install qemu-system-x86_64, fio, qemu-img by hand: no package manager that is known is here",
		}},
		"tools that were named, and a scratch folder that is none": {
			Options{QEMU: "/opt/qemu", Fio: "/opt/fio", Scratch: filepath.Join(file, "scratch")},
			[]string{"/opt/qemu: ", "/opt/fio: ", "qemu-img is missing; install qemu-img by hand", file + " is not a folder"},
		},
		"no tools, no memory and no space": {Options{Scratch: dir, Experiment: large}, []string{
			"qemu-system-x86_64 is missing", "fio is missing", "qemu-img is missing",
			"guest.memory: 1073741824 MiB is more than half", "the scratch volumes need ",
		}},
		"a folder that fio cannot be told": {Options{Scratch: filepath.Join(dir, "a#b")}, []string{
			"qemu-system-x86_64 is missing", "fio is missing", "qemu-img is missing", "a#b\": fio cannot take a path with $, ;, #",
		}},
		"a device that does not exist": {
			Options{Device: filepath.Join(dir, "sdz")},
			[]string{"qemu-system-x86_64 is missing", "fio is missing", "qemu-img is missing", "sdz: no such file or directory"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.o.Experiment.Name == "" {
				tt.o.Experiment = small()
			}
			tt.o.StateDir, tt.o.CacheDir = filepath.Join(dir, "state"), filepath.Join(dir, "cache")
			_, err := Check(t.Context(), sys.World{Runner: bare{}}, tt.o)
			var faults errkind.List
			if !errors.As(err, &faults) || errkind.CodeOf(err) != errkind.Usage {
				t.Fatalf("got %v, want a list of the user's faults", err)
			}
			if len(faults) != len(tt.want) {
				t.Errorf("%d faults, want %d:\n%v", len(faults), len(tt.want), err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if left := children(t, dir); !cmp.Equal(left, []string{"file"}) {
				t.Errorf("the folder holds %v", left)
			}
		})
	}
}

func children(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRealCheck(t *testing.T) {
	o := Options{QEMU: vmtest.QEMU(t), Experiment: small(), Seed: 7, CacheDir: vmtest.CacheDir(t)}
	dir := vmtest.Dir(t)
	o.StateDir = filepath.Join(dir, "state")
	world, err := sys.OS()
	if err != nil {
		t.Fatal(err)
	}
	ready, err := Check(t.Context(), world, o)
	if errkind.CodeOf(err) == errkind.Usage && strings.Contains(err.Error(), "is missing") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := ready.Facts; got.ScratchPath != filepath.Join(o.StateDir, "scratch") || got.Filesystem == "" || got.CPUs < 1 || got.Kernel == "" {
		t.Errorf("facts %+v", got)
	}
	if len(ready.Plan.Boots) != 1 || len(ready.Stacks) != 3 {
		t.Errorf("plan %+v, stacks %+v", ready.Plan, ready.Stacks)
	}
	for name, tt := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"more than fits":           {func(o *Options) { o.Experiment.Size = 1 << 50 }, "the scratch volumes need "},
		"half of the memory":       {func(o *Options) { o.Experiment.Guest.Memory = 1 << 50 }, "guest.memory: 1073741824 MiB is more than half of this host's"},
		"a file in device's place": {func(o *Options) { o.Device = os.Args[0] }, "not a block device"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			tt.change(&o)
			_, err := Check(t.Context(), world, o)
			if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (exit code %d), want %q", err, errkind.CodeOf(err), tt.says)
			}
		})
	}
	if left := children(t, dir); len(left) > 0 {
		t.Errorf("checking made %v", left)
	}
}

// full is a QEMU that can do all that small asks for.
func full() caps.Caps {
	return caps.Caps{
		Machines: []string{"pc", "q35"}, Drivers: []string{"file", "raw", "qcow2", "null-co", "host_device"},
		Devices: []string{"virtio-blk-pci"}, AIO: []string{"threads", "native", "io_uring"},
		Properties: map[string][]string{"virtio-blk-pci": {"drive", "serial", "write-cache", "iothread"}},
	}
}

func TestJudge(t *testing.T) {
	e := small()
	stacks := slices.Clone(e.Stacks)
	for i := range stacks {
		stacks[i].AIO = "io_uring"
	}
	e.Stacks = stacks
	onlyRaw := func(_ context.Context, s spec.Stack, _ spec.Guest) (reason, mend string) {
		if s.Format == "qcow2" {
			return "no images here", "use raw"
		}
		return "", ""
	}
	for name, tt := range map[string]struct {
		platform Platform
		want     []string // why each is unavailable
	}{
		"all of them":    {Platform{Caps: full()}, []string{"", "", ""}},
		"no io_uring":    {Platform{Caps: full(), IOURing: errors.New("forbidden")}, []string{"io_uring cannot be used here: forbidden", "io_uring cannot be used here: forbidden", ""}},
		"a bare device":  {Platform{Caps: full(), BareDevice: true}, []string{"", "an image needs a file system, and --device is a bare device", ""}},
		"something else": {Platform{Caps: full(), Others: []Lack{onlyRaw}}, []string{"", "no images here", ""}},
		"QEMU of little": {Platform{Caps: caps.Caps{Drivers: []string{"null-co"}, Devices: full().Devices, Properties: full().Properties}}, []string{"-", "-", ""}},
	} {
		judged := tt.platform.Judge(t.Context(), e)
		for i, got := range judged {
			if want := tt.want[i]; got.Unavailable != want && (want != "-" || got.Unavailable == "") {
				t.Errorf("%s: %s is unavailable: %q, want %q", name, got.Name, got.Unavailable, want)
			}
			if (got.Mend == "") != (got.Unavailable == "") {
				t.Errorf("%s: %s: unavailable %q, mended by %q", name, got.Name, got.Unavailable, got.Mend)
			}
		}
		left := Available(small(), judged)
		for _, s := range left.Stacks {
			for i, want := range tt.want {
				if stacks[i].Name == s.Name && want != "" {
					t.Errorf("%s: %s is measured although it is unavailable", name, s.Name)
				}
			}
		}
	}
}

// null-co alone answers no question of an experiment that has disks; one that has none besides is what was asked for.
func TestNothingToCompare(t *testing.T) {
	e := small()
	for name, tt := range map[string]struct {
		stacks      []spec.Stack
		unavailable []record.Stack
		want        string
	}{
		"all there":         {e.Stacks, make([]record.Stack, 3), ""},
		"one there":         {e.Stacks, []record.Stack{{Unavailable: "no QEMU of that kind"}, {}, {}}, ""},
		"only the ceiling":  {e.Stacks, []record.Stack{{Unavailable: "no ZFS", Mend: "install it"}, {Unavailable: "no ZFS", Mend: "install it"}, {}}, "no disk of small can be offered here: no ZFS; install it"},
		"two reasons":       {e.Stacks, []record.Stack{{Unavailable: "no ZFS"}, {Unavailable: "no LVM", Mend: "install it"}, {Unavailable: "no null-co"}}, "no disk of small can be offered here: no ZFS; no LVM; install it"},
		"no mend":           {e.Stacks[:1], []record.Stack{{Unavailable: "no ZFS"}}, "no disk of small can be offered here: no ZFS"},
		"a ceiling's alone": {e.Stacks[2:], make([]record.Stack, 1), ""},
		"no QEMU to ask":    {e.Stacks, nil, ""},
	} {
		r := &Ready{Options: Options{Experiment: e}, Stacks: tt.unavailable}
		r.Experiment.Stacks = tt.stacks
		err := r.nothingToCompare()
		if got := errkind.CodeOf(err); (err == nil) != (tt.want == "") || err != nil && (err.Error() != tt.want || got != errkind.Usage) {
			t.Errorf("%s: %v (exit code %d), want %q", name, err, got, tt.want)
		}
	}
}

func TestJobs(t *testing.T) {
	r := &Ready{Options: Options{Experiment: small()}, Stacks: make([]record.Stack, 3)}
	var got []string
	for _, job := range r.jobs(r.storages("/scratch"), "/scratch", serialOf) {
		got = append(got, job.Request.Stack.Name+" "+job.Request.Serial+" "+job.Request.Stack.Format)
	}
	want := []string{"host iotax-0 raw", "raw iotax-1 raw", "image iotax-2 qcow2"} // a disk of zero latency has no volume
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnnounce(t *testing.T) {
	p, err := plan.Make(small(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := &Ready{Options: Options{Experiment: small(), Scratch: "/scratch"}, Plan: p, Stacks: []record.Stack{{Title: "raw"}, {Title: "an image"}, {Title: "null"}}}
	r.Storage.Devices = []string{"sda"}
	said := strings.Join(r.Announce(), "\n")
	for _, want := range []string{"small: 3 stacks x 1 workloads", "/scratch", "256 MiB of guest memory, 2 CPUs"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	r.Device, r.Storage.Devices, r.Storage.Reason = "/dev/sdb", nil, "it is in the network"
	r.Resume, r.Done = &record.Run{ID: "7k2f"}, make([]record.Window, 3)
	for _, i := range []int{1, 2} {
		r.Stacks[i].Unavailable, r.Stacks[i].Mend = "no qcow2", "install it"
	}
	r.Facts.Filesystem = "zfs"
	said = strings.Join(r.Announce(), "\n")
	for _, want := range []string{
		"resuming run 7k2f with 3 windows stored; ", "the disk under /dev/sdb cannot be told (it is in the network)",
		"an image; null are unavailable: no qcow2 (install it)", "the scratch folder is on ZFS",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
}

func TestPolite(t *testing.T) {
	var run record.Run
	(&Ready{}).polite(&run)()
	if run.Host.Polite != "" {
		t.Errorf("a run that is not polite says %q", run.Host.Polite)
	}
	if os.Geteuid() != 0 {
		t.Skip("without root the priority cannot be raised again")
	}
	if before, err := niceness(t.Context()); err != nil || before != "0" {
		t.Skipf("these tests run with niceness %q, %v", before, err)
	}
	undo := (&Ready{Options: Options{Polite: true}}).polite(&run)
	during, err := niceness(t.Context())
	undo()
	after, afterErr := niceness(t.Context())
	if err := errors.Join(err, afterErr); err != nil {
		t.Fatal(err)
	}
	if during != "10" || after != "0" || !strings.Contains(run.Host.Polite, "nice 10") {
		t.Errorf("niceness of what is started: %s, and afterwards %s; said %q", during, after, run.Host.Polite)
	}
}

func TestPrioritiesOfAThreadThatEnded(t *testing.T) {
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	if err := setPriorities([]int{ended.Process.Pid, os.Getpid()}, 0, 0); err != nil && os.Geteuid() == 0 {
		t.Error(err)
	}
}

// niceness is that of a program which is started now.
func niceness(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "nice").Output()
	return strings.TrimSpace(string(out)), err
}
