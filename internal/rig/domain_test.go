package rig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/xen"
	"github.com/iotax/iotax/internal/xen/xlcfg"
)

// onXen is a session of a domain with one disk, on a host that has been looked at or not.
func onXen(host *xen.Host, in intended) *session {
	s := New(Config{Xen: host, Note: func(string) {}}).session(plan.Group{Guest: spec.Guest{Hypervisor: "xen-pv", CPUs: 1, Memory: 256 << 20}})
	in.stack.Name = "disk"
	s.intended = []intended{in}
	return s
}

// What a domain cannot have is unavailable, and ends nothing.
func TestNoDomain(t *testing.T) {
	for name, tt := range map[string]struct {
		host      *xen.Host
		in        intended
		why, mend string
	}{
		"no Xen":             {nil, intended{}, "does not run under Xen", "boot it into Xen"},
		"a part of a device": {&xen.Host{}, intended{disk: cmdline.Disk{Path: "/dev/sdb", Offset: 4096}}, "a part of /dev/sdb", ""},
		"no such domains":    {&xen.Host{Version: "4.17"}, intended{stack: spec.Stack{Backend: "phy"}}, "without PV domains", "type pvh"},
	} {
		s := onXen(tt.host, tt.in)
		if err := s.start(t.Context()); err != nil || s.machine != nil || len(s.intended) > 0 {
			t.Errorf("%s: %v, a machine: %v", name, err, s.machine != nil)
		}
		if a := s.absent["disk"]; !strings.Contains(a.why, tt.why) || !strings.Contains(a.mend, tt.mend) {
			t.Errorf("%s: %+v, want %q and %q", name, a, tt.why, tt.mend)
		}
	}
}

func TestXenDisk(t *testing.T) {
	for i, tt := range []struct {
		in   intended
		want xlcfg.Disk
	}{
		{
			intended{stack: spec.Stack{Bus: "blkfront", Format: "raw", Backend: "phy"}, disk: cmdline.Disk{Path: "/dev/zd0"}},
			xlcfg.Disk{VDev: "xvda", Path: "/dev/zd0", Format: "raw", Backend: "phy"},
		},
		{
			intended{stack: spec.Stack{Bus: "ide", Format: "qcow2", Backend: "qdisk"}, disk: cmdline.Disk{Path: "/f"}},
			xlcfg.Disk{VDev: "hdb", Path: "/f", Format: "qcow2", Backend: "qdisk"},
		},
	} {
		if diff := cmp.Diff(tt.want, xenDisk(i, tt.in)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
