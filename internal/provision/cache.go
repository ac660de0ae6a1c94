package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DropCache writes what the host still keeps of a volume to the disk and forgets it: the volume's own pages only,
// never those of others. Dirty pages are not dropped by the kernel, so that they are synced first.
func DropCache(v Volume) error {
	if v.Base != "" {
		if err := dropCacheOf(v.Base, false); err != nil {
			return err
		}
	}
	return dropCacheOf(v.Path, v.Block)
}

func dropCacheOf(path string, block bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dropCache(f, block), f.Close())
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

// WarmCache reads a volume once through the host's page cache.
func WarmCache(ctx context.Context, v Volume) error {
	paths := []string{v.Path}
	if v.Base != "" {
		paths = []string{v.Base, v.Path}
	}
	for _, path := range paths {
		if err := readThrough(ctx, path, v); err != nil {
			return fmt.Errorf("warm the cache of %s: %w", path, err)
		}
	}
	return nil
}

func readThrough(ctx context.Context, path string, v Volume) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var from io.Reader = f
	if v.Block {
		from = io.NewSectionReader(f, v.Offset, v.Size)
	}
	buffer := make([]byte, 1<<20)
	for ctx.Err() == nil {
		if _, err := from.Read(buffer); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
