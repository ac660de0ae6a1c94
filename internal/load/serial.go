package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Serial reads the serial of the disk whose /sys/block folder is dir, "" when it has none. It stands in another place
// for virtio-blk and newer kernels, for NVMe, and for SCSI with the ATA disks behind it (vital product data page
// 0x80: four bytes, then the serial).
func Serial(dir string) string {
	for _, name := range []string{"serial", "device/serial"} {
		if s, err := os.ReadFile(filepath.Join(dir, name)); err == nil && len(bytes.TrimSpace(s)) > 0 {
			return string(bytes.TrimSpace(s))
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "device", "vpd_pg80"))
	if err != nil || len(page) < 4 {
		return ""
	}
	return strings.Trim(string(page[4:]), " \x00\n")
}
