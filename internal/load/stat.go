package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat is what the kernel counts of one disk since it appeared. Sizes are bytes.
type Stat struct {
	Reads      int64 `json:"reads"`
	ReadBytes  int64 `json:"read_bytes"`
	Writes     int64 `json:"writes"`
	WriteBytes int64 `json:"write_bytes"`
	InFlight   int64 `json:"in_flight"`
	Flushes    int64 `json:"flushes"` // -1 where the kernel does not count them (before 5.5)
}

// Done is the number of requests that have ended.
func (s Stat) Done() int64 { return s.Reads + s.Writes + max(s.Flushes, 0) }

// Sub returns what was counted since an earlier Stat of the same disk.
func (s Stat) Sub(earlier Stat) Stat {
	d := Stat{
		Reads: s.Reads - earlier.Reads, ReadBytes: s.ReadBytes - earlier.ReadBytes,
		Writes: s.Writes - earlier.Writes, WriteBytes: s.WriteBytes - earlier.WriteBytes,
		InFlight: s.InFlight, Flushes: s.Flushes - earlier.Flushes,
	}
	if s.Flushes < 0 || earlier.Flushes < 0 {
		d.Flushes = -1
	}
	return d
}

// sysBlock is where disks are; tests have their own.
var sysBlock = "/sys/block"

// ReadStat reads /sys/block/DISK/stat. The empty name gives the zero Stat.
func ReadStat(disk string) (Stat, error) {
	if disk == "" {
		return Stat{}, nil
	}
	data, err := os.ReadFile(filepath.Join(sysBlock, disk, "stat"))
	if err != nil {
		return Stat{}, err
	}
	return parseStat(string(data))
}

// parseStat reads the fields of Documentation/block/stat.rst: 11 since 2.6, 15 since 4.18, 17 since 5.5.
func parseStat(line string) (Stat, error) {
	const sector = 512 // always, whatever the disk's own blocks are
	fields := strings.Fields(line)
	if len(fields) < 11 {
		return Stat{}, fmt.Errorf("disk statistics have %d fields, expected at least 11: %q", len(fields), line)
	}
	n := make([]int64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return Stat{}, fmt.Errorf("disk statistics: field %d: %w", i+1, err)
		}
		n[i] = v
	}
	s := Stat{Reads: n[0], ReadBytes: n[2] * sector, Writes: n[4], WriteBytes: n[6] * sector, InFlight: n[8], Flushes: -1}
	if len(n) >= 17 {
		s.Flushes = n[15]
	}
	return s, nil
}
