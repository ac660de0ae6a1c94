package doctor

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentation compares the fields that are written with the table of docs/JSON.md: both ways, in order.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## The JSON of doctor")
	if !found {
		t.Fatal("no section")
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| (the document|a finding) \\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1]+" "+m[2])
	}
	written := append(names("the document", reflect.TypeFor[Document]()), names("a finding", reflect.TypeFor[Finding]())...)
	if diff := cmp.Diff(documented, written); diff != "" {
		t.Errorf("-documented +written:\n%s", diff)
	}
	for _, word := range []string{Schema, Tools, Guest, Accelerator, Stacks, Scratch, StateFolder, Host, string(OK), string(Warning), string(Cannot)} {
		if !strings.Contains(section, "`"+word+"`") {
			t.Errorf("the word %s is not documented", word)
		}
	}
}

func names(of string, typ reflect.Type) (list []string) {
	for f := range typ.Fields() {
		list = append(list, of+" "+f.Tag.Get("json"))
	}
	return list
}

// Every field is always written, and a list is never null.
func TestWriteJSON(t *testing.T) {
	for name, tt := range map[string]struct {
		findings []Finding
		want     string
	}{
		"nothing": {nil, `{"schema":"iotax-doctor/1","version":"1.2","can_start":true,"findings":[]}`},
		"one that blocks": {
			[]Finding{{Area: Tools, What: "fio", State: Cannot, Why: "<none>", Blocks: true}},
			`{"schema":"iotax-doctor/1","version":"1.2","can_start":false,"findings":[` +
				`{"area":"tools","what":"fio","state":"cannot","why":"<none>","mend":"","blocks":true}]}`,
		},
		"one that does not": {
			[]Finding{{Area: Stacks, What: "ide", State: Cannot}},
			`{"schema":"iotax-doctor/1","version":"1.2","can_start":true,"findings":[` +
				`{"area":"stacks","what":"ide","state":"cannot","why":"","mend":"","blocks":false}]}`,
		},
	} {
		var out strings.Builder
		if err := WriteJSON(&out, "1.2", tt.findings); err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
