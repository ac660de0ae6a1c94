package auditjson

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/audit/outcome/outcometest"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
)

func TestGolden(t *testing.T) {
	for name, o := range map[string]*outcome.Outcome{"default": outcometest.Default(), "nothing": {}} {
		var b strings.Builder
		if err := Write(&b, o); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/"+name+".golden", b.String())
	}
}

func TestRules(t *testing.T) {
	var b strings.Builder
	rules := []audit.Rule{outcometest.Default().Findings[0].Of, {ID: "IOT999", Severity: audit.Hygiene, Restart: audit.RestartNothing}}
	if err := WriteRules(&b, "1.2", rules); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/rules.golden", b.String())
}

// TestDocumentation compares the fields that are written with the table of docs/JSON.md: both ways, in order.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## The JSON of audit")
	if !found {
		t.Fatal("no section")
	}
	var documented, written []string
	for _, m := range regexp.MustCompile("(?m)^\\| ([a-z ]+) \\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1]+" "+m[2])
	}
	for _, of := range []struct {
		name string
		typ  reflect.Type
	}{
		{"an audit", reflect.TypeFor[Document]()},
		{"a source", reflect.TypeFor[Source]()},
		{"a machine", reflect.TypeFor[Machine]()},
		{"a file that was skipped", reflect.TypeFor[Skipped]()},
		{"an unknown part", reflect.TypeFor[Unknown]()},
		{"a finding of an audit", reflect.TypeFor[Finding]()},
		{"a change", reflect.TypeFor[Change]()},
		{"a price", reflect.TypeFor[Price]()},
		{"the rules", reflect.TypeFor[Catalogue]()},
		{"a rule", reflect.TypeFor[Rule]()},
	} {
		for f := range of.typ.Fields() {
			written = append(written, of.name+" "+f.Tag.Get("json"))
		}
	}
	if d := cmp.Diff(documented, written); d != "" {
		t.Errorf("-documented +written:\n%s", d)
	}
	words := []string{Schema, RulesSchema, vmconf.Libvirt, vmconf.Proxmox, vmconf.QEMU, vmconf.XL}
	for _, r := range audit.Restarts {
		words = append(words, string(r))
	}
	for _, word := range append(words, audit.SeverityNames()...) {
		if !strings.Contains(section, "`"+word+"`") {
			t.Errorf("the word %s is not documented", word)
		}
	}
}
