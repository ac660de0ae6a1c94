package facts

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/sys"
	"github.com/iotax/iotax/internal/vmconf"
)

// programs say what stands beside the beginning of their command lines; others are not installed.
type programs map[string]string

func (p programs) LookPath(name string) (string, error) {
	for command := range p {
		if first, _, _ := strings.Cut(command, " "); first == name {
			return name, nil
		}
	}
	return "", exec.ErrNotFound
}

func (p programs) Run(_ context.Context, c sys.Command) ([]byte, error) {
	line := strings.Join(c.Argv, " ")
	for command, says := range p {
		if rest, ok := strings.CutPrefix(line, command); ok && (rest == "" || rest[0] == ' ') {
			return []byte(says), nil
		}
	}
	return nil, errors.New("exit status 1")
}

// tree makes a small host. A text that begins with "-> " is a link.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestHost(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/sys/kernel/osrelease":                             "6.8.12-4-pve",
		"proc/sys/kernel/io_uring_disabled":                     "1",
		"proc/sys/vm/swappiness":                                "60",
		"proc/meminfo":                                          "MemTotal:       65536 kB\nSwapTotal:       8388604 kB",
		"sys/devices/system/cpu/online":                         "0-3,8",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":  "powersave",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":  "performance",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor":  "powersave",
		"sys/devices/system/node/node0/cpulist":                 "0-1",
		"sys/devices/system/node/node0/meminfo":                 "Node 0 MemTotal:    32768 kB",
		"sys/devices/system/node/node10/cpulist":                "2-3,8",
		"sys/devices/system/node/node10/meminfo":                "Node 10 MemTotal:    32768 kB",
		"sys/kernel/mm/transparent_hugepage/enabled":            "always [madvise] never",
		"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "512",
		"sys/block/loop0/queue/scheduler":                       "none",
		"sys/block/sda/queue/scheduler":                         "none [mq-deadline]",
		"sys/block/sda/queue/rotational":                        "0",
		"sys/block/sda/queue/read_ahead_kb":                     "128",
		"sys/block/sda/queue/write_cache":                       "write back",
		"sys/block/sda/queue/logical_block_size":                "512",
		"sys/block/sda/queue/physical_block_size":               "4096",
	})
	s := Source{Root: root, Run: programs{"qemu-system-x86_64 --version": "QEMU emulator version 9.2.1 (Debian 1:9.2.1)\nCopyright"}}
	want := audit.Host{
		Kernel: "6.8.12-4-pve", QEMU: vmconf.Version{Major: 9, Minor: 2}, IOURingDisabled: new(1), CPUs: 5, Memory: 64 << 20,
		Nodes:      []audit.Node{{ID: 0, CPUs: 2, Memory: 32 << 20}, {ID: 10, CPUs: 3, Memory: 32 << 20}},
		Governors:  []string{"performance", "powersave"},
		Swappiness: new(60), Swap: new(int64(8388604 << 10)), THP: "madvise",
		Hugepages: []audit.Hugepages{{Size: 2 << 20, Total: 512}},
		Devices: []audit.Device{{
			Name: "sda", Scheduler: "mq-deadline", ReadAhead: new(int64(128 << 10)), Rotational: new(false), WriteCache: "write back",
			LogicalBlock: 512, PhysicalBlock: 4096,
		}},
	}
	if diff := cmp.Diff(want, s.Host(t.Context())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(audit.Host{}, Source{Root: t.TempDir(), Run: programs{}}.Host(t.Context())); diff != "" {
		t.Errorf("of a host that shows nothing: %s", diff)
	}
}

func disk(source, format string) vmconf.Disk {
	return vmconf.Disk{Device: "disk", Source: vmconf.Setting{Value: source}, Format: vmconf.Setting{Value: format}}
}

func TestFile(t *testing.T) {
	root := tree(t, map[string]string{"disk.raw": "", "proc/self/mountinfo": "30 1 0:25 / / rw - btrfs /dev/sda1 rw"})
	path := filepath.Join(root, "disk.raw")
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	for flags, nocow := range map[int]bool{0: false, 0x00800000: true, 0x10: false} {
		s := Source{Root: root, Run: programs{}, attributes: func(string) (int, error) { return flags, nil }}
		v := s.Volumes(t.Context(), []vmconf.VM{{Disks: []vmconf.Disk{disk(path, "raw"), disk("/nowhere/disk", "raw"), disk("", "raw"), disk("relative.raw", "raw")}}})
		if len(v) != 1 {
			t.Fatalf("%v", v)
		}
		got := v[path]
		if got.Path != path || got.Size != 1<<20 || got.Allocated == nil || *got.Allocated >= 1<<20 || got.Filesystem != "btrfs" || got.Image != nil {
			t.Errorf("%+v", got)
		}
		if got.NoCOW == nil || *got.NoCOW != nocow {
			t.Errorf("attributes %#x: nocow %v", flags, got.NoCOW)
		}
	}
}

