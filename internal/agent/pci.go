package agent

import (
	"os"
	"path/filepath"
	"strings"
)

// pciBus is the /sys folder of the PCI bus. Under emulation each virtio device takes an eighth of a second to be
// enabled, and virtio's driver takes all of them as soon as it is there: a guest with ten disks would
// be silent for a second longer. So the driver is held back at first, and only the device that leads to the host is
// given to it. Faults do not count: a kernel with the driver built in has bound its devices already.
type pciBus string

func (b pciBus) write(name, text string) {
	_ = os.WriteFile(filepath.Join(string(b), name), []byte(text), 0)
}

// holdBack makes drivers take no device by themselves.
func (b pciBus) holdBack() { b.write("drivers_autoprobe", "0") }

// bindChannel gives the virtio-serial controllers to virtio's driver.
func (b pciBus) bindChannel() {
	for _, address := range b.devices() {
		switch b.id(address) {
		case "0x1af4 0x1003", "0x1af4 0x1043": // virtio-serial, transitional and modern (virtio 1.1, 4.1.2)
			b.write("drivers/virtio-pci/bind", address)
		}
	}
}

// probeAll lets drivers take devices again, those that wait first.
func (b pciBus) probeAll() {
	b.write("drivers_autoprobe", "1")
	for _, address := range b.devices() {
		if _, err := os.Lstat(filepath.Join(string(b), "devices", address, "driver")); err != nil {
			b.write("drivers_probe", address)
		}
	}
}

func (b pciBus) devices() (addresses []string) {
	entries, err := os.ReadDir(filepath.Join(string(b), "devices"))
	if err != nil {
		return nil // a machine without PCI
	}
	for _, e := range entries {
		addresses = append(addresses, e.Name())
	}
	return addresses
}

func (b pciBus) id(address string) string {
	dir := filepath.Join(string(b), "devices", address)
	return strings.Join([]string{read(filepath.Join(dir, "vendor")), read(filepath.Join(dir, "device"))}, " ")
}
