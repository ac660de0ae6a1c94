// Package ground gives drivers block devices on the disk where a run measures: loop devices on files of a folder
// (Files), or partitions of a whole device (Regions).
package ground

import (
	"fmt"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/slice"
)

// Claimer is a driver whose volumes lie on block devices of a ground.
type Claimer interface {
	// Claims gives the size in bytes of each device that a volume takes, none when it lies in a pool of the user's.
	Claims(r provision.Request) ([]int64, error)
}

// Need is how many bytes of its folder's file system a ground takes for devices of these sizes: none when it is no
// folder.
func Need(g provision.Ground, sizes ...int64) int64 {
	folder, ok := g.(interface{ Need(size int64) int64 })
	if !ok {
		return 0
	}
	var total int64
	for _, size := range sizes {
		total += folder.Need(size)
	}
	return total
}

// Describe says what a ground's devices are, for a person: "partition of /dev/sdb".
func Describe(g provision.Ground) string {
	if s, ok := g.(fmt.Stringer); ok {
		return s.String()
	}
	return "block device"
}

// whole rounds a size up to full MiB, on which devices begin and end.
func whole(size int64) int64 { return (size + slice.Margin - 1) / slice.Margin * slice.Margin }
