// Package read finds the configurations of virtual machines in files and folders, tells their kinds by what is in them,
// and reads them.
package read

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
)

// Kind tells which kind of configuration data is, by its content alone. ok is false where it is none.
func Kind(data []byte) (kind string, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for _, k := range []struct {
		kind string
		is   func([]byte) bool
	}{
		{vmconf.Libvirt, isLibvirt}, // may hold arguments of QEMU
		{vmconf.Proxmox, isProxmox}, // the same
		{vmconf.XL, isXL},           // the same
		{vmconf.QEMU, isQEMU},
	} {
		if k.is(data) {
			return k.kind, true
		}
	}
	return "", false
}

// domainElement is a document with a domain, at the beginning of a line or after another element. Text may come before it.
var domainElement = regexp.MustCompile(`(?m)(?:^[ \t\r]*|[>][ \t\r]*)<(?:[A-Za-z_][\w.-]*:)?(?:domain|domstatus|domainsnapshot|domaincheckpoint|inactiveDomain|domains)(?:[\s/>]|$)`)

func isLibvirt(data []byte) bool {
	return (bytes.Contains(data, []byte("<dom")) || bytes.Contains(data, []byte("domain"))) && domainElement.Match(data)
}

var (
	proxmoxLine  = regexp.MustCompile(`^([a-z][a-z0-9_-]*):(?:[ \t]|$)`)
	proxmoxDrive = regexp.MustCompile(`^(?:ide|sata|scsi|virtio|efidisk|tpmstate|unused|net|hostpci|virtiofs)[0-9]+$`)

	// proxmoxKeys are those that hardly another format has, and proxmoxPlain those that many have.
	proxmoxKeys = strings.Fields(`bootdisk scsihw ostype smbios1 vmgenid vmstatestorage balloon sockets machine hugepages vga onboot
		cpuunits cpulimit hotplug keephugepages affinity spice_enhancements`)
	proxmoxPlain = strings.Fields(`acpi agent allow-ksm arch args audio0 autostart bios boot cdrom cicustom cipassword citype
		ciupgrade ciuser cores cpu description digest freeze hookscript ipconfig0 ivshmem keyboard kvm localtime lock memory meta
		migrate_downtime migrate_speed name nameserver numa numa0 parent protection reboot rng0 runningcpu runningmachine
		searchdomain serial0 shares smp snapstate snaptime sshkeys startdate startup tablet tags tdf template vcpus vmstate watchdog`)
)

// isProxmox wants one line that only Proxmox VE has, and most lines known. A container has rootfs.
func isProxmox(data []byte) bool {
	known, others, sure := 0, 0, false
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' || line[0] == '[' && line[len(line)-1] == ']' {
			continue
		}
		key := ""
		if m := proxmoxLine.FindSubmatch(line); m != nil {
			key = string(m[1])
		}
		switch {
		case key == "rootfs":
			return false
		case proxmoxDrive.MatchString(key), slices.Contains(proxmoxKeys, key):
			known, sure = known+1, true
		case slices.Contains(proxmoxPlain, key):
			known++
		default:
			others++
		}
	}
	return sure && known > others
}

var (
	xlList = regexp.MustCompile(`(?m)^[ \t]*(?:disk|vif|vfb|pci)[ \t]*\+?=[ \t]*\[`)
	xlType = regexp.MustCompile(`(?m)^[ \t]*(?:type[ \t]*=[ \t]*["'](?:hvm|pvh?)["']|builder[ \t]*=[ \t]*["'](?:hvm|generic|linux)["'])`)
	xlBoot = regexp.MustCompile(`(?m)^[ \t]*(?:kernel|bootloader)[ \t]*=[ \t]*["']`)
	xlSize = regexp.MustCompile(`(?m)^[ \t]*(?:memory|vcpus)[ \t]*=[ \t]*["']?[0-9]`)
)

// isXL wants a list of devices, a type of domain, or something to boot with an amount of memory.
func isXL(data []byte) bool {
	if bytes.IndexByte(data, '=') < 0 || bytes.HasPrefix(data, []byte("#!/bin/")) {
		return false
	}
	return xlList.Match(data) || xlType.Match(data) || xlBoot.Match(data) && xlSize.Match(data)
}

var (
	qemuProgram = regexp.MustCompile(`(?:^|[\s/"'=({;&|\x00])(?:qemu-system-[a-z0-9_]+|qemu-kvm|qemu-storage-daemon|kvm)(?:[\s"'\x00)}]|$)`)
	qemuOption  = regexp.MustCompile(`(?:^|[\s("'\x00])--?(?:m|smp|M|machine|cpu|accel|enable-kvm|drive|device|blockdev|hd[a-d]|cdrom|name|object|export|nodefaults)(?:[\s=\\\x00,"']|$)`)
	qemuDisk    = regexp.MustCompile(`(?:^|[\s("'\x00])--?(?:(?:drive|blockdev)[\s\x00=]+["']?[^\s]*(?:file|driver|id|if|node-name)=|device[\s\x00=]+["']?[A-Za-z][A-Za-z0-9.-]*,)`)
)

// jsonText tells JSON, which speaks of options rather than having them.
var jsonText = regexp.MustCompile(`^\s*[{\[]\s*["{\[}\]]`)

// isQEMU wants QEMU's name and one of its options, or an option for a disk with what that needs.
func isQEMU(data []byte) bool {
	if bytes.IndexByte(data, '-') < 0 || jsonText.Match(data) {
		return false
	}
	return qemuDisk.Match(data) || bytes.Contains(data, []byte("kvm")) && qemuProgram.Match(data) && qemuOption.Match(data) ||
		bytes.Contains(data, []byte("qemu-")) && qemuProgram.Match(data) && qemuOption.Match(data)
}

var storageHeader = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*` +
	`(?:dir|lvm|lvmthin|zfspool|zfs|nfs|cifs|rbd|cephfs|iscsi|iscsidirect|btrfs|glusterfs|pbs|esxi|drbd):[ \t]+[A-Za-z][A-Za-z0-9._-]*[ \t\r]*\n` +
	`(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]+[a-z][a-z0-9_-]*(?:[ \t\r]|\n|$)`)

// isStorage tells a storage.cfg of Proxmox VE: a kind and a name, and options that are indented below.
func isStorage(data []byte) bool {
	return storageHeader.Match(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}
