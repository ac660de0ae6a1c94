package lvm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/lvm2"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/sys"
)

// Every command that a stack leads to, one argument a line.
func TestArguments(t *testing.T) {
	for name, s := range map[string]spec.Stack{
		"thick":          {Storage: "lvm"},
		"thick-tuned":    {Storage: "lvm", ExtentSize: 256 << 20, LVReadAhead: "none"},
		"thick-striped":  {Storage: "lvm", Stripes: 2, LVReadAhead: "128k"},
		"thick-snapshot": {Storage: "lvm", Snapshot: "fresh"},
		"thin":           {Storage: "lvm-thin"},
		"thin-tuned":     {Storage: "lvm-thin", ChunkSize: 4 << 20, Zeroing: "off", LVReadAhead: "auto"},
		"thin-snapshot":  {Storage: "lvm-thin", Snapshot: "copied"},
	} {
		t.Run(name, func(t *testing.T) {
			v := &volume{tag: "iotax-r", group: "iotax-r-1", own: true, name: "iotax-r-1", layout: layoutOf(s, 1<<30, extentOf(s))}
			commands := [][]string{}
			for i := range v.layout.claims() {
				v.Devices = append(v.Devices, "/dev/loop"+string(rune('0'+i)))
			}
			commands = append(commands, groupArgs(v))
			if thin(s) {
				v.pool = "iotax-r-1-pool"
				commands = append(commands, poolArgs(v, s))
			}
			commands = append(commands, volumeArgs(v, s))
			if s.Snapshot != "" {
				v.snapshot = "iotax-r-1-snap"
				commands = append(commands, snapshotArgs(v), removeArgs(v, v.snapshot))
			}
			var text strings.Builder
			for _, argv := range commands {
				text.WriteString(strings.Join(argv, "\n  ") + "\n")
			}
			golden.Equal(t, "testdata/"+name+".args", text.String())
		})
	}
}

