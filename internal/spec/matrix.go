package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// axis is one key of a matrix with the values that it takes in turn.
type axis struct {
	key    string
	where  place
	values []ast.Node
}

// exclusion is one mapping of an exclude list.
type exclusion struct {
	where   place
	entries []entry
	used    bool
}

// readMatrix reads the keys matrix and exclude of an item whose other keys are at taken.
func readMatrix[T comparable](d *decoder, k kind[T], entries []entry, taken map[string]place) (axes []axis, exclude []exclusion) {
	for _, e := range entries {
		switch e.key {
		case "matrix":
			keys, _ := d.mapping(e.where.path, "a mapping from a key to its values", e.value)
			for _, a := range keys {
				if x, ok := readAxis(d, k, a, taken); ok {
					axes = append(axes, x)
				}
			}
		case "exclude":
			items, _ := d.sequence(e.where.path, "a list of combinations", e.value)
			for i, item := range items {
				at := placeOf(fmt.Sprintf("%s[%d]", e.where.path, i), item)
				if combo, ok := d.mapping(at.path, "a combination such as {cache: writeback, aio: native}", item); ok {
					exclude = append(exclude, exclusion{where: at, entries: combo})
				}
			}
		}
	}
	if len(exclude) > 0 && len(axes) == 0 {
		d.addAt(exclude[0].where, "there is no matrix to exclude from")
	}
	return axes, exclude
}

func readAxis[T comparable](d *decoder, k kind[T], e entry, taken map[string]place) (axis, bool) {
	if _, ok := k.schema[e.key]; !ok || e.key == "name" || e.key == "title" {
		keys := slices.DeleteFunc(k.schema.keys(), func(s string) bool { return s == "name" || s == "title" })
		d.addAt(e.at, "%s", unknown("matrix key", e.key, keys))
		return axis{}, false
	}
	if p, twice := taken[e.key]; twice {
		d.addAt(e.where, "the key stands outside the matrix too (line %d); expected one of the two", p.line)
		return axis{}, false
	}
	values, ok := d.sequence(e.where.path, "a list of values", e.value)
	if ok && len(values) == 0 {
		d.addAt(e.where, "the list is empty; expected at least one value")
	}
	return axis{key: e.key, where: e.where, values: values}, len(values) > 0
}

// expand returns the product of the axes over base, the last axis turning fastest, without what is excluded.
// A variant is called after its values: "disk" with cache none and aio native is
// "disk.cache-none.aio-native", and its title is "disk cache=none aio=native".
func expand[T comparable](d *decoder, k kind[T], base variant[T], axes []axis, exclude []exclusion) []variant[T] {
	total := 1
	for _, a := range axes {
		if total *= len(a.values); total > k.most {
			d.addAt(a.where, "the matrix makes more than %d %s; expected fewer values", k.most, k.plural)
			return nil
		}
	}
	var out []variant[T]
	for n := range total {
		v := turn(d, k, base, axes, n, total)
		if !excluded(d, k, v.item, exclude) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		d.addAt(exclude[0].where, "every combination is excluded; expected one that is left")
	}
	for _, x := range exclude {
		if !x.used {
			d.addAt(x.where, "the combination is not in the matrix; expected keys and values that are")
		}
	}
	return out
}

// turn builds the n-th of total variants.
func turn[T comparable](d *decoder, k kind[T], base variant[T], axes []axis, n, total int) variant[T] {
	v := variant[T]{item: base.item, places: maps.Clone(base.places)}
	name, title := k.name(&v.item), k.title(&v.item)
	if *title == "" {
		*title = *name
	}
	for _, a := range axes {
		total /= len(a.values)
		i := n / total % len(a.values)
		value := a.values[i]
		at := placeOf(fmt.Sprintf("%s[%d]", a.where.path, i), value)
		at.broken = !k.schema[a.key](d, at, value, &v.item)
		v.places[a.key] = at
		s, _ := d.scalar(value)
		*name += "." + a.key + "-" + slug(s)
		*title += " " + a.key + "=" + s
	}
	return v
}

// excluded tells whether an exclusion holds of item: whether setting its keys changes nothing.
func excluded[T comparable](d *decoder, k kind[T], item T, exclude []exclusion) bool {
	hit := false
	for i := range exclude {
		x := &exclude[i]
		with := item
		places := fill(d, k.schema, x.entries, &with)
		if len(places) < len(x.entries) { // its faults are said
			x.used = true
		} else if with == item && len(places) > 0 {
			x.used, hit = true, true
		}
	}
	return hit
}

// slug keeps of a value what a name may hold.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return -1
	}, strings.ToLower(s))
}
