package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// checkContract holds a report to the tables of docs/JSON.md: every field is there and has its type. (That no other
// field can be written is held by a test of package jsonout.)
func checkContract(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/JSON.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(page), "## The same as CSV")
	types := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(tables, -1) {
		types[m[1]] = strings.TrimSpace(m[2])
	}
	c := contract{t: t, shared: map[string]map[string]string{"estimate": {}, "band": {}}}
	for field, typ := range types {
		if shared, name, ok := strings.Cut(field, "."); ok && c.shared[shared] != nil {
			c.shared[shared][name] = typ
		}
	}
	for field, typ := range types {
		if shared, _, _ := strings.Cut(field, "."); c.shared[shared] == nil {
			c.check(document, strings.Split(strings.ReplaceAll(field, "[]", ".[]"), "."), field, typ)
		}
	}
	if len(types) < 100 || c.checked < 500 {
		t.Errorf("%d fields are documented and %d values were checked: the test does not look", len(types), c.checked)
	}
}

// contract checks values; shared are the fields of the types that the page describes once.
type contract struct {
	t       *testing.T
	shared  map[string]map[string]string
	checked int
}

// check walks along the steps of a path ("cells", "[]", "metrics", "*") to every value that it leads to. Below null,
// and in an empty list or map, there is none.
func (c *contract) check(v any, steps []string, field, typ string) {
	if len(steps) == 0 {
		c.fits(v, field, typ)
		return
	}
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			c.check(item, steps[1:], field, typ)
		}
	case map[string]any:
		if steps[0] == "*" {
			for _, item := range v {
				c.check(item, steps[1:], field, typ)
			}
			return
		}
		item, written := v[steps[0]]
		if !written {
			c.t.Errorf("%s is not written", field)
			return
		}
		c.check(item, steps[1:], field, typ)
	default:
		c.t.Errorf("%s: there is %v on the way to it", field, v)
	}
}

func (c *contract) fits(v any, field, typ string) {
	c.checked++
	word, optional := strings.CutSuffix(typ, " or null")
	if v == nil {
		if !optional {
			c.t.Errorf("%s is null, want %s", field, typ)
		}
		return
	}
	word, _, _ = strings.Cut(word, ",")
	for name, typ := range c.shared[word] {
		c.check(v, []string{name}, field+"."+name, typ)
	}
	got := fmt.Sprintf("%T", v)
	if want := map[string]string{
		"string": "string", "time": "string", "number": "float64", "integer": "float64", "boolean": "bool",
		"list": "[]interface {}", "list of strings": "[]interface {}", "map": "map[string]interface {}",
		"object": "map[string]interface {}", "estimate": "map[string]interface {}", "band": "map[string]interface {}",
	}[word]; got != want {
		c.t.Errorf("%s is %v (%s), want %s", field, v, got, typ)
	}
	if word == "time" {
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(v)); err != nil {
			c.t.Errorf("%s: %v", field, err)
		}
	}
}
