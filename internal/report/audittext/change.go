package audittext

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/linediff"
)

// longest is how many lines of a change are shown.
const longest = 40

// change shows the lines of the configuration that become others, or why there are none.
func (p *printer) change(f outcome.Finding) {
	if f.Refused != "" {
		p.say("change", "none that this configuration can say: "+f.Refused)
		return
	}
	name, left := "change", longest
	for _, e := range f.Edits {
		for _, l := range p.lines(e) {
			if left--; left < 0 {
				p.say("", "... and more: --format json has the whole change")
				return
			}
			fmt.Fprintf(p, "    %s%s\n", p.paint(faint, fmt.Sprintf("%-*s", column-4, name)), l)
			name = ""
		}
	}
}

// lines are those of an edit, marked, without the indentation that all have, and each cut to the part that changes.
func (p *printer) lines(e linediff.Edit) []string {
	all := append(append([]string{}, e.Old...), e.New...)
	for i := range all {
		all[i] = visible(all[i])
	}
	indent := len(all[0])
	for _, l := range all {
		if strings.TrimSpace(l) != "" {
			indent = min(indent, len(l)-len(strings.TrimLeft(l, " ")))
		}
	}
	room := p.Width - column - 2
	for i := range all {
		all[i] = all[i][min(indent, len(all[i])):]
	}
	var out []string
	for i, l := range all {
		mark, style, other := "- ", red, i+len(e.Old)
		if i >= len(e.Old) {
			mark, style, other = "+ ", green, i-len(e.Old)
		}
		twin := ""
		if len(e.Old) == len(e.New) {
			twin = all[other]
		}
		out = append(out, p.paint(style, strings.TrimRight(mark+part(l, twin, room), " ")))
	}
	return out
}

// part cuts a line to some columns around where it first differs from its twin, in such a way that both show the same part.
func part(line, twin string, room int) string {
	if ansi.StringWidth(line) <= room && ansi.StringWidth(twin) <= room {
		return line
	}
	const before = 16
	runes, others := []rune(line), []rune(twin)
	at := 0
	for at < min(len(runes), len(others)) && runes[at] == others[at] {
		at++
	}
	start := min(at-before, max(len(runes), len(others))-room+1) // as much of the beginning as lets the ends be seen
	if start <= 1 {
		return ansi.Truncate(line, room, "…")
	}
	return ansi.Truncate("…"+string(runes[start:]), room, "…")
}

// visible is a line of a file that cannot take hold of the terminal: what is between the arguments in /proc becomes a blank, and
// any other control character a dot.
func visible(line string) string {
	line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return '·'
		}
		return r
	}, line)
}

// command is a line for a shell, whole, so that it can be copied; it may be wider than the terminal.
func (p *printer) command(name, line string) {
	fmt.Fprintf(p, "    %s%s\n", p.paint(faint, fmt.Sprintf("%-*s", column-4, name)), visible(line))
}
