package load

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// processorsBusy is how long the processors of this machine have worked since it started, all together.
func processorsBusy() (time.Duration, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n') // the sum comes first; thousands of interrupts follow
	if err != nil {
		return 0, fmt.Errorf("/proc/stat: %w", err)
	}
	return parseBusy(line)
}

// parseBusy adds up user, nice, system, irq and softirq of the line "cpu" of proc_stat(5). idle and iowait are no
// work, steal is that of others, and the guest times that follow are contained in user and nice.
func parseBusy(line string) (time.Duration, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q, expected cpu and at least 7 times", line)
	}
	var busy time.Duration
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: field %d: %w", i, err)
		}
		busy += time.Duration(n) * tick
	}
	return busy, nil
}
