// Package vmconf is what the configurations of other programs say of a virtual machine and its disks, in one shape. Its
// subpackages read libvirt's, Proxmox VE's, QEMU's and Xen's own formats into it, and write changes back.
package vmconf

// Kinds of configurations.
const (
	Libvirt = "libvirt"
	Proxmox = "proxmox"
	QEMU    = "qemu"
	XL      = "xl"
)

// Place is where something stands in a configuration.
type Place struct {
	File string `json:"file"` // as it was given, or the name of who was asked
	Line int    `json:"line"` // from 1; 0 = not known
}

// Setting is one setting as it takes effect, in QEMU's words whatever the configuration calls it: "none", "io_uring", "on",
// "256". A size is in bytes.
type Setting struct {
	Value   string `json:"value"`             // "" = not known
	Set     bool   `json:"set"`               // written in the configuration; otherwise Value is a default
	Written string `json:"written,omitempty"` // the configuration's own words, where Set
	Why     string `json:"why,omitempty"`     // of a default, and of a value that is not what is written: "Proxmox VE's default on lvm"
	At      Place  `json:"at"`                // of the setting; where it is not written, of what it would belong to
}

// Default is a setting that is not written.
func Default(value, why string, at Place) Setting { return Setting{Value: value, Why: why, At: at} }

// Written is a setting that takes effect as it is written.
func Written(value, text string, at Place) Setting {
	return Setting{Value: value, Set: true, Written: text, At: at}
}

// Operating systems of a guest, as far as a change of its disks depends on them.
const (
	Linux   = "linux"
	Windows = "windows"
	Other   = "other"
)

// Version of a QEMU; zero when it is not known.
type Version struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
}

// Known reports whether the version is known.
func (v Version) Known() bool { return v != Version{} }

// Before reports whether v is known and older than major.minor.
func (v Version) Before(major, minor int) bool {
	return v.Known() && (v.Major < major || v.Major == major && v.Minor < minor)
}

// VM is one virtual machine as one part of a configuration describes it.
type VM struct {
	Kind        string       `json:"kind"` // one of the kinds above
	Name        string       `json:"name"` // "" when it has none
	ID          string       `json:"id,omitempty"`
	Part        string       `json:"part,omitempty"` // "" = the machine as it starts next; "snapshot NAME", "pending", "running"
	At          Place        `json:"at"`
	Hypervisor  string       `json:"hypervisor,omitempty"`   // "kvm", "tcg", "xen", "" = not known
	Guest       string       `json:"guest,omitempty"`        // one of the operating systems above, "" = not known
	GuestDetail string       `json:"guest_detail,omitempty"` // as the configuration has it: "win11", "l26"
	QEMU        Version      `json:"qemu"`                   // of the program, where the configuration tells
	Machine     Setting      `json:"machine"`                // type with its version where it has one: "pc-q35-9.0"
	CPUs        Setting      `json:"cpus"`                   // vCPUs at the start
	MaxCPUs     int64        `json:"max_cpus,omitempty"`     // vCPUs with all that can be plugged in, 0 = none can
	Memory      Setting      `json:"memory"`                 // bytes
	Hugepages   Setting      `json:"hugepages"`              // "off", "on", or the size of a page
	Balloon     Setting      `json:"balloon"`                // "on", "off"
	Agent       Setting      `json:"agent"`                  // the guest agent's channel: "on", "off"
	Pinning     Setting      `json:"pinning"`                // vCPUs are tied to CPUs: "on", "off"
	NUMA        Setting      `json:"numa"`                   // memory is tied to nodes of the host: "on", "off"
	Passthrough []Setting    `json:"passthrough,omitempty"`  // host devices given to the guest, by address
	IOThreads   []IOThread   `json:"iothreads,omitempty"`
	Controllers []Controller `json:"controllers,omitempty"`
	Disks       []Disk       `json:"disks"`
	Unknown     []Unknown    `json:"unknown,omitempty"` // kept as it is, and said
}

