package cmdline

import "strconv"

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

func setDetectZeroes(o *option, d Disk) {
	if d.Stack.DetectZeroes != "" {
		o.set("detect-zeroes", d.Stack.DetectZeroes)
	}
}
