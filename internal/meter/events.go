package meter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// event is one that the kernel counts for threads (perf_event_open(2)).
type event struct {
	kind   uint32
	config uint64
}

var cycles = event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES}

// traceFolders are where the kernel shows its tracepoints: since 4.1, and before.
var traceFolders = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// kvmExits is the event of a guest's exit to KVM. The error says that this kernel does not tell it: KVM is not loaded,
// or the tracepoints are not there to be seen.
func kvmExits() (event, error) {
	var faults []error
	for _, dir := range traceFolders {
		text, err := os.ReadFile(filepath.Join(dir, "events/kvm/kvm_exit/id"))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		return event{unix.PERF_TYPE_TRACEPOINT, id}, err
	}
	return event{}, errors.Join(faults...)
}

// counter counts an event over the threads of several processes together, and over those that these start later. A nil
// counter counts nothing.
type counter struct {
	event event
	fds   []int
}

// add counts the threads of one more process. It returns nil where one of them cannot be counted: a sum that leaves
// threads out would be worse than none.
func (c *counter) add(p *process) *counter {
	if c == nil {
		return nil
	}
	for tid := range p.threads {
		err := c.open(tid)
		if errors.Is(err, unix.ESRCH) { // it has just ended
			continue
		}
		if err != nil {
			c.close()
			return nil
		}
	}
	return c
}

func (c *counter) open(tid int) error {
	attr := unix.PerfEventAttr{
		Type: c.event.kind, Config: c.event.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitInherit,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	const anyCPU, noGroup = -1, -1
	fd, err := unix.PerfEventOpen(&attr, tid, anyCPU, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("counting thread %d: %w", tid, os.NewSyscallError("perf_event_open", err))
	}
	c.fds = append(c.fds, fd)
	return nil
}

// read is the count so far, nil where it is not known.
func (c *counter) read() *float64 {
	if c == nil || len(c.fds) == 0 {
		return nil
	}
	sum := 0.0
	for _, fd := range c.fds {
		var raw [24]byte // value, time enabled, time running
		if n, err := unix.Read(fd, raw[:]); err != nil || n != len(raw) {
			return nil
		}
		v, ok := scaled(raw)
		if !ok {
			return nil
		}
		sum += v
	}
	return &sum
}

// scaled is the count of one event as if it had been counted all the time: where several programs count, the few counters
// of a processor go round between them. It is false for one that had no turn yet.
func scaled(raw [24]byte) (float64, bool) {
	at := func(i int) float64 { return float64(binary.NativeEndian.Uint64(raw[8*i:])) }
	value, enabled, running := at(0), at(1), at(2)
	if running == 0 {
		return 0, value == 0 && enabled == 0 // a thread that has not run since
	}
	return value * enabled / running, true
}

func (c *counter) close() {
	if c == nil {
		return
	}
	for _, fd := range c.fds {
		unix.Close(fd)
	}
	c.fds = nil
}
