package libvirt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

// one reads a machine of the given type with a disk.
func one(t *testing.T, machine, more, disk string) vmconf.VM {
	t.Helper()
	doc, err := libvirt.Parse("x", []byte(fmt.Sprintf(
		"<domain type='kvm'><vcpu>4</vcpu><os><type arch='x86_64' machine='%s'>hvm</type></os>%s<devices>%s</devices></domain>", machine, more, disk)))
	if err != nil {
		t.Fatal(err)
	}
	return doc.VMs()[0]
}

// TestMachineVersions holds the defaults of queues to the machine's age, whoever named it.
func TestMachineVersions(t *testing.T) {
	for machine, want := range map[string]string{
		"q35": "4 x 256", "pc-q35-9.0": "4 x 256", "pc-i440fx-9.0+pve1": "4 x 256", "pc-q35-5.1": "1 x 256", "pc-i440fx-4.2": "1 x 128",
		"pc-1.3": "1 x 128", "pc-i440fx-2.10": "1 x 128", "pc-i440fx-rhel7.6.0": "1 x 128", "pc-q35-rhel8.2.0": "1 x 128",
		"pc-q35-rhel8.3.0": "1 x 256", "pc-q35-rhel8.6.0": "4 x 256", "pc-q35-rhel9.4.0": "4 x 256", "pc-q35-rhel10.0.0": "4 x 256",
		"pc-q35-focal-hpb": "1 x 128", "pc-i440fx-noble": "4 x 256", "pc-q35-hirsute": "4 x 256",
	} {
		d := one(t, machine, "", "<disk><target dev='vda'/></disk>").Disks[0]
		if got := d.Queues.Value + " x " + d.QueueSize.Value; got != want {
			t.Errorf("%s: %s, want %s", machine, got, want)
		}
	}
}

// TestBuses names the bus by the disk's name, and the SCSI controller by the machine.
func TestBuses(t *testing.T) {
	for _, c := range []struct{ machine, disk, want string }{
		{"pc", "<disk><target dev='vda'/></disk>", "virtio-blk"},
		{"pc", "<disk><target dev='hdc'/></disk>", "ide ide0"},
		{"pc", "<disk><target dev='sda'/></disk>", "lsi scsi0"},
		{"pc", "<disk><target dev='sdaa'/></disk>", "lsi scsi1"},
		{"pc", "<disk><target dev='xvda'/></disk>", "xen"},
		{"pc", "<disk><target dev='ubda'/></disk>", "other"},
		{"pc", "<disk><target dev='what'/></disk>", "ide ide0"},
		{"pc", "<disk device='floppy'><target dev='vda'/></disk>", "floppy fdc0"},
		{"pc", "<disk><target dev='sdg' bus='sata'/></disk>", "sata sata1"},
		{"pc", "<disk><target dev='sda' bus='usb'/></disk>", "usb"},
		{"pc", "<disk><target dev='sda' bus='carrier-pigeon'/></disk>", "other"},
		{"virt-9.0", "<disk><target dev='sda'/></disk>", "virtio-scsi scsi0"},
		{"pseries", "<disk><target dev='sda'/></disk>", "other scsi0"},
		{"pc", "<disk><target dev='sda'/></disk><controller type='scsi' model='auto'/>", "lsi scsi0"},
		{"pc", "<disk><target dev='sda'/></disk><controller type='scsi' model='lsisas1078'/>", "megasas scsi0"},
		{"pc", "<disk><target dev='sda'/></disk><controller type='scsi' model='new-thing'/>", "other scsi0"},
		{"pc", "<disk><target dev='sda'/></disk></devices><devices><controller type='scsi' model='virtio-non-transitional'/>", "virtio-scsi scsi0"},
		{"pc", "<emulator>/usr/libexec/qemu-kvm</emulator><disk><target dev='sda'/></disk>", "virtio-scsi scsi0"},
		{"pc", "<disk><target dev='sda'/><address type='drive' controller='2'/></disk><controller type='scsi' index='2' model='virtio-scsi'/>", "virtio-scsi scsi2"},
	} {
		d := one(t, c.machine, "", c.disk).Disks[0]
		if got := strings.TrimSpace(d.Bus.Value + " " + d.Controller); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.machine, c.disk, got, c.want)
		}
	}
}

