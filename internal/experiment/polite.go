package experiment

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/record"
)

// What --polite asks of the kernel: weight among others, never a guarantee.
const (
	politeNice   = 10
	politeIOPrio = 2<<13 | 7 // best effort, lowest level (include/uapi/linux/ioprio.h)
	ioprioWho    = 1         // IOPRIO_WHO_PROCESS: one thread
)

// polite lowers the priority of this process and all that it will start, and returns how to raise it again. What
// it did is noted in the run; without root the priority stays low, which is said too.
func (r *Ready) polite(run *record.Run) (undo func()) {
	if !r.Polite {
		return func() {}
	}
	failed := eachThread(politeNice, politeIOPrio)
	run.Host.Polite = fmt.Sprintf("CPU priority lowered (nice %d), I/O priority lowest of best effort", politeNice)
	if failed != nil {
		run.Host.Polite = "asked, but the kernel refused: " + failed.Error()
	}
	return func() { _ = eachThread(0, 0) }
}

// eachThread sets both priorities of every thread of this process; children inherit them.
func eachThread(nice, ioprio int) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	var tids []int
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return setPriorities(tids, nice, ioprio)
}

// setPriorities sets both of each thread. One that has ended meanwhile is no fault.
func setPriorities(tids []int, nice, ioprio int) error {
	for _, tid := range tids {
		err := unix.Setpriority(unix.PRIO_PROCESS, tid, nice)
		if err == nil {
			if _, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWho, uintptr(tid), uintptr(ioprio)); errno != 0 {
				err = errno
			}
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}
