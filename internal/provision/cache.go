package provision

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// DropCache writes what the host still keeps of a volume to the disk and forgets it: the volume's own pages only,
// never those of others. Dirty pages are not dropped by the kernel, so that they are synced first.
func DropCache(v Volume) error {
	f, err := os.Open(v.Path)
	if err != nil {
		return err
	}
	return errors.Join(dropCache(f, v.Block), f.Close())
}

func dropCache(f *os.File, block bool) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if !block {
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("drop the cache of %s: %w", f.Name(), err)
		}
		return nil
	}
	if err := unix.IoctlSetInt(int(f.Fd()), unix.BLKFLSBUF, 0); err != nil {
		return fmt.Errorf("drop the cache of %s: BLKFLSBUF: %w", f.Name(), err)
	}
	return nil
}
