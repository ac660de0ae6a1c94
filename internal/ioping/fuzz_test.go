package ioping

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse feeds anything to Parse: it must not panic, and what it accepts holds no negative or infinite count.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/output/*")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("100 26694 3746 15344272 188 267 1923 228\n"))
	f.Add([]byte("2 requests completed in 1 s, 3 iops, 1.0 mb/s\nmin/avg/max/mdev = 0.2/0.3/0.4/nan ms\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		for _, s := range append(r.Periods, r.Stat) {
			if s.Count < 0 || s.Bytes < 0 || s.TimeNS != s.TimeNS || s.MDev != s.MDev {
				t.Errorf("%+v", s)
			}
		}
	})
}
