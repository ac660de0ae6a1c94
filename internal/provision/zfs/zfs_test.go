package zfs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/hostenv"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/qcow2"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// needZFS skips a test where this host has no ZFS.
func needZFS(t *testing.T) {
	t.Helper()
	if lack := Missing(t.Context(), sys.Exec{}); lack.Reason != "" {
		t.Skip(lack.Reason)
	}
}

// command runs a program that must succeed, and returns its output.
func command(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", sys.Quote(argv), err, out)
	}
	return string(out)
}

// left names the pools, datasets and mounts of iotax on this host.
func left(t *testing.T) (names []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	all := command(t, "zpool", "list", "-H", "-o", "name") + command(t, "zfs", "list", "-H", "-o", "name", "-t", "all")
	for line := range strings.Lines(all + string(mounts)) {
		if strings.Contains(line, "iotax-") {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names
}

// theirs makes a pool of a user, with a dataset tank/vm, until the test ends.
func theirs(t *testing.T, size int64) {
	t.Helper()
	device := provisiontest.Loop(t, size)
	command(t, "zpool", "create", "-o", "cachefile=none", "-O", "mountpoint=none", "-O", "compression=lz4", "tank", device)
	t.Cleanup(func() { command(t, "zpool", "destroy", "tank") })
	command(t, "zfs", "create", "-o", "mountpoint=none", "tank/vm")
}

func storage(dir string) Storage {
	return Storage{Run: sys.Exec{}, Ground: ground.Files{Dir: dir}}
}

func TestConformanceOfZvols(t *testing.T) {
	needZFS(t)
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(_ *testing.T, dir string) provision.Driver { return &Zvol{storage(dir)} },
		Stack: spec.Stack{Storage: "zvol", Format: "raw", VolBlockSize: 16 << 10},
		Left:  left,
	})
}

func TestConformanceOfZvolsInAPoolOfTheUser(t *testing.T) {
	needZFS(t)
	theirs(t, 320<<20)
	provisiontest.Run(t, provisiontest.Suite{
		New:   func(*testing.T) provision.Driver { return &Zvol{storage("")} },
		Stack: spec.Stack{Storage: "zvol", Format: "raw", Pool: "tank/vm", VolBlockSize: 4 << 10, Compression: "zstd", Sync: "always"},
		Left:  left,
	})
}

func TestConformanceOfFiles(t *testing.T) {
	needZFS(t)
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(_ *testing.T, dir string) provision.Driver { return &File{storage(dir), raw.Driver{}} },
		Stack: spec.Stack{Storage: "zfs-file", Format: "raw"},
		Left:  left,
	})
}

func TestConformanceOfImagesInAPoolOfTheUser(t *testing.T) {
	needZFS(t)
	theirs(t, 320<<20)
	provisiontest.Run(t, provisiontest.Suite{
		New:     func(*testing.T) provision.Driver { return &File{storage(""), qcow2.Driver{Run: sys.Exec{}}} },
		Stack:   spec.Stack{Storage: "zfs-file", Format: "qcow2", Pool: "tank", RecordSize: 64 << 10, PrimaryCache: "metadata"},
		Content: imageContent,
		Left:    left,
	})
}

