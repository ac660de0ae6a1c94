package libvirt_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/linediff"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

func set(disk, setting, value string) vmconf.Change {
	return vmconf.Change{Disk: disk, Setting: setting, Value: value}
}

var changes = []struct {
	name, file string
	vm         int
	list       []vmconf.Change
}{
	{"to-virtio-blk", "desk.xml", 0, []vmconf.Change{
		set("sda", vmconf.SetIOThread, "on"), set("sda", vmconf.SetBus, vmconf.VirtioBlk), set("sda", vmconf.SetAIO, "io_uring"),
		set("sda", vmconf.SetCache, "none"), set("sda", vmconf.SetL2CacheSize, "67108864"), set("sda", vmconf.SetQueues, "4"),
	}},
	{"to-virtio-scsi", "desk.xml", 0, []vmconf.Change{
		set("sda", vmconf.SetBus, vmconf.VirtioSCSI), set("sdb", vmconf.SetBus, vmconf.VirtioSCSI),
		set("sda", vmconf.SetIOThread, "on"), set("sda", vmconf.SetQueues, "2"),
	}},
	{"machine", "desk.xml", 0, []vmconf.Change{
		set("", vmconf.SetHugepages, "on"), set("", vmconf.SetAgent, "on"), set("", vmconf.SetBalloon, "off"),
		set("", vmconf.SetMachine, "pc-q35-9.1"),
	}},
	{"machine-back", "server.xml", 0, []vmconf.Change{
		set("", vmconf.SetHugepages, "off"), set("", vmconf.SetAgent, "off"), set("", vmconf.SetBalloon, "on"),
	}},
	{"driver", "server.xml", 0, []vmconf.Change{
		set("vda", vmconf.SetCache, "writeback"), set("vda", vmconf.SetAIO, "threads"), set("vda", vmconf.SetDiscard, "unmap"),
		set("vda", vmconf.SetIOThread, "off"), set("vda", vmconf.SetSource, "/dev/disk/by-id/a&b'c"), set("vda", vmconf.SetPhysical, "4096"),
		set("vdb", vmconf.SetCache, ""), set("vdb", vmconf.SetQueueSize, ""), set("vdb", vmconf.SetPhysical, "8192"),
		set("vdb", vmconf.SetThrottle, ""), set("vdb", vmconf.SetIOThread, "off"),
		set("sda", vmconf.SetThrottle, ""), set("sda", vmconf.SetDiscard, "unmap"), set("sda", vmconf.SetDetectZeroes, "unmap"),
		set("sdb", vmconf.SetL2CacheSize, "1048576"), set("sdb", vmconf.SetQueues, "3"), set("sdb", vmconf.SetThrottle, ""),
		set("sdc", vmconf.SetThrottle, ""), set("sdc", vmconf.SetIOThread, "off"),
	}},
	{"threads", "server.xml", 0, []vmconf.Change{
		set("sda", vmconf.SetBus, vmconf.VirtioBlk), set("sda", vmconf.SetIOThread, "on"),
		set("sdc", vmconf.SetBus, vmconf.VirtioBlk), set("sdc", vmconf.SetIOThread, "on"),
		set("hdb", vmconf.SetBus, vmconf.VirtioBlk), set("hdb", vmconf.SetIOThread, "on"),
		set("vdb", vmconf.SetIOThread, "on"), set("vdb", vmconf.SetBus, vmconf.VirtioSCSI),
	}},
	{"away-from-virtio", "server.xml", 0, []vmconf.Change{
		set("vda", vmconf.SetBus, vmconf.SATA), set("vdb", vmconf.SetBus, vmconf.IDE), set("sdb", vmconf.SetBus, vmconf.USB),
		set("sdc", vmconf.SetBus, vmconf.PVSCSI), set("hdb", vmconf.SetBus, vmconf.LSI), set("sdb", vmconf.SetL2CacheSize, ""),
	}},
	{"implicit-controller", "snapshot.xml", 0, []vmconf.Change{
		set("sdp", vmconf.SetIOThread, "on"), set("sdp", vmconf.SetQueues, "8"), set("sdp", vmconf.SetPhysical, "4096"),
	}},
	{"one-line", "stream.txt", 0, []vmconf.Change{
		set("hda", vmconf.SetBus, vmconf.VirtioSCSI), set("hda", vmconf.SetCache, "none"), set("hda", vmconf.SetAIO, "native"),
		set("", vmconf.SetHugepages, "on"), set("", vmconf.SetAgent, "on"),
	}},
	{"xen-source", "stream.txt", 1, []vmconf.Change{set("xvda", vmconf.SetSource, "/dev/disk/by-id/pv")}},
}

