package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
)

const rootLong = `iotax measures what virtualization costs a virtual machine's disks.

It boots a small QEMU guest on this host and runs the same fio load on the host and inside the guest,
in turns, through each usual way of attaching a disk. It then prints what share of the host's speed each
way keeps, with its interval, and which safe way loses least.

The first minute:

  iotax doctor             what this host can and cannot measure, and the command that mends it
  iotax run --quick        measure on a scratch file, about four minutes
  iotax report             the last run again; --format html for the whole report
  iotax explain            where the loss is, layer by layer, and what it costs in CPU

A run works in a scratch folder of its own and removes it at the end. It writes to a block device only
when that device is named with --device, and erases data only when --erase names the same device again.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "iotax",
		Short: "Measure what virtualization costs a virtual machine's disks",
		Long:  rootLong,
		Example: `  # everything that the default experiment asks, within a quarter of an hour
  iotax run

  # what it would do, how long it would take, how much space: nothing is touched
  iotax run --plan`,
		Version:       Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("iotax {{.Version}}\n")
	root.SetFlagErrorFunc(flagFault)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.runCmd(), a.reportCmd(), a.explainCmd(), a.auditCmd(), a.rulesCmd(), a.emitCmd(), a.listCmd(), a.presetsCmd(),
		a.doctorCmd(), a.cleanCmd(), a.versionCmd(), a.completionCmd(), a.manCmd())
	root.SetHelpCommand(a.helpCmd())
	a.adopt(root)
	return root
}

// helpCmd stands in for cobra's own, which exits with 0 when asked about a command that does not exist.
func (a *app) helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about a command",
		Example: "  iotax help run",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args)
			}
			asked.InitDefaultHelpFlag()
			return asked.Help()
		},
	}
}

// unknownCommand is a fault when args is not empty: what is left of the line names no command of root.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return errkind.Userf("unknown command %q; %s", args[0], perhaps(args[0], names))
}

// atMost allows up to n arguments of the kind that what names.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) <= n:
			return nil
		case n == 0:
			return errkind.Userf("%s takes no arguments, got %q", cmd.CommandPath(), strings.Join(args, " "))
		}
		return errkind.Userf("%s takes at most %d %s, got %q", cmd.CommandPath(), n, what, strings.Join(args, " "))
	}
}
