// Package sarif renders the outcome of an audit as SARIF 2.1.0, the format in which code-scanning services and editors take
// findings: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
package sarif

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
)

const (
	version = "2.1.0"
	schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home    = "https://github.com/iotax/iotax"
)

// Write writes an outcome as one run of one tool. The rules are those that fired.
func Write(w io.Writer, o *outcome.Outcome) error {
	r := run{ColumnKind: "utf16CodeUnits", Results: []result{}}
	r.Tool.Driver = driver{Name: "iotax", Version: o.Version, InformationURI: home, Rules: []rule{}}
	for _, f := range o.Findings {
		i := slices.IndexFunc(r.Tool.Driver.Rules, func(known rule) bool { return known.ID == f.Rule })
		if i < 0 {
			i = len(r.Tool.Driver.Rules)
			r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, ruleOf(f.Of))
		}
		r.Results = append(r.Results, resultOf(f, i))
	}
	call := invocation{ExecutionSuccessful: len(o.Faults) == 0}
	for _, fault := range o.Faults {
		call.Notifications = append(call.Notifications, notification{Level: "error", Message: message{fault}})
	}
	r.Invocations = []invocation{call}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(log{Schema: schema, Version: version, Runs: []run{r}})
}

func ruleOf(r audit.Rule) rule {
	help := r.Why
	for _, s := range r.Sources {
		help += "\n" + s
	}
	out := rule{ID: r.ID, Short: message{r.Title}, Full: message{r.Looks}, Help: message{help}}
	out.Default.Level = level(r.Severity)
	out.Properties.Tags = []string{r.Severity.Name()}
	return out
}

// level is SARIF's word for a severity.
func level(s audit.Severity) string {
	switch s {
	case audit.DataAtRisk:
		return "error"
	case audit.LargeLoss:
		return "warning"
	}
	return "note"
}

// address is the URI of a file: relative where its name is.
func address(name string) artifact {
	u := url.URL{Path: name}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return artifact{URI: u.String()}
}
