package libvirt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// FuzzParse finds input that panics, is not kept, or is broken by a change.
func FuzzParse(f *testing.F) {
	settings := []string{
		vmconf.SetBus, vmconf.SetCache, vmconf.SetAIO, vmconf.SetIOThread, vmconf.SetDiscard, vmconf.SetDetectZeroes, vmconf.SetQueues,
		vmconf.SetQueueSize, vmconf.SetL2CacheSize, vmconf.SetThrottle, vmconf.SetSource, vmconf.SetPhysical, vmconf.SetHugepages,
		vmconf.SetAgent, vmconf.SetBalloon, vmconf.SetMachine,
	}
	values := []string{
		"", "on", "off", vmconf.VirtioBlk, vmconf.VirtioSCSI, vmconf.SATA, vmconf.IDE, vmconf.USB, vmconf.LSI, "none", "writeback",
		"native", "io_uring", "unmap", "4096", "pc-q35-9.0", "/a'b\"<&>",
	}
	for i, name := range fixtures {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(0), uint8(i), uint8(3+i))
	}
	f.Add([]byte("<domain type='kvm'><devices><disk><target dev='sda'/></disk></devices></domain>"), uint8(0), uint8(0), uint8(4))
	f.Add([]byte("<domain type='kvm'><devices><disk><target/><driver/></disk></devices></domain>"), uint8(0), uint8(3), uint8(1))
	f.Add([]byte("<domain type='kvm'><os><type machine='a&#10;b'/></os></domain>"), uint8(0), uint8(15), uint8(15))
	f.Add([]byte("<domain type='kvm'><devices><disk><iotune><read_iops_sec>1</read_iops_sec></iotune></disk></devices></domain>"), uint8(0), uint8(9), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, disk, setting, value uint8) {
		doc, err := libvirt.Parse("x", data)
		if err != nil {
			return
		}
		if string(doc.Bytes()) != string(data) {
			t.Fatal("the bytes were not kept")
		}
		for i, vm := range doc.VMs() {
			if same, err := doc.Change(i, nil); err != nil || string(same) != string(data) {
				t.Fatalf("no change changed something: %v", err)
			}
			c := set("", settings[int(setting)%len(settings)], values[int(value)%len(values)])
			if len(vm.Disks) > 0 && setting < 12 {
				c.Disk = vm.Disks[int(disk)%len(vm.Disks)].ID
			}
			out, err := doc.Change(i, []vmconf.Change{c})
			if err != nil {
				continue
			}
			after, err := libvirt.Parse("x", out)
			if err != nil {
				t.Fatalf("%+v: %v\n%s", c, err, out)
			}
			holds(t, doc, after, i, []vmconf.Change{c})
		}
	})
}
