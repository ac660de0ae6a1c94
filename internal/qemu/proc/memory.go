package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// PageSize returns of how many bytes the pages are that the kernel has under a guest's memory of so many bytes, 0 when
// no mapping of the process is that large.
func PageSize(pid int, memory int64) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	defer f.Close()
	return pageSize(f, memory)
}

// pageSize reads smaps (proc_pid_smaps(5)). Of the mappings that could be the guest's memory the smallest is: QEMU's
// own, such as that of the translated code, are of another size.
func pageSize(smaps io.Reader, memory int64) (int64, error) {
	var size, best, page int64
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		digits, isSize := strings.CutSuffix(strings.TrimSpace(rest), " kB")
		n, err := strconv.ParseInt(digits, 10, 64)
		if !isSize || err != nil {
			continue
		}
		switch name {
		case "Size":
			size = n << 10
		case "KernelPageSize":
			if size >= memory && (best == 0 || size < best) {
				best, page = size, n<<10
			}
		}
	}
	return page, lines.Err()
}
