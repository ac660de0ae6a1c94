package qemuargs

import (
	"sort"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// modes are the cache modes that a -drive names: the page cache is passed by, flushes are dropped, the guest sees a
// volatile cache.
var modes = map[string]struct{ direct, noFlush, writeBack bool }{
	"none": {true, false, true}, "off": {true, false, true}, "directsync": {true, false, false},
	"writeback": {false, false, true}, "unsafe": {false, true, true}, "writethrough": {false, false, false},
}

// modeOf names a cache mode.
func modeOf(direct, noFlush, writeBack bool) string {
	switch {
	case noFlush:
		return "unsafe"
	case direct && writeBack:
		return "none"
	case direct:
		return "directsync"
	case writeBack:
		return "writeback"
	}
	return "writethrough"
}

// inherited looks a key up at the protocol node and, where that is written inside its parent, above it.
func (d *disk) inherited(key string) (*node, optstr.Pair, bool) {
	for i := len(d.chain) - 1; i >= 0; i-- {
		n := d.chain[i]
		if p, ok := n.get(key); ok {
			return n, p, true
		}
		if !n.inline {
			break
		}
	}
	return nil, optstr.Pair{}, false
}

// legacy is the -drive whose cache= and aio= reach the protocol node.
func (d *disk) legacy() *drive {
	for i := len(d.chain) - 1; i >= 0; i-- {
		if d.chain[i].drive != nil {
			return d.chain[i].drive
		}
		if !d.chain[i].inline {
			break
		}
	}
	return nil
}

// cache is the cache mode: of the page cache and of flushes at the protocol node, and what the device shows the guest.
func (g *guest) cache(d *disk) vmconf.Setting {
	if len(d.chain) == 0 {
		return g.unset(d.option(), "", "")
	}
	first := d.chain[0]
	s := g.unset(d.chain[len(d.chain)-1].o, "writeback", "QEMU's default")
	mode := modes["writeback"]
	take := func(o *option, p optstr.Pair, text string) {
		w := g.written(o, p, "")
		w.Written = text
		if s.Set { // the setting is where its first part is
			w.At, w.Written, w.Why = s.At, s.Written+" "+text, s.Why+w.Why
		}
		s = w
	}
	if l := d.legacy(); l != nil {
		if p, ok := l.o.set.Get("cache"); ok {
			m, known := modes[p.Value]
			if take(l.o, p, p.Value); !known && s.Why == "" {
				s.Why = p.Value + " is no cache mode"
			}
			mode = m
		}
		if p, ok := l.root.get("cache.writeback"); ok {
			take(l.o, p, "cache.writeback="+p.Value)
			mode.writeBack = isOn(p.Value)
		}
	} else if p, ok := first.get("cache.writeback"); ok && first.drive != nil {
		take(first.o, p, "cache.writeback="+p.Value)
		mode.writeBack = isOn(p.Value)
	}
	for _, f := range []struct {
		key  string
		flag *bool
	}{{"cache.direct", &mode.direct}, {"cache.no-flush", &mode.noFlush}} {
		if n, p, ok := d.inherited(f.key); ok {
			take(n.o, p, f.key+"="+p.Value)
			*f.flag = isOn(p.Value)
		}
	}
	if o := d.dev; o != nil {
		if p, from, ok := g.property(o, d.driver, "write-cache"); ok && p.Value != "auto" && isOn(p.Value) != mode.writeBack {
			take(from, p, "write-cache="+p.Value)
			mode.writeBack = isOn(p.Value)
		}
	} else if o := d.fixed; o != nil && o.name == "export" {
		mode.writeBack = true
	}
	if s.Why == "" || !s.Set && s.Value != "" {
		s.Value = modeOf(mode.direct, mode.noFlush, mode.writeBack)
	}
	if mode.noFlush && mode.direct && s.Why == "" {
		s.Why = "flushes are dropped; the page cache is not used"
	}
	return s
}

// aio is how the protocol node submits requests.
func (g *guest) aio(d *disk) vmconf.Setting {
	if len(d.chain) == 0 {
		return g.unset(d.option(), "", "")
	}
	last := d.chain[len(d.chain)-1]
	driver := last.driver()
	switch driver {
	case "file", "host_device", "host_cdrom", "":
	default:
		return g.unset(last.o, "", driver+" has no aio")
	}
	if p, ok := last.get("aio"); ok {
		return g.written(last.o, p, p.Value)
	}
	if l := d.legacy(); l != nil {
		if p, ok := l.root.get("aio"); ok {
			return g.written(l.o, p, p.Value)
		}
	}
	return g.unset(last.o, "threads", "QEMU's default")
}

// unmaps reads the words for discard.
func unmaps(v string) string {
	if v == "unmap" || v == "on" {
		return "unmap"
	}
	return "ignore"
}

// discard is "unmap" where every node and the device pass it on.
func (g *guest) discard(d *disk, bus string) vmconf.Setting {
	if len(d.chain) == 0 {
		return g.unset(d.option(), "", "")
	}
	var s vmconf.Setting
	for i, n := range d.chain {
		p, ok := n.get("discard")
		switch {
		case ok:
			w := g.written(n.o, p, unmaps(p.Value))
			if i == 0 {
				s = w
			} else if w.Value != "unmap" && s.Value == "unmap" {
				s.Value, s.Why = w.Value, "discard="+p.Value+" at "+nodeName(n)
			}
		case i == 0:
			s = g.unset(n.o, "ignore", "QEMU's default")
		case !n.inline && s.Value == "unmap":
			s.Value, s.Why = "ignore", "no discard at "+nodeName(n)
		}
	}
	if driver := g.deviceDriver(d); s.Value == "unmap" && base(driver) == "virtio-blk" {
		if p, _, ok := g.property(d.dev, driver, "discard"); ok && !isOn(p.Value) {
			s.Value, s.Why = "ignore", "discard="+p.Value+" at the device"
		} else if !ok && g.older(3, 1) {
			s.Value, s.Why = "ignore", "virtio-blk of machine type "+g.vm.Machine.Value+" offers none"
		}
	}
	if s.Value == "unmap" && (bus == vmconf.SD || bus == vmconf.Floppy) {
		s.Value, s.Why = "ignore", "the device offers none"
	}
	return s
}

func nodeName(n *node) string {
	if name := n.value("node-name", "id"); name != "" {
		return "node " + name
	}
	return "the " + n.driver() + " node"
}

// detectZeroes is that of the first node that looks for zeroes.
func (g *guest) detectZeroes(d *disk) vmconf.Setting {
	if len(d.chain) == 0 {
		return g.unset(d.option(), "", "")
	}
	s := g.unset(d.chain[0].o, "off", "QEMU's default")
	for _, n := range d.chain {
		if p, ok := n.get("detect-zeroes"); ok {
			if s = g.written(n.o, p, p.Value); s.Value != "off" {
				return s
			}
		}
	}
	return s
}

// qcow2 returns the format node, where it is qcow2.
func (d *disk) qcow2() *node {
	for _, n := range d.chain {
		if n.driver() == "qcow2" {
			return n
		}
	}
	return nil
}

// l2Cache is the size of qcow2's cache of its tables.
func (g *guest) l2Cache(d *disk) vmconf.Setting {
	n := d.qcow2()
	if n == nil {
		return g.unset(d.option(), "", "")
	}
	if p, ok := n.get("l2-cache-size"); ok {
		return g.written(n.o, p, bytesOf(p.Value, 'b'))
	}
	if p, ok := n.get("cache-size"); ok {
		s := g.written(n.o, p, bytesOf(p.Value, 'b'))
		s.Why = "cache-size, of which the refcounts get a part"
		return s
	}
	if g.vm.QEMU.Before(3, 1) {
		return g.unset(n.o, "1048576", "the default up to QEMU 3.0")
	}
	return g.unset(n.o, "33554432", "QEMU's limit on Linux since 3.1; a disk that needs less takes less")
}

// limits are the keys of a -drive that throttle.
var limits = strings.Fields("bps bps_rd bps_wr bps_max bps_rd_max bps_wr_max iops iops_rd iops_wr iops_max iops_rd_max iops_wr_max")

// isLimit reports whether a key throttles: those of a -drive, those of a throttle group, with x- and without.
func isLimit(key string) bool {
	i := sort.SearchStrings(sortedLimits, key)
	if i < len(sortedLimits) && sortedLimits[i] == key {
		return true
	}
	key = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(key, "throttling."), "limits."), "x-")
	return (strings.HasPrefix(key, "bps-") || strings.HasPrefix(key, "iops-")) && !strings.HasSuffix(key, "-length") && key != "iops-size"
}

