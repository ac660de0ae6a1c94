package sarif

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/audit/outcome/outcometest"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/linediff"
)

func write(t *testing.T, o *outcome.Outcome) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	golden.Equal(t, "testdata/default.golden", string(write(t, outcometest.Default())))
}

// standard is what the published schema says of the objects that are written: the properties that each may have, required ones
// marked with "!", and the object that is in them or in their list.
var standard = map[string]string{
	"log":              "$schema version! runs!:run",
	"run":              "tool!:tool invocations:invocation results:result columnKind",
	"tool":             "driver!:toolComponent",
	"toolComponent":    "name! version informationUri rules:rule",
	"rule":             "id! shortDescription:multiformat fullDescription:multiformat help:multiformat defaultConfiguration:configuration properties:bag",
	"multiformat":      "text!",
	"configuration":    "level",
	"invocation":       "executionSuccessful! toolExecutionNotifications:notification",
	"notification":     "level message!:message",
	"message":          "text",
	"result":           "ruleId ruleIndex level message!:message locations:location partialFingerprints:bag fixes:fix properties:bag",
	"location":         "physicalLocation:physicalLocation logicalLocations:logicalLocation",
	"physicalLocation": "artifactLocation:artifactLocation region:region",
	"artifactLocation": "uri",
	"logicalLocation":  "name fullyQualifiedName kind",
	"region":           "startLine startColumn endLine endColumn",
	"fix":              "description:message artifactChanges!:artifactChange",
	"artifactChange":   "artifactLocation!:artifactLocation replacements!:replacement",
	"replacement":      "deletedRegion!:region insertedContent:artifactContent",
	"artifactContent":  "text",
	"bag":              "*",
}

// check reports what of an object the standard does not allow.
func check(t *testing.T, path, kind string, object map[string]any) {
	t.Helper()
	allowed := map[string]string{}
	for word := range strings.FieldsSeq(standard[kind]) {
		name, inside, _ := strings.Cut(word, ":")
		name, required := strings.CutSuffix(name, "!")
		if _, has := object[name]; required && !has {
			t.Errorf("%s lacks %s", path, name)
		}
		allowed[name] = inside
	}
	for name, value := range object {
		at := path + "." + name
		inside, ok := allowed[name]
		if _, any := allowed["*"]; !ok && !any {
			t.Errorf("%s is not in the standard", at)
		}
		switch v := value.(type) {
		case map[string]any:
			if inside != "" {
				check(t, at, inside, v)
			}
		case []any:
			for _, item := range v {
				if inside != "" {
					check(t, at, inside, item.(map[string]any))
				}
			}
		case float64:
			if v < 0 || kind == "region" && v < 1 {
				t.Errorf("%s is %v", at, v)
			}
		case string:
			if name == "level" && !slices.Contains([]string{"none", "note", "warning", "error"}, v) {
				t.Errorf("%s is %q", at, v)
			}
		case nil:
			t.Errorf("%s is null", at)
		}
	}
}

func TestStandard(t *testing.T) {
	for name, o := range map[string]*outcome.Outcome{"default": outcometest.Default(), "empty": outcometest.Empty(), "nothing": {}} {
		var log map[string]any
		if err := json.Unmarshal(write(t, o), &log); err != nil {
			t.Fatal(err)
		}
		check(t, name, "log", log)
		if log["version"] != "2.1.0" {
			t.Errorf("%s: version %v", name, log["version"])
		}
	}
}

// Every result names the rule at its index.
func TestRuleIndex(t *testing.T) {
	var l log
	if err := json.Unmarshal(write(t, outcometest.Default()), &l); err != nil {
		t.Fatal(err)
	}
	r := l.Runs[0]
	if len(r.Results) != len(outcometest.Default().Findings) || len(r.Tool.Driver.Rules) != 5 {
		t.Errorf("%d results, %d rules", len(r.Results), len(r.Tool.Driver.Rules))
	}
	for _, f := range r.Results {
		if r.Tool.Driver.Rules[f.RuleIndex].ID != f.RuleID {
			t.Errorf("%s has the index of %s", f.RuleID, r.Tool.Driver.Rules[f.RuleIndex].ID)
		}
	}
}

// Who carries out the replacements comes to the configuration that the change makes.
func TestReplacements(t *testing.T) {
	for _, texts := range [][2]string{
		{"a\nb\nc\n", "a\nB\nc\n"},
		{"a\nb\nc\n", "a\nc\n"},
		{"a\nb\nc\n", "x\na\nb\ny\nz\nc\n"},
		{"a\nb\n", "a\n"},
		{"a\nb", "a\nB"},
		{"a\nb", "a\nb\n"},
		{"a\nb\n", "a\nb\nc\n"},
		{"größe\U0001F600", "größer\n"},
		{"a\nb\nc", ""},
	} {
		old, want := texts[0], texts[1]
		got := old
		for _, e := range slices.Backward(linediff.Edits([]byte(old), []byte(want))) {
			got = carryOut(t, got, replacementOf(e))
		}
		if got != want {
			t.Errorf("%q becomes %q, not %q", old, got, want)
		}
	}
}

func carryOut(t *testing.T, text string, r replacement) string {
	t.Helper()
	from, to := offset(t, text, r.Deleted.StartLine, r.Deleted.StartColumn), offset(t, text, r.Deleted.EndLine, r.Deleted.EndColumn)
	inserted := ""
	if r.Inserted != nil {
		inserted = r.Inserted.Text
	}
	return text[:from] + inserted + text[to:]
}

// offset finds a place that is given as the standard does: a line, and a column in units of UTF-16.
func offset(t *testing.T, text string, line, column int) int {
	t.Helper()
	at := 0
	for range line - 1 {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			t.Fatalf("%q has no line %d", text, line)
		}
		at += n + 1
	}
	units := 1
	for _, r := range text[at:] {
		if units == column {
			break
		}
		if r == '\n' {
			t.Fatalf("line %d of %q has no column %d", line, text, column)
		}
		units += len(utf16.Encode([]rune{r}))
		at += len(string(r))
	}
	if units != column {
		t.Fatalf("line %d of %q has no column %d", line, text, column)
	}
	return at
}

func TestAddress(t *testing.T) {
	for name, want := range map[string]string{
		"qemu server/100.conf": "qemu%20server/100.conf", "/etc/pve/100.conf": "file:///etc/pve/100.conf", "a:b.conf": "./a:b.conf", "größe": "gr%C3%B6%C3%9Fe",
	} {
		if got := address(name).URI; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A finding keeps its fingerprint when lines move, and no two of one audit share theirs.
func TestFingerprints(t *testing.T) {
	moved := outcometest.Default()
	seen := map[string]bool{}
	for i, f := range outcometest.Default().Findings {
		moved.Findings[i].At.Line += 10
		moved.Findings[i].Subject.Line += 10
		if fingerprint(f) != fingerprint(moved.Findings[i]) {
			t.Errorf("%s has another fingerprint in another line", f.Rule)
		}
		if seen[fingerprint(f)] {
			t.Errorf("%s of %s %s has the fingerprint of another", f.Rule, f.VM, f.Disk)
		}
		seen[fingerprint(f)] = true
	}
}
