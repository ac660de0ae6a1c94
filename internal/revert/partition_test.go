package revert

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/blkpg"
)

// loopDisk is a loop device of 8 MiB with a partition of 4 MiB from the second MiB on.
func loopDisk(t *testing.T) (disk, part string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	write(t, file, strings.Repeat("\x00", 8<<20))
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device to be had: %s", out)
	}
	disk = strings.TrimSpace(string(out))
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = blkpg.Delete(f, 1) // it may be gone
		_ = f.Close()
		_ = exec.Command("losetup", "-d", disk).Run()
	})
	if err := blkpg.Add(f, 1, 1<<20, 4<<20); err != nil {
		t.Fatal(err)
	}
	return disk, disk + "p1"
}

func partitions(t *testing.T, disk string) []blkpg.Partition {
	t.Helper()
	parts, err := blkpg.List(filepath.Base(disk))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func TestPartitionOfOtherBoundsOrAnotherDiskIsLeftAlone(t *testing.T) {
	disk, part := loopDisk(t)
	sequence := blkpg.Sequence(filepath.Base(disk))
	for _, act := range []Act{
		Partition(disk, sequence, 2, 1<<20, 4<<20), Partition(disk, sequence, 1, 2<<20, 4<<20), Partition(disk, sequence, 1, 1<<20, 3<<20),
		Partition(disk, sequence+"0", 1, 1<<20, 4<<20), Partition(disk+"000", sequence, 1, 1<<20, 4<<20),
	} {
		if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
			t.Errorf("%s: %v", act, err)
		}
		if parts := partitions(t, disk); len(parts) != 1 || blkpg.Node(parts[0].Name) != part {
			t.Fatalf("%s: %v is left", act, parts)
		}
	}
	act := Partition(disk, sequence, 1, 1<<20, 4<<20)
	for range 2 {
		if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
			t.Fatal(err)
		}
	}
	if parts := partitions(t, disk); len(parts) > 0 {
		t.Errorf("%v is left", parts)
	}
}

func put(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(data, at)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLabelsAreWipedAndNothingElse(t *testing.T) {
	uberblock := binary.LittleEndian.AppendUint64(nil, 0x00bab10c)
	for name, tt := range map[string]struct {
		at    int64
		label []byte
		wiped bool
	}{
		"LVM": {512, []byte("LABELONE"), true}, "ZFS": {128<<10 + 3<<10, uberblock, true},
		"a file system": {1080, []byte{0x53, 0xef}, false}, "LABELONE elsewhere": {513, []byte("LABELONE"), false},
	} {
		t.Run(name, func(t *testing.T) {
			disk, part := loopDisk(t)
			put(t, part, tt.at, tt.label)
			put(t, part, 4<<20-8, []byte("the end."))
			put(t, part, 2<<20, []byte("middle"))
			act := Partition(disk, blkpg.Sequence(filepath.Base(disk)), 1, 1<<20, 4<<20)
			if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(disk)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data[3<<20:][:6], []byte("middle")) {
				t.Error("the middle was written")
			}
			start, end := data[1<<20+tt.at:][:len(tt.label)], data[5<<20-8:][:8]
			if bytes.Equal(start, tt.label) == tt.wiped || bytes.Equal(end, []byte("the end.")) == tt.wiped {
				t.Errorf("start %q, end %q; want them wiped: %v", start, end, tt.wiped)
			}
		})
	}
}

// The disk was given to something else since, which claims the whole of it.
func TestPartitionOfADiskInUseIsNotWritten(t *testing.T) {
	disk, part := loopDisk(t)
	put(t, part, 512, []byte("LABELONE"))
	f, err := os.OpenFile(disk, os.O_RDONLY|unix.O_EXCL, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	act := Partition(disk, blkpg.Sequence(filepath.Base(disk)), 1, 1<<20, 4<<20)
	old := deviceWait
	deviceWait = 0
	defer func() { deviceWait = old }()
	if err := undo(t.Context(), origin{}, Entry{Act: act}); err != nil {
		t.Fatal(err)
	}
	if parts := partitions(t, disk); len(parts) > 0 {
		t.Errorf("%v is left", parts)
	}
	data, err := os.ReadFile(disk)
	if err != nil || !bytes.Equal(data[1<<20+512:][:8], []byte("LABELONE")) {
		t.Errorf("written: %v", err)
	}
}

func TestLVMRefusesWhatIsNotOurs(t *testing.T) {
	for _, act := range []Act{
		LogicalVolume("vg0", "root", nil), LogicalVolume("vg0", "iotax-other-1", nil), LogicalVolume("vg0", "iotax-r", nil),
		LogicalVolume("vg0", "iotax-r-1 vg0/root", nil), LogicalVolume("-x", "iotax-r-1", nil), LogicalVolume("a/b", "iotax-r-1", nil),
		LogicalVolume(`v" || lv_name="x`, "iotax-r-1", nil), VolumeGroup("vg0", nil), VolumeGroup("iotax-other-1", nil),
		VolumeGroup("iotax-r-1;x", nil), VolumeGroup("", nil),
	} {
		if err := undo(t.Context(), origin{Run: "r"}, Entry{Act: act}); err == nil {
			t.Errorf("took %s", act)
		}
	}
	j := open(t, t.TempDir(), "r")
	for _, act := range []Act{LogicalVolume("vg0", "iotax-r-1-snap", nil), VolumeGroup("iotax-r-1", []string{"/dev/loop1"})} {
		if _, err := j.Add(act); err != nil {
			t.Errorf("%s: %v", act, err)
		}
	}
}