func TestFileOnZFS(t *testing.T) {
	root := tree(t, map[string]string{"disk.raw": "", "proc/self/mountinfo": "30 1 0:25 / / rw - zfs tank/vm rw"})
	path := filepath.Join(root, "disk.raw")
	s := Source{Root: root, Run: programs{
		"zfs get -H -p -o property,value volblocksize,recordsize,sync,dedup tank/vm": "volblocksize\t-\nrecordsize\t131072\nsync\tdisabled\ndedup\toff\n",
	}}
	got := s.volume(t.Context(), path, "raw")
	want := audit.Dataset{Name: "tank/vm", Recordsize: 128 << 10, Sync: "disabled", Dedup: "off"}
	if got.Dataset == nil || cmp.Diff(want, *got.Dataset) != "" || got.Allocated != nil {
		t.Errorf("%+v, %+v", got, got.Dataset)
	}
}

// block is the tree of a block device 8:1, which is what its stat says of every path.
func block(t *testing.T, name string, files map[string]string) Source {
	all := map[string]string{"sys/dev/block/8:1": "-> ../../devices/" + name}
	for path, text := range files {
		all[path] = text
	}
	return Source{
		Root: tree(t, all), Run: programs{},
		stat: func(string) (entry, error) { return entry{block: true, major: 8, minor: 1}, nil },
		zvol: func(string) (string, error) { return "tank/web", nil },
	}
}

func TestPartition(t *testing.T) {
	s := block(t, "sda/sda1", map[string]string{
		"sys/devices/sda/sda1/partition":            "1",
		"sys/devices/sda/sda1/start":                "63",
		"sys/devices/sda/sda1/size":                 "2048",
		"sys/devices/sda/queue/physical_block_size": "4096",
		"dev/disk/by-id/wwn-0x5000-part1":           "-> ../../sda1",
		"dev/disk/by-id/ata-Samsung_1-part1":        "-> ../../sda1",
		"dev/disk/by-id/ata-Samsung_1":              "-> ../../sda",
	})
	got := s.volume(t.Context(), "/dev/sda1", "raw")
	if got.Size != 1<<20 || got.Offset == nil || *got.Offset != 63*512 || got.Block == nil || got.Block.PhysicalBlock != 4096 ||
		got.Steady != "/dev/disk/by-id/ata-Samsung_1-part1" {
		t.Errorf("%+v, block %+v", got, got.Block)
	}
}

func TestZvol(t *testing.T) {
	s := block(t, "zd16", map[string]string{"sys/devices/zd16/size": "2048"})
	s.Run = programs{"zfs get": "volblocksize\t16384\nrecordsize\t-\nsync\tstandard\ndedup\toff\n"}
	got := s.volume(t.Context(), "/dev/zd16", "raw")
	if got.Dataset == nil || got.Dataset.Volblocksize != 16<<10 || got.Steady != "/dev/zvol/tank/web" || got.Offset != nil {
		t.Errorf("%+v, dataset %+v", got, got.Dataset)
	}
}

func TestThinVolume(t *testing.T) {
	s := block(t, "dm-3", map[string]string{
		"sys/devices/dm-3/dm/name": "vg-web", "sys/devices/dm-3/dm/uuid": "LVM-abc", "sys/devices/dm-3/queue/read_ahead_kb": "0",
	})
	s.Run = lvs{
		`lv_kernel_major=8 && lv_kernel_minor=1`: `{"vg_name":"vg","lv_name":"web","lv_attr":"Vwi-aotz--","origin":"base","pool_lv":"pool","chunk_size":"0","zero":"","data_percent":"3.00","metadata_percent":""}`,
		`vg_name="vg" && lv_name="pool"`:         `{"vg_name":"vg","lv_name":"pool","lv_attr":"twi-aotz--","origin":"","pool_lv":"","chunk_size":"65536","zero":"zero","data_percent":"91.50","metadata_percent":"12.00"}`,
	}
	got := s.volume(t.Context(), "/dev/vg/web", "raw")
	want := &audit.LV{
		Group: "vg", Name: "web", Thin: true, Pool: "pool", ReadAhead: new(int64(0)), Chunk: 64 << 10, Zero: new(true), Data: new(0.915), Metadata: new(0.12),
	}
	if diff := cmp.Diff(want, got.LV); diff != "" || got.Steady != "/dev/mapper/vg-web" {
		t.Errorf("%s%+v", diff, got)
	}
}

