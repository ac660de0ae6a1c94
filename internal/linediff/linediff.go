// Package linediff tells what lines of a text became other ones, and writes that as a unified diff. It is made for few
// edits in texts of any size.
package linediff

import (
	"bytes"
	"slices"
	"strings"
)

// Edit is a run of lines that became others. A line has its line end, which the last one of a text may lack.
type Edit struct {
	Line    int // of the first old line, from 1; where Old is empty, New stands before that line
	NewLine int // the same in the new text
	Old     []string
	New     []string
}

// most is how many lines are compared one by one. Beyond it what differs is one edit: nobody reads a longer diff.
const most = 2000

// block is how many bytes are compared at once: most of a text is the same.
const block = 4096

// Edits returns what turns old into new, in order. There are none where the two are the same.
func Edits(old, new []byte) []Edit {
	if bytes.Equal(old, new) {
		return nil
	}
	head, most := 0, min(len(old), len(new))
	for head+block <= most && bytes.Equal(old[head:head+block], new[head:head+block]) {
		head += block
	}
	for head < most && old[head] == new[head] {
		head++
	}
	head = bytes.LastIndexByte(old[:head], '\n') + 1
	before := bytes.Count(old[:head], []byte{'\n'})
	old, new = old[head:], new[head:]
	n := tail(old, new)
	edits := between(split(old[:len(old)-n]), split(new[:len(new)-n]))
	for i := range edits {
		edits[i].Line += before + 1
		edits[i].NewLine += before + 1
	}
	return edits
}

// tail is the length of the whole lines that two texts end with alike.
func tail(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for n+block <= most && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < most && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	whole := func(t []byte) bool { return n == len(t) || t[len(t)-1-n] == '\n' } // the common part begins a line
	if whole(a) && whole(b) {
		return n
	}
	line := bytes.IndexByte(a[len(a)-n:], '\n') + 1
	if line == 0 {
		return 0
	}
	return n - line
}

func split(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// between compares lines by their longest common subsequence. Its edits count lines from 0.
func between(a, b []string) []Edit {
	if len(a) > most || len(b) > most || len(a) == 0 || len(b) == 0 {
		return []Edit{{Old: a, New: b}}
	}
	common := make([][]int16, len(a)+1) // [i][j]: lines that a[i:] and b[j:] have in common
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var edits []Edit
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		e := Edit{Line: i, NewLine: j}
		for i < len(a) || j < len(b) {
			switch {
			case i < len(a) && j < len(b) && a[i] == b[j]:
			case j == len(b), i < len(a) && common[i+1][j] >= common[i][j+1]:
				e.Old, i = append(e.Old, a[i]), i+1
				continue
			default:
				e.New, j = append(e.New, b[j]), j+1
				continue
			}
			break
		}
		edits = append(edits, e)
	}
	return edits
}
