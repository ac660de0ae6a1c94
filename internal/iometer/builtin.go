package iometer

// steps are the shares of reads through which "All in one" goes at each size, for sequential and random lines.
var (
	fiveSteps  = []int{100, 75, 50, 25, 0}
	threeSteps = []int{100, 50, 0}
)

// AllInOne2004 is "All in one" as Iometer 2004.07.30, 2006.07.27, 2008.06.18 and 1.1.0-rc1 have it built in: 20 lines
// of 5 per cent, all of them sequential. (src/AccessSpecList.cpp of Iometer.)
func AllInOne2004() AccessSpec {
	s := AccessSpec{Name: "All in one", Assignment: "NONE"}
	for _, size := range []int64{512, 4096, 16384, 32768} {
		s.add(Line{Size: size, Share: 5}, fiveSteps)
	}
	return s
}

// AllInOne110 is "All in one" as Iometer 1.1.0 has it built in: 29 lines, of which only the three of aligned 4 KiB are
// random. (src/AccessSpecList.cpp of Iometer.)
func AllInOne110() AccessSpec {
	s := AccessSpec{Name: "All in one", Assignment: "NONE"}
	s.add(Line{Size: 512, Share: 4}, fiveSteps)
	s.add(Line{Size: 4096, Share: 4}, fiveSteps)
	s.add(Line{Size: 4096, Share: 4, Random: 100, Align: 4096}, threeSteps)
	s.add(Line{Size: 16384, Share: 3}, fiveSteps)
	s.add(Line{Size: 32768, Share: 3}, fiveSteps)
	s.add(Line{Size: 65536, Share: 3}, threeSteps)
	s.add(Line{Size: 262144, Share: 3}, threeSteps)
	return s
}

// Default is the specification that Iometer 1.1.0 gives a new worker; older versions align it to the sector.
func Default() AccessSpec {
	return AccessSpec{Name: "Default", Assignment: "NONE", Lines: []Line{
		{Size: 2048, Share: 100, Reads: 67, Random: 100, Burst: 1, Align: 2048},
	}}
}

// add appends a line for each share of reads.
func (s *AccessSpec) add(l Line, reads []int) {
	l.Burst = 1
	for _, l.Reads = range reads {
		s.Lines = append(s.Lines, l)
	}
}
