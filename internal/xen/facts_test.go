package xen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// The two sides of one disk as `xenstore-ls -f` of Xen 4.17 prints them.
const (
	frontEnd = `/local/domain/3/device/vbd/51712 = ""
/local/domain/3/device/vbd/51712/backend = "/local/domain/0/backend/vbd/3/51712"
/local/domain/3/device/vbd/51712/backend-id = "0"
/local/domain/3/device/vbd/51712/state = "4"
/local/domain/3/device/vbd/51712/virtual-device = "51712"
/local/domain/3/device/vbd/51712/device-type = "disk"
/local/domain/3/device/vbd/51712/multi-queue-num-queues = "2"
/local/domain/3/device/vbd/51712/ring-page-order = "4"
/local/domain/3/device/vbd/51712/protocol = "x86_64-abi"
/local/domain/3/device/vbd/51712/feature-persistent = "1"
`
	backEnd = `/local/domain/0/backend/vbd/3/51712/frontend = "/local/domain/3/device/vbd/51712"
/local/domain/0/backend/vbd/3/51712/params = "/scratch/iotax-r/a"
/local/domain/0/backend/vbd/3/51712/state = "4"
/local/domain/0/backend/vbd/3/51712/dev = "xvda"
/local/domain/0/backend/vbd/3/51712/type = "phy"
/local/domain/0/backend/vbd/3/51712/mode = "w"
/local/domain/0/backend/vbd/3/51712/physical-device = "7:a"
/local/domain/0/backend/vbd/3/51712/feature-flush-cache = "1"
/local/domain/0/backend/vbd/3/51712/feature-discard = "0"
/local/domain/0/backend/vbd/3/51712/feature-persistent = "1"
`
)

func trees() (front, back tree) {
	return parseTree(frontEnd, "/local/domain/3/device/vbd").sub("51712"), parseTree(backEnd, "/local/domain/0/backend/vbd/3/51712")
}

