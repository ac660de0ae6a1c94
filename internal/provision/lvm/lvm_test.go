package lvm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/lvm"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// need skips the test where this host cannot make the volumes of a stack.
func need(t *testing.T, s spec.Stack) {
	t.Helper()
	provisiontest.NeedLoop(t)
	if reason, _, _ := lvm.Missing(sys.Exec{}, s); reason != "" {
		t.Skip(reason)
	}
}

// left names the device-mapper devices of runs that are there.
func left(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("/sys/block/dm-*/dm/name")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name, err := os.ReadFile(path); err == nil && strings.Contains(string(name), "iotax") {
			names = append(names, strings.TrimSpace(string(name)))
		}
	}
	return names
}

func TestConformance(t *testing.T) {
	for name, s := range map[string]spec.Stack{
		"thick, striped":  {Storage: "lvm", Stripes: 2, ExtentSize: 1 << 20, LVReadAhead: "none", Snapshot: "fresh"},
		"thin, snapshot":  {Storage: "lvm-thin", ChunkSize: 4 << 20, Zeroing: "off", Snapshot: "fresh"},
		"thin, all split": {Storage: "lvm-thin", Snapshot: "copied"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Format = "raw"
			provisiontest.Run(t, provisiontest.Suite{
				NewIn: func(t *testing.T, dir string) provision.Driver {
					need(t, s)
					return &lvm.Driver{Run: sys.Exec{}, Ground: ground.Files{Dir: dir}}
				},
				Stack: s,
				Left:  left,
			})
		})
	}
}

// On partitions of a whole device: a lab's scratch disk, or else a loop device.
func TestConformanceOnRegions(t *testing.T) {
	need(t, spec.Stack{})
	disk := os.Getenv("IOTAX_LAB_DISK")
	if disk == "" {
		disk = provisiontest.Loop(t, 128<<20)
	}
	var slices *slice.Driver
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(t *testing.T, dir string) provision.Driver {
			slices = &slice.Driver{Device: disk, Check: func(context.Context, string) ([]string, error) { return nil, nil }}
			t.Cleanup(func() { slices.Close() })
			return &lvm.Driver{Run: sys.Exec{}, Ground: &ground.Regions{Slices: slices, Dir: dir}}
		},
		Stack: spec.Stack{Format: "raw", Storage: "lvm", LVReadAhead: "128k"},
		Ended: func() { slices.Close() },
		Left: func(t *testing.T) []string {
			parts, err := filepath.Glob("/sys/block/" + filepath.Base(disk) + "/" + filepath.Base(disk) + "*")
			if err != nil {
				t.Fatal(err)
			}
			return append(left(t), parts...)
		},
	})
}

func command(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := sys.Exec{}.Run(t.Context(), sys.Command{Argv: argv})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// theirs is a volume group of the user's with a thin pool of 24 MiB and a volume.
func theirs(t *testing.T) (group string) {
	t.Helper()
	need(t, spec.Stack{Storage: "lvm-thin"})
	need(t, spec.Stack{Storage: "lvm", Snapshot: "fresh"})
	disk := provisiontest.Loop(t, 128<<20)
	group = fmt.Sprintf("theirs%d", os.Getpid())
	command(t, "lvm", "vgcreate", "--yes", "--physicalextentsize", "1m", group, disk)
	t.Cleanup(func() {
		if _, err := (sys.Exec{}).Run(context.Background(), sys.Command{Argv: []string{"lvm", "vgremove", "--yes", "--force", group}}); err != nil {
			t.Error(err)
		}
	})
	command(t, "lvm", "lvcreate", "--yes", "--type", "thin-pool", "--name", "pool", "--size", "24m", "--chunksize", "64k", "--poolmetadatasize", "4m", group)
	command(t, "lvm", "lvcreate", "--yes", "--wipesignatures", "n", "--name", "theirs", "--size", "4m", group)
	return group
}

// lvs lists the volumes of a group.
func lvs(t *testing.T, group string) string {
	t.Helper()
	return strings.Join(strings.Fields(command(t, "lvm", "lvs", "--noheadings", "--options", "lv_name", group)), " ")
}

func TestConformanceInAPoolThatExists(t *testing.T) {
	group := theirs(t)
	for name, s := range map[string]spec.Stack{
		"group":         {Storage: "lvm", Pool: group, Snapshot: "copied"},
		"pool":          {Storage: "lvm-thin", Pool: group + "/pool"},
		"pool in group": {Storage: "lvm-thin", Pool: group, Snapshot: "fresh"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Format = "raw"
			provisiontest.Run(t, provisiontest.Suite{
				New:   func(*testing.T) provision.Driver { return &lvm.Driver{Run: sys.Exec{}} },
				Stack: s,
				Left: func(t *testing.T) []string {
					if now := lvs(t, group); now != "pool theirs" {
						return append(left(t), now)
					}
					return left(t)
				},
			})
		})
	}
}

// run is a journal and a driver for requests in it.
type run struct {
	driver  *lvm.Driver
	journal *revert.Journal
}

