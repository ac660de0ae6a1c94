package audit

import (
	"regexp"
	"slices"

	"github.com/iotax/iotax/internal/vmconf"
)

var busRules = []Rule{{
	ID: "IOT001", Title: "emulated IDE or SATA", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks: "a disk on an emulated IDE or SATA controller, in a machine whose guest can have virtio. CD-ROM drives and guests of Xen, whose own drivers take over, are left alone.",
	Why:   "Each request costs several exits to the hypervisor, IDE carries one request at a time and SATA at most 32, all in QEMU's main loop: no iothread can take them over.",
	Sources: []string{
		"hostpath CSI, SATA 20.6k against virtio 120.9k IOPS of random reads: https://github.com/cloud-bulldozer/benchmark-operator/pull/396",
		proxmoxQM,
	},
	disk: func(d disk) []Finding {
		return emulated(d, "the %s controller is that of real hardware, emulated in QEMU's main loop", vmconf.IDE, vmconf.SATA)
	},
}, {
	ID: "IOT002", Title: "emulated SCSI adapter", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a disk on an emulated LSI 53C895A, MegaRAID SAS or VMware PVSCSI adapter. An LSI 53C895A is what Proxmox VE gives SCSI disks when scsihw is not set.",
	Why:     "The adapter of real hardware is emulated register by register in QEMU's main loop, with one queue and without an iothread.",
	Sources: []string{proxmoxQM, proxmoxDrive},
	disk: func(d disk) []Finding {
		return emulated(d, "the %s adapter is that of real hardware, emulated in QEMU's main loop", scsiAdapters...)
	},
}, {
	ID: "IOT003", Title: "disk on emulated USB or an SD card", Severity: LargeLoss, Restart: RestartPowerCycle, Guests: virtioGuests,
	Looks:   "a disk that can be written, on an emulated USB controller or SD card slot.",
	Why:     "One request at a time goes through an emulated bus that QEMU polls by a timer.",
	Sources: []string{"QEMU, USB emulation: https://www.qemu.org/docs/master/system/devices/usb.html"},
	disk: func(d disk) []Finding {
		found := emulated(d, "the bus %s carries one request at a time", vmconf.USB, vmconf.SD)
		for i := range found {
			if d.Bus.Value == vmconf.SD { // boards with a slot for cards often boot from nothing else
				found[i].Changes = nil
				found[i] = found[i].needs("a board and firmware that start from a virtio disk")
			}
		}
		return found
	},
}}

var scsiAdapters = []string{vmconf.LSI, vmconf.MegaSAS, vmconf.PVSCSI}

func emulated(d disk, why string, buses ...string) []Finding {
	needs, possible := virtioNeeds(d.vm.VM)
	if !d.vm.byQEMU() || !slices.Contains(buses, d.Bus.Value) || !possible {
		return nil
	}
	to := virtioBus(d.vm)
	together := []disk{d}
	switch {
	case d.Device == "lun":
		to = vmconf.VirtioSCSI
	case slices.Contains(scsiAdapters, d.Bus.Value) && d.vm.Kind == vmconf.Proxmox && !d.vm.isMacOS(): // one setting, scsihw, is of all of them
		to, together = vmconf.VirtioSCSI, d.vm.on(d.Bus.Value)
	}
	f := about("bus", d.Bus, why+", where "+to+" is a queue in memory that both sides know", d.Bus.Value)
	for _, one := range together {
		f = f.change(one.set(vmconf.SetBus, to))
	}
	return one(f.needs(needs...))
}

// on lists everything on a bus, drives that hold no data too.
func (m *machine) on(bus string) []disk {
	var found []disk
	for _, d := range m.Disks {
		if d.Bus.Value == bus {
			found = append(found, disk{Disk: d, vm: m})
		}
	}
	return found
}

// virtioBus is the kind of virtio disk that the machine has already, else the one that its configuration's makers prefer; of a
// guest that is neither Linux nor Windows the one that more systems have drivers for.
func virtioBus(m *machine) string {
	if m.isMacOS() {
		return vmconf.VirtioBlk
	}
	for _, bus := range []string{vmconf.VirtioSCSI, vmconf.VirtioBlk} {
		if slices.ContainsFunc(m.disks, func(d disk) bool { return d.Bus.Value == bus }) {
			return bus
		}
	}
	if m.Kind == vmconf.Proxmox && (m.Guest == vmconf.Linux || m.Guest == vmconf.Windows) {
		return vmconf.VirtioSCSI
	}
	return vmconf.VirtioBlk
}

// noVirtio are guests that virtio has no drivers for, or none that anybody still has.
var noVirtio = regexp.MustCompile(`(?i)^(w2k|w2k3|wxp|l24)$|microsoft.com/(win/(2k|2k3|xp|95|98|me|nt)\b|msdos)`)

// isMacOS reports whether the guest is macOS, which has drivers for virtio-blk and none for virtio-scsi.
func isMacOS(vm vmconf.VM) bool { return macOS.MatchString(vm.GuestDetail) }

func (m *machine) isMacOS() bool { return isMacOS(m.VM) }

var macOS = regexp.MustCompile(`(?i)macos|osx|apple\.com/`)

// virtioNeeds says what a guest needs before its disk becomes a virtio disk, and whether it can.
func virtioNeeds(vm vmconf.VM) (needs []string, possible bool) {
	if noVirtio.MatchString(vm.GuestDetail) {
		return nil, false
	}
	switch {
	case isMacOS(vm):
		return []string{"macOS 10.14 or newer, whose own drivers are for virtio-blk; a disk with a boot loader stays where that looks for it"}, true
	case vm.Guest == vmconf.Linux:
		return []string{"the guest mounts by UUID or label: the disk gets another name in it"}, true
	case vm.Guest == vmconf.Windows:
		return []string{
			"the virtio-win drivers are installed in Windows, and bound by a second, small virtio disk that is attached first: otherwise Windows stops with INACCESSIBLE_BOOT_DEVICE",
		}, true
	}
	return []string{"it is known that the guest's system has virtio drivers: the configuration does not say which system it is"}, true
}
