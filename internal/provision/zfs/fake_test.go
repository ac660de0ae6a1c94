package zfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/raw"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// script answers commands by how their lines begin: "!" before what they say makes them fail with it. Programs of
// which it knows no line are not there.
type script map[string]string

func (s script) Run(_ context.Context, c sys.Command) ([]byte, error) {
	line := strings.Join(c.Argv, " ")
	for begin, says := range s {
		if !strings.HasPrefix(line, begin) {
			continue
		}
		if stderr, fails := strings.CutPrefix(says, "!"); fails {
			return nil, &sys.CommandError{Argv: c.Argv, Stderr: stderr, Err: errors.New("exit status 1")}
		}
		return []byte(says), nil
	}
	return nil, errkind.Userf("%s is not installed", c.Argv[0])
}

func (s script) LookPath(name string) (string, error) {
	for begin := range s {
		if strings.HasPrefix(begin, name+" ") {
			return name, nil
		}
	}
	return "", fs.ErrNotExist
}

func TestExplain(t *testing.T) {
	s := Storage{Run: script{"zpool list": "tank\nrpool\n"}}
	for _, tt := range []struct{ name, stderr, want string }{
		{"tank/a", "cannot create 'tank/a': dataset already exists\n", "tank/a exists already"},
		{"iotax-r-a", "cannot create 'iotax-r-a': pool already exists\n", "iotax-r-a exists already"},
		{"tank/a", "cannot create 'tank/a': out of space\n", "the pool tank has no room left for tank/a"},
		{"no/a", "cannot open 'no': no such pool\n", "there is no ZFS pool no; there are: tank, rpool"},
		{"tank/x/a", "cannot create 'tank/x/a': parent does not exist\n", "the ZFS pool tank has no dataset tank/x"},
		{"tank/a", "cannot create 'tank/a': 'volblocksize' must be power of 2 from 512B to 128K\n", "zfs create: cannot create 'tank/a': 'volblocksize' must be"},
		{"tank/a", "cannot create 'tank/a': invalid property 'x'\n", "invalid property"},
	} {
		got := s.explain(t.Context(), tt.name, &sys.CommandError{Argv: []string{"zfs", "create"}, Stderr: tt.stderr})
		if errkind.CodeOf(got) != errkind.Usage || !strings.Contains(got.Error(), strings.TrimPrefix(tt.want, "zfs create: ")) || strings.Contains(got.Error(), "\n") {
			t.Errorf("%q is explained as %v, want %q", tt.stderr, got, tt.want)
		}
	}
	bug := &sys.CommandError{Argv: []string{"zfs"}, Stderr: "internal error: out of memory"}
	for _, err := range []error{nil, fs.ErrClosed, bug} {
		if got := s.explain(t.Context(), "tank/a", err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	s.Run = script{"zpool list": ""}
	if got := s.absent(t.Context(), "no"); !strings.Contains(got.Error(), "there is no ZFS pool no; there is none") {
		t.Errorf("%v", got)
	}
}

func TestMissing(t *testing.T) {
	both := script{"zpool ": "", "zfs ": ""}
	with := func(line, says string) script { return script{"zpool ": "", "zfs ": "", line: says} }
	for name, tt := range map[string]struct {
		run   script
		paths []string
		user  int
		want  Lack
	}{
		"all there":   {both, []string{"sys/module/zfs", "dev/zfs"}, 0, Lack{}},
		"no programs": {script{}, nil, 0, Lack{Reason: "zpool and zfs of OpenZFS cannot be found", Programs: []string{"zpool"}}},
		"no zpool":    {script{"zfs ": ""}, nil, 0, Lack{Reason: "zpool of OpenZFS cannot be found", Programs: []string{"zpool"}}},
		"not loaded":  {with("modprobe --dry-run zfs", ""), nil, 0, Lack{Reason: "the kernel's module zfs is not loaded", Mend: "modprobe zfs"}},
		"no module":   {with("modprobe --dry-run zfs", "!not found"), nil, 0, Lack{Reason: "this kernel has no module zfs", Programs: []string{"zfs-dkms"}}},
		"no modprobe": {both, nil, 0, Lack{Reason: "this kernel has no module zfs", Programs: []string{"zfs-dkms"}}},
		"container":   {both, []string{"sys/module/zfs"}, 0, Lack{Reason: "there is no /dev/zfs here, as in a container that was not given it"}},
		"not root":    {both, []string{"sys/module/zfs", "dev/zfs"}, 1000, Lack{Reason: "only root can make volumes on ZFS", Mend: "run iotax as root"}},
	} {
		root := t.TempDir()
		for _, path := range tt.paths {
			if err := os.MkdirAll(filepath.Join(root, path), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tt.want, missing(t.Context(), tt.run, root, tt.user)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// zvols is a host with block devices of zvols, by the names that the kernel gives them.
func zvols(t *testing.T, named map[string]string) nodes {
	t.Helper()
	n := nodes{root: t.TempDir(), patience: time.Minute, poll: time.Microsecond}
	for _, dir := range []string{"dev/zvol/tank", "sys/block", "sys/module/zfs/parameters"} {
		if err := os.MkdirAll(filepath.Join(n.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for device := range named {
		for _, path := range []string{"dev", "sys/block"} {
			if err := os.WriteFile(filepath.Join(n.root, path, device), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	n.name = func(device string) (string, error) {
		if name, ok := named[filepath.Base(device)]; ok {
			return name, nil
		}
		return "", fs.ErrNotExist
	}
	return n
}

func TestNodeIsFound(t *testing.T) {
	named := map[string]string{"zd0": "tank/other", "zd16": "tank/mine", "zd32": "tank/more"}
	for name, link := range map[string]string{"no link": "", "right link": "../../zd16", "link of an earlier zvol": "../../zd32"} {
		n := zvols(t, named)
		if link != "" {
			if err := os.Symlink(link, filepath.Join(n.root, "dev/zvol/tank/mine")); err != nil {
				t.Fatal(err)
			}
		}
		got, err := n.find(t.Context(), "tank/mine")
		if want := filepath.Join(n.root, "dev/zd16"); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
}

// TestLateNode has a device that the kernel names at the fifth look only, one that never comes, and one for which
// nobody waits any more.
func TestLateNode(t *testing.T) {
	n := zvols(t, map[string]string{"zd0": "tank/mine"})
	looks, known := 0, n.name
	n.name = func(device string) (string, error) {
		if looks++; looks < 5 {
			return "", fs.ErrNotExist
		}
		return known(device)
	}
	if got, err := n.find(t.Context(), "tank/mine"); err != nil || looks != 5 || filepath.Base(got) != "zd0" {
		t.Errorf("%s, %v after %d looks", got, err, looks)
	}
	n.patience = 0
	_, err := n.find(t.Context(), "tank/never")
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "zvol tank/never did not appear within 0s") {
		t.Errorf("a device that never comes: %v", err)
	}
	if err := os.WriteFile(filepath.Join(n.root, "sys/module/zfs/parameters/zvol_inhibit_dev"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.find(t.Context(), "tank/never"); !strings.Contains(err.Error(), "echo 0 > /sys/module/zfs/parameters/zvol_inhibit_dev") {
		t.Errorf("devices that are inhibited: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	n.patience = time.Minute
	if _, err := n.find(gone, "tank/never"); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
}

func TestRequestsThatNeedNoHost(t *testing.T) {
	r := provision.Request{Stack: spec.Stack{Name: "a"}, Size: 64 << 20}
	for _, d := range []interface {
		provision.Driver
		Claims(provision.Request) ([]int64, error)
	}{&Zvol{}, &File{Image: raw.Driver{}}} {
		if _, err := d.Need(r); err == nil || !strings.Contains(err.Error(), "no place for one of its own") {
			t.Errorf("%T without a ground: %v", d, err)
		}
		r.Stack.Pool = "tank"
		if n, err := d.Need(r); n != 0 || err != nil {
			t.Errorf("%T in a pool of the user needs %d of the folder, %v", d, n, err)
		}
		r.Stack.Pool = ""
		v := provision.Volume{Stack: "never made"}
		if _, err := d.Report(t.Context(), v); err == nil {
			t.Errorf("%T reports a volume that was never made", d)
		}
		if _, err := d.Resolve(t.Context(), v); err == nil {
			t.Errorf("%T resolves a volume that was never made", d)
		}
		if err := d.Verify(t.Context(), v); err == nil {
			t.Errorf("%T verifies a volume that was never made", d)
		}
		if err := d.Destroy(t.Context(), v); err != nil {
			t.Errorf("%T: %v", d, err)
		}
	}
}

func FuzzProperties(f *testing.F) {
	f.Add("used\t70905856\nreferenced\t98304\norg.iotax:run\tr1\n")
	f.Add("used\n\t\nused\t1\t2")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseProperties(text, []string{"used", "referenced"})
		_, used := found["used"]
		_, referenced := found["referenced"]
		if (err == nil) != (used && referenced) {
			t.Errorf("%v, %v", found, err)
		}
	})
}
