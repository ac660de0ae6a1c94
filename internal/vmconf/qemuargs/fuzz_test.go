package qemuargs_test

import (
	"bytes"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs"
)

// FuzzParse finds a text that is not kept, or a change that is accepted and does not take effect.
func FuzzParse(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Add([]byte("qemu-system-x86_64\x00-drive\x00file=a,if=virtio\x00"))
	f.Add([]byte("-drive\nfile=a\n-m\n1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := qemuargs.Parse("f", data)
		if err != nil {
			return
		}
		if !bytes.Equal(d.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		for i, vm := range d.VMs() {
			for j, disk := range vm.Disks {
				if j == 3 {
					break
				}
				changes := []vmconf.Change{
					{Disk: disk.ID, Setting: vmconf.SetCache, Value: "none"},
					{Disk: disk.ID, Setting: vmconf.SetAIO, Value: "io_uring"},
					{Disk: disk.ID, Setting: vmconf.SetIOThread, Value: "on"},
				}
				for _, c := range changes {
					out, err := d.Change(i, []vmconf.Change{c})
					if err != nil {
						continue
					}
					again, err := qemuargs.Parse("f", out)
					if err != nil {
						t.Fatalf("%+v makes what is no command line: %v\n%q", c, err, out)
					}
					v := again.VMs()[i].Disks[j]
					if c.Setting == vmconf.SetCache && v.Cache.Value != "none" || c.Setting == vmconf.SetAIO && v.AIO.Value != "io_uring" ||
						c.Setting == vmconf.SetIOThread && v.IOThread.Value == "off" {
						t.Fatalf("%+v does not take effect\n%q\n%q", c, data, out)
					}
				}
			}
		}
	})
}
