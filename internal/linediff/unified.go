package linediff

import (
	"bytes"
	"fmt"
	"strings"
)

// around is how many unchanged lines stand on each side of an edit.
const around = 3

// Unified writes edits of a text as a unified diff that patch(1) can apply; "" where there are none. Name stands for the text
// before and after.
func Unified(name string, old []byte, edits []Edit) string {
	if len(edits) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].Line-edits[n-1].end() <= 2*around {
			n++
		}
		hunk(&out, old, edits[:n])
		edits = edits[n:]
	}
	return out.String()
}

// end is the old line after the edit.
func (e Edit) end() int { return e.Line + len(e.Old) }

// hunk writes edits that stand close together, with the lines around them.
func hunk(out *strings.Builder, old []byte, edits []Edit) {
	from := max(1, edits[0].Line-around)
	lines := linesAt(old, from, edits[len(edits)-1].end()+around-from)
	grown := 0
	for _, e := range edits {
		grown += len(e.New) - len(e.Old)
	}
	start := from + edits[0].NewLine - edits[0].Line
	fmt.Fprintf(out, "@@ -%s +%s @@\n", extent(from, len(lines)), extent(start, len(lines)+grown))
	at := 0
	for _, e := range edits {
		write(out, " ", lines[at:e.Line-from])
		write(out, "-", e.Old)
		write(out, "+", e.New)
		at = e.end() - from
	}
	write(out, " ", lines[at:])
}

// linesAt returns up to n lines of a text, from the line number from on.
func linesAt(text []byte, from, n int) []string {
	for range from - 1 {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	var lines []string
	for line := range bytes.Lines(text) {
		if len(lines) == n {
			break
		}
		lines = append(lines, string(line))
	}
	return lines
}

// extent is the part of a text that a hunk is about; one without lines is named by the line before it.
func extent(from, n int) string {
	if n == 0 {
		from--
	}
	return fmt.Sprintf("%d,%d", from, n)
}

func write(out *strings.Builder, mark string, lines []string) {
	for _, l := range lines {
		out.WriteString(mark + l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
