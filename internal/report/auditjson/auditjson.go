// Package auditjson writes the outcome of an audit, and the catalogue of its rules, as JSON. docs/JSON.md is the contract:
// what is there stays, what is added is additive.
package auditjson

import (
	"encoding/json"
	"io"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/vmconf"
)

// Names of the two documents. They change only when a field is removed or changes its meaning.
const (
	Schema      = "iotax-audit/1"
	RulesSchema = "iotax-rules/1"
)

// Write writes an outcome.
func Write(w io.Writer, o *outcome.Outcome) error {
	d := Document{
		Schema: Schema, Version: o.Version, Run: o.Run, Sources: []Source{}, Skipped: []Skipped{}, Unknown: []Unknown{},
		Storages: list(o.Storages), Faults: list(o.Faults), Findings: []Finding{},
	}
	for _, s := range o.Sources {
		d.Sources = append(d.Sources, sourceOf(s))
	}
	for _, s := range o.Skipped {
		d.Skipped = append(d.Skipped, Skipped{Name: s.Name, Why: s.Why})
	}
	for _, u := range o.Unknown {
		d.Unknown = append(d.Unknown, Unknown{File: u.At.File, Line: u.At.Line, Text: u.Text})
	}
	for _, f := range o.Findings {
		d.Findings = append(d.Findings, findingOf(f))
	}
	return encode(w, d)
}

// WriteRules writes a catalogue.
func WriteRules(w io.Writer, version string, rules []audit.Rule) error {
	d := Catalogue{Schema: RulesSchema, Version: version, Rules: []Rule{}}
	for _, r := range rules {
		d.Rules = append(d.Rules, Rule{
			ID: r.ID, Title: r.Title, Severity: r.Severity.Name(), Looks: r.Looks, Why: r.Why, Sources: list(r.Sources), Guests: r.Guests,
			Restart: string(r.Restart),
		})
	}
	return encode(w, d)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func sourceOf(s outcome.Source) Source {
	out := Source{Name: s.Name, Kind: s.Kind, Machines: []Machine{}}
	for _, vm := range s.VMs {
		m := Machine{Name: vm.Name, ID: vm.ID, Part: vm.Part, Line: vm.At.Line, Audited: outcome.Audited(vm), Disks: []string{}}
		for _, d := range vm.Disks {
			m.Disks = append(m.Disks, d.ID)
		}
		out.Machines = append(out.Machines, m)
	}
	return out
}

func findingOf(f outcome.Finding) Finding {
	out := Finding{
		Rule: f.Rule, Title: f.Of.Title, Severity: f.Severity.Name(), Kind: f.Kind, VM: f.VM, Part: f.Part, Disk: f.Disk,
		Setting: f.Setting, File: f.At.File, Line: f.At.Line, Effective: f.Effective, Default: f.Default, Why: f.Why, Volume: f.Volume,
		Changes: []Change{}, Diff: f.Diff, Refused: f.Refused, Commands: list(f.Commands), QM: f.QM, Needs: list(f.Needs),
		Guests: f.Of.Guests, Restart: string(f.Restart),
	}
	for _, c := range f.Changes {
		out.Changes = append(out.Changes, change(c))
	}
	if p := f.Price; p != nil {
		out.Price = &Price{
			Ratio: p.Ratio.Value, Low: p.Ratio.Low, High: p.Ratio.High, Metric: p.Metric, Workload: p.Workload, Run: p.Run, From: p.From, To: p.To,
			Accelerator: p.Accelerator,
		}
	}
	return out
}

func change(c vmconf.Change) Change { return Change{Disk: c.Disk, Setting: c.Setting, Value: c.Value} }

// list is never null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