func TestThickVolumeWithSnapshot(t *testing.T) {
	s := block(t, "dm-3", map[string]string{"sys/devices/dm-3/dm/name": "vg-web", "sys/devices/dm-3/dm/uuid": "LVM-abc"})
	s.Run = lvs{
		`lv_kernel_major=8 && lv_kernel_minor=1`: `{"vg_name":"vg","lv_name":"web","lv_attr":"owi-aos---","origin":"","pool_lv":""}`,
		`vg_name="vg" && origin="web"`:           `{"vg_name":"vg","lv_name":"old","lv_attr":"swi-a-s---","origin":"web","pool_lv":""},{"vg_name":"vg","lv_name":"thin","lv_attr":"Vwi-a-tz--","origin":"web","pool_lv":"pool"}`,
	}
	want := &audit.LV{Group: "vg", Name: "web", Snapshots: []string{"old"}}
	if diff := cmp.Diff(want, s.volume(t.Context(), "/dev/vg/web", "raw").LV); diff != "" {
		t.Error(diff)
	}
	s.Run = programs{}
	if v := s.volume(t.Context(), "/dev/vg/web", "raw"); v.LV != nil || v.Path == "" {
		t.Errorf("without LVM: %+v", v)
	}
}

// lvs is LVM that reports rows by the selection.
type lvs map[string]string

func (l lvs) LookPath(name string) (string, error) {
	if name != "lvm" {
		return "", exec.ErrNotFound
	}
	return name, nil
}

func (l lvs) Run(_ context.Context, c sys.Command) ([]byte, error) {
	rows := l[c.Argv[len(c.Argv)-1]]
	return []byte(`{"report":[{"lv":[` + rows + `]}]}`), nil
}

func TestWhereVolumesAre(t *testing.T) {
	s := Source{Run: programs{
		"pvesm path local-lvm:vm-100-disk-0":                        "/dev/pve/vm-100-disk-0\n",
		"virsh --quiet --readonly vol-path --pool images web.qcow2": "/images/web.qcow2\n",
	}}
	pool := disk("images/web.qcow2", "qcow2")
	pool.Pool = "images"
	for _, c := range []struct {
		kind string
		disk vmconf.Disk
		want string
	}{
		{vmconf.Libvirt, disk("/a", "raw"), "/a"},
		{vmconf.XL, disk("phy:/dev/vg/a", "raw"), "/dev/vg/a"},
		{vmconf.Proxmox, disk("local-lvm:vm-100-disk-0", "raw"), "/dev/pve/vm-100-disk-0"},
		{vmconf.Proxmox, disk("other:vm-100-disk-0", "raw"), ""},
		{vmconf.Libvirt, pool, "/images/web.qcow2"},
		{vmconf.QEMU, disk("a.qcow2", "qcow2"), ""},
	} {
		if got := s.locate(t.Context(), c.kind, c.disk); got != c.want {
			t.Errorf("%s %s: %q, expected %q", c.kind, c.disk.Source.Value, got, c.want)
		}
	}
}

func TestImage(t *testing.T) {
	for _, bad := range []string{"", "{}", "[]", "null", `[{"virtual-size":"x"}]`, `[{"cluster-size":-1}]`} {
		if i, err := parseInfo([]byte(bad)); err == nil {
			t.Errorf("took %s for %+v", bad, i)
		}
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add([]byte(`[{"filename":"a","format":"qcow2","virtual-size":1,"cluster-size":65536,"snapshots":[{"name":"s"}]},{"filename":"b","format":"raw"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if i, err := parseInfo(text); err == nil && (i.VirtualSize < 0 || i.ActualSize < 0 || i.ClusterSize < 0) {
			t.Errorf("%+v", i)
		}
	})
}

// What qemu-img says of a real chain.
func TestRealImage(t *testing.T) {
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("no qemu-img")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("qemu-img", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("create", "-f", "raw", "base.raw", "1M")
	run("create", "-f", "qcow2", "-b", "base.raw", "-F", "raw", "-o", "cluster_size=128k,extended_l2=on", "top.qcow2", "8M")
	run("snapshot", "-c", "before", "top.qcow2")
	top := filepath.Join(dir, "top.qcow2")
	got := Source{Run: sys.Exec{}}.volume(t.Context(), top, "qcow2").Image
	if got == nil {
		t.Fatal("nothing is known of it")
	}
	want := &audit.Image{
		Format: "qcow2", VirtualSize: 8 << 20, ActualSize: got.ActualSize, ClusterSize: 128 << 10, ExtendedL2: true, Compat: "1.1",
		Snapshots: []string{"before"}, Backing: []audit.Backing{{File: filepath.Join(dir, "base.raw"), Format: "raw", Named: true}},
	}
	got.Backing[0].File = filepath.Join(dir, filepath.Base(got.Backing[0].File))
	if diff := cmp.Diff(want, got); diff != "" || got.ActualSize <= 0 {
		t.Error(diff)
	}
	if v := (Source{Run: sys.Exec{}}).volume(t.Context(), filepath.Join(dir, "base.raw"), "raw"); v.Image != nil {
		t.Errorf("a raw disk was looked into: %+v", v.Image)
	}
}

func TestThisHost(t *testing.T) {
	h := Source{Run: sys.Exec{}}.Host(t.Context())
	if h.Kernel == "" || h.CPUs < 1 || h.Memory < 1<<20 {
		t.Errorf("%+v", h)
	}
}
