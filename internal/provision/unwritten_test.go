package provision

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestGaps(t *testing.T) {
	const k = 1024
	for _, tt := range []struct {
		name        string
		list        []mapped
		next, bytes int64
	}{
		{"one extent", []mapped{{0, 100 * k, extentLast}}, 50 * k, 0},
		{"begins before the range", []mapped{{0, 5 * k, 0}, {5 * k, 95 * k, extentLast}}, 50 * k, 0},
		{"nothing", nil, 50 * k, 40 * k},
		{"hole at the start", []mapped{{20 * k, 80 * k, extentLast}}, 50 * k, 10 * k},
		{"hole in the middle", []mapped{{0, 20 * k, 0}, {24 * k, 80 * k, extentLast}}, 50 * k, 4 * k},
		{"hole at the end", []mapped{{0, 20 * k, extentLast}}, 50 * k, 30 * k},
		{"two holes, and one reserved", []mapped{{12 * k, 8 * k, 0}, {24 * k, 6 * k, extentUnwritten}, {30 * k, 80 * k, extentLast}}, 50 * k, 12 * k},
		{"reserved", []mapped{{0, 20 * k, 0}, {20 * k, 80 * k, extentUnwritten | extentLast}}, 50 * k, 30 * k},
		{"delayed", []mapped{{0, 80 * k, extentDelalloc | extentUnknown}}, 50 * k, 40 * k},
		{"reserved beyond the range", []mapped{{0, 50 * k, 0}, {50 * k, 9 * k, extentUnwritten}}, 50 * k, 0},
		{"only beyond the range", []mapped{{60 * k, 9 * k, extentLast}}, 50 * k, 40 * k},
	} {
		if next, bytes := gaps(tt.list, 10*k, 50*k); next != tt.next || bytes != tt.bytes {
			t.Errorf("%s: up to %d, %d bytes; want %d, %d", tt.name, next, bytes, tt.next, tt.bytes)
		}
	}
	// A full answer that does not reach the end: the caller asks on from there.
	var many []mapped
	for i := range int64(fiemapEntries) {
		many = append(many, mapped{10*k + 2*i, 1, 0})
	}
	if next, bytes := gaps(many, 10*k, 50*k); next != 10*k+2*fiemapEntries-1 || bytes != fiemapEntries-1 {
		t.Errorf("a full list: up to %d, %d bytes", next, bytes)
	}
}

// TestUnwrittenOfFiles counts both ways, which tell the same of holes.
func TestUnwrittenOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Every second block is there: more extents than one answer of FIEMAP holds.
	const blocks = 3 * fiemapEntries
	block := make([]byte, Align)
	for i := int64(0); i < blocks; i += 2 {
		Noise(block, 1, i*Align)
		if _, err := f.WriteAt(block, i*Align); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Truncate((blocks+10)*Align), f.Sync()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		extents []Extent
		want    int64
	}{
		{"none", nil, 0},
		{"the first block", []Extent{{0, Align}}, 0},
		{"the second block", []Extent{{Align, Align}}, Align},
		{"half of three blocks", []Extent{{Align / 2, 3 * Align}}, 3 * Align / 2},
		{"all", []Extent{{0, (blocks + 10) * Align}}, (blocks/2 + 10) * Align},
		{"two places", []Extent{{0, 2 * Align}, {blocks * Align, 4 * Align}}, 5 * Align},
		{"beyond the end", []Extent{{blocks * Align, 100 * Align}}, 100 * Align},
	} {
		if got, err := Unwritten(path, tt.extents); err != nil || got != tt.want {
			t.Errorf("%s: %d, %v; want %d", tt.name, got, err, tt.want)
		}
		var byHoles int64
		for _, e := range tt.extents {
			n, err := holes(f, e)
			if err != nil {
				t.Error(err)
			}
			byHoles += n
		}
		if byHoles != tt.want {
			t.Errorf("%s, without FIEMAP: %d, want %d", tt.name, byHoles, tt.want)
		}
	}
	if _, err := Unwritten(path+".gone", nil); err == nil {
		t.Error("a file that is not there: no error")
	}
}

func TestZeroShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device")
	data := make([]byte, samples*Align)
	Noise(data[:len(data)/4*3], 1, 0)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		extents []Extent
		want    float64
	}{
		{nil, 0},
		{[]Extent{{0, samples * Align}}, 0.25},
		{[]Extent{{0, samples / 2 * Align}}, 0},
		{[]Extent{{0, samples / 2 * Align}, {samples / 4 * 3 * Align, samples / 4 * Align}}, 1.0 / 3},
	} {
		if got, err := ZeroShare(path, tt.extents); err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v: %v, %v; want %v", tt.extents, got, err, tt.want)
		}
	}
	if _, err := ZeroShare(path, []Extent{{0, 2 * samples * Align}}); err == nil {
		t.Error("beyond the end: no error")
	}
}
