package fio

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzParse feeds anything to Parse. Whatever it accepts must be usable: counts that are not negative, percentiles
// at ratios, bins sorted, and sums that do not panic.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/output/*")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 3000 { // the engine is slow on large ones
			f.Add(data)
		}
	}
	f.Add([]byte(small))
	f.Add([]byte("note: x\n" + small + small[:100]))
	f.Add([]byte(`{"fio version":"x","jobs":[{"read":{"clat":{"max":1e400,"bins":{"99999999999":1,"FIO_IO_U_PLAT_BITS":6}}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Parse(data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if len(out.Jobs) == 0 {
			t.Fatal("no error and no job")
		}
		for _, j := range append(out.Jobs, Sum(out.Jobs)) {
			for _, d := range []Direction{j.Read, j.Write, j.Trim, j.Mixed} {
				if d.IOBytes < 0 || d.TotalIOs < 0 || d.Runtime < 0 || d.ShortIOs < 0 {
					t.Errorf("negative counts: %+v", d)
				}
				for _, l := range []Latency{d.Slat, d.Clat, d.Lat} {
					for p := range l.Percentiles {
						if !(p >= 0 && p <= 1) {
							t.Errorf("percentile at %v", p)
						}
					}
					if !slices.IsSortedFunc(l.Bins, ascending) {
						t.Errorf("bins are not sorted: %v", l.Bins)
					}
				}
			}
			_, _, _ = j.Fault(), j.CPU(), j.MeanDepth(32)
		}
	})
}
