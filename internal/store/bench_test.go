package store

import "testing"

func BenchmarkSaveWindow(b *testing.B) {
	s := fresh(b)
	check(b, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	w := testWindow(0, 0)
	for b.Loop() {
		check(b, s.SaveWindow("7k2f", w))
		w.Round++
	}
}

func BenchmarkRead10000Windows(b *testing.B) {
	s := fresh(b)
	check(b, s.CreateRun(testRun("7k2f", t0), testExperiment()))
	for i := range 10_000 {
		check(b, s.SaveWindow("7k2f", testWindow(i, 0)))
	}
	for _, raw := range []bool{false, true} {
		name := "without raw"
		if raw {
			name = "with raw"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got, err := s.Windows("7k2f", raw)
				check(b, err)
				if len(got) != 10_000 {
					b.Fatalf("%d windows", len(got))
				}
			}
		})
	}
}
