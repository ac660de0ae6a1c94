package spec

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// kind is what the lists "stacks" and "workloads" have in common, and where they differ.
type kind[T comparable] struct {
	singular, plural string
	schema           schema[T]
	fresh            T   // what an item is before its keys are read
	most             int // items of the list, matrices expanded
	name, title      func(*T) *string
}

var stackKind = kind[Stack]{
	singular: "stack", plural: "stacks", schema: stackSchema, most: maxStacks,
	name: func(s *Stack) *string { return &s.Name }, title: func(s *Stack) *string { return &s.Title },
}

// A workload that says neither has fio's own block size and depth.
var workloadKind = kind[Workload]{
	singular: "workload", plural: "workloads", schema: workloadSchema, most: maxWorkloads, fresh: Workload{BS: 4096, IODepth: 1},
	name: func(w *Workload) *string { return &w.Name }, title: func(w *Workload) *string { return &w.Title },
}

// list reads a list of stacks or workloads. An item is a mapping, or the name of one in the preset.
func list[T comparable](d *decoder, k kind[T], n ast.Node, preset []T) []T {
	items, ok := d.sequence(k.plural, "a list of "+k.plural, n)
	if !ok {
		d.places[k.plural] = place{path: k.plural, broken: true}
		return nil
	}
	d.places[k.plural] = placeOf(k.plural, n)
	var all []T
	for i, item := range items {
		at := placeOf(fmt.Sprintf("%s[%d]", k.plural, i), item)
		for _, v := range readItem(d, k, at, item, preset) {
			path := fmt.Sprintf("%s[%d]", k.plural, len(all))
			d.places[path] = at
			for key, p := range v.places {
				d.places[join(path, key)] = p
			}
			all = append(all, v.item)
		}
		if len(all) > k.most {
			d.addAt(at, "more than %d %s, matrices expanded; expected fewer", k.most, k.plural)
			d.places[k.plural] = place{path: k.plural, broken: true}
			return nil
		}
	}
	return all
}

// variant is one item after matrix expansion, with the place of each of its keys.
type variant[T any] struct {
	item   T
	places map[string]place
}

// readItem reads one item of a list; nothing when it is so faulty that no rule could judge it.
func readItem[T comparable](d *decoder, k kind[T], at place, n ast.Node, preset []T) []variant[T] {
	if name, ok := d.scalar(n); ok {
		i := slices.IndexFunc(preset, func(t T) bool { return *k.name(&t) == name })
		if i < 0 {
			var names []string
			for _, t := range preset {
				names = append(names, *k.name(&t))
			}
			d.addAt(at, "%s", unknown(k.singular+" of the preset", name, names))
			return nil
		}
		return []variant[T]{{item: preset[i]}}
	}
	entries, ok := d.mapping(at.path, "a "+k.singular+" or the name of one in the preset", n)
	if !ok {
		return nil
	}
	base := variant[T]{item: k.fresh}
	base.places = fill(d, k.schema, entries, &base.item, "matrix", "exclude")
	axes, exclude := readMatrix(d, k, entries, base.places)
	if len(axes) == 0 {
		return []variant[T]{base}
	}
	return expand(d, k, base, axes, exclude)
}

// expected is the error of a value that is not what its field takes.
func expected(what, got string) error {
	return fmt.Errorf("expected %s, got %q", what, clip(got))
}
