package cmdline

// nodes adds the block nodes that QEMU itself has of the disk: those of the volume, those of a connection to the
// daemon that has the volume open, or none.
func (b *builder) nodes(d Disk) {
	switch {
	case d.Stack.VhostUser():
	case d.Stack.Protocol == "nbd":
		b.nbdNodes(d)
	default:
		b.blockdevs(d)
	}
}

// nbdNodes adds the client's side of an NBD disk. Format, slice and detection of zeros are the server's. When the
// server goes, every request fails at once instead of waiting for it: a disk that lost its server is no slow disk.
func (b *builder) nbdNodes(d Disk) {
	o := node(d, "nbd", d.NBDNode())
	o.set("server.type", "unix")
	o.set("server.path", d.Socket)
	o.set("export", d.Serial)
	o.set("reconnect-delay", "0")
	b.add(o)
	top := node(d, "raw", d.Node())
	top.set("file", o.get("node-name"))
	b.add(top)
}

// NBDNode returns the name of the block node in QEMU that speaks NBD. The export has the disk's serial for its name.
func (d Disk) NBDNode() string { return d.Serial + "-nbd" }

// Blockdevs returns the block nodes of the disk as they are in the process that has its volume open, be that QEMU or
// qemu-storage-daemon: values of the option blockdev, from the bottom up.
func Blockdevs(d Disk) ([]string, error) {
	var b builder
	b.checkDisk(d)
	b.checkStack(d)
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	b.blockdevs(d)
	values := make([]string, len(b.options))
	for i, o := range b.options {
		values[i] = o.value()
	}
	return values, nil
}
