package fio

import (
	"os"
	"testing"
)

// BenchmarkParse1000 reads 1,000 json+ files; the goal is under 3 s. The file is a real one of two jobs with reads
// and writes, 24 KB and 365 bins, about what one window gives.
func BenchmarkParse1000(b *testing.B) {
	data, err := os.ReadFile("testdata/output/jsonplus-two-jobs.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)) * 1000)
	for b.Loop() {
		for range 1000 {
			if _, err := Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	}
}
