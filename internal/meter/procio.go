package meter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// IO is what a process, its ended threads included, asked of storage.
//
// Read counts where a request to a block device is made, on behalf of the thread that makes it: reads past the page cache,
// and those that fill it, read-ahead included; what the cache already holds is not in it. Write counts direct writes where
// they are made, and buffered ones where a page of the cache gets dirty: it is written to the device later, by a thread of
// the kernel and once however often it was written to meanwhile. What a file system adds of its own, its journal
// and its maps, is in neither when the kernel's threads write it (proc_pid_io(5)).
//
// Who submits makes no difference: seen on Linux 6.18 with fio's libaio and io_uring, with and without a thread of the kernel
// that polls its ring, and with QEMU's aio=threads, native and io_uring, direct I/O is counted to the byte. The kernel's helpers
// are threads of the process. A loop device counts as any other; what it asks of the file below it is the kernel's.
type IO struct{ Read, Write int64 } // bytes

// Plus is both together.
func (i IO) Plus(j IO) IO { return IO{i.Read + j.Read, i.Write + j.Write} }

// ProcessIO reads what a process asked of storage since it started.
func ProcessIO(pid int) (IO, error) {
	path := fmt.Sprintf("/proc/%d/io", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return IO{}, err
	}
	io, err := parseIO(string(text))
	if err != nil {
		return io, fmt.Errorf("%s: %w", path, err)
	}
	return io, nil
}

// parseIO reads the counters of /proc/PID/io. cancelled_write_bytes are those of dirty pages that were thrown away
// before they were written, as a file that is removed has; the process that removes it has them, and none of ours does.
func parseIO(text string) (IO, error) {
	var io IO
	for name, into := range map[string]*int64{"read_bytes": &io.Read, "write_bytes": &io.Write} {
		_, rest, found := strings.Cut("\n"+text, "\n"+name+": ")
		line, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if !found || err != nil {
			return IO{}, fmt.Errorf("no number %s in %q", name, text)
		}
		*into = n
	}
	return io, nil
}
