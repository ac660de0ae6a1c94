package audit

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// audited is everything that rules may look at.
type audited struct {
	machines []*machine
	host     Host
}

// machine is one virtual machine.
type machine struct {
	vmconf.VM
	index int    // of the machine in what was audited
	host  Host   // of the machine where it is here, else nothing is known of it
	disks []disk // those that hold data
	here  bool   // one of its disks was found on this host
}

// disk is one disk that holds data.
type disk struct {
	vmconf.Disk
	vm         *machine
	controller vmconf.Controller // zero where it has none or none is known
	volume     Volume
}

func gather(vms []vmconf.VM, h Host, volumes map[string]Volume) audited {
	a := audited{host: h}
	for i, vm := range vms {
		if vm.Part != "" && vm.Part != "running" {
			continue
		}
		m := &machine{VM: vm, index: i}
		for _, one := range vm.Disks {
			if !holdsData(one) {
				continue
			}
			d := disk{Disk: one, vm: m, volume: volumes[one.Source.Value]}
			if c := slices.IndexFunc(vm.Controllers, func(c vmconf.Controller) bool { return c.ID == one.Controller }); c >= 0 && one.Controller != "" {
				d.controller = vm.Controllers[c]
			}
			m.here = m.here || d.volume.Path != ""
			m.disks = append(m.disks, d)
		}
		if m.here {
			m.host = h
		}
		a.machines = append(a.machines, m)
	}
	return a
}

// here reports whether any machine is of this host: its settings matter to none otherwise.
func (a audited) here() bool {
	return slices.ContainsFunc(a.machines, func(m *machine) bool { return m.here })
}

// smallest is the size of a disk below which nobody waits for it: variables of the firmware, state of a TPM, cloud-init.
const smallest = 16 << 20

var incidental = regexp.MustCompile(`(?i)^(efidisk|tpmstate|pflash)|cloud-?init|cidata|ovmf_|_vars\b|efivars|\.iso$`)

// holdsData leaves out drives without a medium, what can only be read, and the small change of firmware.
func holdsData(d vmconf.Disk) bool {
	switch {
	case d.Device != "disk" && d.Device != "lun", d.ReadOnly, d.Source.Value == "", d.Bus.Value == vmconf.Floppy:
		return false
	case d.Backend == "dir" || d.Backend == "none", d.Size > 0 && d.Size < smallest:
		return false
	}
	return !incidental.MatchString(d.ID) && !incidental.MatchString(d.Source.Value)
}

// number reads a count or a size in bytes.
func number(s vmconf.Setting) (int64, bool) {
	n, err := strconv.ParseInt(s.Value, 10, 64)
	return n, err == nil && n > 0
}

var versionedMachine = regexp.MustCompile(`^(?:pc|pc-i440fx|pc-q35|virt|s390-ccw-virtio|pseries)-(\d+)\.(\d+)(?:$|[.+])`)

// machineVersion is that of the machine type; zero where the type has none, or one of a distribution's own.
func (m *machine) machineVersion() vmconf.Version {
	v := versionedMachine.FindStringSubmatch(m.Machine.Value)
	if v == nil {
		return vmconf.Version{}
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2])
	return vmconf.Version{Major: major, Minor: minor}
}

// qemu is the version that runs the machine, zero when it is not known.
func (m *machine) qemu() vmconf.Version {
	if m.QEMU.Known() || !m.here || m.Kind == vmconf.XL {
		return m.QEMU
	}
	return m.host.QEMU
}

// atLeast reports whether QEMU is known to be major.minor or newer: by its version, or because it knows the machine type.
func (m *machine) atLeast(major, minor int) bool {
	newer := func(v vmconf.Version) bool { return v.Known() && !v.Before(major, minor) }
	return newer(m.qemu()) || !m.qemu().Known() && newer(m.machineVersion())
}

// isQEMU reports whether the machine is one of QEMU's: not Xen's, nor of another program that libvirt serves.
func (m *machine) isQEMU() bool {
	switch m.Kind {
	case vmconf.XL:
		return false
	case vmconf.Libvirt:
		return m.Hypervisor == "kvm" || m.Hypervisor == "tcg"
	}
	return m.Hypervisor != "xen"
}

// byQEMU reports whether QEMU carries the guest's I/O at full speed: under software emulation the guest's CPU costs more than
// any disk.
func (m *machine) byQEMU() bool { return m.isQEMU() && m.Hypervisor != "tcg" }

func (m *machine) cpus() (int64, bool) { return number(m.CPUs) }

func (d disk) virtio() bool {
	return d.Bus.Value == vmconf.VirtioBlk || d.Bus.Value == vmconf.VirtioSCSI
}

// iothread, queues and queueSize are the disk's own, or its controller's.
func (d disk) iothread() vmconf.Setting {
	if v := d.controller.IOThread.Value; v != "" && (v != "off" || d.IOThread.Value == "") {
		return d.controller.IOThread
	}
	return d.IOThread
}

func (d disk) queues() vmconf.Setting {
	if d.Queues.Value == "" {
		return d.controller.Queues
	}
	return d.Queues
}

func (d disk) queueSize() vmconf.Setting {
	if d.QueueSize.Value == "" {
		return d.controller.QueueSize
	}
	return d.QueueSize
}

// direct and buffered tell whether the host's page cache is passed by; neither where the cache mode is not known.
func (d disk) direct() bool { return d.Cache.Value == "none" || d.Cache.Value == "directsync" }

func (d disk) buffered() bool {
	return d.Cache.Value == "writeback" || d.Cache.Value == "writethrough" || d.Cache.Value == "unsafe"
}

var (
	deviceStorages = []string{"lvm", "lvmthin", "zfspool", "logical", "disk", "mpath"}
	fileStorages   = []string{"dir", "nfs", "cifs", "btrfs", "cephfs", "fs", "netfs"}
)

// onDevice and onFile tell what QEMU opens; neither where that is not known, or is a server.
func (d disk) onDevice() bool {
	return d.Backend == "block" || d.volume.Block != nil || d.Backend == "pool" && slices.Contains(deviceStorages, d.Storage)
}

func (d disk) onFile() bool {
	return d.volume.Block == nil && (d.Backend == "file" || d.Backend == "pool" && slices.Contains(fileStorages, d.Storage))
}

func (d disk) raw() bool { return d.Format.Value == "raw" }

func (d disk) qcow2() bool {
	return d.Format.Value == "qcow2" && (d.volume.Image == nil || d.volume.Image.Format == "qcow2")
}

// sparse reports whether parts of the disk are known to have no room on the storage yet.
func (d disk) sparse() bool {
	const whole = 0.99 // of the size: file systems round, and keep some room for themselves
	if i := d.volume.Image; i != nil && i.Format == "qcow2" {
		return float64(i.ActualSize) < whole*float64(i.VirtualSize)
	}
	return d.volume.Allocated != nil && float64(*d.volume.Allocated) < whole*float64(d.volume.Size)
}

// name is what the machine is called in commands.
func (m *machine) name() string {
	if m.Kind == vmconf.Proxmox || m.Name == "" {
		return m.ID
	}
	return m.Name
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
