package lvm

import (
	"fmt"
	"strconv"

	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

// What LVM takes when nothing is said.
const (
	defaultExtent = 4 << 20  // bytes of an extent
	defaultChunk  = 64 << 10 // bytes of a thin pool's chunk; for a large pool LVM would take more
	cowChunk      = 4 << 10  // bytes that a thick snapshot copies at once
	pvHeader      = 1 << 20  // bytes of a physical volume before its first extent (--dataalignment)
)

// layout is how many bytes the parts of a volume take, all whole extents.
type layout struct {
	extent   int64
	stripes  int64
	volume   int64 // the logical volume
	pool     int64 // data of a thin pool made for it
	metadata int64 // of that pool
	snapshot int64 // room of a thick snapshot: all of the volume can be copied into it
}

func extentOf(s spec.Stack) int64 { return or(s.ExtentSize, defaultExtent) }

func chunkOf(s spec.Stack) int64 { return or(s.ChunkSize, defaultChunk) }

func or(n, fallback int64) int64 {
	if n == 0 {
		return fallback
	}
	return n
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// layoutOf lays a volume of size bytes out in a group with extents of so many bytes.
func layoutOf(s spec.Stack, size, extent int64) layout {
	l := layout{extent: extent, stripes: or(int64(s.Stripes), 1)}
	if thin(s) {
		chunk := chunkOf(s)
		l.volume = roundUp(roundUp(size, chunk), extent)
		// One chunk more than can be used: a pool that is quite full counts as one that overflowed.
		l.pool = roundUp(copies(s)*roundUp(l.volume, chunk)+chunk, extent)
		l.metadata = roundUp(max(2<<20, 2*chunkMetadata*l.pool/chunk), extent)
		return l
	}
	l.volume = roundUp(size, extent*l.stripes)
	if s.Snapshot != "" {
		chunks := l.volume / cowChunk
		const exceptions = cowChunk / 16 // that a chunk of the snapshot's own metadata holds
		l.snapshot = roundUp((chunks+chunks/exceptions+3)*cowChunk, extent)
	}
	return l
}

// chunkMetadata is how many bytes of metadata LVM reckons for a chunk of a thin pool (lvmthin(7)).
const chunkMetadata = 64

// copies is how many times the data of a thin volume is in its pool: twice when everything was written since its
// snapshot was taken.
func copies(s spec.Stack) int64 {
	if s.Snapshot != "" {
		return 2
	}
	return 1
}

// total is how many bytes of its group all parts take.
func (l layout) total() int64 {
	if l.pool > 0 {
		return l.pool + l.metadata
	}
	return l.volume + l.snapshot
}

// claims gives the sizes in bytes of the physical volumes of a group of their own, one for each stripe.
func (l layout) claims() []int64 {
	each := (l.total()/l.extent + l.stripes - 1) / l.stripes
	claims := make([]int64, l.stripes)
	for i := range claims {
		claims[i] = each*l.extent + pvHeader
	}
	return claims
}

func byteArg(n int64) string { return strconv.FormatInt(n, 10) + "b" }

func groupArgs(v *volume) []string {
	argv := []string{
		"vgcreate", "--yes", "--dataalignment", byteArg(pvHeader), "--physicalextentsize", byteArg(v.layout.extent),
		"--addtag", v.tag, v.group,
	}
	return append(argv, v.Devices...)
}

// poolArgs makes a thin pool. It gets no spare for repairing its metadata: LVM would leave that in the group.
func poolArgs(v *volume, s spec.Stack) []string {
	zero := "y"
	if s.Zeroing == "off" {
		zero = "n"
	}
	return []string{
		"lvcreate", "--yes", "--type", "thin-pool", "--name", v.pool, "--size", byteArg(v.layout.pool),
		"--chunksize", byteArg(chunkOf(s)), "--zero", zero, "--poolmetadatasize", byteArg(v.layout.metadata),
		"--poolmetadataspare", "n", "--addtag", v.tag, v.group,
	}
}

func volumeArgs(v *volume, s spec.Stack) []string {
	argv := []string{"lvcreate", "--yes", "--name", v.name, "--addtag", v.tag}
	if s.LVReadAhead != "" {
		argv = append(argv, "--readahead", readAhead(s.LVReadAhead))
	}
	if v.pool != "" {
		return append(argv, "--type", "thin", "--virtualsize", byteArg(v.layout.volume), "--thinpool", v.pool, v.group)
	}
	argv = append(argv, "--size", byteArg(v.layout.volume), "--wipesignatures", "n", "--zero", "n")
	if v.layout.stripes > 1 {
		argv = append(argv, "--stripes", fmt.Sprint(v.layout.stripes))
	}
	return append(argv, v.group)
}

// readAhead is what lvcreate takes: "auto", "none" or sectors.
func readAhead(value string) string {
	if n, err := unit.ParseBytes(value); err == nil {
		return fmt.Sprint(n / 512)
	}
	return value
}

// snapshotArgs takes a snapshot: a thick one with room for all of its origin, a thin one shares its origin's pool.
func snapshotArgs(v *volume) []string {
	argv := []string{"lvcreate", "--yes", "--snapshot", "--name", v.snapshot, "--addtag", v.tag}
	if v.pool == "" {
		argv = append(argv, "--chunksize", byteArg(cowChunk), "--extents", "100%ORIGIN")
	}
	return append(argv, v.group+"/"+v.name)
}

func removeArgs(v *volume, name string) []string {
	return []string{"lvremove", "--yes", v.group + "/" + name}
}
