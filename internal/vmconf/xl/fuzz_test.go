package xl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
)

// FuzzParse feeds anything to Parse: it must not panic, and what it refuses it must say. What it accepts keeps its bytes,
// and every change that is not refused gives a configuration in which it is in effect, with as many disks.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.cfg")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("type='hvm'\ndisk=['/a,,hda','/b,,sda1','a=b,,xvda']\nmaxmem=9;memory=1"))
	f.Add([]byte("disk=[\"format=qcow2,vdev=xvda,\\x64irect-io-safe,discard,target=\\x2fa,\"]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse("f.cfg", data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if same, err := d.Change(0, nil); err != nil || !bytes.Equal(same, data) || !bytes.Equal(d.Bytes(), data) {
			t.Fatalf("no change makes %q of it, %v", same, err)
		}
		for i, disk := range d.VMs()[0].Disks {
			if disk.ID == "" || disk.At.Line < 1 || disk.At.Line > bytes.Count(data, []byte("\n"))+1 {
				t.Errorf("%+v", disk)
			}
			for setting, values := range map[string][]string{
				vmconf.SetBus: {"xen", "ide", "lsi"}, vmconf.SetCache: {"none", "writeback"}, vmconf.SetAIO: {"native", "threads"},
				vmconf.SetDiscard: {"unmap", "ignore", ""}, vmconf.SetSource: {"/new", "/a,b 'c\""},
			} {
				for _, value := range values {
					check(t, d, i, vmconf.Change{Disk: disk.ID, Setting: setting, Value: value})
				}
			}
		}
		check(t, d, machineItself, vmconf.Change{Setting: vmconf.SetBalloon, Value: "off"})
	})
}

func check(t *testing.T, d *Document, i int, c vmconf.Change) {
	changed, err := d.Change(0, []vmconf.Change{c})
	if err != nil {
		return
	}
	again, err := Parse("f.cfg", changed)
	if err != nil {
		t.Fatalf("%+v makes %q of it: %v", c, changed, err)
	}
	if got := again.effective(i, c.Setting); c.Value != "" && got.Value != c.Value {
		t.Errorf("%+v makes %q of it: %+v", c, changed, got)
	}
	if i != machineItself && c.Setting != vmconf.SetBus && again.VMs()[0].Disks[i].ID != c.Disk {
		t.Errorf("%+v makes %q of it: the disk is %s", c, changed, again.VMs()[0].Disks[i].ID)
	}
	if was, is := len(d.VMs()[0].Disks), len(again.VMs()[0].Disks); was != is {
		t.Errorf("%+v makes %d disks of %d: %q", c, is, was, changed)
	}
}
