// Package text renders a result for a terminal: what was measured on, the table of shares, the experiment's own figures,
// the doubts, the verdicts on what was published, and which safe stack loses least. It computes nothing.
package text

import (
	"io"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
)

// Options say what the terminal is like.
type Options struct {
	Width int  // columns; 0 stands for 80, and less than 60 is taken for 60
	Color bool // whether escape sequences may be written; NO_COLOR is the caller's to respect
}

// Write writes the report of r. No line is wider than Options.Width.
func Write(w io.Writer, r analyse.Result, o Options) error {
	p := newPrinter(o)
	names := newLabels(r)
	notes := &notes{}
	short := covered(r)
	rows := tableRows(r, names, notes, short)

	p.alarms(r)
	p.facts(r)
	p.table(rows)
	p.figures(tableOf(r, names, notes))
	p.blank()
	p.noise(r.Noise, len(rows) > 0, short)
	for _, warning := range merge(r.Run.Warnings, r.Warnings) {
		p.hang("warning: ", warning, plain)
	}
	verdict := verdictLines(r, names, notes) // may still add a footnote
	p.blank()
	for i, note := range notes.texts {
		p.hang(mark(i+1)+" ", note, plain)
	}
	p.statements(r.Verdicts)
	p.limited(r.Explanation, names)
	p.blank()
	p.verdict(verdict)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// printer gathers lines that fit the terminal.
type printer struct {
	out   strings.Builder
	width int
	color bool
}

func newPrinter(o Options) *printer {
	if o.Width == 0 {
		o.Width = 80
	}
	return &printer{width: max(o.Width, 60), color: o.Color}
}

// line writes one line that is known to fit.
func (p *printer) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// blank writes an empty line, unless one has just been written or nothing has been yet.
func (p *printer) blank() {
	if s := p.out.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.out.WriteByte('\n')
	}
}

// hang writes prefix and, beside it, text filled into the width that is left.
func (p *printer) hang(prefix, text string, k kind) {
	for i, line := range Fill(text, p.width-width(prefix)) {
		if i > 0 {
			prefix = strings.Repeat(" ", width(prefix))
		}
		p.line(prefix + p.paint(k, line))
	}
}

// merge joins lists without repeating a text.
func merge(lists ...[]string) (out []string) {
	seen := map[string]bool{}
	for _, l := range lists {
		for _, text := range l {
			if !seen[text] {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}
