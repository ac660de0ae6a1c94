package caps

import (
	"encoding/json"
	"fmt"
	"slices"
)

// schema is QEMU's own description of QMP, as query-qmp-schema returns it (docs/devel/qapi-code-gen, "Client JSON
// Protocol introspection"): entities that refer to each other by names without meaning.
type schema map[string]entity

type entity struct {
	Name     string   `json:"name"`
	MetaType string   `json:"meta-type"` // "command", "object", "enum", "alternate", "array", "builtin", "event"
	ArgType  string   `json:"arg-type"`  // of a command
	Members  []member `json:"members"`   // of an object, and since QEMU 6.2 of an enum
	Values   []string `json:"values"`    // of an enum; deprecated since QEMU 6.2
	Variants []struct {
		Case string `json:"case"`
		Type string `json:"type"`
	} `json:"variants"` // of an object whose tag member decides what else it has
}

type member struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func parseSchema(data []byte) (schema, error) {
	var list []entity
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("QMP schema: %w", err)
	}
	s := make(schema, len(list))
	for _, e := range list {
		s[e.Name] = e
	}
	return s, nil
}

// argument returns the sorted values that an argument of a command can have, nil when it does not exist or is no
// enumeration. With variant != "" the argument is one that exists only for that value of the command's tag:
// argument("blockdev-add", "file", "aio") is what aio can be for driver=file.
func (s schema) argument(command, variant, name string) []string {
	args := s[s[command].ArgType]
	if variant == "" {
		return s.enum(args, name)
	}
	for _, v := range args.Variants {
		if v.Case == variant {
			return s.enum(s[v.Type], name)
		}
	}
	return nil
}

func (s schema) enum(object entity, name string) []string {
	for _, m := range object.Members {
		if m.Name != name || s[m.Type].MetaType != "enum" {
			continue
		}
		e := s[m.Type]
		values := slices.Clone(e.Values)
		for _, v := range e.Members {
			values = append(values, v.Name)
		}
		slices.Sort(values)
		return slices.Compact(values)
	}
	return nil
}
