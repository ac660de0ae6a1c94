package text

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// kind says what a piece of text is, which decides its colour.
type kind int

const (
	plain kind = iota
	head       // names of columns
	good       // the best safe stack
	loud       // what must not be overlooked
	bad        // what went wrong
	faint      // what is not there
)

// styles use the terminal's own sixteen colours, so that they suit its background.
var styles = map[kind]lipgloss.Style{
	head:  lipgloss.NewStyle().Bold(true),
	good:  lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Green),
	loud:  lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow),
	bad:   lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
	faint: lipgloss.NewStyle().Faint(true),
}

func (p *printer) paint(k kind, s string) string {
	if !p.color || k == plain || s == "" {
		return s
	}
	return styles[k].Render(s)
}

// width is the number of terminal columns that s takes.
func width(s string) int { return ansi.StringWidth(s) }

// clean makes one line of text that came from a device, a tool or a guest: it could hold line ends, and escape
// sequences that would take hold of the reader's terminal.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) && r != glue {
			return ' '
		}
		return r
	}, ansi.Strip(s))
	return strings.Join(words(s), " ")
}

// glue is a blank at which no line is broken.
const glue = '\u00a0'

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
}

// glued keeps s on one line where it fits.
func glued(s string) string { return strings.ReplaceAll(s, " ", string(glue)) }

// Fill breaks text, cleaned of control characters, into lines of at most limit columns, at blanks; a word longer than a line is cut.
func Fill(text string, limit int) []string {
	limit = max(limit, 8)
	var lines []string
	line := ""
	for _, word := range words(clean(text)) {
		if line != "" && width(line)+1+width(word) > limit {
			lines, line = append(lines, line), ""
		}
		for width(word) > limit {
			start := ansi.Truncate(word, limit, "")
			lines, word = append(lines, start), strings.TrimPrefix(word, start)
		}
		if line != "" && word != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], string(glue), " ")
	}
	return lines
}

// left and right pad s to n columns.
func left(s string, n int) string  { return s + strings.Repeat(" ", max(0, n-width(s))) }
func right(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }

// clip cuts s to n columns.
func clip(s string, n int) string { return ansi.Truncate(s, n, "…") }
