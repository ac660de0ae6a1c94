package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/wire"
)

// tune sets the scheduler and the read-ahead of a disk below a /sys/block folder, and looks whether they are set: where
// the kernel does not know a scheduler it says no more than that the argument is invalid.
func tune(root string, q wire.Tune) error {
	for _, a := range []struct{ file, what, value string }{
		{"scheduler", "scheduler", q.Scheduler},
		{"read_ahead_kb", "read-ahead", q.ReadAhead},
	} {
		if a.value == "" {
			continue
		}
		path := filepath.Join(root, filepath.Base(q.Disk), "queue", a.file)
		err := os.WriteFile(path, []byte(a.value), 0o644)
		is := read(path)
		switch {
		case a.file == "scheduler" && errors.Is(err, unix.EINVAL):
			return fmt.Errorf("the guest's kernel has no scheduler %s for %s, only %s", a.value, q.Disk, strings.NewReplacer("[", "", "]", "").Replace(is))
		case err != nil:
			return fmt.Errorf("%s %s of %s: %w", a.what, a.value, q.Disk, err)
		case chosen(is) != a.value:
			return fmt.Errorf("%s of %s was set to %s, but the guest's kernel has %s", a.what, q.Disk, a.value, is)
		}
	}
	return nil
}
