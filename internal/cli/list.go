package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/store"
)

func (a *app) listCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the stored runs, newest first",
		Long: `list shows every run that is stored on this machine: its id, when it started (UTC), how it ended, what it
measured and on which accelerator. The id, or its first letters, names the run to other commands.`,
		Example: "  iotax list",
		Args:    atMost(0, ""),
		RunE:    func(*cobra.Command, []string) error { return a.readStore(a.list) },
	}
}

func (a *app) list(s *store.Store) error {
	runs, err := s.Runs()
	if err != nil {
		return err
	}
	return table(a.Stdout, func(w io.Writer) {
		fmt.Fprintln(w, "RUN\tSTARTED (UTC)\tSTATUS\tPRESET\tACCELERATOR\tSEED")
		for _, r := range runs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\n", r.ID, r.Started.UTC().Format("2006-01-02 15:04"),
				r.Status, r.Preset, dash(r.Host.Accelerator), r.Seed)
		}
	})
}
