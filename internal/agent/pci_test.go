package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPCI has a serial controller, a disk that waits and one that has its driver.
func TestPCI(t *testing.T) {
	root := t.TempDir()
	for address, id := range map[string]string{"0000:00:04.0": "0x1003", "0000:00:05.0": "0x1001", "0000:00:06.0": "0x1001"} {
		write(t, filepath.Join(root, "devices", address, "vendor"), "0x1af4\n")
		write(t, filepath.Join(root, "devices", address, "device"), id+"\n")
	}
	if err := os.Symlink("../..", filepath.Join(root, "devices", "0000:00:06.0", "driver")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"drivers_autoprobe", "drivers_probe", "drivers/virtio-pci/bind"} {
		write(t, filepath.Join(root, name), "-")
	}
	said := func(name string) string { return read(filepath.Join(root, name)) }
	b := pciBus(root)
	b.holdBack()
	b.bindChannel()
	if said("drivers_autoprobe") != "0" || said("drivers/virtio-pci/bind") != "0000:00:04.0" || said("drivers_probe") != "-" {
		t.Errorf("held back: %q, bound: %q", said("drivers_autoprobe"), said("drivers/virtio-pci/bind"))
	}
	if err := os.Symlink("../..", filepath.Join(root, "devices", "0000:00:04.0", "driver")); err != nil {
		t.Fatal(err)
	}
	b.probeAll()
	if said("drivers_autoprobe") != "1" || said("drivers_probe") != "0000:00:05.0" {
		t.Errorf("let go: %q, probed: %q", said("drivers_autoprobe"), said("drivers_probe"))
	}
	pciBus(filepath.Join(root, "nowhere")).probeAll()
}
