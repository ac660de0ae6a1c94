package iometer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iotax/iotax/internal/errkind"
)

// maxFaults bounds what one file can print; nobody reads further.
const maxFaults = 100

// fault is one line of complaint.
type fault struct {
	line, col int // from 1
	text      string
}

// faults collects what is wrong with one file.
type faults struct {
	file string
	list []fault
}

func (f *faults) add(line, col int, format string, args ...any) {
	f.list = append(f.list, fault{line, col, fmt.Sprintf(format, args...)})
}

// err returns the faults in reading order as an errkind.List of Usage errors, nil when there are none.
func (f *faults) err() error {
	slices.SortStableFunc(f.list, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
	})
	var l errkind.List
	for i, n := range f.list {
		if i == maxFaults {
			l = append(l, errkind.Userf("%s: %d further faults are not shown", f.file, len(f.list)-maxFaults))
			break
		}
		l = append(l, errkind.Userf("%s:%d:%d  %s", f.file, n.line, n.col, n.text))
	}
	return l.Err()
}

// clip keeps a quoted piece of input short enough for one line.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
