package emit

import (
	"fmt"
	"path"
	"strings"

	"github.com/iotax/iotax/internal/sys"
)

// create gives the commands that make what the configuration relies on and does not say: the options of an image, of a
// logical volume, of ZFS.
func (e *emitter) create() {
	if e.s.Snapshot != "" {
		e.note("it was measured with a snapshot under the disk (" + e.s.Snapshot + "), which is a state and no setting")
	}
	switch volume := !strings.HasPrefix(e.Disk, "/"); {
	case e.s.Ceiling():
	case volume:
		e.alloc()
	case e.s.Storage == "lvm", e.s.Storage == "lvm-thin":
		e.createLV()
	case e.s.Storage == "zvol":
		e.zfs(strings.TrimPrefix(e.Disk, "/dev/zvol/"), "-V", fmt.Sprint(e.o.Size))
	case e.s.Storage == "zfs-file":
		e.zfs(strings.TrimPrefix(path.Dir(e.Disk), "/"))
		e.createFile(e.quoted)
	case e.s.File():
		e.createFile(e.quoted)
	}
}

// quoted is the disk's path, with an end of its own, for a shell.
func (e *emitter) quoted(end string) string { return sys.Quote([]string{e.Disk + end}) }

func (e *emitter) command(argv ...string) { e.Commands = append(e.Commands, sys.Quote(argv)) }

// alloc makes a volume of a storage of Proxmox VE, which has settings of its own.
func (e *emitter) alloc() {
	if settings := e.storageSettings(); settings != "" {
		e.note("it was measured on " + e.s.Storage + " with " + settings + ", which are settings of the storage and not of the machine")
	}
	if e.s.File() {
		e.createFile(func(end string) string { return `"$(pvesm path ` + e.quoted("") + `)` + end + `"` })
		return
	}
	storage, name, _ := strings.Cut(e.Disk, ":")
	e.command("pvesm", "alloc", storage, e.vmid, name, fmt.Sprint(e.o.Size>>10))
}

// storageSettings lists what the stack says of its storage.
func (e *emitter) storageSettings() string {
	s := e.s
	stripes := ""
	if s.Stripes > 1 {
		stripes = fmt.Sprint(s.Stripes)
	}
	return strings.Join(settings("=",
		"extent_size", number(s.ExtentSize), "stripes", stripes, "read_ahead", s.LVReadAhead, "chunk_size", number(s.ChunkSize),
		"zeroing", s.Zeroing, "recordsize", number(s.RecordSize), "volblocksize", number(s.VolBlockSize),
		"compression", s.Compression, "primarycache", s.PrimaryCache, "sync", s.Sync), ", ")
}

// settings joins keys with their values where there is one.
func settings(between string, pairs ...string) (list []string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, pairs[i]+between+pairs[i+1])
		}
	}
	return list
}

// createFile makes the image or raw file. quoted gives its path to the shell, and with an end that of the image behind it.
func (e *emitter) createFile(quoted func(end string) string) {
	s := e.s
	on := map[bool]string{true: "on"}
	preallocation := s.Preallocation
	if s.BackingFile {
		preallocation = ""
	}
	argv := []string{"qemu-img", "create", "-f", s.Format}
	if options := settings("=", "cluster_size", number(s.ClusterSize), "extended_l2", on[s.ExtendedL2],
		"lazy_refcounts", on[s.LazyRefcounts], "preallocation", preallocation); len(options) > 0 {
		argv = append(argv, "-o", strings.Join(options, ","))
	}
	base := ""
	if s.BackingFile {
		base = " -b " + quoted(baseEnd) + " -F qcow2"
	}
	e.Commands = append(e.Commands, fmt.Sprintf("%s%s %s %d", sys.Quote(argv), base, quoted(""), e.o.Size))
}

// createLV makes the logical volume, and before it the pool of a thin one.
func (e *emitter) createLV() {
	s := e.s
	group, name, ok := strings.Cut(strings.TrimPrefix(e.Disk, "/dev/"), "/")
	if !ok || group == "mapper" {
		if settings := e.storageSettings(); settings != "" {
			e.note("it was measured on " + s.Storage + " with " + settings + ", which are settings of the volume and not of the machine")
		}
		return
	}
	bytes := fmt.Sprintf("%db", e.o.Size)
	lvcreate := func(args ...string) { e.command(append([]string{"lvcreate"}, args...)...) }
	option := func(flag, value string) []string {
		if value == "" {
			return nil
		}
		return []string{flag, value}
	}
	readAhead := option("-r", s.LVReadAhead)
	if s.ExtentSize != 0 {
		e.note(fmt.Sprintf("the extents of the volume group that was measured have %d bytes: vgcreate -s %db", s.ExtentSize, s.ExtentSize))
	}
	if s.Storage == "lvm" {
		stripes := option("-i", number(int64(s.Stripes)))
		lvcreate(append(append(append([]string{"-n", name, "-L", bytes}, stripes...), readAhead...), group)...)
		return
	}
	_, pool, _ := strings.Cut(e.pool(), "/")
	chunk := ""
	if s.ChunkSize != 0 {
		chunk = fmt.Sprintf("%db", s.ChunkSize)
	}
	zeroing := map[string]string{"on": "y", "off": "n"}[s.Zeroing]
	if s.Pool == "" {
		lvcreate(append(append([]string{"-T", group + "/" + pool, "-L", bytes}, option("-c", chunk)...), option("-Z", zeroing)...)...)
	}
	lvcreate(append([]string{"-n", name, "-V", bytes, "-T", group + "/" + pool}, readAhead...)...)
}

// zfs makes the zvol, or the dataset for the file.
func (e *emitter) zfs(name string, more ...string) {
	s := e.s
	argv := append([]string{"zfs", "create"}, more...)
	for _, p := range settings("=", "volblocksize", number(s.VolBlockSize), "recordsize", number(s.RecordSize),
		"compression", s.Compression, "primarycache", s.PrimaryCache, "sync", s.Sync) {
		argv = append(argv, "-o", p)
	}
	e.command(append(argv, name)...)
}

// number is a setting's value, "" for one that is not set.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
