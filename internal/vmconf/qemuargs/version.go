package qemuargs

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

var reVersion = regexp.MustCompile(`-(\d+)\.(\d+)(?:\.\d+)?(?:\+pve\d+)?$`)

// distributions are the machine types of distributions and the QEMU whose defaults they keep.
var distributions = map[string]vmconf.Version{
	"rhel6.": {Major: 0, Minor: 12}, "rhel7.0": {Major: 1, Minor: 5}, "rhel7.1": {Major: 2, Minor: 1}, "rhel7.2": {Major: 2, Minor: 3},
	"rhel7.3": {Major: 2, Minor: 6}, "rhel7.4": {Major: 2, Minor: 9}, "rhel7.5": {Major: 2, Minor: 10}, "rhel7.6": {Major: 2, Minor: 12},
	"rhel8.0": {Major: 3, Minor: 1}, "rhel8.1": {Major: 4, Minor: 0}, "rhel8.2": {Major: 4, Minor: 2}, "rhel8.3": {Major: 5, Minor: 1},
	"rhel8.4": {Major: 5, Minor: 2}, "rhel8.5": {Major: 6, Minor: 0}, "rhel8.6": {Major: 6, Minor: 2}, "rhel9.0": {Major: 6, Minor: 2},
	"rhel9.2": {Major: 7, Minor: 2}, "rhel9.4": {Major: 8, Minor: 2}, "rhel9.6": {Major: 9, Minor: 1}, "rhel10.0": {Major: 9, Minor: 1},
	"xenial": {Major: 2, Minor: 5}, "bionic": {Major: 2, Minor: 11}, "focal": {Major: 4, Minor: 2}, "jammy": {Major: 6, Minor: 2},
	"noble": {Major: 8, Minor: 2}, "trusty": {Major: 2, Minor: 0}, "groovy": {Major: 5, Minor: 0}, "hirsute": {Major: 5, Minor: 2},
	"impish": {Major: 6, Minor: 0}, "eoan": {Major: 4, Minor: 0}, "disco": {Major: 3, Minor: 1}, "cosmic": {Major: 2, Minor: 12},
}

// machineVersion returns the version whose defaults a machine type keeps, zero for a type without one.
func machineVersion(machine string) vmconf.Version {
	if m := reVersion.FindStringSubmatch(machine); m != nil {
		major, err1 := strconv.Atoi(m[1])
		minor, err2 := strconv.Atoi(m[2])
		if err1 == nil && err2 == nil {
			return vmconf.Version{Major: major, Minor: minor}
		}
	}
	for name, v := range distributions {
		if _, after, ok := strings.Cut(machine, name); ok && (after == "" || after[0] < '0' || after[0] > '9' || name == "rhel6.") {
			return v
		}
	}
	return vmconf.Version{}
}

// family is what kind of board a machine type is.
type family struct {
	bus   string // of -drive without if=, -hda and -cdrom: "ide", "virtio", "scsi", "sd", "none"
	sata  bool   // its ide.N buses are of an AHCI controller
	onIDE int    // disks on each IDE bus
	plug  string // what virtio devices are connected with: "pci", "ccw", "device"
}

// boards by the beginning of the machine type's name.
var boards = []struct {
	prefix string
	family family
}{
	{"pc-q35", family{"ide", true, 1, "pci"}},
	{"q35", family{"ide", true, 1, "pci"}},
	{"ubuntu-q35", family{"ide", true, 1, "pci"}},
	{"virt", family{"virtio", false, 2, "pci"}},
	{"s390", family{"virtio", false, 2, "ccw"}},
	{"pseries", family{"scsi", false, 2, "pci"}},
	{"microvm", family{"none", false, 2, "device"}},
	{"raspi", family{"sd", false, 2, "device"}},
	{"sbsa", family{"ide", true, 1, "pci"}},
	{"spike", family{"none", false, 2, "device"}},
	{"none", family{"none", false, 2, "pci"}},
}

// board returns the family of the guest's machine type.
func (g *guest) board() family {
	m := g.vm.Machine.Value
	for _, b := range boards {
		if strings.HasPrefix(m, b.prefix) {
			return b.family
		}
	}
	return family{"ide", false, 2, "pci"}
}

// defaultMachines of programs that have one.
var defaultMachines = map[string]string{
	"qemu-system-x86_64": "pc", "qemu-system-i386": "pc", "qemu-kvm": "pc", "kvm": "pc", "qemu": "pc",
	"qemu-system-s390x": "s390-ccw-virtio", "qemu-system-ppc64": "pseries", "qemu-system-riscv64": "spike",
	"qemu-system-riscv32": "spike", "qemu-system-x86_64-microvm": "microvm",
}

// older returns whether the machine has the defaults of major.minor or of something older.
func (g *guest) older(major, minor int) bool { return g.version.Before(major, minor+1) }
