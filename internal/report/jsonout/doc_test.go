package jsonout

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shared are the types that the documentation describes once, under a name of their own.
var shared = map[reflect.Type]string{reflect.TypeFor[Estimate](): "estimate", reflect.TypeFor[Band](): "band"}

// TestDocumentation compares the fields that Document can write with the tables of docs/JSON.md: both ways.
func TestDocumentation(t *testing.T) {
	written := fields(reflect.TypeFor[Document](), "")
	for typ, name := range shared {
		written = append(written, walk(typ, name)...)
	}
	slices.Sort(written)

	page, err := os.ReadFile("../../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	json, _, _ := strings.Cut(string(page), "## The same as CSV")
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(json, -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(documented)
	if d := cmp.Diff(documented, slices.Compact(written)); d != "" {
		t.Errorf("-documented +written:\n%s", d)
	}
	if len(written) < 100 {
		t.Errorf("only %d fields found", len(written))
	}
}

// fields lists the paths below typ: "run.id", "cells[].metrics.*".
func fields(typ reflect.Type, path string) []string {
	switch typ.Kind() {
	case reflect.Pointer:
		return fields(typ.Elem(), path)
	case reflect.Slice:
		return fields(typ.Elem(), path+"[]")
	case reflect.Map:
		if typ.Elem().Kind() == reflect.Struct && shared[typ.Elem()] == "" {
			return fields(typ.Elem(), path+".*")
		}
		return []string{path + ".*"}
	case reflect.Struct:
		if shared[typ] == "" && typ != reflect.TypeFor[time.Time]() {
			return walk(typ, path)
		}
	}
	return nil
}

// walk lists the fields of a struct and the paths below them.
func walk(typ reflect.Type, path string) (out []string) {
	for f := range typ.Fields() {
		if f.Anonymous {
			out = append(out, walk(f.Type, path)...)
			continue
		}
		name := strings.TrimPrefix(path+"."+f.Tag.Get("json"), ".")
		out = append(out, name)
		out = append(out, fields(f.Type, name)...)
	}
	return out
}
