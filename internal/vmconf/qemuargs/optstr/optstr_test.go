package optstr_test

import (
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/vmconf/qemuargs/optstr"
)

func pairs(o optstr.Options) []string {
	var out []string
	for _, p := range o.Pairs {
		out = append(out, p.Key+"="+p.Value)
	}
	return out
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		text, implied string
		want          []string
	}{
		"implied":  {"virtio-blk-pci,drive=d", "driver", []string{"driver=virtio-blk-pci", "drive=d"}},
		"commas":   {"file=a,,b,,,if=none", "", []string{"file=a,b,", "if=none"}},
		"flags":    {"x,server,nowait", "backend", []string{"backend=x", "server=on", "wait=off"}},
		"equals":   {"file=a=b,c=", "", []string{"file=a=b", "c="}},
		"empty":    {"a=1,,b=2", "", []string{"a=1,b=2"}},
		"ends":     {"a=1,", "", []string{"a=1"}},
		"nested":   {`file=json:{"driver":"raw",,"file":{"aio":"native"}},if=none`, "", []string{"file.aio=native", "driver=raw", "if=none"}},
		"json":     {`{"a":"b\"c","d":{"e":true,"f":[{"g":1},null]},"h":{}}`, "", []string{`a=b"c`, "d.e=on", "d.f.0.g=1", "d.f.1="}},
		"json gap": {" { \"a\" : \"b\" , \"c\" : 1 } ", "", []string{"a=b", "c=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := optstr.Read(tt.text, tt.implied, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, pairs(o)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{`{`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1}x`, `{"a":"b`, `{"a":[1}`, `{a:1}`, `{"a":nope}`, `{"a":"\q"}`} {
		if o, err := optstr.Read(text, "", nil); err == nil {
			t.Errorf("%s is read as %v", text, pairs(o))
		}
	}
}

// What is not known may hold commas, and may stand where keys do.
func TestOpen(t *testing.T) {
	text := "file=${X:-a,b},$MORE,if=none"
	open := make([]bool, len(text))
	for i := range open {
		open[i] = i >= 5 && i < 14 || i >= 15 && i < 20
	}
	o, err := optstr.Read(text, "", open)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file=${X:-a,b}", "if=none"}, pairs(o)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"$MORE"}, o.Loose); diff != "" {
		t.Error(diff)
	}
}

// apply makes edits of one text.
func apply(text string, edits []optstr.Edit) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].From > edits[j].From })
	for _, e := range edits {
		text = text[:e.From] + e.Text + text[e.To:]
	}
	return text
}

func TestEdit(t *testing.T) {
	set := func(key, value string, kind optstr.Type) func(optstr.Options) []optstr.Edit {
		return func(o optstr.Options) []optstr.Edit { return o.Set(key, value, kind) }
	}
	drop := func(key string) func(optstr.Options) []optstr.Edit {
		return func(o optstr.Options) []optstr.Edit { return o.Drop(key) }
	}
	for name, tt := range map[string]struct {
		text string
		edit func(optstr.Options) []optstr.Edit
		want string
	}{
		"replace":     {"a=1,b=2", set("a", "x,y", optstr.String), "a=x,,y,b=2"},
		"all of them": {"a=1,b=2,a=3", set("a", "4", optstr.String), "a=4,b=2,a=4"},
		"flag":        {"b=2,readonly", set("readonly", "off", optstr.Bool), "b=2,readonly=off"},
		"append":      {"b=2", set("a", "1", optstr.String), "b=2,a=1"},
		"open end":    {"b=2,", set("a", "1", optstr.String), "b=2,a=1"},
		"drop first":  {"a=1,b=2", drop("a"), "b=2"},
		"drop last":   {"a=1,b=2", drop("b"), "a=1"},
		"drop only":   {"a=1", drop("a"), ""},
		"json bool":   {`{"a":true}`, set("a", "off", optstr.Bool), `{"a":false}`},
		"json new":    {`{"a":1}`, set("b.c", "x\"", optstr.String), `{"a":1,"b":{"c":"x\""}}`},
		"json inside": {`{"b":{"d":1}}`, set("b.c", "5", optstr.Number), `{"b":{"d":1,"c":5}}`},
		"json empty":  {`{"b":{}}`, set("b.c", "5", optstr.Number), `{"b":{"c":5}}`},
		"json null":   {`{"b":null}`, set("b", "5", optstr.String), `{"b":"5"}`},
		"json first":  {`{"a":1, "b":2}`, drop("a"), `{ "b":2}`},
		"json last":   {`{"a":1 , "b":{"c":2}}`, drop("b.c"), `{"a":1 , "b":{}}`},
		"json middle": {`{"a":1,"b":2,"c":3}`, drop("b"), `{"a":1,"c":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := optstr.Read(tt.text, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got := apply(tt.text, tt.edit(o))
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if _, err := optstr.Read(got, "", nil); err != nil && strings.HasPrefix(got, "{") {
				t.Error(err)
			}
		})
	}
}
