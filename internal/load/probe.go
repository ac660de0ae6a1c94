package load

import (
	"crypto/rand"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe asks for Count writes of 4 KiB, far apart, each made durable by fdatasync before the next. What was in
// the blocks is lost.
type Probe struct {
	Path   string `json:"path"`
	Disk   string `json:"disk"`   // kernel name of the disk to count on, "" for none
	Offset int64  `json:"offset"` // bytes of Path before the volume
	Size   int64  `json:"size"`   // bytes of the volume
	Count  int    `json:"count"`
}

// Sync carries the probe out and returns what the disk was given meanwhile.
func (q Probe) Sync() (Stat, error) {
	const block = 4096
	if q.Count < 1 || q.Size < int64(q.Count)*block {
		return Stat{}, fmt.Errorf("a probe of %d writes does not fit a volume of %d bytes", q.Count, q.Size)
	}
	f, err := os.OpenFile(q.Path, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		return Stat{}, err
	}
	defer f.Close()
	buffer := aligned(block)
	before, err := ReadStat(q.Disk)
	if err != nil {
		return Stat{}, err
	}
	for i := range q.Count {
		if _, err := rand.Read(buffer); err != nil {
			return Stat{}, err
		}
		offset := q.Offset + q.Size/int64(q.Count)*int64(i)/block*block
		if _, err := f.WriteAt(buffer, offset); err != nil {
			return Stat{}, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return Stat{}, fmt.Errorf("fdatasync of %s: %w", q.Path, err)
		}
	}
	after, err := ReadStat(q.Disk)
	return after.Sub(before), err
}

// aligned returns a buffer that O_DIRECT takes: one page, on a page's boundary.
func aligned(size int) []byte {
	raw := make([]byte, 2*size)
	shift := size - int(uintptr(unsafe.Pointer(&raw[0]))%uintptr(size))
	return raw[shift : shift+size]
}
