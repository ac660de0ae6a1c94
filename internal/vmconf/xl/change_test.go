package xl

import (
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
)

func TestChangeDisk(t *testing.T) {
	const direct, bus, source, discard = vmconf.SetCache, vmconf.SetBus, vmconf.SetSource, vmconf.SetDiscard
	for _, tt := range []struct{ disk, setting, value, want string }{
		{`'/srv/a,qcow2,xvda,rw'`, direct, "none", `'/srv/a,qcow2,xvda,rw,direct-io-safe'`},
		{`'/srv/a,qcow2,xvda,,'`, direct, "none", `'/srv/a,qcow2,xvda,,direct-io-safe'`},
		{`"format=qcow2, vdev=xvda, target=/srv/a"`, direct, "none", `"format=qcow2, vdev=xvda, direct-io-safe,target=/srv/a"`},
		{`"\x2fsrv\/a,qcow2,xvda"`, vmconf.SetAIO, "native", `"\x2fsrv\/a,qcow2,xvda,direct-io-safe"`},
		{`'/srv/a,,xvda'`, direct, "none", `'/srv/a,,xvda,backendtype=qdisk,direct-io-safe'`},
		{`'/srv/a,,xvda,,'`, direct, "none", `'/srv/a,,xvda,,backendtype=qdisk,direct-io-safe'`},
		{`'file:/srv/a,xvda,w,backendtype=phy'`, direct, "none", `'file:/srv/a,xvda,w,backendtype=qdisk,direct-io-safe'`},
		{`'phy:/dev/x,xvda,w'`, direct, "none", `'phy:/dev/x,xvda,w'`}, // so already
		{`'phy:/dev/x,xvda,w'`, direct, "writeback", `'phy:/dev/x,xvda,w,backendtype=qdisk'`},
		{`'/srv/a,qcow2,xvda,direct-io-safe'`, direct, "writeback", `'/srv/a,qcow2,xvda'`},
		{`'/srv/a,qcow2,xvda, direct-io-safe,discard'`, direct, "", `'/srv/a,qcow2,xvda, discard'`},
		{`'direct-io-safe,format=qcow2,vdev=xvda,target=/a'`, vmconf.SetAIO, "threads", `'format=qcow2,vdev=xvda,target=/a'`},
		{`'/dev/x,,xvda'`, discard, "ignore", `'/dev/x,,xvda,no-discard'`},
		{`'/dev/x,,xvda,no-discard'`, discard, "unmap", `'/dev/x,,xvda,discard'`},
		{`'/dev/x,,xvda,no-discard,rw'`, discard, "", `'/dev/x,,xvda,rw'`},
		{`'/dev/x,,hda'`, bus, "xen", `'/dev/x,,xvda'`},
		{`'vdev=sdb,target=/dev/x'`, bus, "xen", `'vdev=xvdb,target=/dev/x'`},
		{`'/dev/x,,xvdb'`, bus, "ide", `'/dev/x,,hdb'`},
		{`'phy:/dev/x,hda:disk,w'`, bus, "xen", `'phy:/dev/x,xvda:disk,w'`},
		{`'/srv/a,,xvda'`, source, "/dev/vg/a", `'/dev/vg/a,,xvda'`},
		{`'file:/srv/a,xvda,w'`, source, "/srv/it's", `'file:/srv/it\'s,xvda,w'`},
		{`'/srv/a,,xvda,w'`, source, "/srv/a,b", `',,xvda,w,target=/srv/a,b'`},
		{`'vdev=xvda,target=/srv/a'`, source, "/srv/a=b, c", `'vdev=xvda,target=/srv/a=b, c'`},
		{`'/srv/a,qcow2,xvda,discard,discard'`, discard, "ignore", `'/srv/a,qcow2,xvda,,no-discard'`},
		{`',hdc:cdrom,r'`, source, "/iso", `',,hdc:cdrom,r,target=/iso'`},
		{`'format=empty,vdev=hdc,cdrom'`, source, "/iso", `'format=raw,vdev=hdc,cdrom,target=/iso'`},
		{`'vdev=hdc,cdrom'`, source, "/iso", `'vdev=hdc,cdrom,target=/iso'`},
		{`'/srv/a,,xvda'`, vmconf.SetThrottle, "", `'/srv/a,,xvda'`},
	} {
		const before, after = "type = 'hvm' # \xff\r\ndisk = [ '/other,,xvdz', ", " ] # end"
		d := parse(t, before+tt.disk+after)
		c := vmconf.Change{Disk: d.VMs()[0].Disks[1].ID, Setting: tt.setting, Value: tt.value}
		got, err := d.Change(0, []vmconf.Change{c})
		if err != nil || string(got) != before+tt.want+after {
			t.Errorf("%s, %+v:\n got %s, %v\nwant %s", tt.disk, c, got, err, before+tt.want+after)
		}
	}
}

