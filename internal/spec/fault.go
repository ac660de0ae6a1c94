package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
)

// place is where a field was written: the path that a reader of the file knows it by, and its position.
type place struct {
	path      string
	line, col int
	broken    bool // its value could not be read: that is said already, and no rule judges it
}

// fault is one line of complaint.
type fault struct {
	line, col int
	text      string
}

// faults collects what is wrong with one experiment. places is keyed by the path in the experiment as
// it stands after matrix expansion, so that one validation serves files and experiments made in code.
type faults struct {
	file   string // "" for an experiment made in code: there are no positions then
	places map[string]place
	list   []fault
	said   map[fault]bool
}

func newFaults(file string) *faults {
	return &faults{file: file, places: map[string]place{}, said: map[fault]bool{}}
}

// ref is a path among the arguments of add: it prints as " (line 13)", or as nothing without
// a position and on the line of the fault itself.
type ref string

// at resolves a path, through its nearest written ancestor where it was not written itself.
func (f *faults) at(path string) place {
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if p, ok := f.places[path[:end]]; ok {
			p.path += path[end:]
			return p
		}
	}
	return place{path: path, line: 1, col: 1}
}

// add records a fault of the field at path.
func (f *faults) add(path, format string, args ...any) {
	if f.places[path].broken {
		return
	}
	at := f.at(path)
	for i, a := range args {
		if r, ok := a.(ref); ok {
			args[i] = f.line(r, at)
		}
	}
	f.addAt(at, format, args...)
}

// line names the line of another field, where it is another line.
func (f *faults) line(r ref, from place) string {
	if p, ok := f.places[string(r)]; ok && p.line != from.line {
		return fmt.Sprintf(" (line %d)", p.line)
	}
	return ""
}

// addAt records a fault at a known place. A line that stands already is not repeated: the stacks of one
// matrix share their faults.
func (f *faults) addAt(p place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.path != "" {
		text = p.path + ": " + text
	}
	if f.file != "" {
		text = fmt.Sprintf("%s:%d:%d  %s", f.file, p.line, p.col, text)
	}
	n := fault{line: p.line, col: p.col, text: strings.ReplaceAll(text, "\n", " ")}
	if !f.said[n] {
		f.list = append(f.list, n)
		f.said[n] = true
	}
}

// maxFaults bounds what one file can print; nobody reads further.
const maxFaults = 100

// err returns the faults in reading order as an errkind.List of Usage errors, nil when there are none.
func (f *faults) err() error {
	list := slices.Clone(f.list)
	if f.file != "" {
		slices.SortStableFunc(list, func(a, b fault) int {
			return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
		})
	}
	var l errkind.List
	for i, n := range list {
		if i == maxFaults {
			l = append(l, errkind.Userf("%d further faults are not shown", len(list)-maxFaults))
			break
		}
		l = append(l, errkind.Userf("%s", n.text))
	}
	return l.Err()
}
