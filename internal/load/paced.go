package load

import (
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// start starts the generator. One that paces itself gets timers that are as exact as the kernel has them: a nanosecond of
// slack (prctl(2), PR_SET_TIMERSLACK) in the place of the usual 50 µs. fio measures when it starts how late it is woken,
// and turns round in a loop for so long before each I/O that it is to issue in time (usec_sleep of its time.c): what it takes
// of the CPU that way would be counted with what the I/Os take.
func start(cmd *exec.Cmd, paced bool) error {
	if !paced {
		return cmd.Start()
	}
	runtime.LockOSThread() // the slack is the thread's, and a child has that of the thread that made it
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl PR_SET_TIMERSLACK", err)
	}
	defer unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // what the thread began with
	return cmd.Start()
}
