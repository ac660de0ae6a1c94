package ground_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/blkpg"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/provision"
	"github.com/iotax/iotax/internal/provision/ground"
	"github.com/iotax/iotax/internal/provision/provisiontest"
	"github.com/iotax/iotax/internal/provision/slice"
	"github.com/iotax/iotax/internal/revert"
)

func journal(t *testing.T) (j *revert.Journal, scratch string) {
	t.Helper()
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(j.Undo(context.Background()), j.Close()); err != nil {
			t.Error(err)
		}
	})
	scratch, err = j.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return j, scratch
}

func attribute(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestFilesAreLoopDevicesWithDirectIO(t *testing.T) {
	provisiontest.NeedLoop(t)
	j, scratch := journal(t)
	g := ground.Files{Dir: scratch}
	for _, name := range []string{"a", "b"} {
		device, err := g.Claim(t.Context(), j, name, 3<<20+4096)
		if err != nil {
			t.Fatal(err)
		}
		sys := filepath.Join("/sys/block", filepath.Base(device))
		if dio := attribute(t, sys, "loop/dio"); dio != "1" {
			t.Errorf("direct I/O of %s: %q", device, dio)
		}
		file := filepath.Join(scratch, name+".img")
		if backing := attribute(t, sys, "loop/backing_file"); backing != file {
			t.Errorf("%s is bound to %q", device, backing)
		}
		if size, err := slice.Size(device); err != nil || size != 4<<20 {
			t.Errorf("size %d, %v", size, err)
		}
		if taken, err := provision.Taken(file); err != nil || taken < 4<<20 {
			t.Errorf("reserved %d bytes, %v", taken, err)
		}
	}
	if need := ground.Need(g, 3<<20+1, 1); need != 5<<20 {
		t.Errorf("Need = %d", need)
	}
	if _, err := g.Claim(t.Context(), j, "a", 1<<20); !errors.Is(err, os.ErrExist) {
		t.Errorf("one name twice: %v", err)
	}
}

func TestFilesOnAFullDisk(t *testing.T) {
	parent := provisiontest.Tmpfs(t, "size=4m")
	j, err := revert.Open(t.TempDir(), "full")
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := j.Scratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ground.Files{Dir: scratch}.Claim(t.Context(), j, "a", 8<<20)
	if !errors.Is(err, unix.ENOSPC) || errkind.CodeOf(err) != errkind.Usage || strings.Contains(err.Error(), "\n") {
		t.Errorf("a full disk: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(scratch, "a*")); len(left) > 0 {
		t.Errorf("left by Claim: %v", left)
	}
	if err := j.Undo(t.Context()); err != nil {
		t.Error(err)
	}
}

func empty(context.Context, string) ([]string, error) { return nil, nil }

func read(t *testing.T, device string, at, n int64) []byte {
	t.Helper()
	f, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, at, n))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, device string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(data, at)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Slices and partitions of one device lie apart, nobody else can claim the device while there are any, and what LVM
// wrote to a partition is gone afterwards.
func TestRegions(t *testing.T) {
	const size = 32 << 20
	disk := provisiontest.Loop(t, size)
	slices := &slice.Driver{Device: disk, Check: empty}
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	g := &ground.Regions{Slices: slices}
	at, err := slices.Allot(t.Context(), "s", 4096)
	if err != nil || at != slice.Margin {
		t.Fatalf("Allot = %d, %v", at, err)
	}
	var nodes []string
	for i := range 2 {
		write(t, disk, int64(2+5*i)<<20, []byte("an older label"))
		node, err := g.Claim(t.Context(), j, fmt.Sprint(i), 5<<20-4096)
		if err != nil {
			t.Fatal(err)
		}
		if length, err := slice.Size(node); err != nil || length != 5<<20 {
			t.Errorf("%s has %d bytes, %v", node, length, err)
		}
		if data := read(t, node, 0, slice.Margin); len(bytes.Trim(data, "\x00")) > 0 {
			t.Errorf("%s begins with %q", node, data[:16])
		}
		nodes = append(nodes, node)
	}
	write(t, nodes[0], 512, []byte("LABELONE"))
	write(t, nodes[1], 0, []byte("data"))
	if f, err := os.OpenFile(disk, os.O_RDONLY|unix.O_EXCL, 0); !errors.Is(err, unix.EBUSY) {
		f.Close()
		t.Errorf("the whole device can be claimed: %v", err)
	}
	for _, node := range nodes {
		f, err := os.OpenFile(node, os.O_RDONLY|unix.O_EXCL, 0)
		if err != nil {
			t.Fatalf("%s cannot be claimed, as device-mapper does: %v", node, err)
		}
		f.Close()
	}
	_, err = g.Claim(t.Context(), j, "big", size)
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), "left, the volume of big needs") {
		t.Errorf("more than there is: %v", err)
	}
	if err := errors.Join(slices.Close(), j.Undo(t.Context())); err != nil {
		t.Fatal(err)
	}
	if parts, err := blkpg.List(filepath.Base(disk)); err != nil || len(parts) > 0 {
		t.Errorf("left: %v, %v", parts, err)
	}
	if data := read(t, disk, 2<<20, 5<<20); len(bytes.Trim(data, "\x00")) > 0 {
		t.Error("the label is left")
	}
	if data := read(t, disk, 7<<20, 4); string(data) != "data" {
		t.Errorf("what bears no label was wiped: %q", data)
	}
}

