package blkpg_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/blkpg"
	"github.com/iotax/iotax/internal/provision/provisiontest"
)

func TestPartitions(t *testing.T) {
	disk := provisiontest.Loop(t, 16<<20)
	name, err := blkpg.Name(disk)
	if err != nil || blkpg.Node(name) != disk {
		t.Fatalf("%s is called %q, %v", disk, name, err)
	}
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []blkpg.Partition{
		{Name: name + "p2", Number: 2, Start: 1 << 20, Length: 4096},
		{Name: name + "p10", Number: 10, Start: 8 << 20, Length: 8 << 20},
	}
	for _, p := range want {
		if err := blkpg.Add(f, p.Number, p.Start, p.Length); err != nil {
			t.Fatal(err)
		}
		defer blkpg.Delete(f, p.Number) //nolint:errcheck // for when the test fails
	}
	if err := blkpg.Add(f, 3, 12<<20, 1<<20); !errors.Is(err, unix.EBUSY) {
		t.Errorf("partitions on each other: %v", err)
	}
	got, err := blkpg.List(name)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	open, err := os.Open(blkpg.Node(want[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := blkpg.Delete(f, 2); !errors.Is(err, unix.EBUSY) {
		t.Errorf("a partition that is open: %v", err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range want {
		if err := blkpg.Delete(f, p.Number); err != nil {
			t.Error(err)
		}
		if err := blkpg.Delete(f, p.Number); !errors.Is(err, unix.ENXIO) {
			t.Errorf("a partition that is gone: %v", err)
		}
	}
}

func TestWhatIsNoDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, "/dev/null"} {
		if name, err := blkpg.Name(path); err == nil {
			t.Errorf("%s is called %q", path, name)
		}
	}
	if _, err := blkpg.Name(file + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if parts, err := blkpg.List("nosuch"); err != nil || len(parts) > 0 {
		t.Errorf("a disk that is gone: %v, %v", parts, err)
	}
	if s := blkpg.Sequence("nosuch"); s != "" {
		t.Errorf("sequence %q", s)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if blkpg.Add(f, 1, 0, 4096) == nil || blkpg.Reread(f) == nil {
		t.Error("a file was divided")
	}
}
