package qcow2

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/sys"
)

// entry is one range of `qemu-img map --output=json`.
type entry struct {
	Start  int64  `json:"start"`  // in the guest's disk
	Length int64  `json:"length"` // bytes
	Depth  int    `json:"depth"`  // 0 = in the image itself, not in a backing file
	Zero   bool   `json:"zero"`   // reads as zeros
	Data   bool   `json:"data"`   // has data
	Offset *int64 `json:"offset"` // in the image file; nil when the data is not there as it is
}

func (d Driver) imageMap(ctx context.Context, path string) ([]entry, error) {
	// -U: a guest may have the image open
	out, err := d.Run.Run(ctx, sys.Command{Argv: []string{"qemu-img", "map", "-U", "-f", "qcow2", "--output=json", path}})
	if err != nil {
		return nil, err
	}
	entries, err := parseMap(out)
	if err != nil {
		return nil, fmt.Errorf("qemu-img map of %s: %w", path, err)
	}
	return entries, nil
}

func parseMap(out []byte) ([]entry, error) {
	var entries []entry
	if err := json.Unmarshal(out, &entries); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Start < 0 || e.Length <= 0 || e.Start+e.Length < e.Start || e.Offset != nil && *e.Offset < 0 {
			return nil, fmt.Errorf("impossible range: start %d, length %d", e.Start, e.Length)
		}
	}
	return entries, nil
}

func (d Driver) places(ctx context.Context, path string, size int64) ([]provision.Extent, error) {
	entries, err := d.imageMap(ctx, path)
	if err != nil {
		return nil, err
	}
	extents, err := places(entries, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return extents, nil
}

// places are the ranges of the image file that hold the guest's bytes, in the guest's order, neighbours joined.
func places(entries []entry, size int64) ([]provision.Extent, error) {
	var extents []provision.Extent
	at := int64(0)
	for _, e := range entries {
		if e.Start != at || e.Offset == nil || e.Depth != 0 {
			return nil, fmt.Errorf("bytes from %d have no place of their own in the image", at)
		}
		at += e.Length
		if n := len(extents); n > 0 && extents[n-1].At+extents[n-1].Length == *e.Offset {
			extents[n-1].Length += e.Length
			continue
		}
		extents = append(extents, provision.Extent{At: *e.Offset, Length: e.Length})
	}
	if at != size {
		return nil, fmt.Errorf("the map ends at %d of %d bytes", at, size)
	}
	return extents, nil
}

// allData gives an error unless the whole disk is data of the image itself, and none of it reads as zeros.
func allData(entries []entry, size int64) error {
	at := int64(0)
	for _, e := range entries {
		switch {
		case e.Start != at:
			return fmt.Errorf("bytes from %d are not in the map", at)
		case e.Depth != 0:
			return fmt.Errorf("bytes from %d come from a backing file", at)
		case !e.Data:
			return fmt.Errorf("bytes from %d are not allocated", at)
		case e.Zero:
			return fmt.Errorf("bytes from %d read as zeros", at)
		}
		at += e.Length
	}
	if at != size {
		return fmt.Errorf("the map ends at %d of %d bytes", at, size)
	}
	return nil
}

// parts divides the guest's disk: into the bytes of which the image keeps nothing but a note, or nothing at all, and the
// places of the others, in the image itself (depth 0) and in the one behind it. Compressed clusters have no place that
// could be looked at.
func parts(entries []entry, size int64) (hollow int64, held map[int][]provision.Extent) {
	held, hollow = map[int][]provision.Extent{}, size
	for _, e := range entries {
		if e.Zero || !e.Data {
			continue
		}
		hollow = max(hollow-e.Length, 0)
		if e.Offset != nil {
			held[e.Depth] = append(held[e.Depth], provision.Extent{At: *e.Offset, Length: e.Length})
		}
	}
	return hollow, held
}