// A device that a person gives up with the partitions on it: they make way, and come back with its partition table.
func TestOldPartitionsMakeWay(t *testing.T) {
	disk := provisiontest.Loop(t, 16<<20)
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := blkpg.Add(f, 1, 1<<20, 14<<20); err != nil {
		t.Fatal(err)
	}
	defer blkpg.Delete(f, 1) //nolint:errcheck // for when the test failed before
	unused := func(string) ([]string, error) { return nil, nil }
	slices := &slice.Driver{Device: disk, Confirmed: true, InUse: unused}
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	node, err := (&ground.Regions{Slices: slices}).Claim(t.Context(), j, "a", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := blkpg.List(filepath.Base(disk))
	if err != nil || len(parts) != 2 || blkpg.Node(parts[1].Name) != node {
		t.Errorf("%v, %v; want the guard and %s", parts, err, node)
	}
	if err := errors.Join(slices.Close(), j.Undo(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeDivided(t *testing.T) {
	disk := provisiontest.Loop(t, 16<<20)
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := ground.CheckDevice(disk); err != nil {
		t.Error(err)
	}
	if err := blkpg.Add(f, 1, 1<<20, 8<<20); err != nil {
		t.Fatal(err)
	}
	defer blkpg.Delete(f, 1) //nolint:errcheck // the loop device goes anyway
	part := disk + "p1"
	j, _ := journal(t)
	slices := &slice.Driver{Device: part, Check: empty}
	defer slices.Close()
	_, err = (&ground.Regions{Slices: slices}).Claim(t.Context(), j, "a", 1<<20)
	if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), part+" is a partition") {
		t.Errorf("a partition: %v", err)
	}
	if err := ground.CheckDevice("/dev/null"); err == nil {
		t.Error("took /dev/null")
	}
}

// A disk with a partition table gets its partitions back when the run ends. A loop device has none of its own accord:
// the lab has a disk for it.
func TestOldPartitionsComeBack(t *testing.T) {
	disk := os.Getenv("IOTAX_LAB_DISK")
	if disk == "" {
		t.Skip("IOTAX_LAB_DISK names no scratch disk")
	}
	table := make([]byte, 512) // an MBR with one partition of type Linux: 8 MiB from the second MiB on
	copy(table[446:], []byte{0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 64, 0, 0})
	table[510], table[511] = 0x55, 0xaa
	write(t, disk, 0, table)
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer func() {
		write(t, disk, 0, make([]byte, 512))
		_ = blkpg.Reread(f) // udev may have been quicker
	}()
	partition := func(look func()) []blkpg.Partition {
		t.Helper()
		var parts []blkpg.Partition
		for range 100 {
			if parts, err = blkpg.List(filepath.Base(disk)); err != nil {
				t.Fatal(err)
			}
			if len(parts) > 0 {
				return parts
			}
			look()
			time.Sleep(50 * time.Millisecond)
		}
		return parts
	}
	before := partition(func() { _ = blkpg.Reread(f) }) // busy as long as udev looks at the disk
	if len(before) != 1 || before[0].Start != 1<<20 || before[0].Length != 8<<20 {
		t.Fatalf("partitions %v", before)
	}
	unused := func(string) ([]string, error) { return nil, nil }
	slices := &slice.Driver{Device: disk, Confirmed: true, InUse: unused}
	j, err := revert.Open(t.TempDir(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&ground.Regions{Slices: slices}).Claim(t.Context(), j, "a", 2<<20); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(slices.Close(), j.Undo(t.Context())); err != nil {
		t.Fatal(err)
	}
	after := partition(func() {})
	if len(after) != 1 || after[0] != before[0] {
		t.Errorf("%v came back, %v was there", after, before)
	}
}
