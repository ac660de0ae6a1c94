package audit

import "github.com/iotax/iotax/internal/vmconf"

// Host is what is known of the host. In it and in all below, nil, "" and a zero size or version mean "not known".
type Host struct {
	Kernel          string         `json:"kernel,omitempty"`            // release: "6.8.12-4-pve"
	QEMU            vmconf.Version `json:"qemu,omitzero"`               // that is installed
	IOURingDisabled *int           `json:"io_uring_disabled,omitempty"` // kernel.io_uring_disabled: 0 for all, 1 for the privileged, 2 for none
	CPUs            int            `json:"cpus,omitempty"`              // online
	Memory          int64          `json:"memory_bytes,omitempty"`
	Nodes           []Node         `json:"numa_nodes,omitempty"`
	Governors       []string       `json:"governors,omitempty"` // of all CPUs, each different one once
	Swappiness      *int           `json:"swappiness,omitempty"`
	Swap            *int64         `json:"swap_bytes,omitempty"`            // that there is, used or not
	THP             string         `json:"transparent_hugepages,omitempty"` // "always", "madvise" or "never"
	Hugepages       []Hugepages    `json:"hugepages,omitempty"`             // by size of page
	Devices         []Device       `json:"devices,omitempty"`               // physical disks, by name
}

// Node is a NUMA node.
type Node struct {
	ID     int   `json:"id"`
	CPUs   int   `json:"cpus"`
	Memory int64 `json:"memory_bytes"`
}

// Hugepages is the pool of one size of page.
type Hugepages struct {
	Size  int64 `json:"size_bytes"`
	Total int64 `json:"total"`
}

// Device is a block device as the kernel has it.
type Device struct {
	Name          string `json:"name"` // of the kernel: "nvme0n1", "dm-3"
	Scheduler     string `json:"scheduler,omitempty"`
	ReadAhead     *int64 `json:"read_ahead_bytes,omitempty"`
	Rotational    *bool  `json:"rotational,omitempty"`
	WriteCache    string `json:"write_cache,omitempty"` // "write back" or "write through"
	LogicalBlock  int64  `json:"logical_block_bytes,omitempty"`
	PhysicalBlock int64  `json:"physical_block_bytes,omitempty"`
}

// Volume is what is known of what lies under a disk.
type Volume struct {
	Path       string   `json:"path"`                      // on this host; "" = it is not here, or nobody looked
	Size       int64    `json:"size_bytes,omitempty"`      // of the file or device
	Allocated  *int64   `json:"allocated_bytes,omitempty"` // of a file, that its file system gave it
	Filesystem string   `json:"filesystem,omitempty"`      // of a file, as the kernel names it: "ext4", "zfs", "nfs4"
	NoCOW      *bool    `json:"nocow,omitempty"`           // of a file on btrfs: written in place (chattr +C)
	Image      *Image   `json:"image,omitempty"`
	LV         *LV      `json:"lv,omitempty"`           // a volume of LVM
	Dataset    *Dataset `json:"dataset,omitempty"`      // the zvol that it is, or the file system of ZFS that it is on
	Block      *Device  `json:"block,omitempty"`        // it is a block device itself
	Offset     *int64   `json:"offset_bytes,omitempty"` // of a partition, from the start of its disk
	Steady     string   `json:"steady,omitempty"`       // of a block device: a path below /dev/disk/by-id or /dev/mapper that names it for good
	Devices    []string `json:"devices,omitempty"`      // physical disks under it, names of Host.Devices
}

// Image is an image file as qemu-img tells of it.
type Image struct {
	Format      string    `json:"format"`
	VirtualSize int64     `json:"virtual_bytes"`
	ActualSize  int64     `json:"actual_bytes"`
	ClusterSize int64     `json:"cluster_bytes,omitempty"` // of qcow2, and so below
	ExtendedL2  bool      `json:"extended_l2,omitempty"`
	Compat      string    `json:"compat,omitempty"` // "0.10" or "1.1"
	Corrupt     bool      `json:"corrupt,omitempty"`
	Snapshots   []string  `json:"snapshots,omitempty"` // internal ones, by name
	Backing     []Backing `json:"backing,omitempty"`   // files under it, nearest first
}

// Backing is a file under an image.
type Backing struct {
	File   string `json:"file"`
	Format string `json:"format"` // that it has, or seems to have
	Named  bool   `json:"named"`  // the file above it says so; otherwise QEMU guesses
}

// LV is a logical volume.
type LV struct {
	Group     string   `json:"group"`
	Name      string   `json:"name"`
	Thin      bool     `json:"thin"`
	Origin    string   `json:"origin,omitempty"`           // of a snapshot
	Snapshots []string `json:"snapshots,omitempty"`        // thick ones that were taken of it, by name
	ReadAhead *int64   `json:"read_ahead_bytes,omitempty"` // that the kernel uses
	Pool      string   `json:"pool,omitempty"`             // of a thin volume, and so below
	Chunk     int64    `json:"chunk_bytes,omitempty"`
	Zero      *bool    `json:"zero,omitempty"`
	Data      *float64 `json:"data_share,omitempty"` // of the pool's room, that is used
	Metadata  *float64 `json:"metadata_share,omitempty"`
}

// Dataset is a dataset of ZFS.
type Dataset struct {
	Name         string `json:"name"`
	Volblocksize int64  `json:"volblocksize,omitempty"` // of a zvol
	Recordsize   int64  `json:"recordsize,omitempty"`   // of a file system
	Sync         string `json:"sync,omitempty"`         // "standard", "always" or "disabled"
	Dedup        string `json:"dedup,omitempty"`
}
