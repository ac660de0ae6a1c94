package spec

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// experiment reads the root of a document over the preset that it extends.
func (d *decoder) experiment(root ast.Node, extends string) Experiment {
	entries, ok := d.mapping("", "an experiment: a mapping with keys such as extends, stacks and workloads", root)
	if !ok {
		return d.base(entry{}, "default") // so that nothing but the shape is complained of
	}
	e := d.base(find(entries, "extends"), extends)
	stacks, workloads := e.Stacks, e.Workloads
	places := fill(d, experimentSchema, entries, &e, "extends", "guest", "stacks", "workloads", "statements", "figures", "scales")
	e.departs(entries)
	if find(entries, "detect").value != nil && find(entries, "budget").value == nil {
		e.Budget = 0 // the preset's was made for another aim
	}
	for _, n := range entries {
		switch n.key {
		case "guest":
			if keys, ok := d.mapping("guest", "a mapping with keys such as cpus and memory", n.value); ok {
				for key, p := range fill(d, guestSchema, keys, &e.Guest) {
					d.places["guest."+key] = p
				}
			}
		case "stacks":
			e.Stacks = list(d, stackKind, n.value, stacks)
		case "workloads":
			e.Workloads = list(d, workloadKind, n.value, workloads)
		case "statements":
			e.Statements = items(d, "statements", "a list of statements", n.value, statementSchema)
		case "figures":
			e.Figures = items(d, "figures", "a list of figures", n.value, figureSchema)
		case "scales":
			e.Scales = d.scales(n.value)
		}
	}
	for key, p := range places {
		d.places[key] = p
	}
	return e
}

// base returns the preset to start from. Its name and title are not the file's.
func (d *decoder) base(n entry, extends string) Experiment {
	if n.value != nil {
		name, ok := d.scalar(n.value)
		if !ok {
			d.addAt(n.where, "expected the name of a preset, got %s", d.describe(n.value))
			name = "default"
		}
		if ok && !isPreset(name) {
			d.addAt(n.where, "%s", unknown("preset", name, presetNames()))
			name = "default"
		}
		extends = name
	}
	if extends == "" {
		return Experiment{}
	}
	e, err := Preset(extends)
	if err != nil {
		d.addAt(n.where, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	e.Name, e.Title = "", ""
	return e
}

func find(entries []entry, key string) entry {
	for _, e := range entries {
		if e.key == key {
			return e
		}
	}
	return entry{}
}

// departs takes the scale's name and note off an experiment that extends a preset and says otherwise than its scale,
// and the statements and figures off one whose stacks or workloads they do not fit any more.
func (e *Experiment) departs(entries []entry) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return find(entries, k).value != nil })
	}
	if has("size", "runtime", "ramp", "budget", "min_rounds", "max_rounds", "boots") && !has("scale") {
		e.Scale, e.Note, e.Scales = "", "", nil
	}
	if has("stacks", "workloads") {
		e.Statements, e.Figures = nil, nil
	}
}

// scales reads the other scales of an experiment.
func (d *decoder) scales(n ast.Node) map[string]Scale {
	names, ok := d.mapping("scales", "a mapping from names of scales to what they change", n)
	if !ok {
		return nil
	}
	all := map[string]Scale{}
	for _, name := range names {
		keys, ok := d.mapping(name.where.path, "a mapping with keys such as size and runtime", name.value)
		if !ok {
			continue
		}
		var s Scale
		for key, p := range fill(d, scaleSchema, keys, &s) {
			d.places[join(name.where.path, key)] = p
		}
		all[name.key] = s
	}
	return all
}
