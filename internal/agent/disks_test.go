package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAddress has the folders of /sys/devices that a virtio-blk disk, one behind a bridge and one without PCI have.
func TestAddress(t *testing.T) {
	for path, want := range map[string]string{
		"pci0000:00/0000:00:05.0/virtio2/block/vda":                                      "0000:00:05.0",
		"pci0000:00/0000:00:02.0/0000:01:1f.7/virtio3/host2/target2:0:0/2:0:0:0/block/d": "0000:01:1f.7",
		"virtual/block/loop0": "",
	} {
		root := t.TempDir()
		device := filepath.Join(root, path)
		if err := os.MkdirAll(device, 0o755); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(root, "link")
		if err := os.Symlink(device, link); err != nil {
			t.Fatal(err)
		}
		if got := address(link); got != want {
			t.Errorf("address of %s = %q, want %q", path, got, want)
		}
	}
	if got := address("/nowhere"); got != "" {
		t.Errorf("address of nothing = %q", got)
	}
}

// TestNullBlk: the kernel's own disk of no latency is known by its name.
func TestNullBlk(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"nullb0", "loop0"} {
		write(t, filepath.Join(root, name, "size"), "2097152\n")
	}
	got, err := disks(root)
	if err != nil || len(got) != 1 || got[0].Serial != "nullb0" || got[0].Name != "nullb0" || got[0].Size != 1<<30 {
		t.Errorf("disks = %+v, %v", got, err)
	}
}

// TestDiskWithoutSerial: a disk that has only an address is a disk of the guest too.
func TestDiskWithoutSerial(t *testing.T) {
	root := t.TempDir()
	device := filepath.Join(root, "devices/pci0000:00/0000:00:05.0/virtio2/block/vda")
	write(t, filepath.Join(device, "size"), "2048\n")
	if err := os.Mkdir(filepath.Join(root, "block"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(device, filepath.Join(root, "block/vda")); err != nil {
		t.Fatal(err)
	}
	got, err := disks(filepath.Join(root, "block"))
	if err != nil || len(got) != 1 || got[0].Address != "0000:00:05.0" || got[0].Serial != "" {
		t.Errorf("disks = %+v, %v", got, err)
	}
}
