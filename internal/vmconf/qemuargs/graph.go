package qemuargs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

// node is one block node: of a -blockdev, of a -drive, or written inside one of them.
type node struct {
	o      *option
	prefix string // of its keys: "" or "file."
	drive  *drive // it is the root of
	inline bool   // written inside its parent, whose cache mode it inherits
}

// drive is a -drive, or what is short for one: -hda, -cdrom, a path alone.
type drive struct {
	o         *option
	root      *node
	iface     string // "ide", "none"
	media     string
	id        string
	bus, unit int
}

// protocols are the drivers that read and write the bytes themselves, with the kind of backend they are.
var protocols = map[string]string{
	"file": "file", "host_device": "block", "host_cdrom": "block", "nbd": "network", "rbd": "network", "iscsi": "network",
	"ssh": "network", "http": "network", "https": "network", "ftp": "network", "ftps": "network", "gluster": "network",
	"gluster+tcp": "network", "gluster+unix": "network", "gluster+rdma": "network", "nfs": "network", "sheepdog": "network",
	"vxhs": "network", "nvme": "nvme", "nvme-io_uring": "nvme", "vvfat": "dir", "null-co": "none", "null-aio": "none",
	"io_uring": "file", "virtio-blk-vhost-vdpa": "block", "virtio-blk-vhost-user": "vhost-user", "virtio-blk-vfio-pci": "block",
}

// filters are drivers that pass everything on: no format is theirs.
var filters = set("throttle copy-on-read compress preallocate blkdebug blkverify blklogwrites blkreplay quorum replication " +
	"copy-before-write snapshot-access")

// get returns a key of the node.
func (n *node) get(keys ...string) (optstr.Pair, bool) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = n.prefix + k
	}
	return n.o.set.Get(names...)
}

func (n *node) value(keys ...string) string {
	p, _ := n.get(keys...)
	return p.Value
}

// filename is the path or address that the node names itself.
func (n *node) filename() (optstr.Pair, bool) {
	if p, ok := n.get("filename"); ok {
		return p, ok
	}
	if n.o.name != "blockdev" && n.prefix == "file." {
		return n.o.set.Get("file")
	}
	if n.drive != nil {
		return n.get("file")
	}
	return optstr.Pair{}, false
}

// driver is what the node is, "" where QEMU probes it.
func (n *node) driver() string {
	if n.drive != nil {
		return n.value("format", "driver")
	}
	if d := n.value("driver"); d != "" || n.o.name == "blockdev" {
		return d
	}
	if n.o.set.Under(n.prefix + "file") {
		return ""
	}
	p, _ := n.filename()
	return protocolOf(p.Value)
}

// protocolOf returns the driver that a file name asks for.
func protocolOf(name string) string {
	scheme, _, ok := strings.Cut(name, ":")
	switch {
	case strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") && !strings.HasPrefix(name, "/dev/fd"):
		return "host_device"
	case !ok:
		return "file"
	case scheme == "fat":
		return "vvfat"
	case protocols[scheme] != "":
		return scheme
	case strings.HasPrefix(scheme, "nbd"), strings.HasPrefix(scheme, "nfs"), strings.HasPrefix(scheme, "sheepdog"):
		return scheme[:map[byte]int{'n': 3, 's': 8}[scheme[0]]]
	}
	return "file"
}

// below returns the node under a node, nil for one that has none.
func (g *guest) below(n *node) *node {
	if protocols[n.driver()] != "" {
		return nil
	}
	if n.drive != nil {
		return &node{o: n.o, prefix: "file.", inline: true}
	}
	for _, key := range []string{"file", "image", "children.0", "test"} {
		if n.o.set.Under(n.prefix + key) {
			return &node{o: n.o, prefix: n.prefix + key + ".", inline: true}
		}
		if p, ok := n.get(key); ok && p.Value != "" {
			if to := g.nodes[p.Value]; to != nil {
				return &node{o: to.o, prefix: to.prefix, drive: to.drive}
			}
			return nil
		}
	}
	return nil
}

// chain returns the nodes from one that a device uses down to the protocol.
func (g *guest) chain(n *node) []*node {
	var out []*node
	for ; n != nil && len(out) < maxChain; n = g.below(n) {
		out = append(out, n)
	}
	return out
}

const maxChain = 32

// backing names the files under the format node of a chain, as far as the arguments tell.
func (g *guest) backing(chain []*node) []string {
	var out []string
	for _, n := range chain {
		for n != nil && len(out) < maxChain {
			var next *node
			if n.o.set.Under(n.prefix + "backing") {
				next = &node{o: n.o, prefix: n.prefix + "backing."}
			} else if p, ok := n.get("backing"); ok {
				next = g.nodes[p.Value]
			}
			if n = next; n == nil {
				break
			}
			below := g.chain(n)
			out = append(out, g.source(below[len(below)-1]))
		}
	}
	return out
}

