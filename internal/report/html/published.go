package html

import (
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// published is one of the experiment's own figures; only the part of its kind is there.
type published struct {
	ID, Title string
	Lead      string
	Charts    []chart
	Groups    []barGroup
	Grids     []grid
	Bill      *bill
}

// drawn is the section of the experiment's own figures. Absent says once, and not under each figure, why stacks are not here.
type drawn struct {
	Absent  []string
	Figures []published
}

func drawnOf(x index) drawn {
	d := drawn{Figures: publishedOf(x)}
	for _, s := range x.Run.Stacks {
		if s.Unavailable != "" {
			text := s.Name + ": " + s.Unavailable
			if s.Mend != "" {
				text += "; to have it: " + s.Mend
			}
			d.Absent = append(d.Absent, text)
		}
	}
	return d
}

func publishedOf(x index) []published {
	out := make([]published, len(x.Result.Figures))
	for i, f := range x.Result.Figures {
		p := published{ID: "fig" + strconv.Itoa(i), Title: f.Title}
		for j, panel := range f.Panels {
			switch f.Kind {
			case spec.Lines:
				p.Charts = append(p.Charts, chartOf(x, panel, p.ID+"c"+strconv.Itoa(j), f.Title))
			case spec.Bars:
				p.Lead = "Each group has a scale of its own, from zero."
				p.Groups = append(p.Groups, barsOf(x, panel)...)
			case spec.Settings:
				p.Lead = "What was in force, as QEMU, the kernels and the storage gave it."
				p.Grids = append(p.Grids, settingsOf(panel))
			default:
				p.Grids = append(p.Grids, gridOf(panel, metricColumn))
			}
		}
		if f.Ladder != nil {
			p.Bill = billOf(*f.Ladder)
		}
		out[i] = p
	}
	return out
}

// Wide reports whether it takes the whole width of the page, under a heading of its own; a single chart has its title itself.
func (p published) Wide() bool { return len(p.Charts) != 1 }

// grid is a panel as a table. A figure that is not there has its reason in the notes.
type grid struct {
	Title   string
	Columns []figureColumn
	Rows    []figureRow
	Notes   []string
	Words   bool // and not numbers
}

// metricColumn heads a column by its metric, depthColumn by its iodepth.
func metricColumn(c analyse.Column, in string) figureColumn {
	return figureColumn{metrics.Title(c.Metric), in, betterWords(c.Metric)}
}

func depthColumn(c analyse.Column, _ string) figureColumn {
	return figureColumn{Title: strconv.Itoa(c.IODepth), Unit: "iodepth"}
}

func betterWords(metric string) string {
	if b := metrics.Better(metric); b != metrics.Neither {
		return b + " is better"
	}
	return ""
}

func gridOf(p analyse.Panel, head func(analyse.Column, string) figureColumn) grid {
	g := grid{Title: p.Title, Rows: make([]figureRow, len(p.Rows)), Notes: reasons(p)}
	for j, r := range p.Rows {
		g.Rows[j].Name = r.Stack
	}
	for i, c := range p.Columns {
		var all []stat.Estimate
		for _, r := range p.Rows {
			if e := r.Values[i].Estimate; e != nil {
				all = append(all, *e)
			}
		}
		s := metrics.Scale(c.Metric, all...)
		g.Columns = append(g.Columns, head(c, unitOf(c.Metric, s)))
		for j, r := range p.Rows {
			v := figureValue{Text: noFigure(r.Values[i])}
			if e := r.Values[i].Estimate; e != nil {
				v = figureValue{Text: scaled(s, e.Value)}
				if e.Low != e.High {
					v.Sub = scaledRange(s, *e)
				}
			}
			g.Rows[j].Values = append(g.Rows[j].Values, v)
		}
	}
	return g
}

func settingsOf(p analyse.Panel) grid {
	g := grid{Notes: reasons(p), Words: true}
	for _, c := range p.Columns {
		g.Columns = append(g.Columns, figureColumn{Title: c.Name})
	}
	for _, r := range p.Rows {
		row := figureRow{Name: r.Stack}
		for _, v := range r.Values {
			text := v.Text
			if text == "" {
				text = noFigure(v)
			}
			row.Values = append(row.Values, figureValue{Text: text})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// unitOf is the unit at the head of a column.
func unitOf(metric string, s unit.Scale) string { return micro(metrics.UnitName(metric, s)) }

// micro writes microseconds as they are written where there is more than ASCII.
func micro(s string) string {
	if number, ok := strings.CutSuffix(s, "us"); ok && (number == "" || strings.HasSuffix(number, " ")) {
		return number + "\u00b5s"
	}
	return s
}

// noFigure is the word in place of a figure.
func noFigure(v analyse.PanelValue) string {
	switch v.Status {
	case record.OK, "":
		return none
	case record.Unavailable:
		return "n/a"
	}
	return v.Status
}

// reasons say of each stack that is here why it has no figure, and where: "raw (1, 2, 4): withheld: ...".
func reasons(p analyse.Panel) []string {
	var out []string
	for _, r := range p.Rows {
		var texts []string
		at := map[string][]string{}
		for i, v := range r.Values {
			if v.Reason == "" || v.Status == record.OK || v.Status == record.Unavailable {
				continue
			}
			text := v.Status + ": " + v.Reason
			if at[text] == nil {
				texts = append(texts, text)
			}
			at[text] = append(at[text], where(p.Columns[i]))
		}
		for _, text := range texts {
			name := r.Stack
			if n := len(at[text]); n < len(p.Columns) {
				name += " (" + places(at[text]) + ")"
			}
			out = append(out, name+", "+text)
		}
	}
	return unique(out)
}

// places joins what is named alike: "iodepth 1, 2, 4".
func places(words []string) string {
	out := append([]string(nil), words...)
	for i := 1; i < len(out); i++ {
		if depth, ok := strings.CutPrefix(words[i], depthWord); ok && strings.HasPrefix(words[i-1], depthWord) {
			out[i] = depth
		}
	}
	return strings.Join(out, ", ")
}

const depthWord = "iodepth "

func where(c analyse.Column) string {
	switch {
	case c.Name == c.Metric:
		return metrics.Title(c.Metric)
	case c.IODepth > 0:
		return depthWord + strconv.Itoa(c.IODepth)
	}
	return c.Name
}

// colour is the class of a stack, alike in all figures, with its own dash pattern and marker: "c2".
func (x index) colour(stack string) int {
	n := 0
	for _, s := range x.stacks {
		if s == stack {
			return n
		}
		if s != spec.Control {
			n++
		}
	}
	return n
}

// colours is how many there are before they come again.
const colours = 8

func colourClass(n int) string { return "c" + strconv.Itoa(n%colours) }
