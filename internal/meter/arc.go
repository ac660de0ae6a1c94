package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// ARC holds the counters of ZFS's read cache since the module was loaded. Only look-ups of data count: each takes
// several of metadata beside it, which nearly always hit and would make every cache look good. Blocks that the small
// dbuf cache in front still holds (by default up to a 32nd of the ARC) are in neither count.
type ARC struct {
	Hits   int64 // look-ups that were answered from memory
	Misses int64 // look-ups that went to the pool, or waited for one that did
	Size   int64 // bytes that the cache takes now
}

// arcStats is where OpenZFS shows its counters (sys/arc_impl.h).
const arcStats = "proc/spl/kstat/zfs/arcstats"

func (m Meter) arc() (*ARC, error) {
	path := m.path(arcStats)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	named, err := parseKstat(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range []string{"demand_data_hits", "demand_data_misses", "size"} {
		if _, ok := named[name]; !ok { // a version that counts otherwise
			return nil, nil
		}
	}
	return &ARC{
		Hits: named["demand_data_hits"] + named["prefetch_data_hits"],
		// A look-up that joins a read in flight is an "iohit" since OpenZFS 2.2, and was a hit before.
		Misses: named["demand_data_misses"] + named["prefetch_data_misses"] + named["demand_data_iohits"] + named["prefetch_data_iohits"],
		Size:   named["size"],
	}, nil
}

// parseKstat reads a table of named counters of the kernel module spl: a line of numbers about the table, the line
// "name type data", then a line for each counter. Texts are left out.
func parseKstat(text string) (map[string]int64, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) < 2 || strings.Join(strings.Fields(lines[1]), " ") != "name type data" {
		return nil, errors.New("the second line does not name the columns name, type and data")
	}
	named := map[string]int64{}
	for i, line := range lines[2:] {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return nil, fmt.Errorf("line %d: %q is no counter", i+3, line)
		}
		n, isNumber, err := kstatNumber(fields[1], fields[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", i+3, fields[0], err)
		}
		if isNumber {
			named[fields[0]] = n
		}
	}
	return named, nil
}

// kstatNumber reads a value by its type (KSTAT_DATA_* of sys/kstat.h). Numbers beyond 63 bits, which a counter does
// not reach, are those that fell below zero: they come as they were meant.
func kstatNumber(kind, text string) (n int64, isNumber bool, err error) {
	switch kind {
	case "1", "3": // int32, int64
		n, err = strconv.ParseInt(text, 10, 64)
	case "2", "4": // uint32, uint64
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		n = int64(u)
	default:
		return 0, false, nil
	}
	return n, err == nil, err
}

// sub gives what was counted since; nil when either side was not counted, or the module was loaded anew meanwhile.
func (a *ARC) sub(earlier *ARC) *ARC {
	if a == nil || earlier == nil || a.Hits < earlier.Hits || a.Misses < earlier.Misses {
		return nil
	}
	return &ARC{Hits: a.Hits - earlier.Hits, Misses: a.Misses - earlier.Misses, Size: a.Size}
}