// source is the path or address of a protocol node.
func (g *guest) source(n *node) string {
	if p, ok := n.filename(); ok {
		return p.Value
	}
	driver := n.driver()
	var parts []string
	add := func(keys ...string) {
		for _, k := range keys {
			if v := n.value(k); v != "" {
				parts = append(parts, v)
				return
			}
		}
	}
	switch driver {
	case "rbd":
		add("pool")
		add("namespace")
		add("image")
	case "iscsi":
		add("portal")
		add("target")
		add("lun")
	case "nvme", "nvme-io_uring", "virtio-blk-vfio-pci":
		add("device", "path")
		add("namespace")
	case "vvfat":
		add("dir")
	default:
		host, port := n.value("server.host", "server.0.host", "host"), n.value("server.port", "server.0.port", "port")
		if host != "" && port != "" {
			host += ":" + port
		}
		if host != "" {
			parts = append(parts, host)
		}
		add("server.path", "server.0.path", "server.str")
		add("volume")
		add("path", "url", "socket")
		add("export", "vdisk", "vdi")
	}
	if len(parts) == 0 {
		return ""
	}
	out := strings.Join(parts, "/")
	if protocols[driver] == "network" {
		out = driver + ":" + out
	}
	return out
}

// shorts are the options that are a -drive with an interface and a place of their own.
var shorts = map[string]struct {
	iface, media string
	index        int
}{
	"hda": {"", "disk", 0}, "hdb": {"", "disk", 1}, "hdc": {"", "disk", 2}, "hdd": {"", "disk", 3}, "": {"", "disk", 0},
	"cdrom": {"", "cdrom", 2}, "fda": {"floppy", "disk", 0}, "fdb": {"floppy", "disk", 1}, "sd": {"sd", "disk", 0},
	"mtdblock": {"mtd", "disk", 0},
}

// graph finds the nodes and the drives.
func (g *guest) graph() {
	taken := map[string]*places{}
	for _, o := range g.opts {
		switch short, ok := shorts[o.name]; {
		case !o.has, o.name == "" && o.value.Text == "":
		case o.name == "blockdev":
			n := &node{o: o}
			g.nodes[n.value("node-name")] = n
		case o.name == "drive":
			g.addDrive(&drive{o: o, iface: o.set.Value("if"), media: o.set.Value("media"), id: o.set.Value("id"), unit: -1}, -1, taken)
		case ok && (o.name != "" || g.start.program != "" && g.start.program != daemon):
			o.set = optstr.Options{Text: o.value.Text, Pairs: []optstr.Pair{
				{Key: "file", Value: o.value.Text, To: len(o.value.Text), End: len(o.value.Text)},
			}}
			g.addDrive(&drive{o: o, iface: short.iface, media: short.media}, short.index, taken)
		case o.name == "":
			g.unknown(o.value.Text, o.word.Start)
		}
	}
	delete(g.nodes, "")
}

// places are those of an interface that drives have.
type places struct {
	taken map[int]bool
	free  int // none before it is
}

// addDrive gives a drive its place on its bus as QEMU does, and the name that goes with it.
func (g *guest) addDrive(d *drive, index int, all map[string]*places) {
	board := g.board()
	if d.iface == "" {
		d.iface = board.bus
	}
	perBus := map[string]int{"ide": board.onIDE, "scsi": 7}[d.iface]
	at := all[d.iface]
	if at == nil {
		at = &places{taken: map[int]bool{}}
		all[d.iface] = at
	}
	if n, err := strconv.Atoi(d.o.set.Value("index")); err == nil && n >= 0 && n < 1<<16 {
		index = n
	}
	if index < 0 {
		bus, _ := strconv.Atoi(d.o.set.Value("bus"))
		unit, err := strconv.Atoi(d.o.set.Value("unit"))
		if index = 0; bus >= 0 && bus < 1<<10 && unit >= 0 && unit < 1<<10 {
			if index = bus * max(perBus, 1); perBus == 0 {
				index = 0
			}
			index += unit
		}
		if err != nil { // the first that is free, on its bus or behind
			for index = max(index, at.free); at.taken[index]; index++ {
			}
		}
	}
	at.taken[index] = true
	for at.taken[at.free] {
		at.free++
	}
	d.unit = index
	if perBus > 0 {
		d.bus, d.unit = index/perBus, index%perBus
	}
	if d.id == "" {
		media, bus := "", ""
		if perBus > 0 {
			media, bus = "-hd", strconv.Itoa(d.bus)
			if d.media == "cdrom" {
				media = "-cd"
			}
		}
		d.id = d.iface + bus + media + strconv.Itoa(d.unit)
	}
	d.root = &node{o: d.o, drive: d}
	g.drives[d.id] = d.root
	g.driveList = append(g.driveList, d)
	if name := d.o.set.Value("node-name"); name != "" {
		g.nodes[name] = d.root
	}
}

// referenced returns the names that any option gives to a key that is not its own name.
func (g *guest) referenced() map[string]bool {
	out := map[string]bool{}
	for _, o := range g.opts {
		for _, p := range o.set.Pairs {
			last := p.Key[strings.LastIndexByte(p.Key, '.')+1:]
			own := slices.Contains([]string{"node-name", "id", "filename", "driver"}, last) && (o.name != "export" || last == "id")
			if !own && (o.name != "drive" || p.Key != "file") {
				out[p.Value] = true
			}
		}
	}
	delete(out, "")
	return out
}
