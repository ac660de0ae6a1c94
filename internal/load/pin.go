package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pin lets a process run on the listed CPUs only: "0,2-3", or "" for all.
func pin(pid int, list string) error {
	if list == "" {
		return nil
	}
	var set unix.CPUSet
	for part := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || low > high {
			return fmt.Errorf("CPUs %q: expected a list such as 0,2-3", list)
		}
		for cpu := low; cpu <= high; cpu++ {
			set.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(pid, &set); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	return nil
}
