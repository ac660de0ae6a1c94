package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/spec"
	"github.com/iotax/iotax/internal/unit"
)

func (a *app) presetsCmd() *cobra.Command {
	var yaml bool
	cmd := &cobra.Command{
		Use:   "presets [PRESET]",
		Short: "List the experiments that come with iotax",
		Long: `presets lists the experiments that are built in: run measures one with --preset, and a file of one's own can
extend one. With the name of a preset it shows that preset's stacks and workloads, and with --yaml the preset as
it is written, to be copied into a file of one's own for run -f.`,
		Example: `  iotax presets

  # the stacks and workloads of the default one
  iotax presets default

  # a file to start from
  iotax presets quick --yaml`,
		Args: atMost(1, "PRESET"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return presetNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case yaml && len(args) == 0:
				return errkind.Userf("--yaml needs the name of a preset, such as %q", quickPreset)
			case yaml:
				return a.printYAML(args[0])
			case len(args) == 0:
				return table(a.Stdout, listPresets)
			}
			e, err := spec.Preset(args[0])
			if err != nil {
				return err
			}
			return table(a.Stdout, func(w io.Writer) { showPreset(w, e) })
		},
	}
	cmd.Flags().BoolVar(&yaml, "yaml", false, "print PRESET as it is written")
	return cmd
}

func (a *app) printYAML(preset string) error {
	text, err := spec.PresetYAML(preset)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(text)
	return err
}

// presetNames lists the presets for the shell's completion, each with its title.
func presetNames() (names []string) {
	for _, p := range spec.Presets() {
		names = append(names, p.Name+"\t"+p.Title)
	}
	return names
}

func listPresets(w io.Writer) {
	fmt.Fprintln(w, "PRESET\tSTACKS\tWORKLOADS\tTIME\tWHAT IT MEASURES")
	for _, p := range spec.Presets() {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", p.Name, p.Stacks, p.Workloads, unit.Duration(p.Budget), p.Title)
	}
}

func showPreset(w io.Writer, e spec.Experiment) {
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Title)
	fmt.Fprintf(w, "at most %s, %s for each scratch volume\n\n", unit.Duration(e.Budget), unit.Bytes(e.Size))
	fmt.Fprintln(w, "STACK\tFORMAT\tBUS\tCACHE\tAIO\tIOTHREAD")
	for _, s := range e.Stacks {
		if s.Ceiling() { // a disk of no latency is no file that could be cached or read asynchronously
			s.Cache, s.AIO = "", ""
		}
		fmt.Fprintln(w, strings.Join([]string{s.Name, s.Format, s.Bus, dash(s.Cache), dash(s.AIO), yes(s.IOThread)}, "\t"))
	}
	fmt.Fprintln(w, "\nWORKLOAD\tRW\tBS\tIODEPTH\tFDATASYNC")
	for _, l := range e.Workloads {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", l.Name, l.RW, unit.FioBytes(l.BS), l.IODepth, dash(positive(l.FDataSync)))
	}
}

// table aligns what write writes in columns that tabs part.
func table(out io.Writer, write func(io.Writer)) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write(w)
	return w.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func positive(n int) string {
	if n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}