// Several changes at once, in whatever order they come: the cache of an emulated disk can change once it is not emulated.
func TestChangeTogether(t *testing.T) {
	d := parse(t, "type='hvm'\nmaxmem=512; memory=256\n maxmem = 768\ndisk=['/srv/a,,hda', '/srv/b,,hdb']\n")
	got, err := d.Change(0, []vmconf.Change{
		{Disk: "hda", Setting: vmconf.SetCache, Value: "none"},
		{Disk: "hda", Setting: vmconf.SetAIO, Value: "native"},
		{Disk: "hda", Setting: vmconf.SetBus, Value: "xen"},
		{Disk: "hdb", Setting: vmconf.SetBus, Value: "xen"},
		{Setting: vmconf.SetBalloon, Value: "off"},
	})
	const want = "type='hvm'\n memory=256\ndisk=['/srv/a,,xvda,backendtype=qdisk,direct-io-safe', '/srv/b,,xvdb']\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestChangeRefused(t *testing.T) {
	const text = "type='hvm'\nmemory=64\ndisk=['/srv/a,,hda', '/srv/b,,xvda', '/iso,,hdc,cdrom', '/x,,51712', 'a,%s' % 1, '/s,,xvds,script=s', '/t,x,xvdt']\n"
	for _, tt := range []struct {
		changes []vmconf.Change
		want    string
	}{
		{
			[]vmconf.Change{{Disk: "hda", Setting: "cache", Value: "none"}, {Disk: "vda", Setting: "cache", Value: "none"}},
			"d.cfg: disk hda: cache: xl leaves no choice on ide; change the bus to xen\n" +
				"d.cfg: disk vda: cache: there is no such disk; expected one of hda, xvda, hdc, 51712, disk4, xvds, xvdt",
		},
		{[]vmconf.Change{{Disk: "hda", Setting: "bus", Value: "xen"}}, "d.cfg: disk hda: bus: another disk is xvda already; change its vdev by hand"},
		{[]vmconf.Change{{Disk: "hda", Setting: "bus", Value: "virtio-blk"}}, `d.cfg: disk hda: bus: xl has no "virtio-blk"; expected xen, ide, sata or lsi`},
		{[]vmconf.Change{{Disk: "hdc", Setting: "bus", Value: "xen"}}, "d.cfg: disk hdc: bus: xl puts every CD drive of an HVM domain on IDE"},
		{[]vmconf.Change{{Disk: "51712", Setting: "bus", Value: "ide"}}, "d.cfg: disk 51712: bus: vdev 51712 has no letter that could be kept; change it by hand"},
		{[]vmconf.Change{{Disk: "xvda", Setting: "cache", Value: "unsafe"}}, `d.cfg: disk xvda: cache: xl has no "unsafe"; expected none or writeback`},
		{[]vmconf.Change{{Disk: "xvda", Setting: "aio", Value: "io_uring"}}, `d.cfg: disk xvda: aio: xl has no "io_uring"; expected native or threads`},
		{[]vmconf.Change{{Disk: "xvda", Setting: "queues", Value: "4"}}, "d.cfg: disk xvda: queues: xl has no setting for it; expected one of bus, cache, aio, discard, source"},
		{[]vmconf.Change{{Disk: "disk4", Setting: "bus", Value: "xen"}}, "d.cfg: disk disk4: bus: Python puts this disk together; change line 3 by hand"},
		{[]vmconf.Change{{Disk: "xvdt", Setting: "discard", Value: "ignore"}}, `d.cfg: disk xvdt: discard: xl refuses the disk as it stands: unknown format "x"; mend line 3 by hand`},
		{[]vmconf.Change{{Disk: "xvds", Setting: "cache", Value: "none"}}, "d.cfg: disk xvds: cache: a script or a driver domain serves the disk; change it there"},
		{[]vmconf.Change{{Setting: "hugepages", Value: "on"}}, "d.cfg: hugepages: xl has no setting for it; expected one of balloon"},
		{
			[]vmconf.Change{{Disk: "xvda", Setting: "cache", Value: "none"}, {Disk: "xvda", Setting: "aio", Value: "threads"}},
			`d.cfg: disk xvda: cache: xl would make it "writeback", not "none"; another of the changes needs that`,
		},
		{[]vmconf.Change{{Disk: "xvda", Setting: "source", Value: "/a\nb"}}, `d.cfg: disk xvda: source: "/a\nb" is no target for xl; expected a path`},
	} {
		got, err := parse(t, text).Change(0, tt.changes)
		if errkind.CodeOf(err) != errkind.Usage || got != nil || err.Error() != tt.want {
			t.Errorf("%+v:\n got %q, %v\nwant %s", tt.changes, got, err, tt.want)
		}
	}
	if _, err := parse(t, text).Change(1, nil); err == nil || !strings.Contains(err.Error(), "the file has one") {
		t.Error(err)
	}
}
