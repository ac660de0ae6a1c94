package audit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
)

func TestCatalogue(t *testing.T) {
	if n := len(Rules()); n < 32 {
		t.Errorf("%d rules", n)
	}
	sentence := regexp.MustCompile(`^[^.].*[.]$`)
	for i, r := range Rules() {
		if want := fmt.Sprintf("IOT%03d", i+1); r.ID != want {
			t.Errorf("%s stands where %s should", r.ID, want)
		}
		scopes := 0
		for _, has := range []bool{r.disk != nil, r.machine != nil, r.host != nil} {
			if has {
				scopes++
			}
		}
		if scopes != 1 {
			t.Errorf("%s looks in %d scopes", r.ID, scopes)
		}
		if !slices.Contains(Severities, r.Severity) || !slices.Contains(Restarts, r.Restart) {
			t.Errorf("%s: severity %d, restart %q", r.ID, r.Severity, r.Restart)
		}
		if r.Title == "" || strings.HasSuffix(r.Title, ".") || !sentence.MatchString(r.Looks) || !sentence.MatchString(r.Why) || r.Guests == "" || len(r.Sources) == 0 {
			t.Errorf("%s: an entry that is not whole: %+v", r.ID, r)
		}
		if got, ok := Find(strings.ToLower(r.ID)); !ok || got.Title != r.Title {
			t.Errorf("%s is not found", r.ID)
		}
	}
	if _, ok := Find("IOT999"); ok {
		t.Error("found a rule that there is not")
	}
}

// docs/RULES.md is the catalogue.
func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Rules of the audit

What ` + "`iotax audit`" + ` looks for. Each rule looks at effective values: where a setting is not written, at what the program that reads the
configuration does then. A rule says nothing of what it does not know. It leaves alone CD-ROM and floppy drives, media that can only be read, disks of
less than 16 MiB, variables of the firmware, state of a TPM, cloud-init, and the sections of snapshots and of pending changes.

Severities, the worst first: data at risk (data that a guest was told is safe can be lost), large loss (a good part of what the storage could
do, or the machine does not start), small loss (some percent, or a lot in few cases), hygiene (little now, and more or a surprise later).

This file is written by ` + "`go test ./internal/audit -update`" + `.

| rule | severity | title | restart |
|---|---|---|---|
`)
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Severity, r.Title, r.Restart)
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s)\n\n", r.ID, r.Title, r.Severity)
		fmt.Fprintf(&b, "- Looks for: %s\n- Why: %s\n- Guests: %s.\n- Must start anew: %s.\n- Sources:\n", r.Looks, r.Why, r.Guests, r.Restart)
		for _, s := range r.Sources {
			fmt.Fprintf(&b, "  - %s\n", address.ReplaceAllString(s, "<$0>"))
		}
	}
	golden.Equal(t, "../../docs/RULES.md", b.String())
}

var address = regexp.MustCompile(`https://\S+`)

func TestSeverity(t *testing.T) {
	if !(DataAtRisk > LargeLoss && LargeLoss > SmallLoss && SmallLoss > Hygiene && Hygiene > 0) {
		t.Error("the order of severities")
	}
	for text, want := range map[string]Severity{
		"data-at-risk": DataAtRisk, "Data at risk": DataAtRisk, "large-loss": LargeLoss, " small loss ": SmallLoss, "HYGIENE": Hygiene,
	} {
		if got, err := ParseSeverity(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, hint := range map[string]string{"": "", "high": "", "largeloss": "did you mean large-loss?"} {
		_, err := ParseSeverity(text)
		if errkind.CodeOf(err) != errkind.Usage || !strings.Contains(err.Error(), hint) || !strings.Contains(err.Error(), "data-at-risk, large-loss") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, s := range Severities {
		text, err := json.Marshal(s)
		var back Severity
		if err != nil || json.Unmarshal(text, &back) != nil || back != s {
			t.Errorf("%s: %s, %v", s, text, err)
		}
	}
}
