package pve_test

import (
	"os"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/pve"
)

// FuzzParse finds a configuration that breaks the reader, or a change of one that is accepted and does not take effect.
func FuzzParse(f *testing.F) {
	settings := []vmconf.Change{
		{Setting: vmconf.SetCache, Value: "none"},
		{Setting: vmconf.SetAIO, Value: "native"},
		{Setting: vmconf.SetIOThread, Value: "on"},
		{Setting: vmconf.SetDiscard, Value: "unmap"},
		{Setting: vmconf.SetDetectZeroes, Value: "off"},
		{Setting: vmconf.SetQueues, Value: "8"},
		{Setting: vmconf.SetBus, Value: vmconf.VirtioSCSI},
		{Setting: vmconf.SetBus, Value: vmconf.VirtioBlk},
		{Setting: vmconf.SetThrottle},
		{Setting: vmconf.SetSource, Value: "/dev/disk/by-id/x"},
		{Setting: vmconf.SetCache},
	}
	for _, file := range []string{"testdata/100.conf", "testdata/sections.conf"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := range settings {
			f.Add(string(data), byte(i), byte(i))
		}
	}
	f.Add("\ufeffscsi0: a:b,,c=d\r\nscsi0: x:y", byte(3), byte(0))
	f.Add("[PENDING]\ndelete: scsi0\n[a]", byte(3), byte(0))
	f.Fuzz(func(t *testing.T, text string, which, disk byte) {
		d, err := pve.Parse("100.conf", []byte(text), pve.Storage{})
		if err != nil {
			return
		}
		if string(d.Bytes()) != text {
			t.Fatal("the bytes are not those that were read")
		}
		if same, err := d.Change(0, nil); err != nil || string(same) != text {
			t.Fatalf("no change gives %q (%v)", same, err)
		}
		vm := d.VMs()[0]
		if len(vm.Disks) == 0 {
			return
		}
		before := vm.Disks[int(disk)%len(vm.Disks)]
		c := settings[int(which)%len(settings)]
		c.Disk = before.ID
		out, err := d.Change(0, []vmconf.Change{c})
		if err != nil {
			return
		}
		again, err := pve.Parse("100.conf", out, pve.Storage{})
		if err != nil {
			t.Fatalf("the changed configuration cannot be read: %v\n%s", err, out)
		}
		disks := again.VMs()[0].Disks
		if len(disks) != len(vm.Disks) {
			t.Fatalf("%d disks became %d:\n%s", len(vm.Disks), len(disks), out)
		}
		for i, after := range disks {
			if old := vm.Disks[i]; old.ID == before.ID {
				if !effected(c, after) {
					t.Fatalf("%+v has no effect:\n%s", c, out)
				}
			} else if old.ID != after.ID || old.Source.Value != after.Source.Value || old.Cache.Value != after.Cache.Value {
				t.Fatalf("%s became %s:\n%s", old.ID, after.ID, out)
			}
		}
	})
}

func effected(c vmconf.Change, d vmconf.Disk) bool {
	switch c.Setting {
	case vmconf.SetCache:
		return d.Cache.Value == c.Value || c.Value == "" && !d.Cache.Set
	case vmconf.SetAIO:
		return d.AIO.Value == c.Value
	case vmconf.SetIOThread:
		return d.IOThread.Value == c.Value
	case vmconf.SetDiscard:
		return d.Discard.Value == c.Value
	case vmconf.SetDetectZeroes:
		return d.DetectZeroes.Value == c.Value
	case vmconf.SetQueues:
		return d.Queues.Value == c.Value
	case vmconf.SetBus:
		return d.Bus.Value == c.Value
	case vmconf.SetSource:
		return d.Source.Value == c.Value
	}
	return len(d.Throttle) == 0
}
