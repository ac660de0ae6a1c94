package spec

import (
	"fmt"
	"path"
	"slices"

	"github.com/iotax/iotax/internal/record"
)

// metrics lists what statements and figures may speak of.
func metrics() []string {
	return slices.Concat(record.MetricNames, record.SyncNames, record.DerivedNames)
}

func checkStatements(f *faults, e Experiment) {
	for i, s := range e.Statements {
		at := fmt.Sprintf("statements[%d]", i)
		if s.Text == "" {
			f.add(at+".text", "is missing; expected what was published")
		}
		choice(f, at+".metric", "metric", s.Metric, metrics())
		if s.Above == 0 && s.Below == 0 {
			f.add(at, "has no range; expected above, below or both")
		}
		if s.Above < 0 || s.Below < 0 || s.Below != 0 && s.Above >= s.Below {
			f.add(at+".above", "%v to %v is no range; expected above less than below, neither negative", s.Above, s.Below)
		}
		if len(s.Of) == 0 {
			f.add(at+".of", "is missing; expected a term such as \"sata:randread-4k\"")
		}
		for _, t := range s.Of {
			checkTerm(f, at+".of", e, t)
		}
		for _, t := range s.Over {
			checkTerm(f, at+".over", e, t)
		}
	}
}

func checkTerm(f *faults, at string, e Experiment, t Term) {
	names := append([]string{Host, Control}, stackNames(e)...)
	choice(f, at, "stack", t.Stack, names)
	checkPatterns(f, at, "workload", []string{t.Workload}, workloadNames(e))
}

func checkFigures(f *faults, e Experiment) {
	for i, g := range e.Figures {
		at := fmt.Sprintf("figures[%d]", i)
		if g.Title == "" {
			f.add(at+".title", "is missing; expected what the figure shows")
		}
		if g.Kind == "" {
			f.add(at+".kind", "is missing; expected one of %s", either(FigureKinds))
		}
		if !choice(f, at+".kind", "kind", g.Kind, FigureKinds) {
			continue
		}
		choice(f, at+".metric", "metric", g.Metric, metrics())
		checkPatterns(f, at+".stacks", "stack", g.Stacks, append([]string{Host, Control}, stackNames(e)...))
		checkPatterns(f, at+".workloads", "workload", g.Workloads, workloadNames(e))
		switch g.Kind {
		case Table, Settings:
			if len(g.Columns) == 0 {
				f.add(at+".columns", "is missing; a %s has at least one", g.Kind)
			}
			for _, c := range g.Columns {
				if g.Kind == Table {
					choice(f, at+".columns", "metric", c, metrics())
				}
			}
		case Ladder:
			checkLadder(f, at, e, g)
		}
	}
}

func checkLadder(f *faults, at string, e Experiment, g Figure) {
	names := stackNames(e)
	if g.Base == "" || len(g.Steps) == 0 {
		f.add(at, "a ladder has a base and steps; expected both")
	}
	choice(f, at+".base", "stack", g.Base, names)
	for i, s := range g.Steps {
		step := fmt.Sprintf("%s.steps[%d]", at, i)
		choice(f, step+".alone", "stack", s.Alone, names)
		choice(f, step+".together", "stack", s.Together, names)
		choice(f, step+".without", "stack", s.Without, names)
	}
}

// checkPatterns checks that each pattern matches a name.
func checkPatterns(f *faults, at, what string, patterns, names []string) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			f.add(at, "%q is no pattern; expected a name, or one with *", clip(p))
		} else if len(Match([]string{p}, names)) == 0 {
			f.add(at, "%s", unknown(what, p, names))
		}
	}
}

// Match returns the names that one of the patterns matches, in the order of names; all where there are no patterns.
func Match(patterns, names []string) []string {
	if len(patterns) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, n); return ok })
	})
}

func stackNames(e Experiment) []string {
	var names []string
	for _, s := range e.Stacks {
		names = append(names, s.Name)
	}
	return names
}

func workloadNames(e Experiment) []string {
	var names []string
	for _, w := range e.Workloads {
		names = append(names, w.Name)
	}
	return names
}
