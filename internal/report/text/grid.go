package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// gap is the number of blanks between two columns.
const gap = 2

// column is how wide one column is: its text and, to the right of it, its marks.
type column struct{ text, notes int }

func (c column) width() int { return c.text + c.notes }

// table prints the rows in as many blocks of columns as the width asks for, each with the labels beside
// it; then the loads on the host and the ceilings in blocks of their own.
func (p *printer) table(rows []row) {
	p.blank()
	if len(rows) == 0 {
		p.line("Nothing was measured.")
		return
	}
	labels, columns := measure(rows)
	labels = min(labels, max(16, p.width/3))
	var usual, beside, ceilings []row
	for _, r := range rows[1:] {
		switch {
		case r.beside:
			beside = append(beside, r)
		case r.ceiling:
			ceilings = append(ceilings, r)
		default:
			usual = append(usual, r)
		}
	}
	p.blocks(append(rows[:1:1], usual...), labels, columns)
	if len(beside) > 0 {
		p.hang("", "on the host: no guest, to tell the layers under one apart; never ranked", head)
		p.blocks(append(rows[:1:1], beside...), labels, columns)
	}
	if len(ceilings) > 0 {
		p.hang("", "ceiling: a disk of zero latency, the most that this platform can do with this controller; never ranked", head)
		p.blocks(append(rows[:1:1], ceilings...), labels, columns)
	}
}

func (p *printer) blocks(rows []row, labels int, columns []column) {
	for from := 0; from < len(columns); {
		to := p.fit(labels, columns, from)
		if from > 0 && from == len(columns)-1 {
			break // the remarks do not deserve a block of their own: what they say is below the table as well
		}
		p.block(rows, labels, columns, from, to)
		from = to
	}
}

// measure returns the width of the labels and of each column.
func measure(rows []row) (labels int, columns []column) {
	columns = make([]column, len(rows[0].cells))
	for _, r := range rows {
		labels = max(labels, width(r.label))
		for i, c := range r.cells {
			columns[i].text = max(columns[i].text, width(c.text))
			if c.notes != "" {
				columns[i].notes = max(columns[i].notes, 1+width(c.notes))
			}
		}
	}
	return labels, columns
}

// fit returns the column after the last one that still fits beside the labels, starting with from: at least one.
func (p *printer) fit(labels int, columns []column, from int) int {
	used := labels
	for to := from; to < len(columns); to++ {
		used += gap + columns[to].width()
		if used > p.width && to > from {
			return to
		}
	}
	return len(columns)
}

// block prints the columns from from to before to.
func (p *printer) block(rows []row, labels int, columns []column, from, to int) {
	for _, r := range rows {
		var b strings.Builder
		label := ansi.Truncate(r.label, labels, "…")
		b.WriteString(p.paint(r.kind, label) + left("", labels-width(label)))
		for i := from; i < to; i++ {
			b.WriteString(strings.Repeat(" ", gap))
			b.WriteString(p.entry(r.cells[i], columns[i], p.width-labels-gap))
		}
		p.line(b.String())
	}
	p.blank()
}

// entry is one cell, padded to its column; room is the most that one column may take.
func (p *printer) entry(c cell, in column, room int) string {
	notes := ""
	if c.notes != "" {
		notes = " " + c.notes
	}
	text := ansi.Truncate(c.text, max(1, room-width(notes)), "…")
	if c.words {
		return p.paint(c.kind, text) + left(notes, min(in.width(), room)-width(text))
	}
	return right("", min(in.text, room-in.notes)-width(text)) + p.paint(c.kind, text) + left(notes, in.notes)
}