// TestDevicesTwice loses no disk where a domain has several lists of devices, or a disk no name.
func TestDevicesTwice(t *testing.T) {
	vm := one(t, "pc", "", "<disk><target dev='vda'/></disk></devices><devices><disk/><disk><target dev='vda'/></disk>")
	if len(vm.Disks) != 3 || vm.Disks[1].ID != "disk 2" {
		t.Errorf("%+v", vm.Disks)
	}
	doc, err := libvirt.Parse("x", []byte("<domain type='kvm'><name>n</name><devices><disk><target dev='a'/></disk><disk><target dev='a'/></disk></devices></domain>"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.Change(0, []vmconf.Change{set("a", vmconf.SetCache, "none")}); err == nil || err.Error() != `x: n a: cache "none": two disks have that name` {
		t.Error(err)
	}
}

// TestMemory reads libvirt's units.
func TestMemory(t *testing.T) {
	for in, want := range map[string]string{
		"<memory>1024</memory>": "1048576", "<memory unit='b'>512</memory>": "512", "<memory unit='bytes'>512</memory>": "512",
		"<memory unit='KB'>2</memory>": "2000", "<memory unit='k'>2</memory>": "2048", "<memory unit='MiB'>1</memory>": "1048576",
		"<memory unit='GB'>1</memory>": "1000000000", "<memory unit='T'>1</memory>": "1099511627776",
		"<memory unit='E'>99</memory>": "", "<memory unit='parsec'>1</memory>": "", "<memory>much</memory>": "", "<memory>-1</memory>": "", "": "",
	} {
		if got := one(t, "pc", in, "").Memory.Value; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestGuests names the operating system.
func TestGuests(t *testing.T) {
	info := "<metadata><l:libosinfo xmlns:l='http://libosinfo.org/xmlns/libvirt/domain/1.0'><l:os id='%s'/></l:libosinfo></metadata>"
	for in, want := range map[string]string{
		fmt.Sprintf(info, "http://microsoft.com/win/2k22"):                                  vmconf.Windows,
		fmt.Sprintf(info, "http://ubuntu.com/ubuntu/24.04"):                                 vmconf.Linux,
		fmt.Sprintf(info, "http://freebsd.org/freebsd/14.0"):                                vmconf.Other,
		fmt.Sprintf(info, "http://example.org/unheard/1"):                                   "",
		"<metadata><vmtemplate xmlns='unraid' os='windows11'/></metadata>":                  vmconf.Windows,
		"<metadata><vmtemplate xmlns='unraid' os='linux'/></metadata>":                      vmconf.Linux,
		"<features><acpi/></features>":                                                      "",
		"<features><hyperv><relaxed state='on'/></hyperv></features>":                       vmconf.Windows,
		fmt.Sprintf(info, "http://debian.org/debian/12") + "<features><hyperv/></features>": vmconf.Linux,
	} {
		if got := one(t, "pc", in, "").Guest; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestThreadAdded gives a disk a thread of its own where threads have IDs, where they are counted, and where there are none.
func TestThreadAdded(t *testing.T) {
	disk := "<devices><disk type='file'><source file='/a'/><target dev='vda'/></disk><disk type='file'><driver iothread='1'/><source file='/b'/><target dev='vdb'/></disk></devices>"
	for _, c := range []struct{ before, after, id string }{
		{"", "<iothreads>1</iothreads>", "1"},
		{"<iothreads>1</iothreads>", "<iothreads>2</iothreads>", "2"},
		{"<iothreads>2</iothreads>", "<iothreads>2</iothreads>", "2"},
		{"<iothreadids><iothread id='1'/></iothreadids>", "<iothreadids><iothread id='1'/><iothread id='2'/></iothreadids>", "2"},
		{"<iothreads>1</iothreads><iothreadids><iothread id='1'/></iothreadids>", "<iothreads>2</iothreads><iothreadids><iothread id='1'/><iothread id='2'/></iothreadids>", "2"},
	} {
		doc, err := libvirt.Parse("x", []byte("<domain type='kvm'><name>n</name>"+c.before+disk+"</domain>"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := doc.Change(0, []vmconf.Change{set("vda", vmconf.SetIOThread, "on")})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), c.after) || !strings.Contains(string(out), "<driver name='qemu' type='raw' iothread='"+c.id+"'/><source file='/a'/>") {
			t.Errorf("%s: %s", c.before, out)
		}
	}
}
