package spdk

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
)

// memory is what a target is given, in bytes: as much as SPDK's own guide to vhost gives it (-s 1024).
const memory = 1 << 30

// CheckHugepages returns, as one line with the command that mends it, why a target cannot get its huge pages beside a
// guest whose memory is guest bytes of them, nil when it can.
func CheckHugepages(guest int64) error {
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	return hugepages(string(meminfo), string(mounts), memory+guest)
}

// hugepages looks for need bytes of free huge pages, and for the file system through which SPDK maps them.
func hugepages(meminfo, mounts string, need int64) error {
	total, free, size := field(meminfo, "HugePages_Total"), field(meminfo, "HugePages_Free"), field(meminfo, "Hugepagesize")*1024
	free -= field(meminfo, "HugePages_Rsvd") // promised to others
	if size <= 0 {
		return errkind.Userf("SPDK needs huge pages, and this kernel has none")
	}
	want := (need + size - 1) / size
	if free < want {
		return errkind.WithHint(
			errkind.Userf("SPDK and its guest need %d free huge pages of %s, %d are free", want, kib(size), max(free, 0)),
			"sysctl -w vm.nr_hugepages=%d", total+want-max(free, 0))
	}
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "hugetlbfs" {
			return nil
		}
	}
	return errkind.WithHint(errkind.Userf("SPDK needs a mounted hugetlbfs, and there is none"),
		"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages")
}

// kib writes the size of a page as the kernel does.
func kib(size int64) string { return fmt.Sprintf("%d KiB", size/1024) }

// field returns a number of /proc/meminfo, 0 when it is not there.
func field(meminfo, name string) int64 {
	for line := range strings.Lines(meminfo) {
		key, value, _ := strings.Cut(line, ":")
		if key != name {
			continue
		}
		if f := strings.Fields(value); len(f) > 0 {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			return n
		}
	}
	return 0
}
