package pve_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// TestChange has changes as what they do to the lines, and as the command that does the same.
func TestChange(t *testing.T) {
	set := func(disk, setting, value string) []vmconf.Change {
		return []vmconf.Change{{Disk: disk, Setting: setting, Value: value}}
	}
	const thin = "# web\nboot: order=ide0;net0\r\nide0: local-lvm:x,model=A,size=8G,ssd=1\n"
	for _, c := range []struct {
		name, conf string
		changes    []vmconf.Change
		want, qm   string
	}{
		{
			"a property that stands there", "virtio0: local-lvm:x,cache=unsafe,size=1G\n", set("virtio0", vmconf.SetCache, "none"),
			"virtio0: local-lvm:x,cache=none,size=1G\n", "qm set 100 --virtio0 local-lvm:x,cache=none,size=1G",
		},
		{
			"one that does not, in its place", "cores: 2\nvirtio0:  local-lvm:x,backup=0,size=1G  \n#end", set("virtio0", vmconf.SetIOThread, "on"),
			"cores: 2\nvirtio0:  local-lvm:x,backup=0,iothread=1,size=1G  \n#end", "qm set 100 --virtio0 local-lvm:x,backup=0,iothread=1,size=1G",
		},
		{
			"one taken out", "virtio0: local-lvm:x,aio=native,size=1G\n", set("virtio0", vmconf.SetAIO, ""),
			"virtio0: local-lvm:x,size=1G\n", "qm set 100 --virtio0 local-lvm:x,size=1G",
		},
		{
			"a default is not written", "virtio0: local-lvm:x,discard=on\n", set("virtio0", vmconf.SetDiscard, "ignore"),
			"virtio0: local-lvm:x\n", "qm set 100 --virtio0 local-lvm:x",
		},
		{
			"zeroes", "virtio0: local-lvm:x\n",
			[]vmconf.Change{{Disk: "virtio0", Setting: vmconf.SetDetectZeroes, Value: "unmap"}, {Disk: "virtio0", Setting: vmconf.SetDiscard, Value: "unmap"}},
			"virtio0: local-lvm:x,discard=on\n", "qm set 100 --virtio0 local-lvm:x,discard=on",
		},
		{
			"a thread needs its controller", "cores: 1\nscsi0: local-lvm:x\nscsihw: virtio-scsi-pci\nsockets: 1\n", set("scsi0", vmconf.SetIOThread, "on"),
			"cores: 1\nscsi0: local-lvm:x,iothread=1\nscsihw: virtio-scsi-single\nsockets: 1\n",
			"qm set 100 --scsi0 local-lvm:x,iothread=1 --scsihw virtio-scsi-single",
		},
		{
			"limits", "virtio0: local-lvm:x,iops=5,mbps_rd=3,mbps_rd_max=4,size=1G\n", set("virtio0", vmconf.SetThrottle, ""),
			"virtio0: local-lvm:x,size=1G\n", "qm set 100 --virtio0 local-lvm:x,size=1G",
		},
		{
			"the source", "virtio0: /dev/sdb,size=1G\n", set("virtio0", vmconf.SetSource, "/dev/disk/by-id/wwn-1"),
			"virtio0: /dev/disk/by-id/wwn-1,size=1G\n", "qm set 100 --virtio0 /dev/disk/by-id/wwn-1,size=1G",
		},
		{
			"queues", "scsi0: local-lvm:x\nscsihw: virtio-scsi-single", set("scsi0", vmconf.SetQueues, "4"),
			"scsi0: local-lvm:x,queues=4\nscsihw: virtio-scsi-single", "qm set 100 --scsi0 local-lvm:x,queues=4",
		},
		{
			"to virtio-blk", thin, set("ide0", vmconf.SetBus, vmconf.VirtioBlk),
			"# web\nboot: order=virtio0;net0\r\nvirtio0: local-lvm:x,size=8G\n",
			"qm set 100 --boot 'order=virtio0;net0' --virtio0 local-lvm:x,size=8G --delete ide0",
		},
		{
			"to virtio-scsi with a thread", thin,
			[]vmconf.Change{{Disk: "ide0", Setting: vmconf.SetIOThread, Value: "on"}, {Disk: "ide0", Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI}},
			"# web\nboot: order=scsi0;net0\r\nscsi0: local-lvm:x,iothread=1,size=8G,ssd=1\nscsihw: virtio-scsi-single\r\n",
			"qm set 100 --boot 'order=scsi0;net0' --scsi0 local-lvm:x,iothread=1,size=8G,ssd=1 --scsihw virtio-scsi-single --delete ide0",
		},
		{
			"the controller of all disks", "scsi0: local-lvm:x\nscsi1: local-lvm:y",
			[]vmconf.Change{{Disk: "scsi0", Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI}, {Disk: "scsi1", Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI}},
			"scsi0: local-lvm:x\nscsi1: local-lvm:y\nscsihw: virtio-scsi-single", "qm set 100 --scsihw virtio-scsi-single",
		},
		{
			"huge pages need NUMA", "cores: 2\nname: a\n\n[old]\ncores: 1\n", set("", vmconf.SetHugepages, "on"),
			"cores: 2\nhugepages: any\nname: a\nnuma: 1\n\n[old]\ncores: 1\n", "qm set 100 --hugepages any --numa 1",
		},
		{
			"the agent", "agent: 0,fstrim_cloned_disks=1\n", set("", vmconf.SetAgent, "on"),
			"agent: 1,fstrim_cloned_disks=1\n", "qm set 100 --agent 1,fstrim_cloned_disks=1",
		},
		{
			"the balloon", "cores: 1\nballoon: 0\nmemory: 64\n", set("", vmconf.SetBalloon, "on"),
			"cores: 1\nmemory: 64\n", "qm set 100 --delete balloon",
		},
		{
			"the machine", "machine: q35,viommu=virtio\n", set("", vmconf.SetMachine, "pc-q35-9.2"),
			"machine: pc-q35-9.2,viommu=virtio\n", "qm set 100 --machine pc-q35-9.2,viommu=virtio",
		},
		{
			"a comment stays", "virtio0: local-lvm:x,cache=unsafe # mine\n", set("virtio0", vmconf.SetCache, ""),
			"virtio0: local-lvm:x # mine\n", "qm set 100 --virtio0 local-lvm:x",
		},
		{
			"a line with a double", "balloon: 7\nballoon: 0\nvirtio0: local-lvm:x\n", set("", vmconf.SetBalloon, "on"),
			"virtio0: local-lvm:x\n", "qm set 100 --delete balloon",
		},
		{"nothing", "virtio0: local-lvm:x\n", set("virtio0", vmconf.SetCache, ""), "virtio0: local-lvm:x\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := pve.Parse("100.conf", []byte(c.conf), pve.Storage{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Change(0, c.changes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if qm, err := d.QM(0, c.changes); err != nil || qm != c.qm {
				t.Errorf("%s (%v), want %s", qm, err, c.qm)
			}
		})
	}
}