func newRun(t *testing.T) run {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "bad")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(j.Undo(context.Background()), j.Close()); err != nil {
			t.Error(err)
		}
		for _, name := range left(t) {
			t.Errorf("%s is left", name)
		}
	})
	return run{&lvm.Driver{Run: sys.Exec{}, Ground: ground.Files{Dir: scratch}}, j}
}

func (r run) create(t *testing.T, s spec.Stack, size int64) (provision.Volume, error) {
	t.Helper()
	s.Name = "s"
	return r.driver.Create(t.Context(), r.journal, provision.Request{Stack: s, Size: size, Serial: "iotax-1"})
}

func oneLine(t *testing.T, err error, want string) {
	t.Helper()
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line with %q", err, want)
	}
}

func TestBadRequests(t *testing.T) {
	group := theirs(t)
	for name, tt := range map[string]struct {
		stack spec.Stack
		size  int64
		fault string
	}{
		"no such group":     {spec.Stack{Storage: "lvm", Pool: "nosuch"}, 1 << 20, `no volume group named "nosuch"; there are: ` + group},
		"no such pool":      {spec.Stack{Storage: "lvm-thin", Pool: group + "/nosuch"}, 1 << 20, `no thin pool named "nosuch" in volume group ` + group + "; there are: pool"},
		"group too small":   {spec.Stack{Storage: "lvm", Pool: group}, 1 << 30, "left, 1.0 GiB are needed"},
		"pool too small":    {spec.Stack{Storage: "lvm-thin", Pool: group + "/pool"}, 25 << 20, "left, 25 MiB are needed"},
		"other chunk":       {spec.Stack{Storage: "lvm-thin", Pool: group + "/pool", ChunkSize: 4 << 20}, 1 << 20, "has chunks of 64 KiB"},
		"no second disk":    {spec.Stack{Storage: "lvm", Pool: group, Stripes: 2}, 1 << 20, "only 1 physical volumes"},
		"a group as a name": {spec.Stack{Storage: "lvm", Pool: "../x"}, 1 << 20, "expected its name alone"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newRun(t).create(t, tt.stack, tt.size)
			oneLine(t, err, tt.fault)
		})
	}
	t.Run("name taken", func(t *testing.T) {
		r := newRun(t)
		command(t, "lvm", "lvcreate", "--yes", "--wipesignatures", "n", "--name", "iotax-bad-1", "--size", "1m", group)
		_, err := r.create(t, spec.Stack{Storage: "lvm", Pool: group}, 1<<20)
		oneLine(t, err, "named "+group+"/iotax-bad-1 already")
		if err := r.journal.Undo(t.Context()); err != nil {
			t.Error(err)
		}
		if now := lvs(t, group); now != "iotax-bad-1 pool theirs" {
			t.Errorf("%s has %s: a volume of somebody else's is gone", group, now)
		}
		command(t, "lvm", "lvremove", "--yes", group+"/iotax-bad-1")
	})
	if now := lvs(t, group); now != "pool theirs" {
		t.Errorf("%s has %s", group, now)
	}
}

