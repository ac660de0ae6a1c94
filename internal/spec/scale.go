package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/iotax/iotax/internal/errkind"
)

// AtScale returns the experiment at another of its scales: a different size of disk, other times. The name of the
// scale that it has already changes nothing.
func (e Experiment) AtScale(name string) (Experiment, error) {
	if name == e.Scale {
		return e, nil
	}
	s, ok := e.Scales[name]
	if !ok {
		if e.Scale == "" {
			return e, errkind.Userf("%s has one scale only; leave --scale out", e.Name)
		}
		return e, errkind.Userf("%s; the scales of %s are %s", unknown("scale", name, e.scaleNames()), e.Name, strings.Join(e.scaleNames(), ", "))
	}
	e.Scale, e.Note = name, s.Note
	set(&e.Size, s.Size)
	set(&e.Runtime, s.Runtime)
	set(&e.Ramp, s.Ramp)
	if e.Budget > 0 { // else it is left to what is to be detected
		set(&e.Budget, s.Budget)
	}
	set(&e.MinRounds, s.MinRounds)
	set(&e.MaxRounds, s.MaxRounds)
	set(&e.Boots, s.Boots)
	e.Workloads = slices.Clone(e.Workloads)
	for i := range e.Workloads {
		if w := &e.Workloads[i]; w.Ioping() {
			set(&w.Interval, s.Interval)
		}
	}
	e.keep(s.Workloads)
	return e, Validate(e)
}

// keep leaves out the workloads that no pattern matches, and the statements that speak of them alone.
func (e *Experiment) keep(patterns []string) {
	if len(patterns) == 0 {
		return
	}
	names := Match(patterns, workloadNames(*e))
	e.Workloads = slices.DeleteFunc(e.Workloads, func(w Workload) bool { return !slices.Contains(names, w.Name) })
	gone := func(pattern string) bool { return len(Match([]string{pattern}, names)) == 0 }
	e.Statements = slices.DeleteFunc(slices.Clone(e.Statements), func(s Statement) bool {
		return slices.ContainsFunc(slices.Concat(s.Of, s.Over), func(t Term) bool { return gone(t.Workload) })
	})
	e.Figures = slices.Clone(e.Figures)
	for i := range e.Figures {
		f := &e.Figures[i]
		f.Workloads = slices.DeleteFunc(slices.Clone(f.Workloads), gone)
	}
}

func (e Experiment) scaleNames() []string {
	names := slices.Collect(maps.Keys(e.Scales))
	if e.Scale != "" && !slices.Contains(names, e.Scale) {
		names = append(names, e.Scale)
	}
	slices.Sort(names)
	return names
}

// set changes a value to another one that is not zero.
func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}