func TestLayout(t *testing.T) {
	const m = 1 << 20
	tests := []struct {
		name   string
		stack  spec.Stack
		size   int64
		extent int64
		want   layout
		claims []int64
	}{
		{
			"whole extents",
			spec.Stack{Storage: "lvm"},
			9*m + 4096, 4 * m,
			layout{extent: 4 * m, stripes: 1, volume: 12 * m},
			[]int64{13 * m},
		},
		{
			"large extents",
			spec.Stack{Storage: "lvm"},
			m, 256 * m,
			layout{extent: 256 * m, stripes: 1, volume: 256 * m},
			[]int64{257 * m},
		},
		{
			"stripes are alike",
			spec.Stack{Storage: "lvm", Stripes: 3},
			4 * m, m,
			layout{extent: m, stripes: 3, volume: 6 * m},
			[]int64{3 * m, 3 * m, 3 * m},
		},
		{
			// LVM takes 402 extents of 256 KiB for a volume of 400.
			"room to copy all, and the list of it",
			spec.Stack{Storage: "lvm", Snapshot: "fresh"},
			100 * m, m / 4,
			layout{extent: m / 4, stripes: 1, volume: 100 * m, snapshot: 402 * m / 4},
			[]int64{802*m/4 + m},
		},
		{
			"thin",
			spec.Stack{Storage: "lvm-thin"},
			9 * m, 4 * m,
			layout{extent: 4 * m, stripes: 1, volume: 12 * m, pool: 16 * m, metadata: 4 * m},
			[]int64{21 * m},
		},
		{
			"thin, copied",
			spec.Stack{Storage: "lvm-thin", Snapshot: "fresh", ChunkSize: 4 * m},
			9 * m, 4 * m,
			layout{extent: 4 * m, stripes: 1, volume: 12 * m, pool: 28 * m, metadata: 4 * m},
			[]int64{33 * m},
		},
		{
			"thin, large",
			spec.Stack{Storage: "lvm-thin"},
			64 << 30, 4 * m,
			layout{extent: 4 * m, stripes: 1, volume: 64 << 30, pool: 64<<30 + 4*m, metadata: 132 * m},
			[]int64{64<<30 + 137*m},
		},
	}
	for _, tt := range tests {
		got := layoutOf(tt.stack, tt.size, tt.extent)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(layout{})); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.claims, got.claims()); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestPlace(t *testing.T) {
	group := place{name: "vg0", extent: 4 << 20, pvs: 1, free: 64 << 20}
	pool := place{name: "vg0/pool", pool: true, extent: 4 << 20, pvs: 1, free: 64 << 20, chunk: 64 << 10, zero: "on", spare: 2 << 20}
	for _, tt := range []struct {
		name  string
		place place
		stack spec.Stack
		size  int64
		fault string
	}{
		{"fits", group, spec.Stack{Storage: "lvm"}, 64 << 20, ""},
		{"same extents", group, spec.Stack{Storage: "lvm", ExtentSize: 4 << 20}, 1 << 20, ""},
		{"does not fit", group, spec.Stack{Storage: "lvm"}, 64<<20 + 4096, "vg0 has 64 MiB left, 68 MiB are needed"},
		{"no room for the snapshot", group, spec.Stack{Storage: "lvm", Snapshot: "fresh"}, 32 << 20, "left"},
		{"other extents", group, spec.Stack{Storage: "lvm", ExtentSize: 1 << 20}, 1 << 20, "has extents of 4 MiB"},
		{"too many stripes", group, spec.Stack{Storage: "lvm", Stripes: 2}, 1 << 20, "only 1 physical volumes"},
		{"pool of ours in a group", group, spec.Stack{Storage: "lvm-thin"}, 32 << 20, ""},
		{"pool", pool, spec.Stack{Storage: "lvm-thin", ChunkSize: 64 << 10, Zeroing: "on"}, 64 << 20, ""},
		{"full pool", pool, spec.Stack{Storage: "lvm-thin", Snapshot: "copied"}, 36 << 20, "vg0/pool has 64 MiB left, 72 MiB"},
		{"other chunks", pool, spec.Stack{Storage: "lvm-thin", ChunkSize: 4 << 20}, 1 << 20, "has chunks of 64 KiB"},
		{"other zeroing", pool, spec.Stack{Storage: "lvm-thin", Zeroing: "off"}, 1 << 20, "has zeroing on"},
	} {
		p := tt.place
		err := p.take(provision.Request{Stack: tt.stack, Size: tt.size})
		if (err == nil) != (tt.fault == "") || err != nil && (errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.fault)
		}
	}
	little := pool
	little.spare = 1000
	if err := little.take(provision.Request{Stack: spec.Stack{Storage: "lvm-thin"}, Size: 1 << 20}); err == nil || !strings.Contains(err.Error(), "for metadata") {
		t.Errorf("no room for metadata: %v", err)
	}
}

func TestHealthy(t *testing.T) {
	thick := &volume{group: "g", name: "v", snapshot: "s"}
	thinOne := &volume{group: "g", name: "v", pool: "p", snapshot: "s"}
	for _, tt := range []struct {
		name  string
		v     *volume
		row   lvm2.Row
		fault string
	}{
		{"others' volumes", thick, lvm2.Row{"lv_name": "x", "lv_health_status": "failed"}, ""},
		{"snapshot, half", thick, lvm2.Row{"lv_name": "s", "data_percent": "50.00"}, ""},
		{"snapshot invalid", thick, lvm2.Row{"lv_name": "s", "data_percent": "100.00", "lv_size": "1048576", "lv_snapshot_invalid": "snapshot invalid"}, "has overflowed: its room for copies, 1.0 MiB, is used up"},
		{"snapshot full", thick, lvm2.Row{"lv_name": "s", "data_percent": "100.00"}, "overflowed"},
		{"thin snapshot", thinOne, lvm2.Row{"lv_name": "s", "data_percent": "100.00"}, ""},
		{"pool, half", thinOne, lvm2.Row{"lv_name": "p", "data_percent": "50.00", "metadata_percent": "1.00"}, ""},
		{"pool full", thinOne, lvm2.Row{"lv_name": "p", "data_percent": "100.00", "metadata_percent": "1.00"}, "g/p is full: 100.00 % of its data and 1.00 % of its metadata are used"},
		{"metadata full", thinOne, lvm2.Row{"lv_name": "p", "data_percent": "50.00", "metadata_percent": "100.00"}, "is full"},
		{"out of data", thinOne, lvm2.Row{"lv_name": "p", "data_percent": "99.00", "lv_health_status": "out_of_data"}, "is full"},
		{"damaged", thinOne, lvm2.Row{"lv_name": "p", "lv_health_status": "metadata_read_only"}, `has failed: LVM calls it "metadata_read_only"`},
		{"failed", thick, lvm2.Row{"lv_name": "v", "lv_health_status": "partial"}, `g/v has failed`},
	} {
		err := healthy(tt.v, map[string]lvm2.Row{tt.row["lv_name"]: tt.row})
		if (err == nil) != (tt.fault == "") || err != nil && (errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.fault)
		}
	}
}

