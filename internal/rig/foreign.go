package rig

import (
	"os"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/load"
	"github.com/iotax/iotax/internal/meter"
	"github.com/iotax/iotax/internal/qemu/cmdline"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
)

// ownIO is what the processes of a run asked of storage, up to a moment. iotax itself is among them: it writes each window
// to its store.
type ownIO struct {
	pids   []int
	before meter.IO
	known  bool
}

// ownIO begins to count: all that the run has started and that can do I/O, whichever disk the window is about.
func (s *session) ownIO() *ownIO {
	o := &ownIO{pids: []int{os.Getpid()}, known: true}
	if q, ok := s.machine.(*emulator); ok {
		o.pids = append(o.pids, q.Proc.PID())
	} else if s.machine != nil {
		o.known = false // a domain of Xen: threads of the kernel do its I/O
	}
	for _, server := range s.servers {
		pid := pidOf(server)
		o.pids, o.known = append(o.pids, pid), o.known && pid > 0
	}
	o.before = o.now()
	return o
}

func (o *ownIO) now() (sum meter.IO) {
	for _, pid := range o.pids {
		io, err := meter.ProcessIO(pid)
		o.known = o.known && err == nil
		sum = sum.Plus(io)
	}
	return sum
}

// What the file system under a volume may read and write of its own beside our I/O, and the host beside both, before it is
// taken for a neighbour: a MiB in a window, and for every flush of the load a commit of the journal.
const (
	housekeeping  = 1 << 20
	journalCommit = 16 << 10 // bytes: descriptor, inode and commit block of ext4, and one more
)

// foreign notes the bytes at the device that nobody of ours asked for.
//
// What we asked for is what the kernel counts of our processes (see meter.IO), from before the counters of the device
// were read to after. Reads meet the device as they are counted. So do direct writes. Buffered ones (cache=writeback,
// writethrough, unsafe) are counted when they make a page dirty and meet the device later, once for all writes to a page
// until then: the device may have got less than was counted, never more, since what was dirty before the window was written
// back before it (caches). Then a neighbour is seen less of than there is, and none is seen that is not there.
func (s *session) foreign(out *record.Window, a *account, r load.Result, d meter.Delta, stack string) {
	after := a.own.now()
	if !a.own.known || !s.plain(stack) {
		return
	}
	read := d.Disk.ReadBytes - (after.Read - a.own.before.Read)
	write := d.Disk.WriteBytes - (after.Write - a.own.before.Write)
	if !s.inGuest(stack) {
		read, write = read-r.ReadBytes, write-r.WriteBytes
	}
	read = beyond(read, housekeeping)
	write = beyond(write, housekeeping+journalCommit*s.flushes(stack, out.Evidence))
	out.Evidence.ForeignRead, out.Evidence.ForeignWrite = &read, &write
}

// flushes is how many of them the load had: its own, and those that QEMU makes after each write of a guest that sees no
// write cache.
func (s *session) flushes(stack string, e record.Evidence) int64 {
	mode := s.stackOf(stack).Cache
	if _, _, writeCache := cmdline.CacheFlags(mode); !writeCache && mode != "" {
		return e.PathFlush + e.PathWrites
	}
	return e.PathFlush
}

// stackOf finds a stack of the guest, or of the host beside it; the host itself has none.
func (s *session) stackOf(name string) spec.Stack {
	if i := slices.IndexFunc(s.group.Stacks, func(in spec.Stack) bool { return in.Name == name }); i >= 0 {
		return s.group.Stacks[i]
	}
	return spec.Stack{}
}

// beyond is 0 for what stays within what is allowed.
func beyond(bytes, allowed int64) int64 {
	if bytes <= allowed {
		return 0
	}
	return bytes
}

// inPlace are the file systems that write data where they are and once, and keep a journal of metadata alone.
var inPlace = []string{"ext2", "ext3", "ext4", "xfs"}

// plain reports whether each byte that is asked of a stack's volume is one at its one disk: there is nothing between them
// but such a file system, partitions and loop devices, and volumes of LVM without a snapshot. A stack whose blocks are
// given away before each window has as many changes of the file system's maps as writes.
func (s *session) plain(stack string) bool {
	layers, devices := s.Layers[stack], s.Devices[stack]
	if len(devices) != 1 || len(layers) == 0 {
		return false
	}
	is := s.stackOf(stack)
	thick := is.Storage == "lvm" && is.Snapshot == ""
	return !is.Empty && !slices.ContainsFunc(layers, func(layer string) bool {
		inPlace := slices.Contains(inPlace, layer) || strings.HasPrefix(layer, "loop") ||
			strings.HasPrefix(layer, devices[0]) || thick && strings.HasPrefix(layer, "dm-")
		return !inPlace
	})
}
