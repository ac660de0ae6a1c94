package cmdline

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/iotax/iotax/internal/spec"
)

// pageSizes are the huge pages of x86-64, and what QEMU's hugetlbsize calls them.
var pageSizes = map[int64]string{2 << 20: "2M", 1 << 30: "1G"}

// MemoryID is the id of the guest's memory backend where it has one of its own making, for QMP.
const MemoryID = "mem"

// MemoryFault returns why no QEMU can back a guest's memory so, "" when one can. shared says that another process
// needs the memory too.
func MemoryFault(backend string, pages int64, shared bool) string {
	switch {
	case backend != "" && !slices.Contains(spec.Memories, backend):
		return fmt.Sprintf("memory backend %q: want one of %q", backend, spec.Memories)
	case pages != 0 && pageSizes[pages] == "":
		return fmt.Sprintf("huge pages of %d bytes: want %d or %d", pages, 2<<20, 1<<30)
	case backend == "ram" && pages != 0:
		return "memory backend ram has no huge pages: want memfd or file"
	case backend == "ram" && shared:
		return "memory backend ram cannot be shared with the server of a vhost-user disk: want memfd or file"
	}
	return ""
}

func (b *builder) checkMemory(c Config) {
	if c.Memory < mebibyte || c.Memory%mebibyte != 0 {
		b.fault("memory of %d bytes: want whole MiB", c.Memory)
	}
	if why := MemoryFault(c.Backend, c.Pages, c.shared()); why != "" {
		b.fault("%s", why)
		return
	}
	if c.Pages != 0 && c.Memory%c.Pages != 0 {
		b.fault("memory of %d bytes: want whole huge pages of %s", c.Memory, pageSizes[c.Pages])
	}
	if c.Backend == "file" && c.Folder == "" {
		b.fault("memory backend file: no folder to make the file in")
	}
}

// shared reports whether another process needs the guest's memory.
func (c Config) shared() bool {
	return slices.ContainsFunc(c.Disks, func(d Disk) bool { return NeedsSharedMemory(d.Stack) })
}

// memory backs the guest's memory otherwise than QEMU would, where that was asked for or is needed. Huge pages are taken
// at the start, so that a host without enough of them is found out before the guest runs; later it would be killed.
func memory(c Config) []string {
	backend := c.Backend
	if backend == "" && (c.shared() || c.Pages != 0) {
		backend = "memfd"
	}
	if backend == "" || backend == "ram" {
		return nil
	}
	o := option{flag: "-object", head: "memory-backend-" + backend}
	o.set("id", MemoryID)
	o.set("size", strconv.FormatInt(c.Memory, 10))
	if backend == "file" {
		o.set("mem-path", c.Folder) // QEMU makes a file without a name in it
	}
	if c.shared() { // which a memfd is anyhow
		o.set("share", "on")
	}
	if c.Pages != 0 {
		if backend == "memfd" {
			o.set("hugetlb", "on")
			o.set("hugetlbsize", pageSizes[c.Pages])
		}
		o.set("prealloc", "on")
	}
	return []string{o.flag, o.value(), "-machine", "memory-backend=" + MemoryID}
}