func TestChange(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			doc := fixture(t, c.file)
			got, err := doc.Change(c.vm, c.list)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", c.name+".diff"),
				linediff.Unified(c.file, doc.Bytes(), linediff.Edits(doc.Bytes(), got)))
			again, err := libvirt.Parse(c.file, got)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, doc, again, c.vm, c.list)
		})
	}
}

// holds checks that changes took effect: the disks keep their places, whatever their names are now.
func holds(t *testing.T, before, after *libvirt.Document, vm int, list []vmconf.Change) {
	t.Helper()
	if len(before.VMs()) != len(after.VMs()) || len(before.VMs()[vm].Disks) != len(after.VMs()[vm].Disks) {
		t.Fatalf("machines or disks were lost:\n%s", after.Bytes())
	}
	names := map[string]bool{}
	for i, old := range before.VMs()[vm].Disks {
		now := after.VMs()[vm].Disks[i]
		if now.ID != old.ID && names[now.ID] {
			t.Errorf("two disks are called %s", now.ID)
		}
		names[now.ID] = true
		for _, c := range list {
			if c.Disk == old.ID {
				effect(t, c, disks(now)[c.Setting])
			}
		}
	}
	now := after.VMs()[vm]
	for _, c := range list {
		if c.Disk == "" {
			effect(t, c, map[string]vmconf.Setting{
				vmconf.SetHugepages: now.Hugepages, vmconf.SetAgent: now.Agent, vmconf.SetBalloon: now.Balloon, vmconf.SetMachine: now.Machine,
			}[c.Setting])
		}
	}
}

func disks(d vmconf.Disk) map[string]vmconf.Setting {
	throttle := vmconf.Setting{Set: len(d.Throttle) > 0}
	return map[string]vmconf.Setting{
		vmconf.SetBus: d.Bus, vmconf.SetCache: d.Cache, vmconf.SetAIO: d.AIO, vmconf.SetIOThread: d.IOThread,
		vmconf.SetDiscard: d.Discard, vmconf.SetDetectZeroes: d.DetectZeroes, vmconf.SetQueues: d.Queues,
		vmconf.SetQueueSize: d.QueueSize, vmconf.SetL2CacheSize: d.L2CacheSize, vmconf.SetThrottle: throttle,
		vmconf.SetSource: d.Source, vmconf.SetPhysical: d.PhysicalBlock,
	}
}

func effect(t *testing.T, c vmconf.Change, now vmconf.Setting) {
	t.Helper()
	switch {
	case c.Value == "" && !now.Set:
	case c.Value != "" && now.Value == c.Value:
	case c.Value == "on" && now.Value != "off" && now.Value != "":
	default:
		t.Errorf("%+v: now %+v", c, now)
	}
}

