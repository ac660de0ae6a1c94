package cmdline

import (
	"strconv"

	"github.com/iotax/iotax/internal/spec"
)

// cacheMode is what a cache mode's name stands for, as in the table under "cache" of -drive in QEMU's manual.
// The first switch is a property of the guest's device and not of the block nodes: without a write cache every
// write is followed by a flush.
type cacheMode struct{ writeCache, direct, noFlush bool }

var cacheModes = map[string]cacheMode{
	"none":         {writeCache: true, direct: true},
	"writeback":    {writeCache: true},
	"writethrough": {},
	"directsync":   {direct: true},
	"unsafe":       {writeCache: true, noFlush: true},
}

// CacheFlags returns how a cache mode opens a disk's block nodes (cache.direct, cache.no-flush) and whether its device
// shows the guest a write cache.
func CacheFlags(mode string) (direct, noFlush, writeCache bool) {
	m := cacheModes[mode]
	return m.direct, m.noFlush, m.writeCache
}

// blockdevs adds the disk's block nodes from the bottom up: the protocol, the slice of it where a format other
// than raw needs one, and the format.
func (b *builder) blockdevs(d Disk) {
	if d.Stack.Ceiling() {
		b.nullNode(d)
		return
	}
	sliced := d.Offset != 0 || d.Size != 0
	below := b.protocolNode(d)
	if sliced && d.Stack.Format != "raw" {
		slice := node(d, "raw", d.Serial+"-slice")
		slice.set("file", below)
		setSlice(&slice, d)
		b.add(slice)
		below = slice.get("node-name")
	}
	top := node(d, d.Stack.Format, d.Node())
	top.set("file", below)
	if d.Base != "" {
		top.set("backing", b.backingNodes(d))
	}
	setQcow2(&top, d.Stack)
	if sliced && d.Stack.Format == "raw" {
		setSlice(&top, d)
	}
	setDetectZeroes(&top, d)
	b.add(top)
}

// nullNode adds a device of zero latency, which is its own protocol. Its size must be a plain number of bytes.
func (b *builder) nullNode(d Disk) {
	o := node(d, "null-co", d.Node())
	o.set("size", strconv.FormatInt(d.Size, 10))
	o.set("read-zeroes", "on") // else reads would hand the guest uninitialised memory of QEMU
	setDetectZeroes(&o, d)
	b.add(o)
}

func (b *builder) protocolNode(d Disk) string {
	driver := "file"
	if d.Block {
		driver = "host_device"
	}
	o := node(d, driver, d.ProtocolNode())
	o.set("filename", d.Path)
	o.set("aio", d.Stack.AIO)
	b.add(o)
	return d.ProtocolNode()
}

// backingNodes adds the image behind an overlay. QEMU would open it by itself, with an aio of its own.
func (b *builder) backingNodes(d Disk) string {
	file := node(d, "file", d.Serial+"-base-file")
	file.set("filename", d.Base)
	file.set("aio", d.Stack.AIO)
	file.set("read-only", "on")
	b.add(file)
	image := node(d, "qcow2", d.Serial+"-base")
	image.set("file", file.get("node-name"))
	image.set("read-only", "on")
	setQcow2(&image, spec.Stack{L2CacheSize: d.Stack.L2CacheSize})
	b.add(image)
	return image.get("node-name")
}

// node begins a block node. -blockdev has no inheritance: cache flags and discard count for the node that they
// are given to and no other, so every node gets them.
func node(d Disk, driver, name string) option {
	mode := cacheModes[d.Stack.Cache]
	o := option{flag: "-blockdev"}
	o.set("driver", driver)
	o.set("node-name", name)
	o.set("cache.direct", onOff(mode.direct))
	o.set("cache.no-flush", onOff(mode.noFlush))
	if d.Stack.Discard != "" {
		o.set("discard", d.Stack.Discard)
	}
	return o
}

func setSlice(o *option, d Disk) {
	if d.Offset != 0 {
		o.set("offset", strconv.FormatInt(d.Offset, 10))
	}
	if d.Size != 0 {
		o.set("size", strconv.FormatInt(d.Size, 10))
	}
}

// setQcow2 sets what is of the node and not of the image. That refcounts are lazy is said in the image too, and here so
// that a QEMU that cannot have them refuses.
func setQcow2(o *option, s spec.Stack) {
	if s.LazyRefcounts {
		o.set("lazy-refcounts", "on")
	}
	if s.L2CacheSize != 0 {
		o.set("l2-cache-size", strconv.FormatInt(s.L2CacheSize, 10))
	}
}

func setDetectZeroes(o *option, d Disk) {
	if d.Stack.DetectZeroes != "" {
		o.set("detect-zeroes", d.Stack.DetectZeroes)
	}
}
