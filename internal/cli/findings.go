package cli

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/iotax/iotax/internal/doctor"
	"github.com/iotax/iotax/internal/report/text"
)

// stateStyles use the terminal's own colours, as package text does.
var stateStyles = map[doctor.State]lipgloss.Style{
	doctor.OK:      lipgloss.NewStyle().Foreground(lipgloss.Green),
	doctor.Warning: lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow),
	doctor.Cannot:  lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
}

// writeFindings prints findings by area: how each stands, what was looked at, why, and what mends it. No line is
// wider than the terminal, down to 60 columns.
func writeFindings(out io.Writer, findings []doctor.Finding, o text.Options) error {
	var b strings.Builder
	o.Width = max(o.Width, 60)
	groups := alike(findings)
	what := 0
	for _, g := range groups {
		if !g.shared() {
			what = max(what, len(g.What))
		}
	}
	area := ""
	for _, g := range groups {
		if g.Area != area {
			area = g.Area
			fmt.Fprintln(&b, area)
		}
		g.write(&b, what, o)
	}
	counts := map[doctor.State]int{}
	for _, f := range findings {
		counts[f.State]++
	}
	fmt.Fprintf(&b, "\n%d ok, %s, %d cannot\n", counts[doctor.OK], count(counts[doctor.Warning], "warning"), counts[doctor.Cannot])
	_, err := io.WriteString(out, b.String())
	return err
}

// group is a finding, and the names of those that say the same of other things.
type group struct {
	doctor.Finding
	also []string
}

// shared tells whether the names and what is said of them are one text, without a column for the name.
func (g group) shared() bool { return len(g.also) > 0 || g.Why+g.Mend == "" }

// alike joins neighbours that say the same, such as all the stacks that can be offered.
func alike(findings []doctor.Finding) (groups []group) {
	for _, f := range findings {
		if n := len(groups); n > 0 {
			same := groups[n-1].Finding
			same.What = f.What
			if same == f {
				groups[n-1].also = append(groups[n-1].also, f.What)
				continue
			}
		}
		groups = append(groups, group{Finding: f})
	}
	return groups
}

// write prints a group: how it stands, what it is in a column of its own, and beside them why and what mends it.
func (g group) write(b *strings.Builder, column int, o text.Options) {
	state := fmt.Sprintf("%-7s", g.State)
	if o.Color {
		state = stateStyles[g.State].Render(state)
	}
	indent, lead, said := 2+7+2, "  "+state+"  ", g.Why
	if g.shared() {
		said = strings.Join(append([]string{g.What}, g.also...), ", ")
		if g.Why != "" {
			said += ": " + g.Why
		}
	} else {
		indent += column + 2
		lead += fmt.Sprintf("%-*s  ", column, g.What)
	}
	const mend = "mend: "
	lines := text.Fill(said, o.Width-indent)
	if g.Mend != "" {
		for i, line := range text.Fill(g.Mend, o.Width-indent-len(mend)) {
			lines = append(lines, []string{mend, strings.Repeat(" ", len(mend))}[min(i, 1)]+line)
		}
	}
	for _, line := range lines {
		fmt.Fprintf(b, "%s%s\n", lead, line)
		lead = strings.Repeat(" ", indent)
	}
}
