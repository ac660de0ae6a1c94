package revert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/iotax/iotax/internal/sys"
)

// ZFSOwner is the user property (zfsprops(7)) that marks a pool's root or a dataset as made by iotax. It holds the
// name of the run.
const ZFSOwner = "org.iotax:run"

const (
	zfsPatience = 60 * time.Second // for one command: destroying waits for the pool to be written
	zfsBusyWait = 10 * time.Second // for what still has a volume open: udev looks at each that was closed after writing
	zfsBusyPoll = 100 * time.Millisecond
)

// PoolName is the name of a ZFS pool that a run makes for itself.
func PoolName(run, name string) string { return ScratchName(run) + "-" + name }

// DatasetName is the name of a run's dataset or zvol below somebody's pool or dataset.
func DatasetName(run, parent, name string) string {
	return parent + "/" + ScratchName(run) + "-" + name
}

// Zpool undoes the making of a pool, which must have a PoolName of the run: it is destroyed with all that is in it.
// One that does not bear the run's mark is left alone.
func Zpool(pool string) Act { return Act{"zpool", map[string]string{"pool": pool}} }

// Dataset undoes the making of a dataset or zvol, which must have a DatasetName of the run: it is destroyed with its
// snapshots. One that does not bear the run's mark is left alone.
func Dataset(dataset string) Act { return Act{"dataset", map[string]string{"dataset": dataset}} }

func validZpool(run string, args map[string]string) error {
	pool := args["pool"]
	if !strings.HasPrefix(pool, PoolName(run, "")) || strings.ContainsAny(pool, "/@") {
		return fmt.Errorf("revert: refused to destroy pool %q: it is not of run %s", pool, run)
	}
	return nil
}

func validDataset(run string, args map[string]string) error {
	dataset := args["dataset"]
	parent, name := path.Split(dataset)
	ours := strings.HasPrefix(name, ScratchName(run)+"-") && !strings.Contains(name, "@")
	if !ours || len(parent) < 2 || strings.Contains("/-", parent[:1]) {
		return fmt.Errorf("revert: refused to destroy dataset %q: it is not of run %s", dataset, run)
	}
	return nil
}

// undoZpool leaves a pool alone that is not imported: it is in no cache file, so that no start of the machine imports
// it, and its device is undone beside it.
func undoZpool(ctx context.Context, run string, args map[string]string) error {
	if _, err := os.Stat("/sys/module/zfs"); err != nil {
		return nil // nothing is imported
	}
	pool := args["pool"]
	_, err := destroyMarked(ctx, run, pool, "zpool", "destroy", "-f", pool)
	return err
}

// undoDataset fails for a dataset in somebody's pool that is not imported: it is still on the disks.
func undoDataset(ctx context.Context, run string, args map[string]string) error {
	dataset := args["dataset"]
	gone, err := destroyMarked(ctx, run, dataset, "zfs", "destroy", "-r", dataset)
	if err != nil || !gone {
		return err
	}
	pool, _, _ := strings.Cut(dataset, "/")
	if _, err := zfs(ctx, "zpool", "list", "-H", "-o", "name", pool); isGone(err) {
		return fmt.Errorf("the pool %s is not there to destroy %s in: import it, and run iotax clean", pool, dataset)
	}
	return nil
}

// destroyMarked runs a command that destroys what bears the mark of the run, and again for as long as something that
// is about to end keeps it busy. gone says that it was not there.
func destroyMarked(ctx context.Context, run, name string, argv ...string) (gone bool, err error) {
	deadline := time.Now().Add(zfsBusyWait)
	for {
		out, err := zfs(ctx, "zfs", "get", "-H", "-o", "value,source", ZFSOwner, name)
		switch {
		case isGone(err):
			return true, nil
		case err != nil:
			return false, err
		case strings.TrimSpace(out) != run+"\tlocal":
			return false, nil // somebody else's
		}
		_, err = zfs(ctx, argv...)
		if err == nil || isGone(err) {
			return false, nil
		}
		if !said(err, "is busy") || ctx.Err() != nil || time.Now().After(deadline) {
			return false, err
		}
		time.Sleep(zfsBusyPoll)
	}
}

// zfs runs a command of ZFS to its end, also when ctx has ended.
func zfs(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), zfsPatience)
	defer cancel()
	out, err := sys.Exec{}.Run(ctx, sys.Command{Argv: argv})
	return string(out), err
}

func isGone(err error) bool { return said(err, "does not exist") || said(err, "no such pool") }

// said reports whether a command failed with these words.
func said(err error, words string) bool {
	var failed *sys.CommandError
	return errors.As(err, &failed) && strings.Contains(failed.Stderr, words)
}
