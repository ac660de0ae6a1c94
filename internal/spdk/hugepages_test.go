package spdk

import (
	"testing"

	"github.com/iotax/iotax/internal/errkind"
)

func TestHugepages(t *testing.T) {
	const (
		none    = "MemTotal:       24629220 kB\nHugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\nHugepagesize:       2048 kB\n"
		some    = "HugePages_Total:     512\nHugePages_Free:      400\nHugePages_Rsvd:      100\nHugepagesize:       2048 kB\n"
		big     = "HugePages_Total:       2\nHugePages_Free:        2\nHugePages_Rsvd:        0\nHugepagesize:    1048576 kB\n"
		mounted = "proc /proc proc rw 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n"
	)
	for name, tt := range map[string]struct {
		meminfo, mounts string
		need            int64
		want            string
	}{
		"none":         {none, mounted, 1 << 30, "SPDK and its guest need 512 free huge pages of 2048 KiB, 0 are free; sysctl -w vm.nr_hugepages=512"},
		"too few":      {some, mounted, 1<<30 + 1, "SPDK and its guest need 513 free huge pages of 2048 KiB, 300 are free; sysctl -w vm.nr_hugepages=725"},
		"enough":       {some, mounted, 600 << 20, ""},
		"1 GiB":        {big, mounted, 3<<30 - 1, "SPDK and its guest need 3 free huge pages of 1048576 KiB, 2 are free; sysctl -w vm.nr_hugepages=3"},
		"not mounted":  {some, "proc /proc proc rw 0 0\n", 1 << 20, "SPDK needs a mounted hugetlbfs, and there is none; mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages"},
		"no such pool": {"MemTotal: 1 kB\n", mounted, 1, "SPDK needs huge pages, and this kernel has none"},
		"empty":        {"", "", 1, "SPDK needs huge pages, and this kernel has none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := hugepages(tt.meminfo, tt.mounts, tt.need)
			if tt.want == "" && err == nil {
				return
			}
			if err == nil || err.Error() != tt.want || errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCheckHugepages asks the real kernel for more than any host has.
func TestCheckHugepages(t *testing.T) {
	if err := CheckHugepages(1 << 60); errkind.CodeOf(err) != errkind.Usage {
		t.Errorf("2^60 bytes of huge pages: %v", err)
	}
}