func TestDiskFacts(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(front, back tree)
		want   DiskFacts
	}{
		"blkback": {
			func(front, back tree) {},
			DiskFacts{Backend: "phy", Target: "/scratch/iotax-r/a", Connected: true, FlushCache: true, Persistent: true, Queues: 2, RingPages: 16},
		},
		"qdisk": {
			func(front, back tree) {
				back["type"], back["params"] = "qdisk", "aio:/scratch/a:b"
				delete(front, "feature-persistent")
			},
			DiskFacts{Backend: "qdisk", Target: "/scratch/a:b", Connected: true, FlushCache: true, Queues: 2, RingPages: 16},
		},
		"an old back end, not met": {
			func(front, back tree) {
				front["state"] = "1"
				delete(front, "multi-queue-num-queues")
				delete(front, "ring-page-order")
				delete(back, "feature-flush-cache")
				back["feature-discard"] = "1"
			},
			DiskFacts{Backend: "phy", Target: "/scratch/iotax-r/a", Discard: true, Persistent: true, Queues: 1, RingPages: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			front, back := trees()
			tt.change(front, back)
			if d := cmp.Diff(tt.want, diskFacts(front, back)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMismatch(t *testing.T) {
	on, off := true, false
	asked := xlcfg.Disk{VDev: "xvda", Path: "/a", Format: "raw", Backend: "phy"}
	good := DiskFacts{Backend: "phy", Target: "/a", Connected: true, FlushCache: true}
	for name, tt := range map[string]struct {
		change func(*DiskFacts, *xlcfg.Disk)
		want   string
	}{
		"as asked":      {func(*DiskFacts, *xlcfg.Disk) {}, ""},
		"other target":  {func(f *DiskFacts, _ *xlcfg.Disk) { f.Target = "/b" }, "/a was asked for, but the back end has /b"},
		"other backend": {func(f *DiskFacts, _ *xlcfg.Disk) { f.Backend = "qdisk" }, "backend phy was asked for, but qdisk serves the disk"},
		"not met":       {func(f *DiskFacts, _ *xlcfg.Disk) { f.Connected = false }, "the disk's front end and back end have not met"},
		"no flushes":    {func(f *DiskFacts, _ *xlcfg.Disk) { f.FlushCache = false }, "takes no flushes"},
		"page cache": {func(f *DiskFacts, d *xlcfg.Disk) {
			f.Backend, d.Backend, d.DirectIOSafe, f.ODirect = "qdisk", "qdisk", true, &off
		}, "direct-io-safe true was asked for, but O_DIRECT is false"},
		"direct": {func(f *DiskFacts, d *xlcfg.Disk) {
			f.Backend, d.Backend, d.DirectIOSafe, f.ODirect = "qdisk", "qdisk", true, &on
		}, ""},
		"emulated": {func(f *DiskFacts, d *xlcfg.Disk) {
			*f, d.VDev = DiskFacts{Backend: "ide", Target: "/a", ODirect: &off}, "hda"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, d := good, asked
			tt.change(&f, &d)
			got := strings.Join(f.Mismatch(d), "; ")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEffective(t *testing.T) {
	on, off := true, false
	for name, tt := range map[string]struct {
		facts DiskFacts
		want  map[string]string
	}{
		"file by blkback": {
			DiskFacts{Backend: "phy", Target: "/a", FlushCache: true, Persistent: true, Queues: 2, RingPages: 16, LoopDirect: &off},
			map[string]string{
				"backend": "phy", "backend target": "/a", "loop direct I/O": "off", "feature-flush-cache": "on", "feature-discard": "off",
				"feature-persistent": "on", "queues": "2", "ring pages": "16",
			},
		},
		"ide": {DiskFacts{Backend: "ide", Target: "/a", ODirect: &on}, map[string]string{"backend": "ide", "backend target": "/a", "O_DIRECT": "on"}},
	} {
		if d := cmp.Diff(tt.want, tt.facts.Effective()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestLoopDirect(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"sys/dev/block/7:10/loop/dio": "1\n", "sys/dev/block/7:0/loop/dio": "0\n"})
	for device, want := range map[string]string{"7:a": "on", "7:0": "off", "fe:10": "none", "": "none", "7:b": "fault", "7:x": "fault"} {
		direct, err := loopDirect(root, device)
		got := "none"
		switch {
		case err != nil:
			got = "fault"
		case direct != nil && *direct:
			got = "on"
		case direct != nil:
			got = "off"
		}
		if got != want {
			t.Errorf("%q: %s, %v; want %s", device, got, err, want)
		}
	}
}

func TestUnserved(t *testing.T) {
	const kinds = `/local/domain/0/backend/qdisk = ""
/local/domain/0/backend/qdisk/3 = ""
/local/domain/0/backend/qdisk/3/51712 = ""
/local/domain/0/backend/qdisk/3/51712/dev = "xvda"
/local/domain/0/backend/qdisk/3/51712/state = "2"
/local/domain/0/backend/qdisk/3/51728/dev = "xvdb"
/local/domain/0/backend/qdisk/3/51728 = ""
/local/domain/0/backend/qdisk/3/51728/state = "1"
/local/domain/0/backend/qdisk/30/51712/dev = "xvdc"
/local/domain/0/backend/qdisk/30/51712/state = "1"
`
	of := func(text string) string {
		return unserved(parseTree(text, "/local/domain/0/backend").sub("qdisk").sub("3"))
	}
	if got := of(kinds); got != "xvdb" {
		t.Errorf("got %q, want xvdb", got)
	}
	if got := of(strings.Replace(kinds, `51728/state = "1"`, `51728/state = "4"`, 1)); got != "" {
		t.Errorf("got %q though all are served", got)
	}
}

// What `xl vcpu-list` of Xen 4.17 prints of one domain.
const vcpus = `Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)
iotax-r-guest                        3     0    0   -b-       1.3  0 / all
iotax-r-guest                        3     1    -   --p       0.0  1,3-4 / all
`

func TestAffinities(t *testing.T) {
	if d := cmp.Diff(map[int]string{0: "0", 1: "1,3-4"}, affinities(vcpus)); d != "" {
		t.Error(d)
	}
	if got := affinities("Name ID VCPU\n"); len(got) != 0 {
		t.Errorf("nothing became %v", got)
	}
}

func TestPin(t *testing.T) {
	for name, tt := range map[string]struct {
		cpus  int
		said  string
		fault string
	}{
		"as asked":         {4, strings.Replace(vcpus, "1,3-4", "1", 1), ""},
		"elsewhere":        {4, vcpus, `vCPU 1 was to run on physical CPU 1, but Xen has it on "1,3-4"`},
		"missing":          {4, "", `vCPU 0 was to run on physical CPU 0, but Xen has it on ""`},
		"there is but one": {1, strings.NewReplacer("1,3-4 /", "all /", "0 / all", "all / all").Replace(vcpus), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Domain{id: "3", c: Config{Pin: true, CPUs: 2, Host: Host{CPUs: tt.cpus}}}
			d.c.Runner = toolstack{answers: map[string]string{"xl vcpu-list 3": tt.said}}
			d.policy.VCPUs = []int{0, 1}
			if tt.cpus == 1 {
				d.policy.VCPUs = []int{0, 0}
			}
			policy, err := d.Pin(t.Context())
			if tt.fault != "" {
				if err == nil || err.Error() != tt.fault {
					t.Errorf("got %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil || len(policy.VCPUs) != 2 {
				t.Errorf("%+v, %v", policy, err)
			}
		})
	}
	if policy, err := (&Domain{}).Pin(t.Context()); err != nil || len(policy.VCPUs) != 0 {
		t.Errorf("not pinned: %+v, %v", policy, err)
	}
}