// Somebody else's volumes fill a pool while ours is being written to.
func TestThinPoolFillsUp(t *testing.T) {
	group := theirs(t)
	command(t, "lvm", "lvchange", "--errorwhenfull", "y", group+"/pool")
	r := newRun(t)
	v, err := r.create(t, spec.Stack{Storage: "lvm-thin", Pool: group + "/pool"}, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	command(t, "lvm", "lvcreate", "--yes", "--type", "thin", "--name", "greedy", "--virtualsize", "20m", "--thinpool", "pool", group)
	if err := provision.Write(t.Context(), "/dev/"+group+"/greedy", []provision.Extent{{Length: 20 << 20}}, provision.Content{Seed: 1}, nil); err != nil {
		t.Fatal(err)
	}
	err = r.driver.Fill(t.Context(), v, provision.Content{Seed: 2}, nil)
	oneLine(t, err, "thin pool "+group+"/pool is full: 100.00 % of its data")
	oneLine(t, r.driver.Health(t.Context(), v), "is full")
	if found, err := r.driver.Report(t.Context(), v); err != nil || found.Properties["data_percent"] != "100.00" || found.Properties["metadata_percent"] == "" {
		t.Errorf("the report of a full pool: %v, %v", found.Properties, err)
	}
	if err := r.driver.Destroy(t.Context(), v); err != nil {
		t.Error(err)
	}
	if now := lvs(t, group); now != "greedy pool theirs" {
		t.Errorf("%s has %s", group, now)
	}
}

func TestSnapshotOverflows(t *testing.T) {
	need(t, spec.Stack{Storage: "lvm", Snapshot: "fresh"})
	r := newRun(t)
	v, err := r.create(t, spec.Stack{Storage: "lvm", Snapshot: "fresh", ExtentSize: 256 << 10}, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	fill := func() {
		t.Helper()
		if err := r.driver.Fill(t.Context(), v, provision.Content{Seed: 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if err := r.driver.Verify(t.Context(), v); err != nil {
		t.Error(err)
	}
	// The same snapshot with less room, as no volume of ours gets it.
	group := filepath.Base(filepath.Dir(v.Path))
	origin := group + "/" + filepath.Base(v.Path)
	command(t, "lvm", "lvremove", "--yes", origin+"-snap")
	command(t, "lvm", "lvcreate", "--yes", "--snapshot", "--addtag", "iotax-bad", "--name", filepath.Base(v.Path)+"-snap", "--extents", "4", origin)
	if err := r.driver.Health(t.Context(), v); err != nil {
		t.Errorf("before: %v", err)
	}
	if err := provision.Write(t.Context(), v.Path, []provision.Extent{{Length: v.Size}}, provision.Content{Seed: 2}, nil); err != nil {
		t.Fatal(err)
	}
	oneLine(t, r.driver.Health(t.Context(), v), "has overflowed: its room for copies, 1.0 MiB, is used up")
	oneLine(t, r.driver.Verify(t.Context(), v), "has overflowed")
	// Taken anew it is whole again.
	if err := r.driver.Refresh(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	if err := r.driver.Verify(t.Context(), v); err != nil {
		t.Error(err)
	}
	if err := r.driver.Destroy(t.Context(), v); err != nil {
		t.Error(err)
	}
}

// What LVM made of the settings is what was asked for.
func TestReport(t *testing.T) {
	for name, tt := range map[string]struct {
		stack spec.Stack
		want  map[string]string
	}{
		"thick": {
			spec.Stack{Storage: "lvm", ExtentSize: 1 << 20, Stripes: 2, LVReadAhead: "none", Snapshot: "fresh"},
			map[string]string{
				"segtype": "striped", "stripes": "2", "vg_extent_size": "1 MiB", "lv_read_ahead": "0 B", "lv_kernel_read_ahead": "0 B",
				"lv_size": "8 MiB", "snap_percent": "",
			},
		},
		"thin": {
			spec.Stack{Storage: "lvm-thin", ChunkSize: 1 << 20, Zeroing: "off", LVReadAhead: "64k"},
			map[string]string{"segtype": "thin", "chunk_size": "1 MiB", "zero": "n", "lv_read_ahead": "64 KiB", "data_percent": "", "pool_lv": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			need(t, tt.stack)
			r := newRun(t)
			v, err := r.create(t, tt.stack, 8<<20)
			if err == nil {
				err = r.driver.Fill(t.Context(), v, provision.Content{Seed: 1}, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			report, err := r.driver.Report(t.Context(), v)
			if err != nil || report.RealSize < v.Size {
				t.Fatalf("%+v, %v", report, err)
			}
			for key, want := range tt.want {
				if got, ok := report.Properties[key]; !ok || want != "" && got != want {
					t.Errorf("%s = %q, want %q", key, got, want)
				}
			}
		})
	}
}

// A run that is killed in the middle of one of LVM's own commands.
func TestKilledInsideLVM(t *testing.T) {
	need(t, spec.Stack{Storage: "lvm-thin"})
	journals, parent := t.TempDir(), t.TempDir()
	for step := 1; ; step++ {
		j, err := revert.Open(journals, "killed")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := j.Scratch(parent)
		if err != nil {
			t.Fatal(err)
		}
		killing := &killer{at: step}
		d := &lvm.Driver{Run: killing, Ground: ground.Files{Dir: scratch}}
		made, err := d.Create(t.Context(), j, provision.Request{
			Stack: spec.Stack{Name: "s", Storage: "lvm-thin", Snapshot: "fresh"}, Size: 4 << 20, Serial: "1",
		})
		if err == nil {
			err = d.Fill(t.Context(), made, provision.Content{Seed: 1}, nil)
		}
		if (err == nil) == killing.dead {
			t.Fatalf("step %d: %v", step, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := revert.Replay(t.Context(), filepath.Join(journals, "killed.jsonl")); err != nil {
			t.Errorf("killed at command %d: %v", step, err)
		}
		for _, name := range left(t) {
			t.Errorf("killed at command %d: %s is left", step, name)
		}
		if !killing.dead {
			return
		}
	}
}

// killAfter is when a command of LVM is in the middle of its work, on a machine of any speed: or not yet begun, or done.
const killAfter = 100 * time.Millisecond

// killer runs commands up to one, in the middle of which everything dies.
type killer struct {
	sys.Exec
	at, ran int
	dead    bool
}

func (k *killer) Run(ctx context.Context, c sys.Command) ([]byte, error) {
	if k.dead {
		return nil, unix.ESRCH
	}
	if k.ran++; k.ran < k.at {
		return k.Exec.Run(ctx, c)
	}
	k.dead = true
	ctx, cancel := context.WithTimeout(ctx, killAfter)
	defer cancel()
	_, _ = k.Exec.Run(ctx, c)
	return nil, context.DeadlineExceeded
}
