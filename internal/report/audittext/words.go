package audittext

import (
	"fmt"
	"strings"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/report/metrics"
	"github.com/iotax/iotax/internal/stat"
	"github.com/iotax/iotax/internal/unit"
)

// costs says what a setting was measured to cost.
func costs(p *audit.Price) string {
	if p == nil {
		return "not measured here"
	}
	said := fmt.Sprintf("%s (run %s: %s against %s)", loss(p), p.Run, p.From, p.To)
	if p.Accelerator == "tcg" {
		said += ". The guests of that run were emulated in software: under KVM it is another share"
	}
	return said
}

func loss(p *audit.Price) string {
	metric, r := metrics.Title(p.Metric), p.Ratio
	switch {
	case r.High < 1:
		return fmt.Sprintf("%s of the %s under %s", share(stat.Estimate{Value: 1 - r.Value, Low: 1 - r.High, High: 1 - r.Low}), metric, p.Workload)
	case r.Low > 1:
		return fmt.Sprintf("nothing: the change gives up %s of the %s under %s",
			share(stat.Estimate{Value: 1 - 1/r.Value, Low: 1 - 1/r.Low, High: 1 - 1/r.High}), metric, p.Workload)
	}
	return fmt.Sprintf("nothing that could be told: %s of the %s under %s", share(stat.Estimate{Value: 1 - r.Value, Low: 1 - r.High, High: 1 - r.Low}), metric, p.Workload)
}

// share is a share of a figure with its interval: "45 % (39 to 51)".
func share(e stat.Estimate) string {
	digits := 0
	if e.High-e.Low < 0.02 {
		digits = 1
	}
	value := func(v float64) string {
		s := fmt.Sprintf("%.*f", digits, 100*v)
		if strings.Trim(s, "-0.") == "" {
			return strings.TrimPrefix(s, "-")
		}
		return s
	}
	return fmt.Sprintf("%s %% (%s to %s)", value(e.Value), value(e.Low), value(e.High))
}

// read says what was read, and with Verbose what of it was not understood.
func (p *printer) read(o *outcome.Outcome) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	machines, parts := 0, 0
	for _, vm := range o.Machines() {
		if outcome.Audited(vm) {
			machines++
		} else {
			parts++
		}
	}
	said := []string{unit.Count(len(o.Sources), "configuration"), unit.Count(machines, "machine"), unit.Count(o.Disks(), "disk")}
	if parts > 0 {
		said = append(said, fmt.Sprintf("%d left out as snapshots or pending", parts))
	}
	if n := len(o.Unknown); n > 0 {
		said = append(said, unit.Count(n, "part")+" not understood")
	}
	if n := len(o.Skipped); n > 0 {
		said = append(said, unit.Count(n, "file")+" of other kinds")
	}
	line := "read: " + strings.Join(said, ", ")
	if !p.Verbose && len(o.Unknown)+len(o.Skipped) > 0 {
		line += " (-v lists them)"
	}
	p.fill("", 0, line)
	if !p.Verbose {
		return
	}
	for _, u := range o.Unknown {
		p.fill("  not understood  ", 18, place(u.At)+"  "+u.Text)
	}
	for _, s := range o.Skipped {
		p.fill("  not read        ", 18, s.Name+"  "+s.Why)
	}
}

// summary is what the last lines say.
func (p *printer) summary(o *outcome.Outcome) {
	if len(o.Findings) == 0 {
		p.fill("", 0, "nothing found")
		return
	}
	counts := o.Count()
	var by []string
	priced := 0
	for _, s := range audit.Severities {
		if counts[s] > 0 {
			by = append(by, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	for _, f := range o.Findings {
		if f.Price != nil {
			priced++
		}
	}
	p.fill("", 0, unit.Count(len(o.Findings), "finding")+": "+strings.Join(by, ", "))
	switch {
	case o.Run == "":
		p.fill("", 0, "No complete run is stored here: `iotax run --quick` measures what such settings cost on this host.")
	case priced == 0:
		p.fill("", 0, "Run "+o.Run+" has no two stacks that differ in what was found: nothing has a price.")
	}
	p.fill("", 0, "`iotax rules ID` says more of a rule.")
}
