package qcow2

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/revert"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

func needImg(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("qemu-img is not installed")
	}
}

func TestConformance(t *testing.T) {
	for name, stack := range map[string]spec.Stack{
		"default":          {},
		"off":              {Preallocation: "off"},
		"falloc":           {Preallocation: "falloc"},
		"full, 4k cluster": {Preallocation: "full", ClusterSize: 4096},
		"2M cluster":       {ClusterSize: 2 << 20},
		"512 B cluster":    {ClusterSize: 512},
		"subclusters":      {ExtendedL2: true, ClusterSize: 128 << 10},
		"lazy refcounts":   {LazyRefcounts: true},
		"overlay":          {BackingFile: true},
		"snapshot":         {Snapshot: "fresh"},
		"copied snapshot":  {Snapshot: "copied"},
	} {
		t.Run(name, func(t *testing.T) {
			stack.Format = "qcow2"
			provisiontest.Run(t, provisiontest.Suite{
				New: func(t *testing.T) provision.Driver {
					needImg(t)
					return Driver{Run: sys.Exec{}}
				},
				Stack:   stack,
				Content: converted,
			})
		})
	}
}

// converted reads an image as a guest would, after QEMU checked that it is sound.
func converted(t *testing.T, v provision.Volume) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "raw")
	for _, argv := range [][]string{
		{"qemu-img", "check", "-q", v.Path},
		{"qemu-img", "convert", "-f", "qcow2", "-O", "raw", v.Path, out},
	} {
		if _, err := (sys.Exec{}).Run(t.Context(), sys.Command{Argv: argv}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCreateCommands(t *testing.T) {
	for preallocation, want := range map[string]string{
		"": "metadata", "off": "metadata", "metadata": "metadata", "falloc": "falloc", "full": "falloc",
	} {
		got, err := createCommands(provision.Volume{Path: "/x"}, provision.Request{Size: 4096, Stack: spec.Stack{Preallocation: preallocation, ClusterSize: 1 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		want := [][]string{{"qemu-img", "create", "-q", "-f", "qcow2", "-o", "cluster_size=1048576,preallocation=" + want, "/x", "4096"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	got, err := createCommands(provision.Volume{Path: "/x", Base: "/x.base"}, provision.Request{Size: 4096, Stack: spec.Stack{ExtendedL2: true, LazyRefcounts: true}})
	want := [][]string{
		{"qemu-img", "create", "-q", "-f", "qcow2", "-o", "cluster_size=65536,extended_l2=on,lazy_refcounts=on,preallocation=metadata", "/x.base", "4096"},
		{"qemu-img", "create", "-q", "-f", "qcow2", "-o", "cluster_size=65536,extended_l2=on,lazy_refcounts=on", "-b", "/x.base", "-F", "qcow2", "/x", "4096"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("an overlay: %v %s", err, diff)
	}
	if _, err := createCommands(provision.Volume{Path: "/x"}, provision.Request{Stack: spec.Stack{Preallocation: "some"}}); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("an unknown preallocation: %v", err)
	}
}

func TestMap(t *testing.T) {
	const whole = `{"start": 0, "length": 8192, "depth": 0, "present": true, "zero": false, "data": true, "offset": 65536}`
	tests := []struct {
		name, text string
		extents    []provision.Extent
		filled     bool
		fault      string // of places or allData
	}{
		{"whole", "[" + whole + "]", []provision.Extent{{At: 65536, Length: 8192}}, true, ""},
		{
			"two places", `[{"start":0,"length":4096,"zero":false,"data":true,"offset":65536},
			{"start":4096,"length":4096,"zero":false,"data":true,"offset":131072}]`,
			[]provision.Extent{{At: 65536, Length: 4096}, {At: 131072, Length: 4096}},
			true, "",
		},
		{
			"neighbours, one zero", `[{"start":0,"length":4096,"zero":false,"data":true,"offset":65536},
			{"start":4096,"length":4096,"zero":true,"data":true,"offset":69632}]`,
			[]provision.Extent{{At: 65536, Length: 8192}},
			false, "read as zeros",
		},
		{"not allocated", `[{"start":0,"length":8192,"zero":true,"data":false}]`, nil, false, "not allocated"},
		{"backing file", `[{"start":0,"length":8192,"depth":1,"zero":false,"data":true,"offset":65536}]`, nil, false, "backing file"},
		{"compressed", `[{"start":0,"length":8192,"zero":false,"data":true,"compressed":true}]`, nil, true, ""},
		{"too short", `[{"start":0,"length":4096,"zero":false,"data":true,"offset":65536}]`, nil, false, "ends at 4096 of 8192"},
		{"a gap", `[{"start":4096,"length":4096,"zero":false,"data":true,"offset":65536}]`, nil, false, "not in the map"},
		{"nothing", `[]`, nil, false, "ends at 0"},
	}
	for _, tt := range tests {
		entries, err := parseMap([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		extents, err := places(entries, 8192)
		if diff := cmp.Diff(tt.extents, extents); diff != "" || (err == nil) != (tt.extents != nil) {
			t.Errorf("%s: %v %s", tt.name, err, diff)
		}
		if err := allData(entries, 8192); (err == nil) != tt.filled || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.fault)
		}
	}
	for _, bad := range []string{"", "{}", `[{"start":-1,"length":1}]`, `[{"length":0}]`, `[{"start":9223372036854775807,"length":1}]`, `[{"length":1,"offset":-1}]`} {
		if _, err := parseMap([]byte(bad)); err == nil {
			t.Errorf("took %q", bad)
		}
	}
}

func TestParts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		hollow     int64
		held       map[int][]provision.Extent
	}{
		{"nothing", `[]`, 8192, map[int][]provision.Extent{}},
		{"whole", `[{"start":0,"length":8192,"data":true,"offset":65536}]`, 0, map[int][]provision.Extent{0: {{At: 65536, Length: 8192}}}},
		{"zeros, and not allocated", `[{"start":0,"length":4096,"zero":true,"data":false},{"start":4096,"length":4096,"zero":true,"data":true,"offset":65536}]`, 8192, map[int][]provision.Extent{}},
		{
			"an overlay", `[{"start":0,"length":4096,"data":true,"offset":65536},{"start":4096,"length":2048,"depth":1,"data":true,"offset":131072},{"start":6144,"length":2048,"depth":1,"zero":true,"data":false}]`,
			2048,
			map[int][]provision.Extent{0: {{At: 65536, Length: 4096}}, 1: {{At: 131072, Length: 2048}}},
		},
		{"compressed", `[{"start":0,"length":8192,"data":true,"compressed":true}]`, 0, map[int][]provision.Extent{}},
	} {
		entries, err := parseMap([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		hollow, held := parts(entries, 8192)
		if diff := cmp.Diff(tt.held, held); diff != "" || hollow != tt.hollow {
			t.Errorf("%s: %d bytes are hollow, want %d\n%s", tt.name, hollow, tt.hollow, diff)
		}
	}
}

// TestUnwritten has images that are not what Fill leaves.
func TestUnwritten(t *testing.T) {
	needImg(t)
	const size = 8 << 20
	for name, tt := range map[string]struct {
		stack spec.Stack
		spoil []string // argv before the image's path
		want  float64
	}{
		"filled":        {spec.Stack{}, nil, 0},
		"a zeroed half": {spec.Stack{}, []string{"qemu-io", "-f", "qcow2", "-c", "write -q -z 0 4M"}, 0.5},
		"a given back quarter": {
			spec.Stack{}, []string{"qemu-io", "-f", "qcow2", "-d", "unmap", "-c", "discard -q 0 2M"}, 0.25,
		},
		"an overlay":                  {spec.Stack{BackingFile: true}, nil, 0},
		"an overlay, a zeroed eighth": {spec.Stack{BackingFile: true}, []string{"qemu-io", "-f", "qcow2", "-c", "write -q -z 0 1M"}, 0.125},
		"made anew":                   {spec.Stack{}, []string{"qemu-img", "create", "-q", "-f", "qcow2", "-o", "size=8M"}, 1},
	} {
		j, err := revert.Open(t.TempDir(), "unwritten")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := j.Scratch(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d := Driver{Run: sys.Exec{}}
		tt.stack.Name = "s"
		v, err := d.Create(t.Context(), j, provision.Request{Dir: scratch, Stack: tt.stack, Size: size, Serial: "s"})
		if err == nil {
			err = d.Fill(t.Context(), v, provision.Content{Seed: 1}, nil)
		}
		if err == nil && tt.spoil != nil {
			_, err = d.Run.Run(t.Context(), sys.Command{Argv: append(tt.spoil, v.Path)})
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Unwritten(t.Context(), v); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
		if err := j.Undo(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func FuzzMap(f *testing.F) {
	f.Add([]byte(`[{"start":0,"length":8192,"depth":0,"zero":false,"data":true,"offset":65536}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parseMap(text)
		if err != nil {
			return
		}
		extents, err := places(entries, 8192)
		var total int64
		for _, e := range extents {
			total += e.Length
		}
		if err == nil && total != 8192 {
			t.Errorf("places of %d bytes for 8192", total)
		}
		_ = allData(entries, 8192)
		if hollow, _ := parts(entries, 8192); hollow < 0 || hollow > 8192 {
			t.Errorf("%d bytes of 8192 are hollow", hollow)
		}
	})
}

// The image is sparse at first, so that the disk is found full only while it is filled.
func TestDiskFullHalfWay(t *testing.T) {
	needImg(t)
	for _, options := range []string{"size=4m", "size=16k"} { // fails in Fill, in Create
		parent := provisiontest.Tmpfs(t, options)
		j, err := revert.Open(t.TempDir(), "full")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := j.Scratch(parent)
		if err != nil {
			t.Fatal(err)
		}
		d := Driver{Run: sys.Exec{}}
		r := provision.Request{Dir: scratch, Stack: spec.Stack{Name: "s"}, Size: 64 << 20, Serial: "s"}
		v, err := d.Create(t.Context(), j, r)
		if err == nil {
			err = d.Fill(t.Context(), v, provision.Content{Seed: 1}, nil)
		}
		if !errors.Is(err, unix.ENOSPC) || errkind.CodeOf(err) != errkind.Usage || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", options, err)
		}
		if err := j.Undo(t.Context()); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// failing is a machine on which no program works.
type failing struct{ sys.Exec }

func (failing) Run(_ context.Context, c sys.Command) ([]byte, error) {
	return nil, &sys.CommandError{Argv: c.Argv, Stderr: "qemu-img: Invalid cluster size\n", Err: errors.New("exit status 1")}
}

func TestFailedCommandShowsItself(t *testing.T) {
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Driver{Run: failing{}}.Create(t.Context(), j, provision.Request{Dir: scratch, Stack: spec.Stack{Name: "s"}, Size: 4096})
	if err == nil || !strings.Contains(err.Error(), "qemu-img create") || !strings.Contains(err.Error(), "Invalid cluster size") {
		t.Errorf("%v", err)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Error(err)
	}
}

// A snapshot shares all its clusters with the image at first, and none once everything was written again.
func TestSnapshotShares(t *testing.T) {
	needImg(t)
	for state, shared := range map[string]bool{"fresh": true, "copied": false} {
		parent := t.TempDir()
		j, err := revert.Open(t.TempDir(), "snapshot")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := j.Scratch(parent)
		if err != nil {
			t.Fatal(err)
		}
		d := Driver{Run: sys.Exec{}}
		r := provision.Request{Dir: scratch, Stack: spec.Stack{Name: "s", Snapshot: state}, Size: 8 << 20, Serial: "s"}
		v, err := d.Create(t.Context(), j, r)
		if err == nil {
			err = d.Fill(t.Context(), v, provision.Content{Seed: 1}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		report, err := d.Report(t.Context(), v)
		if err != nil || report.Properties["snapshots"] != "1" || report.Properties["cluster_size"] != "65536" {
			t.Errorf("%s: %+v, %v", state, report, err)
		}
		if once := report.RealSize < 9<<20; once != shared {
			t.Errorf("%s: the image takes %d bytes", state, report.RealSize)
		}
		if err := j.Undo(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestParseInfo(t *testing.T) {
	if _, err := parseInfo([]byte("qemu-img: no")); err == nil {
		t.Error("took what is no JSON")
	}
	got, err := parseInfo([]byte(`{"cluster-size": 131072, "backing-filename": "/b", "format-specific": {"data": {"extended-l2": true}}}`))
	want := map[string]string{"cluster_size": "131072", "lazy_refcounts": "false", "extended_l2": "true", "snapshots": "0", "backing_file": "/b"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
