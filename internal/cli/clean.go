package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/experiment"
	"github.com/iotax/iotax/internal/revert"
)

func (a *app) cleanCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove whatever a dead run left behind",
		Long: `clean reads the journals of runs that ended without undoing their changes, after kill -9 or a power cut, and
undoes them: QEMU processes, loop devices, scratch files, sockets. It also removes what an iotax that was
killed had downloaded or built by half. Whoever is still alive is left alone, and so is every stored
result. It says what it removed.`,
		Example: "  iotax clean",
		Args:    atMost(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.tidy(cmd.Context()) },
	}
}

// runClean undoes every dead run of this state folder.
func (a *app) runClean(ctx context.Context) error {
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	cache, err := a.CacheDir()
	if err != nil {
		return err
	}
	removed, err := experiment.Sweep(cache)
	for _, path := range removed {
		fmt.Fprintf(a.Stderr, "removed what a dead iotax left behind: %s\n", path)
	}
	return errors.Join(a.clean(ctx, dir, false), err)
}

// clean undoes what dead runs left behind and says what that was.
func (a *app) clean(ctx context.Context, stateDir string, quiet bool) error {
	folder := filepath.Join(stateDir, experiment.JournalFolder)
	dead, err := revert.Dead(folder)
	if err != nil {
		return experiment.OfState(err, stateDir)
	}
	var failures []error
	for _, left := range dead {
		if !quiet {
			fmt.Fprintf(a.Stderr, "cleaning up after run %s, which ended without undoing its changes\n", left.Run)
			for _, e := range left.Entries {
				fmt.Fprintf(a.Stderr, "  undoing: %s\n", e)
			}
		}
		failures = append(failures, revert.Replay(ctx, left.Path))
	}
	return errors.Join(failures...)
}
