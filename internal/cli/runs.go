package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/record"
	"github.com/iotax/iotax/internal/store"
)

// storeFile is the name of the store inside the state folder.
const storeFile = "iotax.db"

// openStore opens the store of this world, made new where there is none.
func (a *app) openStore() (*store.Store, error) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, err
	}
	return store.Open(filepath.Join(dir, storeFile))
}

// readStore gives f the store. It makes no store where there is none: to look is not to change.
func (a *app) readStore(f func(*store.Store) error) error {
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, storeFile)); errors.Is(err, fs.ErrNotExist) {
		return errkind.WithHint(errkind.Userf("no run is stored in %s yet", dir), "`iotax run --quick` makes one")
	}
	s, err := a.openStore()
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// storedRuns lists all runs, newest first; none where there is no store.
func (a *app) storedRuns() (runs []record.Run, err error) {
	err = a.readStore(func(s *store.Store) (err error) {
		runs, err = s.Runs()
		return err
	})
	return runs, err
}

// completeRun lets the shell complete the first argument with the ids of stored runs, newest first.
func (a *app) completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, how
	}
	runs, err := a.storedRuns()
	if err != nil {
		return nil, how // nothing to offer, and the shell is no place for a message
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID+"\t"+r.Preset+", "+r.Started.Format("2006-01-02 15:04")+", "+r.Status)
	}
	return ids, how
}
