package live

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/iotax/iotax/internal/spec"
)

// names are the titles of stacks and workloads.
type names struct{ stacks, workloads map[string]string }

func newNames(exp spec.Experiment) names {
	n := names{stacks: map[string]string{}, workloads: map[string]string{}}
	for _, s := range exp.Stacks {
		n.stacks[s.Name] = clean(s.Title)
	}
	for _, w := range exp.Workloads {
		n.workloads[w.Name] = clean(w.Title)
	}
	n.stacks[spec.Host], n.stacks[spec.Control] = "host", "host again (control)"
	return n
}

func (n names) stack(name string) string    { return or(n.stacks[name], clean(name)) }
func (n names) workload(name string) string { return or(n.workloads[name], clean(name)) }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// label is the stack's title or, where that does not fit, its name: the end of a title is often what tells it
// from others.
func (n names) label(stack string, room int) string {
	if title := n.stack(stack); width(title) <= room {
		return title
	}
	return cut(clean(stack), room)
}

// kind says what a piece of text is, which decides its colour.
type kind int

const (
	plain kind = iota
	head       // names of columns
	done       // the part of a bar that is done
	faint      // what is not there
	loud       // what must not be overlooked
	bad        // what went wrong
)

// styles use the terminal's own sixteen colours, so that they suit its background.
var styles = map[kind]lipgloss.Style{
	head:  lipgloss.NewStyle().Bold(true),
	done:  lipgloss.NewStyle().Foreground(lipgloss.Cyan),
	faint: lipgloss.NewStyle().Faint(true),
	loud:  lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	bad:   lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
}

// painter colours text, or not.
type painter bool

func (color painter) paint(k kind, s string) string {
	if !color || k == plain || s == "" {
		return s
	}
	return styles[k].Render(s)
}

// oneLine makes one line of text that may come from a tool or a guest: it could hold line ends, and escape
// sequences that would take hold of the terminal. Blanks stay, since they may align it.
func oneLine(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, ansi.Strip(s)), " ")
}

// clean is oneLine with single blanks.
func clean(s string) string { return strings.Join(strings.Fields(oneLine(s)), " ") }

func width(s string) int            { return ansi.StringWidth(s) }
func cut(s string, room int) string { return ansi.Truncate(s, max(room, 0), "…") }

// left and right pad s to n columns.
func left(s string, n int) string  { return s + strings.Repeat(" ", max(0, n-width(s))) }
func right(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }
