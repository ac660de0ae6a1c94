package spec

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// decoder walks a YAML document along the schema. It never descends further than the schema does and
// follows aliases in place, so that nested aliases cannot multiply.
type decoder struct {
	*faults
	anchors map[string]ast.Node
}

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	at    place // of the key
	where place // of the value
	value ast.Node
}

// position returns where a node begins.
func position(n ast.Node) (line, col int) {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1, 1
	}
	p := n.GetToken().Position
	return p.Line, p.Column
}

func placeOf(path string, n ast.Node) place {
	line, col := position(n)
	return place{path: path, line: line, col: col}
}

// resolve takes off tags and anchors and follows aliases; nil for an alias that leads nowhere.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range 16 { // an alias can name itself
		switch v := n.(type) {
		case *ast.TagNode:
			n = v.Value
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			n = d.anchors[v.Value.String()]
		default:
			return n
		}
	}
	return nil
}

// mapping returns the entries of n in order, without those that are faults: keys that stand twice, and
// merge keys. ok is false, and that is said, when n is no mapping.
func (d *decoder) mapping(path, what string, n ast.Node) (entries []entry, ok bool) {
	m, ok := d.resolve(n).(*ast.MappingNode)
	if !ok {
		d.addAt(placeOf(path, n), "expected %s, got %s", what, d.describe(n))
		return nil, false
	}
	seen := map[string]int{}
	for _, v := range m.Values {
		key := keyText(v.Key)
		at := placeOf(join(path, clip(key)), v.Key)
		if v.Key.IsMergeKey() {
			d.addAt(at, "YAML merge keys are not supported; use extends or matrix")
			continue
		}
		if first, twice := seen[key]; twice {
			d.addAt(at, "the key stands twice (line %d)", first)
			continue
		}
		seen[key] = at.line
		entries = append(entries, entry{key: key, at: at, where: placeOf(at.path, v.Value), value: v.Value})
		if d.resolve(v.Value) == nil || v.Value.Type() == ast.NullType { // an empty value sits nowhere: point at its key
			entries[len(entries)-1].where = at
		}
	}
	return entries, true
}

// sequence returns the items of n; ok is false, and that is said, when n is no list.
func (d *decoder) sequence(path, what string, n ast.Node) (items []ast.Node, ok bool) {
	s, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		d.addAt(placeOf(path, n), "expected %s, got %s", what, d.describe(n))
		return nil, false
	}
	return s.Values, true
}

// scalar returns the text of a plain or quoted value; ok is false for anything else, null included.
func (d *decoder) scalar(n ast.Node) (text string, ok bool) {
	switch v := d.resolve(n).(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(v.Value.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// describe names what was found where something else was expected.
func (d *decoder) describe(n ast.Node) string {
	if text, ok := d.scalar(n); ok {
		return `"` + clip(text) + `"`
	}
	switch d.resolve(n).(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case nil:
		return "an alias without its anchor"
	}
	return "nothing"
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	if k.GetToken() != nil {
		return k.GetToken().Value
	}
	return ""
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
