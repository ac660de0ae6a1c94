package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iotax/iotax/internal/errkind"
)

func (a *app) manCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "man prints iotax(1) in the man macros of roff: `iotax man | man -l -` shows it.",
		Example: "  iotax man",
		Hidden:  true,
		Args:    atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := a.Stdout.Write(manPage(cmd.Root()))
			return err
		},
	}
}

// manPage is one page for all commands. Cobra's own generator writes a page each and needs a Markdown converter.
func manPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(".TH IOTAX 1 \"\" %s", roffQuote("iotax "+Version()))
	p(".SH NAME\niotax \\- %s", roff(root.Short))
	p(".SH SYNOPSIS\n.B iotax\n.I COMMAND\n[\\fIFLAG\\fR ...]")
	p(".SH DESCRIPTION")
	prose(&b, root.Long)
	p(".SH COMMANDS")
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		p(".SS %s", roffQuote(c.UseLine()))
		prose(&b, c.Long)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
		if c.Example != "" {
			p(".PP\nExamples:\n.PP\n.nf\n%s\n.fi", roff(c.Example))
		}
	}
	p(".SH EXIT STATUS")
	for _, m := range errkind.Meanings {
		p(".TP\n.B %d\n%s.", m.Code, roff(m.Text))
	}
	p(".SH ENVIRONMENT")
	p(".TP\n.B IOTAX_STATE\nfolder of runs and reports; by default $XDG_STATE_HOME/iotax or ~/.local/state/iotax.")
	p(".TP\n.B IOTAX_CACHE\nfolder of what can be made again; by default $XDG_CACHE_HOME/iotax or ~/.cache/iotax.")
	return b.Bytes()
}

func manFlag(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, usage := pflag.UnquoteUsage(f)
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(usage))
}

// prose writes paragraphs, and indented blocks as they stand.
func prose(b *bytes.Buffer, text string) {
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(block, "  ") {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(block))
		} else {
			fmt.Fprintf(b, ".PP\n%s\n", roff(block))
		}
	}
}

// roff escapes text: a backslash, a minus sign that must stay one, and a control character at a line's start.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func roffQuote(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