// IOThread is a thread that can serve disks.
type IOThread struct {
	ID     string `json:"id"`
	Pinned bool   `json:"pinned,omitempty"`
	At     Place  `json:"at"`
}

// Controller is what disks hang on where a disk is not its own controller.
type Controller struct {
	ID        string  `json:"id"`
	Bus       string  `json:"bus"`   // one of the buses below
	Model     Setting `json:"model"` // "virtio-scsi-pci", "lsi53c895a", "ich9-ahci"
	IOThread  Setting `json:"iothread"`
	Queues    Setting `json:"queues"`
	QueueSize Setting `json:"queue_size"`
	At        Place   `json:"at"`
}

// Buses, as the stacks of iotax name them; a virtio-scsi controller is the same whether it has one disk or several.
const (
	VirtioBlk     = "virtio-blk"
	VirtioSCSI    = "virtio-scsi"
	IDE           = "ide"
	SATA          = "sata"
	LSI           = "lsi"
	MegaSAS       = "megasas"
	PVSCSI        = "pvscsi"
	NVMe          = "nvme"
	USB           = "usb"
	Floppy        = "floppy"
	SD            = "sd"
	VhostUserBlk  = "vhost-user-blk"
	VhostUserSCSI = "vhost-user-scsi"
	XenBlk        = "xen" // blkfront
	OtherBus      = "other"
)

// Disk is one disk, CD-ROM drive or floppy drive.
type Disk struct {
	ID         string `json:"id"`     // as its configuration names it: "vda", "scsi0", "drive-virtio0"
	Device     string `json:"device"` // "disk", "cdrom", "floppy", "lun"; no data of the guest's: "efidisk", "tpmstate", "unused"
	Controller string `json:"controller,omitempty"`
	At         Place  `json:"at"`

	Bus        Setting  `json:"bus"`
	Source     Setting  `json:"source"`               // path, volume or address; "" = no medium
	Backend    string   `json:"backend"`              // "file", "block", "network", "pool" (a volume of a pool), "vhost-user", "vhost-vdpa", "nvme", "dir", "none", "" = not known
	Pool       string   `json:"pool,omitempty"`       // storage or pool that the volume is of
	Storage    string   `json:"storage,omitempty"`    // kind of that pool: "lvm", "lvmthin", "zfspool", "dir", "rbd", "" = not known
	Format     Setting  `json:"format"`               // "raw", "qcow2"
	XenBackend Setting  `json:"xen_backend,omitzero"` // Xen: who serves it on the host: "phy" (blkback), "qdisk" (QEMU), "tap", "standalone"
	Backing    []string `json:"backing,omitempty"`    // backing files that the configuration names, nearest first
	Size       int64    `json:"size,omitempty"`       // bytes, 0 = not known

	Cache         Setting   `json:"cache"`         // none, writeback, writethrough, directsync, unsafe
	AIO           Setting   `json:"aio"`           // threads, native, io_uring
	IOThread      Setting   `json:"iothread"`      // "off", or the ID of one, or "mapping"; "on" where the program makes one
	Discard       Setting   `json:"discard"`       // "unmap", "ignore"
	DetectZeroes  Setting   `json:"detect_zeroes"` // "off", "on", "unmap"
	Queues        Setting   `json:"queues"`
	QueueSize     Setting   `json:"queue_size"`
	LogicalBlock  Setting   `json:"logical_block_size"`
	PhysicalBlock Setting   `json:"physical_block_size"`
	L2CacheSize   Setting   `json:"l2_cache_size"`
	Throttle      []Setting `json:"throttle,omitempty"` // each limit that is not zero, Written as the configuration has it
	ReadOnly      bool      `json:"read_only,omitempty"`
	Shared        bool      `json:"shared,omitempty"` // several guests may have it open
	Backup        bool      `json:"backup,omitempty"` // Proxmox VE: part of backups
}

// Unknown is something that was not understood.
type Unknown struct {
	Text string `json:"text"` // one line, shortened
	At   Place  `json:"at"`
}
