package libvirt

import (
	"strconv"

	"github.com/iotax/iotax/internal/vmconf"
)

const elsewhere = "what serves the disk decides"

// format is the format of the image; libvirt does not look into images and takes raw.
func (m *machine) format(d *disk) {
	unset, why := "raw", byLibvirt
	if d.is.Backend == "pool" {
		unset, why = "", "the volume's own"
	}
	d.is.Format = m.attr(d.driver, "type", unset, why, d.is.At)
	if d.is.Format.Value == "aio" { // Xen's old name
		d.is.Format.Value = "raw"
	}
}

// policy reads how the host treats what the disk does: libvirt passes nothing that is not written, so that QEMU's defaults
// count.
func (m *machine) policy(d *disk) {
	is := &d.is
	cache, why := "writeback", byQEMU
	if is.Shared && !is.ReadOnly {
		cache, why = "none", byLibvirt+" for a disk that is shared"
	}
	is.Cache = m.attr(d.driver, "cache", cache, why, is.At)
	if is.Cache.Value == "default" {
		is.Cache.Value, is.Cache.Why = cache, why
	}
	is.AIO = m.attr(d.driver, "io", "threads", byQEMU, is.At)
	is.Discard = m.attr(d.driver, "discard", "ignore", byQEMU, is.At)
	is.DetectZeroes = m.attr(d.driver, "detect_zeroes", "off", byQEMU, is.At)
	if is.DetectZeroes.Value == "unmap" && is.Discard.Value != "unmap" {
		is.DetectZeroes.Value, is.DetectZeroes.Why = "on", "unmap needs discard unmap"
	}
	switch is.Backend {
	case "network":
		m.unset(&is.AIO, "the network's driver has none")
	case "nvme": // vfio, past the kernel
		is.Cache.Value, is.Cache.Why = "none", "QEMU's own NVMe driver has no page cache"
		m.unset(&is.AIO, "QEMU's own NVMe driver has none")
	case "vhost-user", "vhost-vdpa":
		m.unset(&is.LogicalBlock, elsewhere)
		m.unset(&is.PhysicalBlock, elsewhere)
		for _, s := range []*vmconf.Setting{&is.Cache, &is.AIO, &is.Discard, &is.DetectZeroes} {
			m.unset(s, elsewhere)
		}
	}
	if m.vm.Hypervisor == "xen" {
		m.xenPolicy(d)
	} else if !m.qemu {
		for _, s := range []*vmconf.Setting{&is.Cache, &is.AIO, &is.Discard, &is.DetectZeroes} {
			m.unset(s, notQEMU)
		}
	}
}

// unset takes a default away.
func (m *machine) unset(s *vmconf.Setting, why string) {
	if !s.Set {
		*s = vmconf.Default("", why, s.At)
	}
}

// xenPolicy is what Xen does with a disk, whatever is written: libxl has no word for caches.
func (m *machine) xenPolicy(d *disk) {
	is := &d.is
	is.XenBackend = m.xenBackend(d)
	cache, aio, discard := "writeback", "threads", "unmap" // qdisk, and what QEMU emulates
	switch is.XenBackend.Value {
	case "phy":
		cache, aio = "none", ""
	case "tap":
		cache, aio, discard = "", "", ""
	}
	why := "Xen's " + is.XenBackend.Value
	for s, v := range map[*vmconf.Setting]string{&is.Cache: cache, &is.AIO: aio, &is.Discard: discard, &is.DetectZeroes: "off"} {
		s.Value, s.Why = v, why
	}
}

// xenBackend is who serves the disk: by the driver's name, else as libxl chooses.
func (m *machine) xenBackend(d *disk) vmconf.Setting {
	if a := d.driver.attr("name"); a != nil {
		switch {
		case a.value == "phy":
			return m.written(a, "phy")
		case a.value != "qemu" && d.is.Format.Value == "raw":
			return m.written(a, "tap")
		}
		return m.written(a, "qdisk")
	}
	if d.is.Backend == "block" && d.is.Format.Value == "raw" {
		return vmconf.Default("phy", "libxl's choice for a block device", d.is.At)
	}
	return vmconf.Default("qdisk", "libxl's choice for what is no raw block device", d.is.At)
}

// blocks reads the sizes of blocks that the guest sees.
func (m *machine) blocks(d *disk) {
	size := "512"
	if d.is.Device == "cdrom" {
		size = "2048"
	}
	io := d.el.kid("blockio")
	d.is.LogicalBlock = m.attr(io, "logical_block_size", size, byQEMU, d.is.At)
	physical := d.is.LogicalBlock.Value
	d.is.PhysicalBlock = m.attr(io, "physical_block_size", physical, byQEMU, d.is.At)
	if !m.qemu {
		m.unset(&d.is.LogicalBlock, notQEMU)
		m.unset(&d.is.PhysicalBlock, notQEMU)
	}
}

// l2Default is what QEMU gives the L2 cache of a qcow2 on Linux, at most.
const l2Default = 32 << 20

// l2cache reads the size of the metadata cache, which QEMU shares out to the L2 tables and, a small part, the refcounts.
func (m *machine) l2cache(d *disk) {
	if d.is.Format.Value != "qcow2" {
		d.is.L2CacheSize = vmconf.Default("", "none for "+d.is.Format.Value, d.is.At)
		return
	}
	d.is.L2CacheSize = vmconf.Default(strconv.Itoa(l2Default), byQEMU, d.is.At)
	if !m.qemu {
		m.unset(&d.is.L2CacheSize, notQEMU)
	}
	e := d.driver.kid("metadata_cache", "max_size")
	if e == nil {
		return
	}
	if n, ok := size(e.text, e.get("unit"), 1); ok {
		d.is.L2CacheSize = vmconf.Written(strconv.FormatInt(n, 10), m.words(e.start, e.end), m.at(e))
	}
}
