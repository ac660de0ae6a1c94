package provision

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Mapper is a driver whose storage tells, at any moment, how much of a volume is there.
type Mapper interface {
	// Unwritten is the share, from 0 to 1, of the bytes that the guest sees of which nothing lies on the disk: never
	// written, given back, or zeros of which only a note is kept. A guest may have the volume open.
	Unwritten(ctx context.Context, v Volume) (share float64, err error)
}

// Unwritten counts the bytes of the extents of a file that have no written place on the disk. It asks as Allocated does.
func Unwritten(path string, extents []Extent) (bytes int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, e := range extents {
		n, err := unmapped(f, e)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) {
			n, err = holes(f, e)
		}
		if err != nil {
			return 0, fmt.Errorf("how much of %s is written: %w", path, err)
		}
		bytes += n
	}
	return bytes, nil
}

// unmapped counts by FIEMAP.
func unmapped(f *os.File, want Extent) (bytes int64, err error) {
	at, end := want.At, want.At+want.Length
	for at < end {
		list, err := fiemap(f, at, end-at)
		if err != nil {
			return 0, err
		}
		next, n := gaps(list, at, end)
		if next <= at {
			return bytes + end - at, nil
		}
		at, bytes = next, bytes+n
	}
	return bytes, nil
}

// gaps follows extents from at and returns how far they reach, end or as far as the list goes, and how many bytes up to
// there are in no extent, or in one without a written place.
func gaps(list []mapped, at, end int64) (next, bytes int64) {
	last := false
	for _, m := range list {
		from, to := min(max(m.at, at), end), min(m.at+m.length, end)
		if to <= at {
			continue
		}
		bytes += from - at
		if m.flags&(extentUnwritten|extentUnknown|extentDelalloc) != 0 {
			bytes += to - from
		}
		at, last = max(to, from), m.flags&extentLast != 0
	}
	if len(list) < fiemapEntries || last {
		return end, bytes + end - at
	}
	return at, bytes
}

// holes counts by SEEK_DATA and SEEK_HOLE.
func holes(f *os.File, want Extent) (bytes int64, err error) {
	at, end := want.At, want.At+want.Length
	for at < end {
		data, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // no data until the file's end
			return bytes + end - at, nil
		}
		if err != nil {
			return 0, fmt.Errorf("SEEK_DATA: %w", err)
		}
		bytes += min(data, end) - at
		if at, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE); err != nil {
			return 0, fmt.Errorf("SEEK_HOLE: %w", err)
		}
	}
	return bytes, nil
}

// ZeroShare is the share of blocks spread over the extents of a device that hold only zeros, which is all that a device
// tells of what was never written to it, or was trimmed.
func ZeroShare(path string, extents []Extent) (share float64, err error) {
	blocks, zeros := 0, 0
	err = sample(path, extents, func(_ int64, block []byte) error {
		blocks++
		if zero(block) {
			zeros++
		}
		return nil
	})
	if err != nil || blocks == 0 {
		return 0, err
	}
	return float64(zeros) / float64(blocks), nil
}
