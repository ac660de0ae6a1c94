package html

import (
	"html/template"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/plan"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/stat"
)

// page is what the templates print: strings and coordinates, ready made.
type page struct {
	CSS       template.CSS
	Policy    string
	Title     string
	Run       runLine
	Answer    answer
	Banners   []banner
	Tiles     []tile
	Verdicts  verdicts
	Drawn     drawn
	Heat      heat
	Gains     []gainView
	Explained explained
	Sure      sure
	Figures   []figure
	Stacks    []stackView
	Boots     []bootView
	Facts     []fact
	Method    []string
	Command   string
	Warnings  []string
}

// runLine is the small print above the answer.
type runLine struct {
	ID, Started, Preset, Seed, Version, Status string
}

// index finds things of a result by name, so that every section looks them up alike.
type index struct {
	analyse.Result
	cells     map[plan.Key]analyse.Cell
	found     map[string]record.Stack // what was found out of a stack
	asked     map[string]spec.Stack   // what was asked
	stacks    []string                // every stack, in order of print
	workloads []spec.Workload
}

func build(r analyse.Result) page {
	x := newIndex(r)
	notes := &notes{}
	p := page{
		CSS:       template.CSS(style),
		Policy:    policy(),
		Run:       runOf(r.Run),
		Answer:    answerOf(x),
		Banners:   bannersOf(x),
		Tiles:     tilesOf(x),
		Verdicts:  verdictsOf(x),
		Drawn:     drawnOf(x),
		Heat:      heatOf(x, notes),
		Gains:     gainsOf(x),
		Explained: explainOf(x, r.Explanation),
		Sure:      sureOf(x),
		Figures:   figuresOf(x),
		Stacks:    stacksOf(x),
		Boots:     bootsOf(r.Run.Host),
		Facts:     factsOf(x),
		Method:    method,
		Command:   reproduce(r.Run),
		Warnings:  unique(r.Run.Warnings, r.Warnings),
	}
	p.Title = "iotax " + r.Run.ID + ": " + p.Answer.short
	return p
}

func newIndex(r analyse.Result) index {
	x := index{
		Result:    r,
		cells:     make(map[plan.Key]analyse.Cell, len(r.Cells)),
		found:     make(map[string]record.Stack, len(r.Run.Stacks)),
		asked:     make(map[string]spec.Stack, len(r.Experiment.Stacks)),
		workloads: r.Experiment.Workloads,
	}
	for _, s := range r.Run.Stacks {
		x.found[s.Name] = s
	}
	for _, s := range r.Experiment.Stacks {
		x.asked[s.Name] = s
	}
	names := append([]string(nil), r.StackOrder...)
	for _, c := range r.Cells {
		x.cells[plan.Key{Stack: c.Stack, Workload: c.Workload}] = c
		names = append(names, c.Stack)
	}
	x.stacks = unique(names)
	return x
}

// cell returns a cell, and whether the result holds it.
func (x index) cell(stack, workload string) (analyse.Cell, bool) {
	c, ok := x.cells[plan.Key{Stack: stack, Workload: workload}]
	return c, ok
}

// share returns the headline ratio of a cell.
func share(c analyse.Cell, w spec.Workload) (stat.Estimate, bool) {
	e, ok := c.Ratio[analyse.Headline(w)]
	return e, ok && c.Status == record.OK
}

// title is a stack's long name, "" when it has none of its own.
func (x index) title(stack string) string {
	if t := x.found[stack].Title; t != "" && t != stack {
		return t
	}
	if t := x.asked[stack].Title; t != stack {
		return t
	}
	return ""
}

func (x index) role(stack string) string {
	if s, ok := x.found[stack]; ok && s.Role != "" {
		return s.Role
	}
	return x.asked[stack].Role
}

func (x index) ceiling(stack string) bool {
	return x.role(stack) == "ceiling" || x.asked[stack].Ceiling()
}

// name is how a workload is called in prose.
func name(w spec.Workload) string {
	if w.Title != "" {
		return w.Title
	}
	return w.Name
}

// workload finds a workload's name for prose by its short name.
func (x index) workload(short string) string {
	for _, w := range x.workloads {
		if w.Name == short {
			return name(w)
		}
	}
	return short
}

// unique joins lists and keeps the first of each string.
func unique(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, l := range lists {
		for _, s := range l {
			if s != "" && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}
