package spec

import (
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
	places := fill(d, experimentSchema, entries, &e, "extends", "guest", "stacks", "workloads")
	for _, n := range entries {
		switch n.key {
		case "guest":
			if keys, ok := d.mapping("guest", "a mapping with the keys cpus and memory", n.value); ok {
				for key, p := range fill(d, guestSchema, keys, &e.Guest) {
					d.places["guest."+key] = p
				}
			}
		case "stacks":
			e.Stacks = list(d, stackKind, n.value, stacks)
		case "workloads":
			e.Workloads = list(d, workloadKind, n.value, workloads)
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
