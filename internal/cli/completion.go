package cli

import (
	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
)

func (a *app) completionCmd() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh or fish",
		Long: `completion prints a script that lets the shell complete commands, flags, presets and the ids of stored runs.

  bash   source <(iotax completion bash)
  zsh    iotax completion zsh > "${fpath[1]}/_iotax"
  fish   iotax completion fish | source`,
		Example:   "  iotax completion bash",
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errkind.Userf("iotax completion takes the name of one shell: bash, zsh or fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			}
			return errkind.Userf("unknown shell %q; %s", args[0], perhaps(args[0], shells))
		},
	}
}
