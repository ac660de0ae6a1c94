package spec

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// What a file says of how its results are to be read: statements to judge and figures to draw.

var statementSchema = schema[Statement]{
	"text":   text(func(s *Statement) *string { return &s.Text }),
	"metric": text(func(s *Statement) *string { return &s.Metric }),
	"above":  ratio(func(s *Statement) *float64 { return &s.Above }),
	"below":  ratio(func(s *Statement) *float64 { return &s.Below }),
	"answer": text(func(s *Statement) *string { return &s.Answer }),
	"of":     terms(func(s *Statement) *[]Term { return &s.Of }),
	"over":   terms(func(s *Statement) *[]Term { return &s.Over }),
}

var figureSchema = schema[Figure]{
	"title":     text(func(f *Figure) *string { return &f.Title }),
	"kind":      text(func(f *Figure) *string { return &f.Kind }),
	"metric":    text(func(f *Figure) *string { return &f.Metric }),
	"best":      boolean(func(f *Figure) *bool { return &f.Best }),
	"base":      text(func(f *Figure) *string { return &f.Base }),
	"stacks":    words(func(f *Figure) *[]string { return &f.Stacks }),
	"workloads": words(func(f *Figure) *[]string { return &f.Workloads }),
	"columns":   words(func(f *Figure) *[]string { return &f.Columns }),
	"steps": func(d *decoder, at place, n ast.Node, to *Figure) bool {
		to.Steps = items(d, at.path, "a list of steps", n, stepSchema)
		return true
	},
}

var stepSchema = schema[Step]{
	"title":    text(func(s *Step) *string { return &s.Title }),
	"alone":    text(func(s *Step) *string { return &s.Alone }),
	"together": text(func(s *Step) *string { return &s.Together }),
	"without":  text(func(s *Step) *string { return &s.Without }),
}

// items reads a list of mappings, and notes the place of each item and key.
func items[T any](d *decoder, path, what string, n ast.Node, s schema[T]) []T {
	nodes, ok := d.sequence(path, what, n)
	if !ok {
		d.places[path] = place{path: path, broken: true}
		return nil
	}
	var all []T
	for i, node := range nodes {
		at := placeOf(fmt.Sprintf("%s[%d]", path, i), node)
		d.places[at.path] = at
		entries, ok := d.mapping(at.path, "a mapping", node)
		if !ok {
			continue
		}
		var item T
		for key, p := range fill(d, s, entries, &item) {
			d.places[join(at.path, key)] = p
		}
		all = append(all, item)
	}
	return all
}

// several makes a setter out of a function that reads one item; a single item may stand without its list.
func several[T, V any](what string, read func(string) (V, error), field func(*T) *[]V) setter[T] {
	return func(d *decoder, at place, n ast.Node, to *T) bool {
		nodes := []ast.Node{n}
		if _, one := d.scalar(n); !one {
			var ok bool
			if nodes, ok = d.sequence(at.path, what, n); !ok {
				return false
			}
		}
		whole := true
		for _, node := range nodes {
			word, ok := d.scalar(node)
			if !ok {
				d.addAt(at, "expected %s, got %s", what, d.describe(node))
				whole = false
				continue
			}
			v, err := read(word)
			if err != nil {
				d.addAt(at, "%v", err)
				whole = false
				continue
			}
			*field(to) = append(*field(to), v)
		}
		return whole
	}
}

func words[T any](field func(*T) *[]string) setter[T] {
	return several("a list of words", func(s string) (string, error) { return s, nil }, field)
}

func terms[T any](field func(*T) *[]Term) setter[T] {
	return several("a list of terms such as \"sata:randread-4k\"", ParseTerm, field)
}
