package provision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCovered(t *testing.T) {
	const k = 1024
	tests := []struct {
		name  string
		list  []mapped
		next  int64
		fault string
	}{
		{"one extent", []mapped{{0, 100 * k, extentLast}}, 50 * k, ""},
		{"two extents", []mapped{{0, 20 * k, 0}, {20 * k, 30 * k, extentLast}}, 50 * k, ""},
		{"begins before the range", []mapped{{0, 5 * k, 0}, {5 * k, 95 * k, extentLast}}, 50 * k, ""},
		{"nothing", nil, 0, "bytes 10240 to 51200 are a hole"},
		{"hole at the start", []mapped{{20 * k, 80 * k, extentLast}}, 0, "bytes 10240 to 20480 are a hole"},
		{"hole in the middle", []mapped{{0, 20 * k, 0}, {24 * k, 80 * k, extentLast}}, 0, "bytes 20480 to 24576 are a hole"},
		{"hole at the end", []mapped{{0, 20 * k, extentLast}}, 0, "bytes 20480 to 51200 are a hole"},
		{"unwritten", []mapped{{0, 20 * k, 0}, {20 * k, 80 * k, extentUnwritten | extentLast}}, 0, "never written"},
		{"delayed", []mapped{{0, 80 * k, extentDelalloc | extentUnknown}}, 0, "no place on the disk yet"},
		{"unwritten beyond the range", []mapped{{0, 50 * k, 0}, {50 * k, 9 * k, extentUnwritten}}, 50 * k, ""},
	}
	for _, tt := range tests {
		next, err := covered(tt.list, 10*k, 50*k)
		switch {
		case tt.fault == "" && (err != nil || next != tt.next):
			t.Errorf("%s: %d, %v; want %d", tt.name, next, err, tt.next)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.fault)
		}
	}
	// A full answer that does not reach the end: the caller asks on from there.
	var many []mapped
	for i := range int64(fiemapEntries) {
		many = append(many, mapped{10*k + i, 1, 0})
	}
	if next, err := covered(many, 10*k, 50*k); err != nil || next != 10*k+fiemapEntries {
		t.Errorf("a full list: %d, %v", next, err)
	}
}

func TestManyExtentsAreFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "comb")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Every second block first: more extents than one answer of FIEMAP holds.
	const blocks = 3 * fiemapEntries
	block := make([]byte, Align)
	for i := int64(0); i < blocks; i += 2 {
		Noise(block, 1, i*Align)
		if _, err := f.WriteAt(block, i*Align); err != nil {
			t.Fatal(err)
		}
	}
	var written []Extent
	for i := int64(0); i < blocks; i += 2 {
		written = append(written, Extent{i * Align, Align})
	}
	if err := Allocated(path, written); err != nil {
		t.Error(err)
	}
	whole := []Extent{{0, (blocks - 1) * Align}}
	if err := Allocated(path, whole); err == nil {
		t.Error("a comb of holes passes")
	}
	if err := byHoles(f, whole[0]); err == nil {
		t.Error("a comb of holes passes without FIEMAP")
	}
	for i := int64(1); i < blocks; i += 2 {
		if _, err := f.WriteAt(block, i*Align); err != nil {
			t.Fatal(err)
		}
	}
	if err := Allocated(path, whole); err != nil {
		t.Error(err)
	}
	if err := byHoles(f, whole[0]); err != nil {
		t.Error(err)
	}
	if err := byHoles(f, Extent{0, blocks*Align + 1}); err == nil {
		t.Error("a file that is too short passes without FIEMAP")
	}
}

func TestNotZeroSamplesEveryPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	data := make([]byte, 4<<20)
	Noise(data, 1, 0)
	extents := []Extent{{2 << 20, 2 << 20}, {0, 4096}, {8192, 1 << 20}}
	for _, tt := range []struct {
		from, to int
		found    bool
	}{
		{0, 0, false},
		{2 << 20, 2<<20 + Align, true},     // the very first block
		{3 << 20, 3<<20 + 256<<10, true},   // a sixteenth of all
		{256 << 10, 512 << 10, true},       // in the last extent
		{1<<20 + 16<<10, 2<<20 - 1, false}, // in no extent
	} {
		damaged := append([]byte{}, data...)
		clear(damaged[tt.from:tt.to])
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := NotZero(path, extents); (err != nil) != tt.found {
			t.Errorf("zeros from %d to %d: %v", tt.from, tt.to, err)
		}
	}
	if err := NotZero(path, []Extent{{4 << 20, 4096}}); err == nil {
		t.Error("bytes beyond the end pass")
	}
}
