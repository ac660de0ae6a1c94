package iometer

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// field is one column of a line. Iometer keeps them in 32 bits.
type field struct {
	name     string
	min, max int64
	expected string
}

var fields = []field{
	{"size", 1, math.MaxUint32, "bytes, 1 or more"},
	{"% of size", 0, 100, "0 to 100"},
	{"% reads", 0, 100, "0 to 100"},
	{"% random", 0, 100, "0 to 100"},
	{"delay", 0, math.MaxInt32, "milliseconds, 0 or more"},
	{"burst", 0, math.MaxInt32, "a number of I/Os, 0 or more"},
	{"align", 0, math.MaxUint32, "bytes, 0 or more"},
	{"reply", 0, math.MaxUint32, "bytes, 0 or more"},
}

// values takes a line such as "4096,4,100,0,0,1,0,0". Results files end it with a comma.
func (p *parser) values(line string) {
	s := &p.specs[len(p.specs)-1]
	parts := strings.Split(line, ",")
	if n := len(parts); n == len(fields)+1 && strings.TrimSpace(parts[n-1]) == "" {
		parts = parts[:n-1]
	}
	if len(parts) != len(fields) {
		p.broken = true
		p.add(p.line, column(line, strings.TrimSpace(line)), "%s: the line has %d values; expected %d: %s",
			clip(s.Name), len(parts), len(fields), columnsKey)
		return
	}
	var v [8]int64
	good, before := true, 0
	for i, part := range parts {
		word, f := strings.TrimSpace(part), fields[i]
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < f.min || n > f.max {
			good = false
			col := utf8.RuneCountInString(line[:before]) + column(part, word)
			p.add(p.line, col, "%s: %s: %s; expected %s", clip(s.Name), f.name, wrong(word, err), f.expected)
		}
		v[i] = n
		before += len(part) + 1
	}
	if !good {
		p.broken = true
		return
	}
	s.Lines = append(s.Lines, Line{
		Size: v[0], Share: int(v[1]), Reads: int(v[2]), Random: int(v[3]),
		Delay: time.Duration(v[4]) * time.Millisecond, Burst: int(v[5]), Align: v[6], Reply: v[7],
	})
}

func wrong(word string, err error) string {
	if err != nil {
		return strconv.Quote(clip(word)) + " is not a whole number"
	}
	return word + " is out of range"
}