// TestChangeRefused has what Proxmox VE has no words for, and what would have no effect.
func TestChangeRefused(t *testing.T) {
	const conf = "efidisk0: local-lvm:e\nide2: none,media=cdrom\nmachine: pc\nsata0: local-lvm:s\nscsi0: ceph:x\nscsi1: ceph:y\nvirtio0: local-lvm:v,discard=on\n"
	for _, c := range []struct {
		disk, setting, value, want string
	}{
		{"scsi7", vmconf.SetCache, "none", "there is no disk scsi7"},
		{"efidisk0", vmconf.SetCache, "none", "efidisk0 is no disk of the guest: it cannot be changed"},
		{"virtio0", vmconf.SetCache, "fast", `virtio0: "fast" is not a value of cache`},
		{"virtio0", vmconf.SetCache, "none\nx: y", `cache: "none\nx: y" cannot be written in a configuration of Proxmox VE`},
		{"virtio0", vmconf.SetQueues, "4", "virtio0: Proxmox VE has no queues for a disk on virtio"},
		{"virtio0", vmconf.SetQueueSize, "1024", "virtio0: Proxmox VE has no setting for queue_size"},
		{"virtio0", vmconf.SetDetectZeroes, "on", `virtio0: detect_zeroes would be "unmap" and not "on" (Proxmox VE's default with discard=on)`},
		{"virtio0", vmconf.SetThrottle, "5", "virtio0: limits can only be lifted"},
		{"virtio0", vmconf.SetSource, "", "virtio0: a disk needs a source"},
		{"virtio0", vmconf.SetBus, "nvme", `virtio0: Proxmox VE has no disks on "nvme"`},
		{"ide2", vmconf.SetBus, "sata", "ide2: a CD-ROM drive is not moved"},
		{"sata0", vmconf.SetIOThread, "on", "sata0: Proxmox VE has no iothread for a disk on sata"},
		{"scsi0", vmconf.SetIOThread, "on", `scsi0: iothread would be "off" and not "on" (Proxmox VE ignores it on scsihw lsi: it needs virtio-scsi-single)`},
		{
			"scsi0", vmconf.SetAIO, "native",
			`scsi0: aio would be "" and not "native" (QEMU reaches the storage by a library, which has no such setting)`,
		},
		{"scsi0", vmconf.SetBus, "megasas", "scsi1 would move from lsi to megasas too: scsihw is of all SCSI disks; move it with the others"},
		{"", vmconf.SetHugepages, "2048", `hugepages: "2048" is neither on nor off`},
		{"", vmconf.SetCache, "none", "cache is not a setting of a machine"},
	} {
		t.Run(c.disk+" "+c.setting+" "+c.value, func(t *testing.T) {
			d, err := pve.Parse("100.conf", []byte(conf), readStorage(t, "testdata/storage.cfg"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Change(0, []vmconf.Change{{Disk: c.disk, Setting: c.setting, Value: c.value}})
			if err == nil || err.Error() != "100.conf: "+c.want || errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	d, err := pve.Parse("100.conf", []byte(conf), pve.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Change(0, []vmconf.Change{{Disk: "scsi8", Setting: vmconf.SetCache, Value: "none"}, {Disk: "virtio0", Setting: vmconf.SetAIO, Value: "x"}})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all faults at once: %v", err)
	}
}

// TestParts changes pending changes, and neither what they would undo nor a snapshot.
func TestParts(t *testing.T) {
	const conf = "virtio0: local-lvm:x\nvirtio1: local-lvm:y\n\n[PENDING]\nvirtio0: local-lvm:x,cache=unsafe\n\n[old]\nvirtio0: local-lvm:x\n"
	d, err := pve.Parse("100.conf", []byte(conf), pve.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	parts := []string{}
	for _, vm := range d.VMs() {
		parts = append(parts, vm.Part)
	}
	if diff := cmp.Diff([]string{"", "pending", "snapshot old"}, parts); diff != "" {
		t.Fatal(diff)
	}
	cache := func(disk string) []vmconf.Change {
		return []vmconf.Change{{Disk: disk, Setting: vmconf.SetCache, Value: "directsync"}}
	}
	for _, c := range []struct {
		vm         int
		disk, want string
	}{
		{0, "virtio1", strings.Replace(conf, "local-lvm:y", "local-lvm:y,cache=directsync", 1)},
		{1, "virtio0", strings.Replace(conf, "unsafe", "directsync", 1)},
	} {
		if got, err := d.Change(c.vm, cache(c.disk)); err != nil || string(got) != c.want {
			t.Errorf("machine %d, %s: %v\n%s", c.vm, c.disk, err, got)
		}
	}
	for vm, want := range map[int]string{
		0: "virtio0 has a change pending in line 4, which would undo this one; let the VM start with what is pending, or revert that, first",
		2: "snapshot old is a record of what was: it cannot be changed",
	} {
		if _, err := d.Change(vm, cache("virtio0")); err == nil || err.Error() != "100.conf: "+want {
			t.Errorf("machine %d: %v, want %s", vm, err, want)
		}
	}
}