func TestChangeFaults(t *testing.T) {
	for _, c := range []struct {
		file string
		vm   int
		list []vmconf.Change
		want string
	}{
		{"desk.xml", 1, nil, "desk.xml: no machine 1 in it"},
		{"desk.xml", 0, []vmconf.Change{
			set("sdx", vmconf.SetCache, "none"), set("", vmconf.SetCache, "none"), set("sda", vmconf.SetAgent, "on"),
			set("sda", "colour", "red"), set("sda", vmconf.SetCache, "warm"), set("", vmconf.SetBalloon, "half"),
			set("sda", vmconf.SetQueues, "2"), set("sda", vmconf.SetIOThread, "on"), set("sdb", vmconf.SetBus, vmconf.VirtioBlk),
			set("sda", vmconf.SetBus, vmconf.IDE), set("sda", vmconf.SetThrottle, "10"), set("sdb", vmconf.SetL2CacheSize, "1"),
			set("", vmconf.SetMachine, "pc-i440fx-9.0"), set("", vmconf.SetMachine, ""), set("sda", vmconf.SetPhysical, "1000"),
			set("sda", vmconf.SetSource, ""), set("sdb", vmconf.SetSource, "/x.iso"), set("sda", vmconf.SetL2CacheSize, "much"),
		}, ""},
		{"desk.xml", 0, []vmconf.Change{set("sda", vmconf.SetAIO, "native")}, `desk.xml: desk sda: aio "native": libvirt takes native with cache none or directsync alone`},
		{"server.xml", 0, []vmconf.Change{set("vda", vmconf.SetCache, "unsafe")}, `server.xml: server vda: cache "unsafe": aio is native, which libvirt takes with cache none or directsync alone`},
		{"desk.xml", 0, []vmconf.Change{set("sda", vmconf.SetDetectZeroes, "unmap"), set("sda", vmconf.SetDiscard, "")}, `desk.xml: desk sda: detect_zeroes "unmap": "on" takes effect: unmap needs discard unmap`},
		{"server.xml", 0, []vmconf.Change{
			set("vdd", vmconf.SetCache, "none"), set("vdd", vmconf.SetBus, vmconf.SATA), set("sdd", vmconf.SetBus, vmconf.VirtioBlk),
			set("fda", vmconf.SetBus, vmconf.IDE), set("sdc", vmconf.SetQueueSize, "64"), set("vdb", vmconf.SetPhysical, "512"),
		}, ""},
		{"stream.txt", 1, []vmconf.Change{set("xvda", vmconf.SetCache, "none")}, `stream.txt: pv xvda: cache "none": not a machine of QEMU`},
	} {
		doc := fixture(t, c.file)
		got, err := doc.Change(c.vm, c.list)
		if err == nil || got != nil || errkind.CodeOf(err) != errkind.Usage {
			t.Errorf("%v: %v", c.list, err)
			continue
		}
		if c.want == "" {
			golden.Equal(t, filepath.Join("testdata", c.file+".faults"), err.Error()+"\n")
			var list errkind.List
			if !errors.As(err, &list) || len(list) != len(c.list) {
				t.Errorf("%d faults for %d changes", len(list), len(c.list))
			}
			continue
		}
		if err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestChangeBoot changes buses of machines whose firmware boots from the first disk.
func TestChangeBoot(t *testing.T) {
	const xml = `<domain type='kvm'><name>n</name><os><type machine='pc'>hvm</type>%s</os><devices>
<disk type='file'><source file='/b'/><target dev='sdb' bus='sata'/></disk>
<disk type='file'><source file='/a'/><target dev='sda' bus='sata'/>%s</disk>
</devices></domain>`
	both := []vmconf.Change{set("sdb", vmconf.SetBus, vmconf.VirtioBlk), set("sda", vmconf.SetBus, vmconf.VirtioBlk)}
	for _, c := range []struct {
		boot, order string
		list        []vmconf.Change
		want        string
	}{
		{"", "", both, ""},
		{"", "", both[1:], "x: n: with these changes it would no longer boot from sda first; give that disk a <boot order='1'/>"},
		{"", "", both[:1], "x: n: with these changes it would no longer boot from sda first; give that disk a <boot order='1'/>"},
		{"<boot dev='cdrom'/><boot dev='hd'/>", "", both[:1], "x: n: with these changes it would no longer boot from sda first; give that disk a <boot order='1'/>"},
		{"<boot dev='network'/>", "", both[:1], ""},
		{"<kernel>/vmlinuz</kernel>", "", both[:1], ""},
		{"", "<boot order='1'/>", both[:1], ""},
	} {
		doc, err := libvirt.Parse("x", []byte(fmt.Sprintf(xml, c.boot, c.order)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = doc.Change(0, c.list); fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