// belongsToLimit reports whether a key means nothing without a limit.
func belongsToLimit(key string) bool {
	key = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(key, "throttling."), "limits."), "x-")
	return strings.HasSuffix(key, "_length") || strings.HasSuffix(key, "-length") || key == "iops_size" || key == "iops-size"
}

var sortedLimits = func() []string {
	s := append([]string{}, limits...)
	sort.Strings(s)
	return s
}()

// throttle lists the limits of the drive and of the groups whose filters the disk is under.
func (g *guest) throttle(d *disk) []vmconf.Setting {
	var out []vmconf.Setting
	for _, o := range g.throttles(d) {
		for _, p := range o.set.Pairs {
			if isLimit(p.Key) && strings.Trim(p.Value, "0") != "" {
				s := g.written(o, p, p.Value)
				s.Written = p.Key + "=" + p.Value
				out = append(out, s)
			}
		}
	}
	return out
}

// throttles are the options that hold a disk's limits.
func (g *guest) throttles(d *disk) []*option {
	var out []*option
	for _, n := range d.chain {
		if n.drive != nil {
			out = append(out, n.o)
		}
		if n.driver() != "throttle" {
			continue
		}
		for _, o := range g.all("object") {
			if o.set.Value("qom-type") == "throttle-group" && o.set.Value("id") == n.value("throttle-group") {
				out = append(out, o)
			}
		}
	}
	return out
}