// On partitions of a whole device: a lab's scratch disk, or else a loop device.
func TestConformanceOnRegions(t *testing.T) {
	needZFS(t)
	disk := os.Getenv("IOTAX_LAB_DISK")
	if disk == "" {
		disk = provisiontest.Loop(t, 512<<20)
	}
	var slices *slice.Driver
	provisiontest.Run(t, provisiontest.Suite{
		NewIn: func(t *testing.T, dir string) provision.Driver {
			slices = &slice.Driver{Device: disk, Check: func(context.Context, string) ([]string, error) { return nil, nil }}
			t.Cleanup(func() { slices.Close() })
			return &File{Storage{Run: sys.Exec{}, Ground: &ground.Regions{Slices: slices, Dir: dir}}, raw.Driver{}}
		},
		Stack: spec.Stack{Storage: "zfs-file", Format: "raw", RecordSize: 16 << 10},
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

// imageContent is what a guest reads of a qcow2 image.
func imageContent(t *testing.T, v provision.Volume) []byte {
	t.Helper()
	plain := t.TempDir() + "/plain"
	command(t, "qemu-img", "convert", "-U", "-f", "qcow2", "-O", "raw", v.Path, plain)
	data, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// run is a journal with its scratch folder, undone when the test ends.
func run(t *testing.T) (*revert.Journal, string) {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := j.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(t.Context()); err != nil {
			t.Error(err)
		}
		for _, name := range left(t) {
			t.Errorf("%s is left", name)
		}
	})
	return j, dir
}

// volume makes a volume and fills it with data of which half is zeros.
func volume(t *testing.T, d provision.Driver, j *revert.Journal, r provision.Request) (provision.Volume, provision.Report) {
	t.Helper()
	v, err := d.Create(t.Context(), j, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Fill(t.Context(), v, provision.Content{Seed: 1, Compressible: 0.5}, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Verify(t.Context(), v); err != nil {
		t.Error(err)
	}
	report, err := d.Report(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return v, report
}

func TestCompressionIsReported(t *testing.T) {
	needZFS(t)
	j, dir := run(t)
	const size = 16 << 20
	for _, tt := range []struct {
		stack spec.Stack
		d     provision.Driver
		block string
	}{
		{spec.Stack{Name: "file", Storage: "zfs-file", Compression: "lz4"}, &File{storage(dir), raw.Driver{}}, "recordsize=131072"},
		{spec.Stack{Name: "zvol", Storage: "zvol", VolBlockSize: 64 << 10, Compression: "zstd", PrimaryCache: "metadata", Sync: "disabled"}, &Zvol{storage(dir)}, "volblocksize=65536"},
		{spec.Stack{Name: "plain", Storage: "zvol", VolBlockSize: 64 << 10}, &Zvol{storage(dir)}, "volblocksize=65536"},
	} {
		_, got := volume(t, tt.d, j, provision.Request{Dir: dir, Stack: tt.stack, Size: size, Serial: tt.stack.Name})
		t.Logf("%s: %+v", tt.stack.Name, got)
		name, value, _ := strings.Cut(tt.block, "=")
		if got.Properties[name] != value || got.Properties["ashift"] != "12" || got.Properties["zfs"] == "" {
			t.Errorf("%s: properties %v", tt.stack.Name, got.Properties)
		}
		switch {
		case tt.stack.Compression == "" && (got.CompressRatio != nil || got.RealSize < size):
			t.Errorf("%s does not compress, and tells %+v", tt.stack.Name, got)
		case tt.stack.Compression != "" && (got.CompressRatio == nil || *got.CompressRatio < 1.5 || *got.CompressRatio > 2.1 || got.RealSize > size*7/10):
			t.Errorf("%s: half of the data are zeros, and it tells %+v", tt.stack.Name, got)
		}
		paths, err := tt.d.Resolve(t.Context(), provision.Volume{Stack: tt.stack.Name})
		if err != nil || len(paths) != 1 || !strings.HasPrefix(paths[0], "/dev/loop") {
			t.Errorf("%s lies on %v, %v", tt.stack.Name, paths, err)
		}
	}
}

// TestVolumesLeadToTheDisk: the counters of the disk under the scratch folder are those to read.
func TestVolumesLeadToTheDisk(t *testing.T) {
	needZFS(t)
	j, dir := run(t)
	want, err := hostenv.Host{}.Resolve(dir)
	if err != nil || want.Reason != "" {
		t.Skip("the disk under the scratch folder cannot be told: ", want.Reason, err)
	}
	for _, d := range []provision.Driver{&Zvol{storage(dir)}, &File{storage(dir), raw.Driver{}}} {
		name := fmt.Sprintf("%T", d)[len("*zfs."):]
		v, err := d.Create(t.Context(), j, provision.Request{Dir: dir, Stack: spec.Stack{Name: name}, Size: 1 << 20, Serial: name})
		if err != nil {
			t.Fatal(err)
		}
		got, err := hostenv.Host{}.Resolve(v.Path)
		t.Logf("%s: %+v", name, got)
		if diff := cmp.Diff(want.Devices, got.Devices); diff != "" || err != nil {
			t.Errorf("%s: %v %s %s", name, err, got.Reason, diff)
		}
	}
}

// TestReadsAreCounted reads zvols from end to end: one whose data ZFS must not keep, and one that it just wrote.
func TestReadsAreCounted(t *testing.T) {
	needZFS(t)
	j, dir := run(t)
	const size, block = 16 << 20, 64 << 10
	for cache, missed := range map[string]bool{"metadata": true, "all": false} {
		d := &Zvol{storage(dir)}
		v, _ := volume(t, d, j, provision.Request{
			Dir: dir, Stack: spec.Stack{Name: cache, VolBlockSize: block, PrimaryCache: cache}, Size: size, Serial: cache,
		})
		if err := provision.DropCache(v); err != nil {
			t.Fatal(err)
		}
		before, err := meter.Meter{}.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(v.Path); err != nil {
			t.Fatal(err)
		}
		after, err := meter.Meter{}.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		delta, err := after.Sub(before)
		if err != nil || delta.ARC == nil {
			t.Fatalf("%+v, %v", delta, err)
		}
		t.Logf("primarycache=%s: %+v", cache, *delta.ARC)
		if got := delta.ARC.Misses >= size/block; got != missed {
			t.Errorf("primarycache=%s: %+v for %d blocks", cache, *delta.ARC, size/block)
		}
	}
}

// TestWithoutLinks has an udev that does nothing, as a machine that has none.
func TestWithoutLinks(t *testing.T) {
	needZFS(t)
	if os.Getenv("IOTAX_LAB_DISK") == "" {
		t.Skip("udev is stopped in the lab alone: IOTAX_LAB_DISK is not set")
	}
	j, dir := run(t)
	command(t, "udevadm", "settle")
	command(t, "udevadm", "control", "--stop-exec-queue")
	defer command(t, "udevadm", "control", "--start-exec-queue")
	theirs(t, 128<<20)
	v, err := (&Zvol{storage("")}).Create(t.Context(), j, provision.Request{
		Dir: dir, Stack: spec.Stack{Name: "a", Pool: "tank"}, Size: 1 << 20, Serial: "a",
	})
	if err != nil || !strings.HasPrefix(v.Path, "/dev/zd") {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := os.Lstat("/dev/zvol/" + revert.DatasetName("test", "tank", "a")); err == nil {
		t.Error("there is a link: the test shows nothing")
	}
	if err := j.Undo(t.Context()); err != nil { // before the pool
		t.Error(err)
	}
}

func TestZerosAreNotFilled(t *testing.T) {
	needZFS(t)
	j, dir := run(t)
	const size = 8 << 20
	d := &Zvol{storage(dir)}
	v, _ := volume(t, d, j, provision.Request{Dir: dir, Stack: spec.Stack{Name: "zvol", Compression: "lz4"}, Size: size, Serial: "a"})
	f, err := os.OpenFile(v.Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 1<<20), 4<<20); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := d.Verify(t.Context(), v); err == nil || !strings.Contains(err.Error(), "is not filled") {
		t.Errorf("zeros that compression made a hole: %v", err)
	}
	// What ZFS counts beside the data hides a few hundredths.
	if share, err := d.Unwritten(t.Context(), v); err != nil || share < 1.0/8-0.04 || share > 1.0/8 {
		t.Errorf("an eighth is zeros, Unwritten says %v, %v", share, err)
	}
}

func TestFaultsOfPools(t *testing.T) {
	needZFS(t)
	theirs(t, 128<<20)
	j, dir := run(t)
	command(t, "zfs", "create", "-V", "1m", "tank/vol")
	job := func(name, pool string, size int64) provision.Job {
		return provision.Job{Driver: &Zvol{storage("")}, Request: provision.Request{
			Dir: dir, Stack: spec.Stack{Name: name, Storage: "zvol", Pool: pool}, Size: size, Serial: name,
		}}
	}
	const mib = 1 << 20
	err := Check(t.Context(), []provision.Job{
		job("a", "nosuch", mib), job("b", "tank/nosuch", mib), job("c", "tank/vol", mib), job("d", "tank", 24*mib), job("e", "tank", 80*mib),
		{Driver: raw.Driver{}},
		job("f", "", mib),
	})
	for _, want := range []string{
		"there is no ZFS pool nosuch; there are: tank", "the ZFS pool tank has no dataset tank/nosuch",
		"tank/vol is a volume of ZFS", "the volumes in it need",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the faults do not say %q: %v", want, err)
		}
	}
	if err := Check(t.Context(), []provision.Job{job("a", "tank", mib), job("b", "tank/vm", mib)}); err != nil {
		t.Errorf("good pools: %v", err)
	}
	command(t, "zfs", "create", "-V", "1m", "tank/"+revert.ScratchName("test")+"-taken")
	for _, tt := range []struct{ name, pool, want string }{
		{"a", "nosuch", "there is no ZFS pool nosuch; there are: tank"},
		{"b", "tank/nosuch", "has no dataset tank/nosuch"},
		{"taken", "tank", "exists already"},
		{"big", "tank", "the volumes in it need"},
	} {
		size := int64(mib)
		if tt.name == "big" {
			size = 256 * mib
		}
		for kind, d := range map[string]provision.Driver{"zvol": &Zvol{storage("")}, "file": &File{storage(""), raw.Driver{}}} {
			_, err := d.Create(t.Context(), j, job(tt.name, tt.pool, size).Request)
			if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s: %v, want one line: %s", kind, tt.name, err, tt.want)
			}
		}
	}
	// What was there before is left alone, though it has a name of ours.
	command(t, "zfs", "destroy", "tank/"+revert.ScratchName("test")+"-taken")
}