// host is a machine with LVM, or without, that answers each command alike.
type host struct {
	sys.Exec
	without bool
	vgs     string
}

func (h host) LookPath(name string) (string, error) {
	if h.without {
		return "", errors.New("none")
	}
	return name, nil
}

func (h host) Run(_ context.Context, c sys.Command) ([]byte, error) {
	if c.Argv[1] == "vgs" {
		return []byte(h.vgs), nil
	}
	return []byte(`{"report":[{"lv":[]}]}`), nil
}

func TestEveryFaultAtOnce(t *testing.T) {
	d := Driver{Run: host{vgs: `{"report":[{"vg":[
		{"vg_name":"pve","vg_extent_size":"4194304","vg_free":"8388608","pv_count":"1"},
		{"vg_name":"a","vg_extent_size":"4194304","vg_free":"0","pv_count":"1"}]}]}`}}
	request := func(name, storage, pool string) provision.Request {
		return provision.Request{Stack: spec.Stack{Name: name, Storage: storage, Pool: pool}, Size: 4 << 20, Serial: name}
	}
	err := d.Check(t.Context(), []provision.Request{
		request("own", "lvm", ""), request("one", "lvm", "pve"), request("two", "lvm", "pve"), request("three", "lvm", "pve"),
		request("typo", "lvm", "pvr"), request("again", "lvm", "pvr"), request("thick", "lvm", "pve/data"), request("thin", "lvm-thin", "pve/data"),
	})
	want := strings.Join([]string{
		`volume of three: pve has 0 B left, 4.0 MiB are needed; give a smaller size, fewer stacks or a pool with more room`,
		`there is no volume group named "pvr"; there are: a, pve`,
		`pool "pve/data": a thick volume lies in a volume group; expected its name alone, such as "pve"`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
	err = d.Check(t.Context(), []provision.Request{request("thin", "lvm-thin", "pve/data")})
	if err == nil || err.Error() != `there is no thin pool named "data" in volume group pve; there is none at all` {
		t.Errorf("a pool that is not there: %v", err)
	}
	if err := d.Check(t.Context(), []provision.Request{request("own", "lvm", "")}); err != nil {
		t.Error(err)
	}
}

func TestMissing(t *testing.T) {
	reason, program, _ := Missing(host{without: true}, spec.Stack{Storage: "lvm"})
	if reason != "LVM is not installed" || program != "lvm" {
		t.Errorf("without LVM: %q, %q", reason, program)
	}
	root := t.TempDir()
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "lib/modules", unix.ByteSliceToString(uts.Release[:]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"modules.builtin": "kernel/drivers/md/dm-mod.ko\n",
		"modules.dep":     "kernel/drivers/md/dm-thin-pool.ko.xz: kernel/drivers/md/dm-bufio.ko.xz\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "sys/module/dm_loaded"), 0o755); err != nil {
		t.Fatal(err)
	}
	for module, has := range map[string]bool{
		"dm-mod": true, "dm-thin-pool": true, "dm-loaded": true, "dm-bufio": false, "dm-snapshot": false, "dm-thin": false,
	} {
		if hasModule(root, module) != has {
			t.Errorf("module %s: %v", module, !has)
		}
	}
}
