package pve

import (
	"regexp"
	"strconv"
	"strings"
)

// freeText are keys whose values may hold a "#".
var freeText = words("args description hookscript name tags")

// options are the keys of a VM's file, a number at the end cut off (qm.conf(5)).
var options = words(`acpi affinity agent allow-ksm amd-sev arch args audio autostart balloon bios boot bootdisk cdrom cicustom
	cipassword citype ciupgrade ciuser cores cpu cpulimit cpuunits delete description digest efidisk fleecing-images freeze
	hookscript hostpci hotplug hugepages ide intel-tdx ipconfig ivshmem keephugepages keyboard kvm localtime lock machine memory
	meta migrate_downtime migrate_speed name nameserver net numa onboot ostype parallel parent protection reboot rng runningcpu
	runningmachine running-nets-host-mtu sata scsi scsihw searchdomain serial shares smbios smp snapstate snaptime sockets
	spice_enhancements sshkeys startdate startup tablet tags tdf template tpmstate unused usb vcpus vga virtio virtiofs vmgenid
	vmstate vmstatestorage watchdog`)

// option reports whether key is one of a VM's.
func option(key string) bool { return options[strings.TrimRight(key, "0123456789")] }

// slot is a place for a drive: "scsi0".
type slot struct {
	bus   string // ide, sata, scsi, virtio, efidisk, tpmstate, unused
	index int
}

// slots are how many drives of each kind a VM can have (qm.conf(5)).
var slots = map[string]int{"ide": 4, "sata": 6, "scsi": 31, "virtio": 16, "efidisk": 1, "tpmstate": 1, "unused": 256}

var numbered = regexp.MustCompile(`^([a-z]+)([0-9]{1,9})$`)

// driveKey reads the key of a drive. A number too large for Proxmox VE is still one.
func driveKey(key string) (slot, bool) {
	if key == "cdrom" { // an old name
		return slot{"ide", 2}, true
	}
	m := numbered.FindStringSubmatch(key)
	if m == nil || slots[m[1]] == 0 {
		return slot{}, false
	}
	n, err := strconv.Atoi(m[2])
	return slot{m[1], n}, err == nil
}

// everyDrive are the properties of each drive that a guest sees, and ownProperties those that only some can have.
var (
	everyDrive = words(`file media cyls heads secs trans snapshot cache format size backup replicate rerror werror aio discard
		detect_zeroes serial shared bps bps_rd bps_wr mbps mbps_rd mbps_wr iops iops_rd iops_wr mbps_max mbps_rd_max mbps_wr_max
		iops_max iops_rd_max iops_wr_max bps_max_length bps_rd_max_length bps_wr_max_length iops_max_length iops_rd_max_length
		iops_wr_max_length import-from`)
	ownProperties = map[string]map[string]bool{
		"ide":      words("model ssd wwn"),
		"sata":     words("ssd wwn"),
		"scsi":     words("iothread product queues ro scsiblock ssd vendor wwn"),
		"virtio":   words("iothread ro"),
		"efidisk":  words("file format size efitype pre-enrolled-keys ms-cert import-from"),
		"tpmstate": words("file format size version import-from"),
		"unused":   words("file"),
	}
)

// allowed reports whether a drive of that bus can have the property.
func allowed(bus, property string) bool {
	seen := bus == "ide" || bus == "sata" || bus == "scsi" || bus == "virtio"
	return ownProperties[bus][property] || seen && everyDrive[property]
}

// properAlias are old names of properties.
var properAlias = map[string]string{
	"volume":         "file",
	"bps_rd_length":  "bps_rd_max_length",
	"bps_wr_length":  "bps_wr_max_length",
	"iops_rd_length": "iops_rd_max_length",
	"iops_wr_length": "iops_wr_max_length",
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
