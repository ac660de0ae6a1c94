// Package audittext renders the outcome of an audit, and the catalogue of its rules, for a terminal. It computes nothing.
package audittext

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/iotax/iotax/internal/audit"
	"github.com/iotax/iotax/internal/audit/outcome"
	"github.com/iotax/iotax/internal/report/text"
	"github.com/iotax/iotax/internal/vmconf"
)

// Options say what the terminal is like, and how much is told.
type Options struct {
	text.Options
	Verbose bool // all that was not understood or not read, and why each rule is one
}

// printer gathers lines that fit the terminal.
type printer struct {
	strings.Builder
	Options
}

func newPrinter(o Options) *printer {
	o.Width = max(cmp.Or(o.Width, 80), 60)
	return &printer{Options: o}
}

// The terminal's own colours, as package text has them.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	shades = map[audit.Severity]lipgloss.Style{
		audit.DataAtRisk: bold.Foreground(lipgloss.Red),
		audit.LargeLoss:  bold.Foreground(lipgloss.Yellow),
		audit.SmallLoss:  lipgloss.NewStyle().Foreground(lipgloss.Yellow),
		audit.Hygiene:    lipgloss.NewStyle(),
	}
)

func (p *printer) paint(style lipgloss.Style, s string) string {
	if !p.Color || s == "" {
		return s
	}
	return style.Render(s)
}

// fill writes text beside a lead, which takes indent columns of the first line.
func (p *printer) fill(lead string, indent int, said string) {
	for i, line := range text.Fill(said, p.Width-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		fmt.Fprintln(p, strings.TrimRight(lead+line, " "))
	}
}

// column is where the words of a finding begin.
const column = 13

// say writes one thing about a finding, under its name; nothing where there is nothing to say.
func (p *printer) say(name, said string) {
	p.fill(fmt.Sprintf("    %s", p.paint(faint, fmt.Sprintf("%-*s", column-4, name))), column, said)
}

// Write writes what was found, machine by machine and disk by disk, and at the end what was read. No line is wider than
// Options.Width but for commands, which are there to be copied.
func Write(w io.Writer, o *outcome.Outcome, options Options) error {
	p := newPrinter(options)
	for _, g := range groups(o.Findings) {
		p.head(g[0])
		for _, f := range g {
			p.finding(f)
		}
	}
	p.read(o)
	p.summary(o)
	_, err := io.WriteString(w, p.String())
	return err
}

// groups puts the findings of one disk together, in the order of their first.
func groups(findings []outcome.Finding) (all [][]outcome.Finding) {
	type key struct {
		machine int
		disk    string
	}
	at := map[key]int{}
	for _, f := range findings {
		k := key{f.Index, f.Disk}
		i, seen := at[k]
		if !seen {
			i = len(all)
			all, at[k] = append(all, nil), i
		}
		all[i] = append(all[i], f)
	}
	return all
}

func (p *printer) head(f outcome.Finding) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	if f.Index < 0 {
		p.WriteString(p.paint(bold, "this host") + "\n")
		return
	}
	words := []string{cmp.Or(f.VM, "a machine without a name")}
	if f.Part != "" {
		words[0] += " (" + f.Part + ")"
	}
	if f.Disk != "" {
		words = append(words, f.Disk)
	}
	for i, line := range text.Fill(strings.Join(append(words, place(f.Subject)), " \u00a0"), p.Width-2) {
		p.WriteString(strings.Repeat(" ", 2*min(i, 1)) + p.paint(bold, line) + "\n")
	}
}

func place(at vmconf.Place) string {
	if at.Line == 0 {
		return at.File
	}
	return fmt.Sprintf("%s:%d", at.File, at.Line)
}

// title is the first line of a finding or rule: its ID, how bad it is, and what it is.
func (p *printer) title(r audit.Rule, severity audit.Severity) {
	p.fill(fmt.Sprintf("  %s  %s  ", r.ID, p.paint(shades[severity], fmt.Sprintf("%-12s", severity))), 2+6+2+12+2, r.Title)
}

func (p *printer) finding(f outcome.Finding) {
	p.title(f.Of, f.Severity)
	p.say("is", effective(f))
	p.say("why", f.Why)
	if p.Verbose {
		p.say("in short", f.Of.Why)
		p.say("guests", f.Of.Guests)
	}
	if f.Price != nil || f.Severity == audit.LargeLoss || f.Severity == audit.SmallLoss {
		p.say("costs", costs(f.Price))
	}
	p.say("restart", restarts[f.Restart])
	for i, need := range f.Needs {
		p.say([]string{"needs", ""}[min(i, 1)], need)
	}
	p.change(f)
	for i, c := range f.Commands {
		p.command([]string{"run", ""}[min(i, 1)], c)
	}
	if f.QM != "" {
		p.command("or", f.QM)
	}
}

// effective is the setting as it takes effect, and why.
func effective(f outcome.Finding) string {
	said := f.Setting + "=" + cmp.Or(f.Effective, "?")
	switch {
	case f.Default != "":
		return said + ", " + f.Default
	case f.At.File == "":
		return said
	case f.At.File == f.Subject.File && f.At.Line > 0:
		return fmt.Sprintf("%s, line %d", said, f.At.Line)
	}
	return said + ", " + place(f.At)
}

var restarts = map[audit.Restart]string{
	audit.RestartNothing:    "nothing",
	audit.RestartDetach:     "the disk: it is detached from the guest and attached again",
	audit.RestartReboot:     "the guest",
	audit.RestartPowerCycle: "power cycle: a reboot inside the guest is not enough",
	audit.RestartHost:       "the host",
}
